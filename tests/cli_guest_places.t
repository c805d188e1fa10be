#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole mission on a real guest, by samples/try-places: disk and TCP recorded by its name, replayed on a local file, NFS and
# iSCSI and between two hosts, in one command, and one page.
# Tap, servers and hosts are in a network of the test's own.
[ "$(id -u)" -ne 0 ] || [ "${1:-}" = inside ] || exec unshare -n "$0" inside
. "$(dirname "$0")/replay.sh"
. "$top/tests/record.sh"
. "$top/tests/guest.sh"
. "$top/tests/net_lab.sh"
. "$top/tests/net.sh"
need_bpf; need_guest
[ -x "$BUILD/tests/tool_make" ] || skip_all "needs tests/tool_make (make tests)"
need ip ganesha.nfsd rpcbind tgtd tgtadm
ip link set lo up

# What it sends and gets in TCP is what its own wc says.
guest_initrd '
dd if=/dev/vda of=/dev/null bs=4k count=300 skip=1000 iflag=direct status=none
dd if=/dev/zero of=/dev/vda bs=16k count=60 seek=30 oflag=direct conv=notrunc,fsync status=none' '
talk() { echo "GUEST-TCP $(dd if=/dev/zero bs=1000 count=$1 2>/dev/null | tee /sent | nc 10.99.9.1 9999 | wc -c) $(wc -c </sent)"; }
dd if=/dev/vda of=/dev/null bs=8k count=200 skip=500 iflag=direct status=none &
talk 50; talk 3; talk 200
wait
dd if=/dev/zero of=/dev/vda bs=4k count=50 seek=3000 oflag=direct conv=notrunc,fsync status=none'
cat >server.py <<'END_OF_SERVER'
import socket
s = socket.socket()
s.bind(("10.99.9.1", 9999)); s.listen()
for wanted, answer in (50000, 777), (3000, 100000), (200000, 5):
    c, _ = s.accept()
    got = 0
    while got < wanted:
        got += len(c.recv(65536))
    c.sendall(b"x" * answer)
    c.close()
END_OF_SERVER

guest_store
ip tuntap add dev tap0 mode tap && ip addr add 10.99.9.1/24 dev tap0 && ip link set tap0 up || skip_all "needs taps"
$python server.py & cleanup "kill $!; wait $!"
net_ns peer
ip link add veth0 type veth peer name veth0 netns "$ns"
ip addr add 10.77.0.1/24 dev veth0; ip link set veth0 up
ip -n "$ns" addr add 10.77.0.2/24 dev veth0; ip -n "$ns" link set veth0 up

libvirtd_start || skip_all "libvirtd does not start"
mkdir export
nfs_server "$tmp/export" || skip_all "nfs-ganesha does not start"
iscsi_server || skip_all "tgtd does not start"
truncate -s 64M lun; iscsi_target 1 disk; iscsi_lun 1 1 "$tmp/lun"

domain_start web "$(guest_disk file "file='$tmp/store/raw'" raw)" "<interface type='ethernet'><target dev='tap0' managed='no'/>
    <model type='virtio'/><rom enabled='no'/><alias name='net0'/></interface>"
"$top/samples/try-places" --for 60s --connect "$uri" --runs 4 -o report web \
    local="$tmp/local.img" nfs="nfs://127.0.0.1$tmp/export/scratch.img?$nfs_query" \
    iscsi="iscsi://127.0.0.1:$iscsi_port/iqn.2026-01.test:disk/1" -- --speed 20 \
    --peer 10.77.0.2 --rsh "ip netns exec $ns" --peer-program "$BUILD/iotape-replay" --listen 10.77.0.2 >out 2>err &
