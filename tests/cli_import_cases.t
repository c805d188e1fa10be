#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The collected inputs that existing tools get wrong, each with its right outcome (README.md beside them), imported and replayed.
# tests/test_import_blktrace.c and test_import_fio.c build the same inputs themselves; tests/bench/42-replay-pace times the replays.
. "$(dirname "$0")/replay.sh"
cases=$shared/cases/block
[ -d "$cases" ] || skip_all "the collected cases are not here"

# import FILE: its records land in $csv without the header, "t,stream,op,flags,offset,length,latency".
import() {
    rm -f "$tmp"/x.tape*
    run "$record" --import "$cases/$1" -o "$tmp/x.tape"
    [ "$status" -eq 0 ] || { note "$err"; csv=; return 1; }
    csv=$("$analyze" export "$tmp/x.tape" --format csv | sed 1d | cut -d, -f1,2,4-8)
}
# count NAME: one of the tape's counts.
count() { "$analyze" show --json "$tmp/x.tape" | $python -c "
import json, sys
v = json.load(sys.stdin)
print(v.get('counts', {}).get('$1', v.get('$1', '')))"; }
profiled_depth() { "$analyze" profile --json x.tape | $python -c "import json, sys; print(json.load(sys.stdin)['depth']['max'])"; }
# play OPTION...: replays what was imported last into x.run.
play() { run "$replay" x.tape -o x.run "$@"; [ "$status" -eq 0 ] || note "$err"; }
# said NAME...: values of its only repetition, joined by commas.
said() {
    local n
    "$analyze" show --json x.run >shown
    for n; do sed -n "s/^      \"$n\": \([0-9]*\),*\$/\1/p" shown; done | paste -sd,
}
# plays NAME [TARGET...]: replayed at recorded times (to the null target) every record is done as it is in the tape and at its
# time, and none fails.
plays() {
    local name=$1; shift
    play --timing recorded "${@:---to=null:}"
    awk -F, -v OFS=, '{ print $2, $3, $5, $6, $1, 0 }' <<<"$csv" >wanted
    csv x.run | sort -t, -k2,2n | cut -d, -f3-7,11 >played
    [ "$status" -eq 0 ] && cmp -s wanted played && [ "$(said errors unsupported)" = 0,0 ]
    ok $? "$name: replayed as it is in the tape: $(wc -l <wanted) records, none failed"
    cmp -s wanted played || note "$(diff wanted played | head -5)"
}

import fua-preflush.blktrace.0
is "$csv" "0,8:0,write,sync,0,4096,
1000000,8:0,write,preflush|fua|sync|meta,4096,4096,
2000000,8:0,flush,sync,0,0,
3000000,8:0,write,fua|sync,8192,4096,
4000000,8:0,discard,sync,12288,1048576,
5000000,8:0,read,,16384,4096," "fua-preflush: six records, kinds and flags kept"
plays fua-preflush # tests/cli_replay_devices.t sees the flags arrive

import gap-200us.blktrace.0
is "$(wc -l <<<"$csv"; tail -n 1 <<<"$csv" | cut -d, -f1)" "5000
999800000" "gap-200us: the span is 0.9998 s exactly"
plays gap-200us

import gap-1900ns.blktrace.0
is "$(wc -l <<<"$csv"; tail -n 1 <<<"$csv" | cut -d, -f1)" "10000
18998100" "gap-1900ns: the tape keeps nanoseconds"
plays gap-1900ns

import backwards.blktrace.0
is "$(cut -d, -f1,5 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 1; i < 20; i += 2)); do printf '0,%d ' $((i * 4096)); done
       for ((i = 0; i < 20; i += 2)); do printf '50000000,%d ' $((i * 4096)); done)" "backwards: a stable sort"
is "$(count out_of_order)" 10 "backwards: ten records counted"
like "$("$analyze" show x.tape)" "out_of_order.* 10$" "backwards: and reported"
plays backwards

for n in 0 1; do
    import percpu.blktrace.$n
    is "$(cut -d, -f1,5 <<<"$csv" | tr '\n' ' ')" \
        "$(for ((i = 0; i < 10; i++)); do printf '%d,%d ' $((i * 1000000)) $(((i % 2 * 800 + i / 2 * 8) * 512)); done)" \
        "percpu: both files are read, given .$n"
done
plays percpu

import past-end.blktrace.0
is "$(cut -d, -f5 <<<"$csv" | tr '\n' ' ')" "0 3298534883328 4096 " "past-end: the offset is kept"
plays past-end
truncate -s 2G small.img
run "$replay" x.tape --to small.img -o x.run
is "$status,$(stat -c %b small.img)" 1,0 "past-end: refused before any I/O"
like "$err" "record 2 \(read of 4096 bytes at 3298534883328\) lies beyond the end of 'small.img' \(2147483648 bytes\)" \
    "past-end: names record, offset and size"
