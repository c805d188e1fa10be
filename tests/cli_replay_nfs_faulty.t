#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay to an NFS server of our own that misbehaves (nfs_faulty.py): what it was asked is what is in the tape, nothing is lost
# that should not be, what fails is said, and nothing hangs. No root needed.
. "$(dirname "$0")/replay.sh"

hash_of() { sha256sum <"$1" | cut -d' ' -f1; }

separate_writes >work.txt
tape work <work.txt
run $replay work.tape --to local.img -o local.run
is $status 0 "replay to a file, to compare with"
wanted=$(hash_of local.img)

faulty_port=$nfs_port faulty_pid=
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