places=$!
cleanup "kill $places"
wait_for 30 test -e report/web.tape.partial || note "$(cat err)"
$virsh resume web
wait_for 60 guest_done "$guest_dir/web.console" || note "$(tail -3 "$guest_dir/web.console")"
sleep 0.3
kill "$(pgrep -x -P $places iotape-record)" # before libvirt itself looks into the image of a guest that ends
wait_for 20 test -e report/web.tape
$virsh destroy web
wait $places; status=$?
is "$status" 0 "recorded, replayed, reported"
[ $status -eq 0 ] || note "$(tail -5 err)"

guest_trace "$guest_dir/web.trace" | awk '{ print $1, $2, $3 }' | sort >qemu
STREAM=vda tape_ios report/web.tape >tape
same_ios qemu tape "the disk's records are those of QEMU's trace"
tr -d '\r' <"$guest_dir/web.console" | awk '$1 == "GUEST-TCP" { print $3, $2 }' >said
talks report/web.tape 9999 | cut -d' ' -f1,2 >tape
is "$(cat tape)" "$(cat said)" "the conversations have the bytes, each way, that the guest's program says"
is "$(tr '\n' ' ' <said)" "50000 777 3000 100000 200000 5 " "which are those that they were asked for"
like "$(cat err)" 'web.tape: [0-9]+ I/Os .* [0-9]+ conversations .*, 0 lost,' "nothing lost"
like "$($analyze show report/web.tape)" 'stream .* net0, interface' "the tap is named as the guest's"

written=$($analyze export --format csv report/web.tape | awk -F, '$4 == "write" { n += $7 } END { printf "%.0f", n }')
net_there=$(field report/web.tape '["streams"][1]["written_bytes"]') net_here=$(field report/web.tape '["streams"][1]["read_bytes"]')
for place in local nfs iscsi; do
    got=
    for i in 1 2 3 4; do
        got="$got$(for f in complete errors written_bytes net_there_bytes net_here_bytes; do rep report/$place-vda.run $f $i; done | tr '\n' ' ')"
    done
    one="1 0 $written $net_there $net_here "
    is "$got" "$one$one$one$one" "$place: each of four repetitions has all of it"
done
[ "$net_there" -ge 253000 ] && [ "$net_here" -ge 100782 ]; ok $? "with the guest's TCP"
is "$($python -c '
import csv, sys
rows = list(csv.DictReader(open("report/overhead.csv")))
print(*sorted({(r["base"], r["candidate"]) for r in rows if r["metric"] in ("io_time", "net_elapsed") and r["overhead_hi"]}))')" \
    "('local', 'iscsi') ('local', 'nfs')" "one table: what the two others cost, with an interval, disks and conversations"
cmp -s out report/overhead.csv; ok $? "on standard output, too"
mkdir saved
like "$($python "$top/tests/report_check.py" report/report.html saved)" '^ok: ' "one page"
cmp -s saved/overhead.csv report/overhead.csv; ok $? "with that table in it"
like "$(cat saved/profile.txt)" 'vda' "and the workload"

# A guest of several disks: a tape of each.
"$BUILD/tests/tool_make" tape two.tape streams=2 records=200
run "$top/samples/try-places" --tape two.tape -o two --runs 4 web a="$tmp/a-{disk}.img" b=null: -- --timing asap
is "$status $(cut -d, -f1 two/overhead.csv | uniq | tr '\n' ' ')" "0 workload web vda web vda1 (geometric mean) " "several disks: each is a workload"
ls a-vda.img a-vda1.img two/b-vda1.run two/report.html >/dev/null; ok $? "each with a place of its own"

# What cannot be.
run "$top/samples/try-places" web a=b c
like "$status $err" "^2 try-places: error: 'c' is no PLACE=TARGET" "not a place"
run "$top/samples/try-places" --tape report/web.tape -o report web a=null:
like "$status $err" "^1 .*File exists" "earlier results stay"
run "$top/samples/try-places" --connect "$uri" -o none none a=null:
is "$status $(ls -d none 2>&1)" "1 ls: cannot access 'none': No such file or directory" "a recording that fails leaves nothing"
like "$err" "libvirt knows no domain 'none'" "and says why"
done_testing
