#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay to nfs-ganesha: what arrives is right, what fails is said, and nothing hangs.
. "$(dirname "$0")/replay.sh"
need_root
need ganesha.nfsd rpcbind unshare

hash_of() { sha256sum <"$1" | cut -d' ' -f1; }

separate_writes >work.txt
tape work <work.txt
run $replay work.tape --to local.img -o local.run
is $status 0 "replay to a file, to compare with"
wanted=$(hash_of local.img)

mkdir -p export/sub
dir=$tmp/export
nfs_server "$dir" || skip_all "nfs-ganesha does not start"
at() { echo "nfs://127.0.0.1$dir/$1?$nfs_query${2:+&$2}"; }

run $replay work.tape --to "$(at a.img)" -o a.run --timing asap --depth 32
is "$status,$(rep a.run errors),$(rep a.run unsupported)" 0,0,0 "a file that is absent is created, and replayed to"
is "$(hash_of export/a.img)" "$wanted" "the bytes on the server are those of a replay to a file"
is "$(rep a.run two_step)" "$(grep -c 'preflush' <(grep write work.txt))" "writes behind a flush are two steps"
is "$(rep a.run path_changes),$(rep a.run reissued)" 0,0 "no connection broke"
printf 'x' | dd of=export/a.img bs=1 seek=5000 conv=notrunc 2>/dev/null
isnt=$(hash_of export/a.img); [ "$isnt" != "$wanted" ]; ok $? "control: a byte that differs is noticed"
run $replay work.tape --to "$(at sub/b.img "connections=4&stable=1")" -o b.run --timing recorded --runs 2
is "$status,$(rep b.run errors),$(hash_of export/sub/b.img | cmp - <(hash_of local.img) >/dev/null; echo $?)" 0,0,1 \
    "four connections, stable writes, in a directory below, two repetitions"
run $replay work.tape --to local2.img -o local2.run --timing recorded --runs 2
is "$(hash_of export/sub/b.img)" "$(hash_of local2.img)" "the bytes are those of a second repetition"
like "$($analyze show b.run)" "protocol: NFS version 3 over TCP" "the run says how"
like "$($analyze show b.run)" "write_max_bytes: [0-9]+" "and what the server's limits are"
# Whole file from the first byte on; what has no call in NFS version 3 is counted.
printf '%s\n' '0 write 0 8192' '100 discard 0 4096' '200 write_zeroes 4096 4096' '300 read 0 8192' | tape punch
run $replay punch.tape --to "$(at punch.img)" -o p.run
is "$status,$(rep p.run unsupported),$(rep p.run records)" 0,2,2 "discard and write_zeroes are counted as unsupported"
is "$(head -c 8192 export/punch.img | tr -d '\0' | wc -c | awk '{ print ($1 > 8000) }')" 1 "and destroy nothing"

# Guard: what is not ours stays.
head -c 40M /dev/urandom >export/foreign.img; before=$(hash_of export/foreign.img)
run $replay work.tape --to "$(at foreign.img)" -o c.run
is $status 1 "foreign data: refused"
like "$err" "foreign.img.*holds data that iotape did not write" "and said"
is "$(hash_of export/foreign.img)" "$before" "no byte changed"
run $replay work.tape --to "$(at foreign.img)" -o c.run --read-only
is "$status,$(hash_of export/foreign.img)" "0,$before" "--read-only reads it, no byte changed"

# What cannot work, one line each, and nothing written.
truncate -s 4096 export/tiny.img; : >export/empty.img; chmod 0 export/empty.img; mkdir export/dir; ln -s a.img export/link
before=$(find export -type f -exec sha256sum {} + | sort)
refuse() { # refuse URL REGEX NAME
    run timeout 30 $replay work.tape --to "$1" -o no.run --stall-timeout 3s
    is "$status,$(printf '%s\n' "$err" | wc -l),$(ls no.run* 2>/dev/null)" 1,1, "$3"
    like "$err" "$2" "$3: says why"
}
refuse "nfs://127.0.0.1/not/there/a.img?$nfs_query" "exports no directory that has '/not/there'" "a missing export"
refuse "$(at none/a.img)" "cannot find directory 'none'" "a missing directory"
refuse "$(at tiny.img)" "record [0-9]+ .* lies beyond the end of 'nfs://.* .4096 bytes.; see --fit" "a file that is too small"
refuse "$(at dir)" "no regular file" "a directory"
refuse "$(at link)" "no regular file" "a symbolic link"
refuse "nfs://127.0.0.1$dir/a.img?nfsport=$((nfs_port + 1))&mountport=1" "cannot reach the MOUNT server.*Connection refused" \
    "nobody listens"
