#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What iotape-replay's options do, on files and the null target: no root needed.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1

# iolog NAME LINE...: a tape of a trace in fio's format, version 3.
iolog() {
    local name=$1; shift
    printf '%s\n' 'fio version 3 iolog' '0 /dev/x add' '0 /dev/x open' "$@" '90000000 /dev/x close' >$name.iolog
    rm -f $name.tape
    $record -o $name.tape --import $name.iolog 2>/dev/null || note "cannot import $name"
}
# rep FILE FIELD [I]: of the I-th repetition's summary (default the first).
rep() { $analyze show --json "$1" | $python -c "import json,sys; print(json.load(sys.stdin)['repetitions'][${3:-1}-1]['$2'])" 2>/dev/null; }
csv() { $analyze export "$1" --format csv; }

iolog small '0 /dev/x read 0 4096' '1000 /dev/x write 8192 8192' '2000 /dev/x read 4096 512' \
    '3000 /dev/x write 4608 512' '4000 /dev/x datasync 0 0' '5000 /dev/x trim 65536 65536'

# Help and usage.
run $replay --help
is $status 0 "--help"
like "$out" "--overwrite-recorded-disk" "--help lists the options"
like "$out" "null: .*does nothing" "--help lists the targets"
run $replay; is $status 2 "no arguments: usage"
run $replay small.tape; is $status 2 "no target: usage"
run $replay small.tape --to null:; is $status 2 "no output: usage"
run $replay small.tape --to null: -o a.run -o b.run; is $status 2 "more outputs than targets: usage"
run $replay small.tape --to null: -o a.run --timing soon; is $status 2 "unknown timing: usage"
run $replay small.tape --to null: -o a.run --depth 0; is $status 2 "depth 0: usage"
run $replay small.tape --to null: -o a.run --speed 0; is $status 2 "speed 0: usage"
run $replay absent.tape --to null: -o a.run; is $status 1 "no such tape"
like "$err" "^iotape-replay: error: .*absent.tape" "it is named"
run $replay small.tape --to what://ever -o a.run; is $status 1 "unknown scheme"
like "$err" "unknown scheme: known are null:, aio:, .*and paths" "what is known is listed"
run $replay small.tape --to null: -o /no/such/dir/a.run; is $status 1 "an output that cannot be written"

# Everything that is in the tape is done, and is in the run.
run $replay small.tape --to file.img -o a.run
is $status 0 "replay to a file"
like "$err" "^file.img: repetition 1: .* IOPS, .* MB/s, mean latency .*, lateness p50" "a summary for each repetition"
is "$(csv a.run | cut -d, -f2-6 | tail -n +2 | sort | tr '\n' ' ')" \
    "1,x,read,0,4096 2,x,write,8192,8192 3,x,read,4096,512 4,x,write,4608,512 5,x,flush,0,0 6,x,discard,65536,65536 " \
    "one result for each record"
is "$(csv a.run | tail -n +2 | cut -d, -f11 | sort -u)" 0 "no errors"
is "$(rep a.run records),$(rep a.run errors),$(rep a.run unsupported),$(rep a.run complete)" 6,0,0,1 "the summary's counts"
is "$(rep a.run read_bytes),$(rep a.run written_bytes)" 4608,8704 "and bytes"
is "$(rep a.run two_step)" 1 "the discard was done by a helper thread, and is counted"
# recorded: 1 ms apart, issued no sooner.
is "$(csv a.run | awk -F, 'NR>1 && ($7 != ($2-1)*1000000 || $8 < $7) {bad=1} END {print bad+0}')" 0 "scheduled as recorded"
# What was discarded is zeros now; the 512 bytes that were written are not those of the fill.
is "$(tail -c 65536 file.img | tr -d '\0' | wc -c)" 0 "the discard is the last thing that happened there"
is "$(head -c 4608 file.img | tail -c 512 | cmp - <(head -c 5120 file.img | tail -c 512) >/dev/null; echo $?)" 1 \
    "sectors differ"

