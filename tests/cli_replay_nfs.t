#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay to nfs-ganesha, and to a server of our own that misbehaves: what arrives is right, nothing is lost that should not be,
# what fails is said, and nothing hangs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
need_root
need ganesha.nfsd rpcbind unshare
[ -x "$BUILD/tests/tool_tape" ] || skip_all "needs tests/tool_tape (make tests)"
cd "$tmp" || exit 1

tape() { rm -f "$1.tape"; "$BUILD/tests/tool_tape" "$1.tape" || note "cannot make $1"; }
rep() { $analyze show --json "$1" | $python -c "import json,sys; print(json.load(sys.stdin)['repetitions'][${3:-1}-1]['$2'])"; }
hash_of() { sha256sum <"$1" | cut -d' ' -f1; }
# seconds COMMAND...: as run, and sets $took.
seconds() { local from=$SECONDS; run "$@"; took=$((SECONDS - from)); }

# Writes each at a place of its own, 512 bytes to 192 KiB, reads, flushes, FUA: the same bytes wherever it is replayed to.
awk 'BEGIN { srand(5); t = 0; at = 0; for (i = 0; i < 1500; i++) { t += 200; k = i % 10
    len = 512 * (1 + int(rand() * (i % 50 ? 15 : 384)))
    if (k == 9) { printf "%d flush 0 0 preflush\n", t; continue }
    if (k > 5) { printf "%d read %d %d\n", t, int(rand() * 1000) * 4096, len; continue }
    printf "%d write %d %d %s\n", t, at, len, k == 3 ? "fua" : k == 4 ? "preflush" : k == 5 && i % 3 == 0 ? "preflush|fua" : "-"
    at += len } }' >work.txt
tape work <work.txt
run $replay work.tape --to local.img -o local.run
is $status 0 "replay to a file, to compare with"
wanted=$(hash_of local.img)

# ---- nfs-ganesha ----

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
: >export/empty.img; chmod 0 export/empty.img; mkdir export/dir; ln -s a.img export/link
before=$(find export -type f -exec sha256sum {} + | sort)
refuse() { # refuse URL REGEX NAME
    run timeout 30 $replay work.tape --to "$1" -o no.run --stall-timeout 3s
    is "$status,$(printf '%s\n' "$err" | wc -l),$(ls no.run* 2>/dev/null)" 1,1, "$3"
    like "$err" "$2" "$3: says why"
}
refuse "nfs://127.0.0.1/not/there/a.img?$nfs_query" "exports no directory that has '/not/there'" "a missing export"
refuse "$(at none/a.img)" "cannot find directory 'none'" "a missing directory"
refuse "$(at dir)" "no regular file" "a directory"
refuse "$(at link)" "no regular file" "a symbolic link"
refuse "nfs://127.0.0.1$dir/a.img?nfsport=$((nfs_port + 1))&mountport=1" "cannot reach the MOUNT server.*Connection refused" \
    "nobody listens"
if (exec 3<>/dev/tcp/127.0.0.1/111) 2>/dev/null; then skip 2 "this host has a portmapper"; else
    refuse "nfs://127.0.0.1$dir/a.img" "portmapper.*Connection refused" "no portmapper"
fi
refuse "$(at a.img version=4)" "version 4 is not supported.*version=3" "version 4"
refuse "$(at a.img colour=red)" "unknown parameter 'colour'" "an unknown parameter"
refuse "$(at a.img connections=0)" "connections=0 is not between" "a parameter out of range"
refuse "nfs://127.0.0.1/" "names no file" "no file"
refuse "nfs:///a/b" "names no host" "no host"
refuse "nfs://host.invalid/a/b?$nfs_query" "cannot find host 'host.invalid'" "a host that does not exist"
is "$(find export -type f -exec sha256sum {} + | sort)" "$before" "nothing was written"
# A server that speaks something else.
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 9, ReuseAddr => 1)
    or exit 1; while ($c = $s->accept) { print $c "SSH-2.0-OpenSSH_9.2\r\n" x 9; push @c, $c }' $((nfs_port + 20000)) &
cleanup "kill $!; wait $!"
wait_for 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$((nfs_port + 20000))"
refuse "nfs://127.0.0.1$dir/a.img?nfsport=$((nfs_port + 20000))&mountport=$((nfs_port + 20000))" \
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
    $replay slow.tape --to "$(at r.img)" -o g.run --timing recorded --stall-timeout 2s 2>g.err & pid=$!
    sleep 1; from=$SECONDS
    if [ $how = KILL ]; then nfs_stop KILL; else kill -$how $nfs_pid; fi
    wait $pid; status=$?
    is "$status,$((SECONDS - from < 12))" 1,1 "after SIG$how of the server: an end"
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