if (exec 3<>/dev/tcp/127.0.0.1/111) 2>/dev/null; then skip 2 "this host has a portmapper"; else
    refuse "nfs://127.0.0.1$dir/a.img" "portmapper.*Connection refused" "no portmapper"
fi
refuse "$(at a.img version=4)" "with NFS version 4 files are only read.*version=3" "writing with version 4"
refuse "$(at a.img colour=red)" "unknown parameter 'colour'" "an unknown parameter"
refuse "$(at a.img connections=0)" "connections=0 is not between" "a parameter out of range"
refuse "nfs://127.0.0.1/" "names no file" "no file"
refuse "nfs:///a/b" "names no host" "no host"
refuse "nfs://host.invalid/a/b?$nfs_query" "cannot find host 'host.invalid'" "a host that does not exist"
is "$(find export -type f -exec sha256sum {} + | sort)" "$before" "nothing was written"
# A server that speaks something else.
other_server "c.sendall(b'SSH-2.0-OpenSSH_9.2\r\n' * 9); time.sleep(30)"
refuse "nfs://127.0.0.1$dir/a.img?nfsport=$other_port&mountport=$other_port" \
    "closed the connection or sent what it should not" "garbage"

# A server that is killed and comes back: nothing fails, and the bytes are right.
awk '{ $1 *= 8; print }' work.txt | tape slow # 2.4 s
run $replay slow.tape --to "$(at r.img connections=2)" -o r.run --timing recorded # made and filled
$replay slow.tape --to "$(at r.img connections=2)" -o rr.run --timing recorded 2>rr.err & pid=$!
sleep 1; nfs_stop KILL; sleep 0.3; nfs_server "$dir"; wait $pid; status=$?
is "$status,$(rep rr.run errors)" 0,0 "the server was killed and started again: no I/O failed"
[ $status = 0 ] || note "$(cat rr.err)"
is "$(hash_of export/r.img)" "$(hash_of local.img)" "the bytes are right"
[ "$(rep rr.run path_changes)" -ge 4 ]; ok $? "connections went and came: $(rep rr.run path_changes), sent again: $(rep rr.run reissued)"
# The same with --verify, twice killed; and later, when the server has been killed once more.
$replay slow.tape --to "$(at v.img)" -o v.run --timing recorded --verify 2>v.err & pid=$!
wait_for 20 test -e v.run.partial; sleep 0.7; nfs_stop KILL; sleep 0.3; nfs_server "$dir"; sleep 0.5; nfs_stop KILL; nfs_server "$dir"
wait $pid; status=$?
is "$status,$(rep v.run errors),$(rep v.run wrong_data),$(rep v.run path_changes)" 0,0,0,4 "killed and restarted twice, verified: no data are wrong"
[ $status = 0 ] || note "$(cat v.err)"
[ "$(rep v.run verified)" -gt 1500 ]; ok $? "it was checked: $(rep v.run verified) blocks"
nfs_stop KILL; nfs_server "$dir"
run $replay slow.tape --to "$(at v.img)" --verify-only v.run
is $status 0 "and again later"
printf 'x' | dd of=export/v.img bs=1 seek=5000 conv=notrunc 2>/dev/null
run $replay slow.tape --to "$(at v.img)" --verify-only v.run
like "$status,$err" "1,.*byte 4608: expected .*torn" "control: a byte that differs is found"
# One that hangs, and one that is gone: an end in bounded time, what was measured is kept.
for how in STOP KILL; do
    timeout 60 $replay slow.tape --to "$(at r.img)" -o g.run --timing recorded --stall-timeout 2s 2>g.err & pid=$!
    sleep 1
    if [ $how = KILL ]; then nfs_stop KILL; else kill -$how $nfs_pid; fi
    wait $pid; status=$?
    is $status 1 "after SIG$how of the server: an end by itself within 60 s, with --stall-timeout 2s"
    like "$(cat g.err)" "Connection timed out" "with the reason"
    [ "$(rep g.run records)" -gt 10 ] && [ "$(rep g.run errors)" -gt 0 ]
    ok $? "what was measured is kept: $(rep g.run records) records, $(rep g.run errors) errors"
    kill -CONT $nfs_pid 2>/dev/null
done
nfs_stop KILL
nfs_server "$dir" "Access_Type=RO;"
refuse "$(at a.img)" "grants no right to write to" "a read-only export"
refuse "$(at new.img)" "grants no right to create" "a new file on it"
run $replay work.tape --to "$(at a.img)" -o c.run --read-only
is $status 0 "--read-only works there"
nfs_stop
done_testing
