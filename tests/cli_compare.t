#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `compare`: each number of its CSV against another implementation (compare_witness.py, from exported records), the
# forms of its command line, pooling, tapes as base.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
witness="$python $top/tests/compare_witness.py"
cd "$tmp"
cell() { $python -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    if r["metric"] == sys.argv[2] and r["candidate"] == (sys.argv[4] if len(sys.argv) > 4 else r["candidate"]): print(r[sys.argv[3]])' "$@"; }

header=workload,stream,metric,unit,better,primary,base,candidate,n_base,n_cand,median_base,median_cand,ratio_hl,change_pct
header=$header,overhead_pct,overhead_lo,overhead_hi,conf,p,p_adjusted,verdict,n_needed,flags

for timing in recorded asap closed; do
    records=700
    [ $timing != closed ] || records=6100 # enough reads for p99.9, too few writes
    $make run base.run label=web01 records=$records option.timing=$timing || exit 1
    $make run cand.run label=web01 records=$records option.timing=$timing latency_us=103 step=3 || exit 1
    $analyze export base.run >base.csv && $analyze export cand.run >cand.csv
    run $analyze compare base.run cand.run
    is $status 0 "$timing: compare"
    is "$(sed -n 1p .out)" $header "$timing: header"
    cp .out c.csv
    is "$($witness base.csv cand.csv c.csv)" ok "$timing: all numbers are right by definition"
    is "$($python -c 'import csv; print({len(r) for r in csv.reader(open("c.csv", newline=""))})')" "{23}" "$timing: 23 cells each"
    case $timing in closed) primary=io_time ;; recorded) primary=response_mean ;; asap) primary=elapsed ;; esac
    is "$(awk -F, '$6 == "yes" { print $3 }' c.csv)" $primary "$timing: the primary metric"
    is "$(cell c.csv $primary p_adjusted)" "" "$timing: which stands unadjusted"
    # The control: latencies 10 % off must turn each of these red.
    $make run other.run label=web01 records=$records option.timing=$timing latency_us=113.3 step=3 || exit 1
    $analyze export other.run >other.csv
    like "$($witness base.csv other.csv c.csv)" "instead of" "$timing: a witness of other runs disagrees"
done
like "$(cell c.csv read_latency_p99.9 ratio_hl)" "^1" "p99.9 of 3,050 reads is there"
is "$(cell c.csv write_latency_p99.9 ratio_hl)$(cell c.csv write_latency_p99.9 flags)" too_few_ios "of 2,440 writes it is not"

# io_time is elapsed less the zero-latency time: 4 and 8 ms here.
$make run x.run records=1000 set.elapsed_ns=1004000000 set.zero_latency_ns=1000000000 || exit 1
$make run y.run records=1000 set.elapsed_ns=1008000000 set.zero_latency_ns=1000000000 || exit 1
$analyze compare x.run y.run >c.csv
is "$(cell c.csv io_time median_base) $(cell c.csv io_time overhead_pct) $(cell c.csv io_time verdict)" "0.004 100.00 slower" "io_time doubles"
is "$(cell c.csv elapsed verdict)" same "while elapsed is all think time"
# CPU: (busy - spun) / records.
$make run y.run records=1000 set.cpu_busy_ns=9000000 set.cpu_spun_ns=2000000 || exit 1
$analyze compare x.run y.run >c.csv
is "$(cell c.csv host_cpu_per_io median_base) $(cell c.csv host_cpu_per_io median_cand)" "5 7" "CPU an I/O in us, less what was spun"

# Too few, and enough.
$make run a3.run reps=3 && $make run b3.run reps=3 latency_us=200 && $make run b5.run reps=5 latency_us=200 || exit 1
$analyze compare a3.run b3.run >c.csv
is "$(cell c.csv latency_mean p) $(cell c.csv latency_mean verdict)" "0.1 too few runs" "3 against 3 cannot be significant"
$analyze compare a3.run b5.run >c.csv
is "$(cell c.csv latency_mean p) $(cell c.csv latency_mean verdict)" "0.0357143 slower" "3 against 5 can"

