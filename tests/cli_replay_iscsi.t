#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay to tgtd: the bytes that arrive are right, the guard holds, and every way in which a LUN cannot be used is one error.
. "$(dirname "$0")/replay.sh"
need_root
need tgtd tgtadm

lun() { truncate -s "$2" "$1"; }
to=iscsi://127.0.0.1:$iscsi_port/iqn.2026-01.test
iscsi_server || exit 1
iscsi_target 1 disk; iscsi_target 2 other

every_operation 1000 | tape work
truncate -s 64M local.img
run $replay work.tape --to local.img -o local.run --timing asap; is $status 0 "replay to a file"

# The same bytes, over one portal and over two, whatever the timing.
for how in "asap --depth 32:127.0.0.1" "recorded:127.0.0.1" "asap --depth 200:127.0.0.1,127.0.0.2"; do
    host=${how#*:}
    rm -f disk.img; lun disk.img 64M; iscsi_lun 1 1 disk.img
    # shellcheck disable=SC2086,SC2001 # several options
    run $replay work.tape --to "iscsi://$(echo "$host" | sed "s/,/:$iscsi_port,/"):$iscsi_port/iqn.2026-01.test:disk/1" -o a.run --timing ${how%:*}
    is "$status,$(rep a.run errors),$(rep a.run unsupported)" 0,0,0 "replay, ${how%:*}, portals $host"
    cmp local.img disk.img; is $? 0 "the bytes are those of a replay to a file"
    tgt --op delete --mode logicalunit --tid 1 --lun 1
done
is "$(rep a.run two_step)" "$(csv work.tape | awk -F, '$4 == "write" && $5 ~ /preflush/ { n++ } END { print n }')" \
    "writes behind a flush are two steps"
printf 'x' | dd of=disk.img bs=1 seek=16777216 conv=notrunc status=none
cmp -s local.img disk.img; is $? 1 "control: one byte more or less is noticed"
is "$(fact a.run paths),$(fact a.run model),$(fact a.run fua)" "2,IET VIRTUAL-DISK,yes" "the run says what the LUN is"
like "$(fact a.run discard)" "^UNMAP" "and that it can discard"

# The guard.
head -c 4096 /dev/urandom | dd of=disk.img bs=4096 seek=100 conv=notrunc status=none
iscsi_lun 1 1 disk.img; before=$(md5sum <disk.img)
run $replay work.tape --to $to:disk/1 -o b.run; is $status 1 "a LUN with data that iotape did not write is refused"
like "$err" "^iotape-replay: error: .*holds data that iotape did not write, at byte" "it says so in one line"
is "$(md5sum <disk.img)" "$before" "no byte changed"
run $replay work.tape --to $to:disk/1 -o b.run --dry-run; is "$(md5sum <disk.img)" "$before" "a dry run changes none, either"

tgt --op delete --mode logicalunit --tid 1 --lun 1
rm -f ./*.img; lun disk.img 1M; iscsi_lun 1 1 disk.img

# refused URL OPTIONS PATTERN NAME: one line on standard error, exit 1, nothing written.
echo '0 write 0 4096
10 read 4096 4096' | tape small
refused() {
    local sums=$(md5sum ./*.img)
    # shellcheck disable=SC2086 # several options
    run $replay small.tape --to "$1" -o c.run $2
    is "$status,$(wc -l <.err),$(md5sum ./*.img)" "1,1,$sums" "$4: refused in one line, nothing written"
    like "$err" "^iotape-replay: error: .*$3" "$4: the reason"
}
lun ro.img 1M; lun tiny.img 4096; lun sectors.img 1M
iscsi_lun 2 1 ro.img readonly=1; iscsi_lun 2 2 tiny.img; iscsi_lun 2 3 sectors.img thin_provisioning=1 --blocksize 4096
refused $to:absent/1 "" "the server has no target 'iqn.2026-01.test:absent'" "no such target"
refused $to:disk/9 "" "the target has no LUN 9" "no such LUN"
refused $to:disk/0 "" "is no disk" "a controller's LUN"
refused $to:other/1 "" "is write-protected" "a read-only LUN"
refused $to:other/2 "" "lies beyond the end" "a LUN that is too small"
refused iscsi://127.0.0.1:1/iqn.2026-01.test:disk/1 "" "Connection refused" "no server"
refused iscsi://127.0.0.1:$iscsi_port,127.0.0.1:1/iqn.2026-01.test:disk/1 "" "portal '127.0.0.1:1': Connection refused" "one of two portals"
refused $to:disk/1?paths=2 "" "takes no query parameters" "a query"
refused $to:disk/one "" "the LUN is no number" "a LUN that is no number"
refused $to:disk "" "it names no target or no LUN" "no LUN"
refused 'iscsi://[::1/iqn.2026-01.test:disk/1' "" "a bracket is not closed" "half an address"
refused iscsi://127.0.0.1:99999/iqn.2026-01.test:disk/1 "" "a port is no number" "no port"
run $replay small.tape --to $to:other/1 -o c.run --read-only; is $status 0 "a read-only LUN can be read"
run $replay small.tape --to iscsi://localhost:$iscsi_port/iqn.2026-01.test%3Aother/1 -o c.run --read-only
is $status 0 "a name for a host, which may have several addresses, and an escaped name"

# Sectors of 4 KiB.
run $replay small.tape --to $to:other/3 -o c.run; is "$status,$(rep c.run errors)" 0,0 "sectors of 4 KiB"
echo '0 write 512 512' | tape short
run $replay short.tape --to $to:other/3 -o c.run; is $status 1 "what does not fit them is refused"

# Two portals that lead to different LUNs would be written to in turn.
refused iscsi://127.0.0.1:$iscsi_port,127.0.0.1:$iscsi_port/iqn.2026-01.test:other/1 "" "is write-protected" "the same portal twice is two paths"

# A reservation by another initiator.
lun reserved.img 1M; iscsi_lun 2 4 reserved.img
is "$(timeout 10 $python "$top/tests/iscsi_reserve.py" $iscsi_port iqn.2026-01.test:other 4 1)" reserved "another initiator reserves a LUN"
refused $to:other/4 "" "is reserved by another initiator" "a reserved LUN"
run $replay small.tape --to $to:other/4 -o c.run --read-only; is $status 0 "which others may read"

# CHAP.
iscsi_target 3 chap; iscsi_target 4 mutual; lun chap.img 1M; iscsi_lun 3 1 chap.img; iscsi_lun 4 1 chap.img
tgt --op new --mode account --user joe --password secret12345678; tgt --op new --mode account --user server --password theirs1234567
tgt --op bind --mode account --tid 3 --user joe; tgt --op bind --mode account --tid 4 --user joe
tgt --op bind --mode account --tid 4 --user server --outgoing
joe=iscsi://joe@127.0.0.1:$iscsi_port/iqn.2026-01.test
refused $to:chap/1 "" "the server wants a user and a secret" "no user"
refused $joe:chap/1 "" "there is no secret: put it into IOTAPE_CHAP_SECRET" "no secret"
IOTAPE_CHAP_SECRET=false refused $joe:chap/1 "" "wrong user or secret" "a wrong secret"
IOTAPE_CHAP_SECRET=secret12345678 run $replay small.tape --to $joe:chap/1 -o c.run; is $status 0 "the secret from the environment"
echo secret12345678 >secret
IOTAPE_CHAP_SECRET_FILE=secret run $replay small.tape --to $joe:chap/1 -o c.run; is $status 0 "from a file"
IOTAPE_CHAP_SECRET_FILE=none refused $joe:chap/1 "" "cannot open 'none'" "a file that is not there"
run $replay small.tape --to iscsi://joe%secret12345678@127.0.0.1:$iscsi_port/iqn.2026-01.test:chap/1 -o c.run
is $status 0 "from the command line"
like "$err" "^iscsi://joe@127" "which is not shown"
is "$(tar -xOf c.run | zstd -dcf 2>/dev/null | grep -c secret1; grep -c secret1 c.run)" "0
0" "nor stored"
run $replay small.tape --to iscsi://joe%secret12345678/iqn.2026-01.test:chap/1 -o c.run; is $status 1 "nor shown where it was misplaced"
is "$(grep -c secret1 .err)" 0 "in no error"
export IOTAPE_CHAP_SECRET=secret12345678 IOTAPE_CHAP_MUTUAL_USER=server
IOTAPE_CHAP_MUTUAL_SECRET=theirs1234567 run $replay small.tape --to $joe:mutual/1 -o c.run; is $status 0 "mutual CHAP"
IOTAPE_CHAP_MUTUAL_SECRET=false1234567 refused $joe:mutual/1 "" "the server failed to authenticate itself" "a server that is another"
refused $joe:mutual/1 "" "IOTAPE_CHAP_MUTUAL_USER is set, and there is no secret" "half of mutual CHAP"
unset IOTAPE_CHAP_SECRET IOTAPE_CHAP_MUTUAL_USER

# Servers that speak something else, or nothing.
other_server "c.recv(9999); c.sendall(b'HTTP/1.1 400 Bad Request' + bytes([13, 10]) * 2 + b'x' * 200); c.close()"
refused iscsi://127.0.0.1:$other_port/iqn.2026-01.test:disk/1 "--stall-timeout 3s" "does it speak iSCSI" "a web server"
other_server "c.recv(9999); c.sendall(os.urandom(65536)); time.sleep(30)"
refused iscsi://127.0.0.1:$other_port/iqn.2026-01.test:disk/1 "--stall-timeout 3s" "portal .127.0.0.1" "a server that sends noise"
other_server "time.sleep(30)"
refused iscsi://127.0.0.1:$other_port/iqn.2026-01.test:disk/1 "--stall-timeout 3s" "no answer to logging in" "a server that says nothing"
done_testing
