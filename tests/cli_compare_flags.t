#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `compare` says in flags, and which repetitions it counts. Each flag has its control: a value just below.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
$make run a.run host.cpus=2 host.memory_bytes=1000000 || exit 1
row() { awk -F, '$3 == "io_time" { print $9 "," $10 "," $21 "," $NF }' .out; }
flagged() { # WANTED KEY=VALUE...
    local wanted=$1; shift
    $make run b.run host.cpus=2 host.memory_bytes=1000000 "$@" || exit 1
    run $analyze compare a.run b.run
    is "$(row | cut -d, -f4-)" "$wanted" "$*"
}
flagged ""
# 1,000 records in 0.2 s of two CPUs.
flagged "cand:behind=1.1%" set.behind=11
flagged "" set.behind=10
flagged "cand:late" set.lateness_p99_ns=100001
flagged "" set.lateness_p99_ns=99999
flagged "cand:depth=8/10" set.depth_max=8 set.depth_recorded=10
flagged "" set.depth_max=9 set.depth_recorded=10
flagged "cand:steal=1.0%" set.steal_ns=4010000
flagged "" set.steal_ns=3900000
flagged "cand:pressure_cpu" set.pressure_cpu_us=20100
flagged "" set.pressure_cpu_us=19900
flagged "cand:pressure_io" set.pressure_io_us=51000
flagged "" set.pressure_io_us=49000
flagged "cand:pressure_memory" set.pressure_memory_us=2010
flagged "" set.pressure_memory_us=1990
flagged "cand:starved=5" set.starved=1
flagged "cand:depth_capped=5" set.depth_capped=1
flagged "cand:unsupported=5|cand:two_step=10|cand:fit_wrapped=15|cand:fit_skipped=20|cand:fit_widened=25|cand:readonly_skipped=30" \
    set.unsupported=1 set.two_step=2 set.fit_wrapped=3 set.fit_skipped=4 set.fit_widened=5 set.readonly_skipped=6
flagged "cand:path_changes=5|cand:reissued=10" set.path_changes=1 set.reissued=2
flagged "cand:serialised=5" set.serialised=1 set.verified=7
flagged "cand:small_working_set=999999" working_set=999999
flagged "" working_set=1000000
$make run b.run lost=3 host.cpus=2 host.memory_bytes=1000000 && run $analyze compare b.run a.run
is "$(row | cut -d, -f4-)" "tape_lost=3" "events that the recording lost"
$make run b.run unfinished=1 host.cpus=2 host.memory_bytes=1000000 && run $analyze compare a.run b.run.partial
is "$(row)" "5,5,same,cand:unfinished=1" "an unfinished run counts with what it has"
rm b.run.partial

counted() { # WANTED KEY=VALUE...
    local wanted=$1; shift
    $make run b.run host.cpus=2 host.memory_bytes=1000000 latency_us=200 "$@" || exit 1
    run $analyze compare a.run b.run
    is "$(row)" "$wanted" "$*"
}
counted "5,5,slower," reps=5
counted "5,5,slower,cand:left_out_warmup=2" reps=7 warmup=2
counted "5,4,slower,cand:left_out_errors=1" reps=5 errors=1
counted "5,3,slower,cand:left_out_cut_short=2" reps=5 cut=2
counted "5,2,invalid,cand:left_out_errors=3" reps=5 errors=3
counted "5,0,invalid,cand:left_out_errors=5" reps=5 errors=5
counted "5,3,slower,cand:left_out_errors=3" reps=6 errors=3
counted "5,0,invalid,cand:left_out_errors=5" reps=5 set.short_io=1

# A repetition that is left out must not touch the numbers: repetition 1 with errors, then 2..6 as without it.
$make run b.run reps=6 errors=1 && $analyze export b.run >b.csv && $analyze export a.run >a.csv || exit 1
sed -i '/^1,/d' b.csv
run $analyze compare a.run b.run
is "$($python $top/tests/compare_witness.py a.csv b.csv .out)" ok "numbers come from counted repetitions"
done_testing