# Several files a side are pooled; systems by name; the base is chosen.
$analyze compare --system Dom0 a3.run b3.run --system DomU b5.run >c.csv
is "$(cell c.csv io_time n_base) $(cell c.csv io_time base) $(cell c.csv io_time candidate)" "6 Dom0 DomU" "two files a side"
$analyze compare --base DomU --system Dom0 a3.run --system DomU b5.run >c.csv
is "$(cell c.csv latency_mean base) $(cell c.csv latency_mean verdict)" "DomU faster" "--base"
$analyze compare a3.run b3.run b5.run >c.csv
is "$(cell c.csv io_time candidate | tr '\n' ' ')" "b3 b5 " "each candidate has its rows"
mkdir d && cp b5.run d/a3.run
$analyze compare a3.run d/a3.run --base d/a3.run >c.csv
is "$(cell c.csv io_time base) $(cell c.csv io_time candidate)" "d/a3.run a3.run" "same file and target names: the paths"
$make run d/a3.run target=/dev/sdb --reps=5 && $analyze compare a3.run d/a3.run >c.csv
is "$(cell c.csv io_time base) $(cell c.csv io_time candidate)" "null: /dev/sdb" "same file names: the targets"
run $analyze compare a3.run b3.run --base nobody
like "$status $err" "^1 .*no system is called 'nobody'; there are a3, b3" "an unknown base"

# Names that CSV must quote.
$make run a3.run reps=3 'label=web,"01"' && $analyze compare --system 'a,b' a3.run --system ' c' a3.run >c.csv
is "$(cell c.csv io_time workload)|$(cell c.csv io_time base)|$(cell c.csv io_time candidate)" 'web,"01"|a,b| c' "quoting"
$make run a3.run reps=3 && $analyze compare a3.run b3.run >c.csv
is "$(cell c.csv io_time workload)" 000000000000 "a tape without label is called by its identity"

# A tape is one repetition of production. Its 1,000 records at 200 us with 100 to 109 us: elapsed is the last completion.
$make tape p.tape label=web01 && $make run r.run label=web01 from_tape=p.tape latency_us=150 || exit 1
$analyze compare p.tape r.run >c.csv
is "$(cell c.csv io_time n_base) $(cell c.csv io_time base) $(cell c.csv io_time verdict)" "1 p too few runs" "a tape as base"
is "$(cell c.csv elapsed median_base) $(cell c.csv read_latency_p50 median_base)" "0.199909 104" "its own latencies"
# Each I/O waits for the one before and then thinks 200 - latency us; with nothing to wait for, only the thinking is left: io_time is
# what 1,000 latencies take, 1000 * 104.5 us.
is "$(cell c.csv io_time median_base)" 0.1045 "its io_time by the rule of dependence"
is "$(cell c.csv host_cpu_per_io flags | tr '|' '\n' | head -1)" not_measured "no CPU time is in a tape"

$analyze compare p.tape r.run -o out.csv
is "$(cat out.csv)" "$(cat c.csv)" "-o writes the same"
LC_ALL=de_DE.UTF-8 $analyze compare p.tape r.run >de.csv
is "$(cat de.csv)" "$(cat c.csv)" "whatever the locale"
if [ -e /dev/full ]; then
    run $analyze compare p.tape r.run -o /dev/full
    like "$status $err" "^1 .*No space left" "a full disk is an error"
fi
run $analyze compare p.tape
is $status 2 "one system is a usage error"
run $analyze compare --system x a3.run ./a3.run --system y b3.run
like "$status $err" "^1 .*'./a3.run' is given twice for one system" "the same repetitions twice on a side"
$make run cut.run unfinished=1 && $analyze compare a3.run cut.run.partial >c.csv
is "$(cell c.csv io_time candidate)" cut "an unfinished run's name"
run $analyze compare a3.run b3.run --confidence 95
is $status 2 "so is a confidence of 95"
run $analyze compare --system x --system y a3.run
like "$status $err" "^1 .*system 'x' has no files" "a system without files"
$python -c 'd = bytearray(open("b5.run", "rb").read()); d[len(d) // 2] ^= 1; open("bad.run", "wb").write(d)'
run $analyze compare a3.run bad.run
like "$status $out$err" "^1 iotape-analyze compare: error: .*bad.run" "damage fails, without any result"
done_testing