# Repetitions.
run $replay small.tape --to file.img -o a.run --runs 3 --warmup 1 --timing asap
is $status 0 "four repetitions"
is "$($analyze show --json a.run | $python -c "
import json,sys; print([(r['repetition'],r['warmup'],r['order']) for r in json.load(sys.stdin)['repetitions']])")" \
    "[(1, 1, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4)]" "numbered, the warmup marked"
is "$(csv a.run | tail -n +2 | cut -d, -f1 | sort | uniq -c | awk '{print $1}' | sort -u)" 6 "all results of each"

# Interleaved, in an order that favours none.
run $replay small.tape --to a.img -o a.run --to b.img -o b.run --runs 4 --timing asap
is $status 0 "two targets, interleaved"
orders=$(for f in a b; do $analyze show --json $f.run | $python -c "
import json,sys; print(sum(r['order'] for r in json.load(sys.stdin)['repetitions']))"; done | tr '\n' ' ')
is "$orders" "18 18 " "1 to 8 are shared out evenly: ABBA"
run $replay small.tape --to a.img -o a2.run --to b.img -o b2.run --runs 4 --timing asap
is "$($analyze show --json a2.run | grep '"order"')" "$($analyze show --json a.run | grep '"order"')" "same seed, same order"
is "$(csv b.run | wc -l)" 25 "each run has its own repetitions"
run $replay small.tape --to a.img -o a.run --to a.img -o b.run
is $status 0 "one target against itself"

# The part.
run $replay small.tape --to null: -o a.run --from 1ms --for 3ms --timing recorded
is "$(csv a.run | tail -n +2 | cut -d, -f2,7 | tr '\n' ' ')" "2,0 3,1000000 4,2000000 " "--from and --for"
run $replay small.tape --to null: -o a.run --from 1h
is $status 1 "a part with nothing in it"
run $replay small.tape --to null: -o a.run --timing closed
is $status 1 "closed without latencies"
like "$err" "needs latencies" "says so"
run $replay small.tape --to null: -o a.run --speed 4
is "$(csv a.run | tail -n +2 | cut -d, -f7 | tr '\n' ' ')" "0 250000 500000 750000 1000000 1250000 " "--speed"

# Fit.
iolog large '0 /dev/x read 0 4096' '1000 /dev/x read 3298534883328 4096' '2000 /dev/x write 8192 4096' \
    '3000 /dev/x trim 0 4294966784'
truncate -s 1M mib.img
before=$(sha256sum <mib.img)
run $replay large.tape --to mib.img -o a.run
is $status 1 "beyond the end: refused"
like "$err" "record 2 \(read of 4096 bytes at 3298534883328\) lies beyond the end of 'mib.img' \(1048576 bytes\)" \
    "names record, place and size"
is "$(sha256sum <mib.img)" "$before" "before any I/O"
run $replay large.tape --to mib.img -o a.run --fit widen
is $status 1 "widen does not help"
run $replay large.tape --to mib.img -o a.run --fit skip
is "$status,$(rep a.run fit_skipped),$(rep a.run records)" 0,2,2 "skip: counted, left out"
run $replay large.tape --to mib.img -o a.run --fit wrap
is "$status,$(rep a.run fit_wrapped),$(rep a.run records)" 0,2,4 "wrap: counted, done"
is "$(csv a.run | awk -F, '$2==2 || $2==4 {print $5":"$6}' | tr '\n' ' ')" "0:4096 0:1048576 " "3 TiB modulo 1 MiB; the discard is cut"
# A discard of 4 GiB - 512 needs no buffer: not even a target that keeps nothing.
small_space() { (ulimit -v 1500000 && $replay --version) >/dev/null 2>&1; } 2>/dev/null
if small_space; then
    run bash -c "ulimit -v 1500000; exec $replay large.tape --to null: -o a.run"
    is $status 0 "a discard of 4,294,966,784 bytes in 1.5 GB of address space"
    [ $status = 0 ] || note "$err"
else
    skip 1 "a sanitizer needs more address space"
fi

# Blocks 0 to 3 and 16 to 31 are touched. Nothing is written by --dry-run and --read-only.
rm -f dry.img
run $replay small.tape --to dry.img -o dry.run --dry-run
is "$status,$(ls dry.* 2>/dev/null)" 0, "--dry-run creates nothing"
like "$out" "to be filled first: 80.00 KiB" "says what would be filled"
like "$out" "would be created" "and created"
run $replay small.tape --to no/dry.img -o dry.run --dry-run
like "$status,$err" "^1,.*cannot create 'no/dry.img': No such file or directory" "--dry-run fails where a file could not be created"
head -c 1M /dev/urandom >foreign.img
before=$(sha256sum <foreign.img)
run $replay small.tape --to foreign.img --dry-run
is $status 1 "--dry-run fails where a replay would be refused"
like "$err" "would be refused: .*holds data that iotape did not write" "and says why"
run $replay small.tape --to foreign.img -o a.run --read-only
is $status 0 "--read-only replays on foreign data"
is "$(sha256sum <foreign.img)" "$before" "and writes nothing"
is "$(rep a.run readonly_skipped),$(rep a.run records)" 4,2 "what is no read is counted and left out"
truncate -s 1M hole.img
run $replay small.tape --to hole.img -o a.run --read-only
like "$err" "2 of 2 sampled blocks .* hold zeros" "holes are reported"
is "$(stat -c %b hole.img)" 0 "and stay holes"

# Memory does not grow with the tape: 48 MiB are enough for any.
if small_space && $BUILD/tests/tool_make tape long.tape records=2000000; then
    rss=$($python -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' $replay long.tape --to null: -o long.run --timing asap)
    ok $((${rss:-99999} > 48 * 1024)) "two million records in 48 MiB"
    note "resident: ${rss:-unknown} KiB"
    is "$(rep long.run records)" 2000000 "all of them"
    rm -f long.tape long.run
else
    skip 2 "a sanitizer needs more memory"
fi

# Several streams.
printf '%s\n' 'fio version 3 iolog' '0 /dev/x add' '0 /dev/y add' '0 /dev/x open' '0 /dev/y open' '0 /dev/x write 0 4096' \
    '1000 /dev/y write 4096 4096' '2000 /dev/x write 8192 4096' '3000 /dev/x close' '3000 /dev/y close' >two.iolog
$record -o two.tape --import two.iolog 2>/dev/null
run $replay two.tape --to null: -o a.run
is $status 1 "two streams, one target"
like "$err" "2 streams .*--map for each or as many --to" "says what to do"
run $replay two.tape --to x.img --to y.img -o a.run
is "$status,$(stat -c %s x.img),$(stat -c %s y.img)" 0,12288,8192 "as many --to as streams"
rm -f x.img y.img
run $replay two.tape --map y=x.img --map x=y.img -o a.run
is "$status,$(stat -c %s x.img),$(stat -c %s y.img)" 0,8192,12288 "--map by name"
rm -f x.img y.img
run $replay two.tape --map 2=x.img --to y.img -o a.run
is "$status,$(stat -c %s x.img),$(stat -c %s y.img)" 0,8192,12288 "--map by number, --to for the rest"
run $replay two.tape --map x=null: --map y=y.img -o a.run
is $status 0 "targets of two kinds"
run $replay two.tape --map z=null: --to y.img -o a.run
is $status 1 "--map of no stream"

# A signal keeps what was measured.
iolog slow '0 /dev/x read 0 4096' '1000 /dev/x read 4096 4096' '60000000 /dev/x read 8192 4096'
$replay slow.tape --to null: -o cut.run --runs 2 2>cut.err & pid=$!
wait_for 20 test -e cut.run.partial
sleep 2 # time for the two I/Os that are due
kill -INT $pid
wait $pid; is $? 1 "Ctrl-C: exit 1"
like "$(cat cut.err)" "cut short by a signal" "says so"
is "$($analyze show --json cut.run | $python -c "import json,sys; j=json.load(sys.stdin); print(j['ended'], len(j['repetitions']))")" \
    "signal 1" "the run says so"
is "$(rep cut.run complete),$(rep cut.run records)" 0,2 "the repetition is marked, its results kept"
is "$(csv cut.run | wc -l)" 3 "both results"
done_testing