play --to small.img --timing recorded --fit wrap
is "$status,$(said fit_wrapped),$(csv x.run | cut -d, -f2,5 | tr '\n' ' ')" "0,1,1,0 2,0 3,4096 " "past-end: --fit wrap counts it"
play --to small.img --timing recorded --fit skip
is "$status,$(said fit_skipped),$(csv x.run | cut -d, -f2,5 | tr '\n' ' ')" "0,1,1,0 3,4096 " "past-end: --fit skip counts it"

import unaligned.blktrace.0
is "$(sed -n 2p <<<"$csv")" "1000000,8:0,read,,3584,3584," "unaligned: kept as recorded"
plays unaligned
truncate -s 1M sectors.img
if [ "$(id -u)" -eq 0 ] && loop_attach sectors.img --sector-size 4096; then
    run "$replay" x.tape --to "$loop" -o x.run
    is "$status,$(stat -c %b sectors.img)" 1,0 "unaligned: refused where sectors have 4 KiB"
    like "$err" "record 2 .* is not aligned to the sectors of 4096 bytes" "unaligned: names the record"
    play --to "$loop" --timing recorded --fit widen
    is "$status,$(said fit_widened),$(csv x.run | sed -n 2p | cut -d, -f2,5,6)" 0,1,2,0,8192 "unaligned: --fit widen counts it"
else
    skip 3 "no loop device with sectors of 4 KiB"
fi

import partition-remap.blktrace.0
is "$csv" "0,8:1,read,,1048576,4096," "partition-remap: one read, not two"
plays partition-remap
import cgroup-bit.blktrace.0
is "$(cut -d, -f1,3,5,6 <<<"$csv" | tr '\n' ' ')" "0,read,0,4096 1000000,read,4096,4096 2000000,read,8192,4096 " \
    "cgroup-bit: three reads"
plays cgroup-bit
import discard-4g.blktrace.0
is "$(sed -n 2p <<<"$csv")" "1000000,8:0,discard,,0,4294966784," "discard-4g: one discard of that length"
plays discard-4g
if (ulimit -v 1500000 && "$replay" --version) >/dev/null 2>&1; then
    run bash -c "ulimit -v 1500000; exec '$replay' x.tape --to null: -o x.run --timing recorded"
    is "$status,$(said records)" 0,2 "discard-4g: without a buffer for it"
else
    skip 1 "a sanitizer needs more address space"
fi

import depth-64.blktrace.0
is "$(cut -d, -f1,7 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 0; i < 64; i++)); do printf '%d,9000000 ' $((i * 1000)); done)" "depth-64: all queued before the first ends"
is "$(profiled_depth)" 64 "depth-64: the profile's depth"
plays depth-64
if nbd_server slow.sock --filter=delay memory 1M rdelay=20ms; then
    play --to "$(at slow.sock)" --timing closed --read-only
    is "$status,$(said depth_max depth_recorded)" 0,64,64 "depth-64: closed reaches it"
else
    skip 1 "no server"
fi

import depth-1.blktrace.0
is "$(cut -d, -f1,7 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 0; i < 64; i++)); do printf '%d,100000 ' $((i * 200000)); done)" "depth-1: one at a time, 100 us each"
is "$(profiled_depth)" 1 "depth-1: the profile's depth"
plays depth-1
play --to null: --timing closed
is "$status,$(said records depth_max),$(($(said elapsed_ns) >= 6300000))" 0,64,1,1 \
    "depth-1: closed never has two in flight, and takes the think time"

import two-devices.blktrace.0
is "$(cut -d, -f1,2,5 <<<"$csv" | tr '\n' ' ')" "0,8:0,0 1000000,8:16,4096 2000000,8:0,8192 " "two-devices: two streams, one clock"
plays two-devices --map 8:0=null: --map 8:16=null:
play --map 8:0=first.img --map 8:16=second.img --timing recorded
is "$status,$(said records),$(stat -c %s first.img),$(stat -c %s second.img)" 0,3,12288,8192 "two-devices: each to its own target"

import passthrough.blktrace.0
is "$csv" "1000000,8:0,read,,0,4096," "passthrough: one read"
is "$(count passthrough)" 1 "passthrough: one counted"
plays passthrough
import no-add.iolog
is "$csv" "0,file-1,read,,0,4096,
1000000,file-1,write,,4096,4096," "no-add: two records"
plays no-add
import sync-file-range.iolog
is "$(cut -d, -f1,3,5,6 <<<"$csv" | tr '\n' ' ')" "10000,write,0,4096 20000,flush,0,0 30000,flush,0,0 40000,discard,8192,4096 " \
    "sync-file-range: four records"
plays sync-file-range

rm -f "$tmp"/x.tape*
run "$record" --import "$cases/torn-line.iolog" -o "$tmp/x.tape"
is "$status" 1 "torn-line: fails"
like "$err" "torn-line.iolog'?:[0-9]+: " "torn-line: names file and line"
is "$(wc -l <<<"$err")" 1 "torn-line: says it in one line"
is "$(ls "$tmp" | grep -c x.tape)" 0 "torn-line: no tape is left"
done_testing