# ---- a server that misbehaves ----

faulty_port=$((nfs_port + 10000)) faulty_pid=
faulty() { # faulty OPTION...
    [ -z "$faulty_pid" ] || { kill $faulty_pid; wait $faulty_pid; }
    rm -rf f; mkdir f; : >f.out
    $python "$top/tests/nfs_faulty.py" f $faulty_port --log f.log "$@" >f.out 2>&1 & faulty_pid=$!
    wait_for 10 grep -q serving f.out || note "$(cat f.out)"
}
cleanup 'kill $faulty_pid; wait $faulty_pid'
furl="nfs://127.0.0.1/export/f.img?nfsport=$faulty_port&mountport=$faulty_port"
faulty_replay() { run timeout 60 $replay ${faulty_tape:-work.tape} --to "$furl" -o f.run --timing asap --depth 16 --stall-timeout 5s "$@"; }
settle() { kill $faulty_pid; wait $faulty_pid; faulty_pid=; settled=$(hash_of f/f.img); }

faulty --most 1048576
faulty_replay
settle
is "$status,$settled" "0,$wanted" "an NFS server in Python"
# Requests are those of the tape, after what filled it.
awk 'flushed { print } /^flush/ { flushed = 1 }' f.log | sort >got
awk '$2 == "flush" { print "flush 0 0 0"; next } $5 ~ /preflush/ { print "flush 0 0 0" } { print $2, $3, $4, ($5 ~ /fua/) * 2 }' work.txt |
    sort >asked
is "$(md5sum <got)" "$(md5sum <asked)" "what it was asked is what is in the tape: $(wc -l <asked) requests, FUA as FILE_SYNC"
cmp -s got asked || note "$(diff got asked | head -5)"
tail -n +2 asked | cmp -s got -; is $? 1 "control: one request less is noticed"

# Writes only, without a flush: 64 MiB are not reached, so that none is committed before it is lost.
grep -v flush work.txt | cut -d' ' -f1-4 | tape plain
run $replay plain.tape --to plain.img -o local.run
wanted=$(hash_of plain.img) faulty_tape=plain.tape
for how in "--lose-after 500" "--lose-after 500 --quietly" "--jukebox 40" "--short"; do
    # shellcheck disable=SC2086 # several options
    faulty $how
    faulty_replay
    settle
    is "$status,$(rep f.run errors),$settled" "0,0,$wanted" "a server with $how: nothing failed, the bytes are right"
    [ $status = 0 ] || note "$err"
    case $how in --lose*)
        lost=$(awk '/^lost/ { print $2 }' f.out)
        [ "$lost" -ge 100 ]; ok $? "it did lose something: $lost writes"
        [ "$(rep f.run reissued)" -ge "$lost" ]; ok $? "which was sent again: $(rep f.run reissued) writes and reads" ;;
    esac
done
# What the client would have to send again is bounded: 80 MiB without a flush.
awk 'BEGIN { for (i = 0; i < 160; i++) printf "%d write %d 524288\n", i, i * 524288 }' | tape much
faulty_tape=much.tape
faulty --most 1048576
faulty_replay
is $status 0 "80 MiB of writes without a flush"
n=$(awk 'flushed { n += /^flush/ } /^flush/ { flushed = 1 } END { print n + 0 }' f.log)
[ "$n" -ge 1 ]; ok $? "are committed nevertheless: $n COMMITs"
faulty_tape=
faulty --new-verifier-always
faulty_replay
is $status 1 "a server that says all the time that it may have lost something: an end"
like "$err" "cannot flush.*Input/output error" "at the first flush"
faulty --fail-commit 28
faulty_replay
like "$status $err" "^1 .*cannot flush.*No space left on device" "a COMMIT that fails is a flush that fails"
faulty --reject 100
faulty_replay --max-errors 1000
is "$status" 1 "a call that is refused while filling: an end"
like "$err" "Input/output error" "with the reason"
faulty --reject 500 # none of the few calls that fill is the 500th
faulty_replay --max-errors 1000
[ $status = 0 ] && [ "$(rep f.run errors)" -ge 1 ]; ok $? "later: counted ($(rep f.run errors) errors), and the replay goes on"
[ $status = 0 ] || note "$err"
done_testing
