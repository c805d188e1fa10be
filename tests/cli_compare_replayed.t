#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Real replays, exported and compared: the witness computes each number from the exported records, so that the
# summaries that a replay writes are checked, too.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
$make tape a.tape records=1000 latency_us=150 label=web01 || exit 1
for timing in closed recorded asap; do
    for i in 1 2; do
        $replay a.tape --to null: --timing $timing --runs 5 -o $timing$i.run 2>.err || { note "$(cat .err)"; exit 1; }
        $analyze export $timing$i.run >$i.csv
    done
    run $analyze compare $timing"1.run" $timing"2.run"
    is $status 0 "$timing: compared"
    is "$($python "$top/tests/compare_witness.py" 1.csv 2.csv .out)" ok "$timing: all numbers follow from the records"
    is "$(awk -F, 'NR > 1 { print $8 $9 }' 1.csv | grep -c -- '^$')" 0 "$timing: each record was scheduled and issued"
done
run $analyze compare a.tape closed1.run
is "$status $(awk -F, 'NR == 2 { print $3, $9, $10, $21 }' .out)" "0 io_time 1 5 too few runs" "production as the base"
run $analyze compare closed1.run asap1.run
like "$status $err" "^1 .*option timing is closed and asap" "timings do not mix"

# Nothing in it.
$make run none.run records=0 && cp none.run nil.run && $make run some.run records=10 || exit 1
run $analyze compare none.run nil.run
is $status 0 "runs without records"
run $analyze compare none.run some.run
is "$status $(grep -c '^[^,]*,,read_latency_mean,.*not_measured' .out)" "0 1" "one without, one with"
done_testing
