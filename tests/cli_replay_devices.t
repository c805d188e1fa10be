#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay against devices whose behaviour is set: slow ones, failing ones, 4 KiB sectors; what the device was really asked.
. "$(dirname "$0")/lib.sh"
need_loop
need nbdkit nbdfuse
cd "$tmp" || exit 1

iolog() {
    local name=$1; shift
    printf '%s\n' 'fio version 3 iolog' '0 /dev/x add' '0 /dev/x open' "$@" '90000000 /dev/x close' >$name.iolog
    rm -f $name.tape
    $record -o $name.tape --import $name.iolog 2>/dev/null || note "cannot import $name"
}
rep() { $analyze show --json "$1" | $python -c "import json,sys; print(json.load(sys.stdin)['repetitions'][${3:-1}-1]['$2'])" 2>/dev/null; }
csv() { $analyze export "$1" --format csv | tail -n +2; }

# 200 reads and writes of 4 KiB, 10 us apart.
lines=()
for ((i = 0; i < 200; i++)); do
    ((i % 2)) && op=write || op=read
    lines+=("$((i * 10)) /dev/x $op $((i * 8192)) 4096")
done
iolog work "${lines[@]}"

# A device of 5 ms: latencies cannot be below, order and depth are kept.
nbd_loop 64M --filter=delay memory 64M rdelay=5ms wdelay=5ms 2>/dev/null || skip_all "no slow device"
slow=$loop
run $replay work.tape --to $slow -o a.run --timing asap --depth 8
is "$status,$(rep a.run records),$(rep a.run depth_max)" 0,200,8 "a slow device at depth 8"
is "$(csv a.run | awk -F, '$10 < 5000000 {bad++} END {print bad+0}')" 0 "no latency is below 5 ms"
is "$($analyze show --json a.run | $python -c "
import json,sys; r=json.load(sys.stdin)['repetitions'][0]; print(r['elapsed_ns'] >= 200/8*5e6)")" True "no faster than depth and latency allow"
# --timing recorded does not wait for completions: all are in flight after 2 ms. Response times count from the schedule.
run $replay work.tape --to $slow -o a.run --timing recorded
is "$status,$(rep a.run records)" 0,200 "a slow device at recorded times"
ok $(($(rep a.run depth_max) <= 8)) "more are in flight than asap had"
is "$(csv a.run | sort -t, -k2n | awk -F, '$7 != ($2-1)*10000 || $9 != $8-$7 {bad++} END {print bad+0}')" 0 "schedule and lateness"

# closed: a tape of one at a time, 100 us each, stays so on a device of 5 ms; recorded times would not (the control).
if $BUILD/tests/tool_make tape serial.tape records=40 latency_us=100; then
    run $replay serial.tape --to $slow -o a.run
    is "$status,$(rep a.run depth_max),$(rep a.run depth_recorded),$(rep a.run depth_capped)" 0,1,1,0 "closed: never two in flight"
    is "$($analyze show --json a.run | $python -c "
import json,sys; j=json.load(sys.stdin); r=j['repetitions'][0]
print(j['options']['timing'], r['elapsed_ns'] - r['zero_latency_ns'] >= 36 * 5e6)")" "closed True" "it is the default, and waits for each"
    run $replay serial.tape --to $slow -o a.run --timing recorded
    ok $(($(rep a.run depth_max) <= 1)) "recorded: more than one in flight"
else
    skip 3 "cannot make a tape"
fi
if [ -e "$shared/cases/block/depth-64.blktrace.0" ] &&
    $record -o deep.tape --import "$shared/cases/block/depth-64.blktrace.0" 2>/dev/null; then
    run $replay deep.tape --to $slow -o a.run
    is "$status,$(rep a.run depth_max),$(rep a.run depth_recorded)" 0,64,64 "closed: 64 in flight as recorded"
else
    skip 1 "no test case here"
fi

# Failing I/O.
nbd_loop 64M --filter=error memory 64M error-pread=EIO error-pread-rate=100% error-pread-file=$tmp/fail.now \
    2>/dev/null ||
    skip_all "no failing device"
bad=$loop
run $replay work.tape --to $bad -o a.run --timing asap
is "$status,$(rep a.run errors)" 0,0 "as long as nothing fails"
touch fail.now
run $replay work.tape --to $bad -o a.run --timing asap --read-only
is $status 1 "reads before the replay fail: refused"
like "$err" "cannot read .*: Input/output error" "the errno is named"
rm fail.now
$replay work.tape --to $bad -o b.run --timing recorded --speed 0.002 2>err.txt & pid=$!
wait_for 20 test -e b.run.partial; touch fail.now; wait $pid
is $? 1 "the first failed I/O ends the replay"
like "$(cat err.txt)" "error: [0-9]+ I/Os? failed .* the first one record [0-9]+: Input/output error" "and is named"
is "$(rep b.run complete),$(($(rep b.run errors) > 0))" 0,1 "what was measured is kept, and marked"
rm fail.now
$replay work.tape --to $bad -o b.run --timing recorded --speed 0.002 --max-errors 1000 2>err.txt & pid=$!
wait_for 20 test -e b.run.partial; touch fail.now; wait $pid
is "$?,$(rep b.run complete),$(rep b.run records)" 0,1,200 "with --max-errors it goes on"
is "$(csv b.run | awk -F, '$11 == 5 {n++} END {print n+0}')" "$(rep b.run errors)" "each failed record has its errno"
is "$(csv b.run | awk -F, '$11 && $4 != "read" {n++} END {print n+0}')" 0 "only reads failed"

# Flags reach the device: nbdkit's log is the witness.
nbd_loop 64M --filter=log memory 64M logfile=$tmp/nbd.log 2>/dev/null || skip_all "no logging device"
logged=$loop
case=$shared/cases/block/fua-preflush.blktrace.0
if [ -e "$case" ] && $record -o fua.tape --import "$case" 2>/dev/null; then
    run $replay fua.tape --to $logged -o a.run --timing recorded
    is "$status,$(rep a.run records),$(rep a.run unsupported),$(rep a.run errors)" 0,6,0,0 "preflush, FUA, flush and discard"
    is "$(rep a.run two_step)" 2 "the preflush write and the discard are two-step"
else
    skip 2 "no test case here"
fi

# Sectors of 4 KiB.
iolog odd '0 /dev/x read 0 4096' '1000 /dev/x read 3584 3584' '2000 /dev/x write 12288 4096'
if zram_new 32M; then
    run $replay odd.tape --to $zram -o a.run
    is $status 1 "an I/O that is not aligned: refused"
    like "$err" "record 2 .* is not aligned to the sectors of 4096 bytes" "it is named"
    run $replay odd.tape --to $zram -o a.run --fit widen
    is "$status,$(rep a.run fit_widened)" 0,1 "--fit widen"
    is "$(csv a.run | awk -F, '$2==2 {print $5","$6}')" 0,8192 "3584 to 7168 becomes 0 to 8192"
    run $replay odd.tape --to $zram -o a.run --fit skip
    is "$status,$(rep a.run fit_skipped),$(rep a.run records)" 0,1,2 "--fit skip"
else
    skip 5 "no zram"
fi
done_testing
