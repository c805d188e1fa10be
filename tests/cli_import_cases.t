#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The collected inputs that existing tools get wrong, each with its right outcome (README.md beside them).
# tests/test_import_blktrace.c and test_import_fio.c build the same inputs themselves.
. "$(dirname "$0")/lib.sh"
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

import fua-preflush.blktrace.0
is "$csv" "0,8:0,write,sync,0,4096,
1000000,8:0,write,preflush|fua|sync|meta,4096,4096,
2000000,8:0,flush,sync,0,0,
3000000,8:0,write,fua|sync,8192,4096,
4000000,8:0,discard,sync,12288,1048576,
5000000,8:0,read,,16384,4096," "fua-preflush: six records, kinds and flags kept"

import gap-200us.blktrace.0
is "$(wc -l <<<"$csv"; tail -n 1 <<<"$csv" | cut -d, -f1)" "5000
999800000" "gap-200us: the span is 0.9998 s exactly"

import gap-1900ns.blktrace.0
is "$(wc -l <<<"$csv"; tail -n 1 <<<"$csv" | cut -d, -f1)" "10000
18998100" "gap-1900ns: the tape keeps nanoseconds"

import backwards.blktrace.0
is "$(cut -d, -f1,5 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 1; i < 20; i += 2)); do printf '0,%d ' $((i * 4096)); done
       for ((i = 0; i < 20; i += 2)); do printf '50000000,%d ' $((i * 4096)); done)" "backwards: a stable sort"
is "$(count out_of_order)" 10 "backwards: ten records counted"

for n in 0 1; do
    import percpu.blktrace.$n
    is "$(cut -d, -f1,5 <<<"$csv" | tr '\n' ' ')" \
        "$(for ((i = 0; i < 10; i++)); do printf '%d,%d ' $((i * 1000000)) $(((i % 2 * 800 + i / 2 * 8) * 512)); done)" \
        "percpu: both files are read, given .$n"
done

import past-end.blktrace.0
is "$(cut -d, -f5 <<<"$csv" | tr '\n' ' ')" "0 3298534883328 4096 " "past-end: the offset is kept"
import unaligned.blktrace.0
is "$(sed -n 2p <<<"$csv")" "1000000,8:0,read,,3584,3584," "unaligned: kept as recorded"
import partition-remap.blktrace.0
is "$csv" "0,8:1,read,,1048576,4096," "partition-remap: one read, not two"
import cgroup-bit.blktrace.0
is "$(cut -d, -f1,3,5,6 <<<"$csv" | tr '\n' ' ')" "0,read,0,4096 1000000,read,4096,4096 2000000,read,8192,4096 " \
    "cgroup-bit: three reads"
import discard-4g.blktrace.0
is "$(sed -n 2p <<<"$csv")" "1000000,8:0,discard,,0,4294966784," "discard-4g: one discard of that length"
import depth-64.blktrace.0
is "$(cut -d, -f1,7 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 0; i < 64; i++)); do printf '%d,9000000 ' $((i * 1000)); done)" "depth-64: all queued before the first ends"
import depth-1.blktrace.0
is "$(cut -d, -f1,7 <<<"$csv" | tr '\n' ' ')" \
    "$(for ((i = 0; i < 64; i++)); do printf '%d,100000 ' $((i * 200000)); done)" "depth-1: one at a time, 100 us each"
import two-devices.blktrace.0
is "$(cut -d, -f1,2,5 <<<"$csv" | tr '\n' ' ')" "0,8:0,0 1000000,8:16,4096 2000000,8:0,8192 " "two-devices: two streams, one clock"
import passthrough.blktrace.0
is "$csv" "1000000,8:0,read,,0,4096," "passthrough: one read"
is "$(count passthrough)" 1 "passthrough: one counted"
import no-add.iolog
is "$csv" "0,file-1,read,,0,4096,
1000000,file-1,write,,4096,4096," "no-add: two records"
import sync-file-range.iolog
is "$(cut -d, -f1,3,5,6 <<<"$csv" | tr '\n' ' ')" "10000,write,0,4096 20000,flush,0,0 30000,flush,0,0 40000,discard,8192,4096 " \
    "sync-file-range: four records"

rm -f "$tmp"/x.tape*
run "$record" --import "$cases/torn-line.iolog" -o "$tmp/x.tape"
is "$status" 1 "torn-line: fails"
like "$err" "torn-line.iolog'?:[0-9]+: " "torn-line: names file and line"
is "$(wc -l <<<"$err")" 1 "torn-line: says it in one line"
is "$(ls "$tmp" | grep -c x.tape)" 0 "torn-line: no tape is left"
done_testing
