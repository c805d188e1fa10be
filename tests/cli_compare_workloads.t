#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `compare` of several workloads and of single streams: which rows there are, geometric means, what would be needed to be sure;
# the tables beside it.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
cells() { # FILE FILTER COLUMNS: the columns of rows where the python expression of r holds, joined by commas, one row a line
    $python - "$@" <<'PY'
import csv, sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    if eval(sys.argv[2]): print(",".join(r[c] for c in sys.argv[3].split(",")))
PY
}

# Seven streams: more than are taken in one sweep.
for timing in closed recorded; do
    $make run a.run streams=7 records=2100 option.timing=$timing && $make run b.run streams=7 records=2100 option.timing=$timing latency_us=120 || exit 1
    $analyze export a.run >a.csv && $analyze export b.run >b.csv
    run $analyze compare a.run b.run --by stream
    cp .out c.csv
    is "$status $($python "$top/tests/compare_witness.py" a.csv b.csv c.csv)" "0 ok" "$timing: the numbers of seven streams"
    is "$(cells c.csv True stream | uniq | tr '\n' ' ')" " vda vda1 vda2 vda3 vda4 vda5 vda6 " "$timing: whole first, then each stream"
    is "$(cells c.csv 'r["stream"] and (r["primary"] == "yes" or r["metric"] in ("io_time", "elapsed", "host_cpu_per_io"))' metric)" "" "$timing: what is of all is of no stream"
    $analyze compare a.run b.run >whole.csv
    is "$(cells c.csv 'not r["stream"]' metric,median_base,ratio_hl,p)" "$(cells whole.csv True metric,median_base,ratio_hl,p)" "$timing: the whole is the same with streams"
done
# The control: without its stream, a row's numbers are others.
sed 's/,vda3,/,,/' c.csv >other.csv
like "$($python "$top/tests/compare_witness.py" a.csv b.csv other.csv)" "instead of" "a witness of another stream disagrees"
$make tape t.tape streams=3 && $make run r.run streams=3 from_tape=t.tape && $analyze compare t.tape r.run --by stream >c.csv
is "$(cells c.csv 'r["stream"] == "vda1" and r["metric"] == "read_latency_max"' n_base,median_base)" "1,108" "a tape's streams: vda1 has records 1, 4, 7: reads of 100 + 0, 2, ..., 8 us"
$make run one.run && $analyze compare one.run one.run >one.csv 2>.err; cp one.run two.run
$analyze compare one.run two.run >one.csv && $analyze compare one.run two.run --by stream >stream.csv
is "$(cat stream.csv)" "$(cat one.csv)" "one stream is the whole"

# Three workloads on one side, two on the other and one of its own.
i=0
for w in web db mail; do
    i=$((i + 1))
    $make run a-$w.run label=$w seed=$i latency_us=100 && $make run b-$w.run label=$w seed=$i latency_us=$((100 + 50 * i)) || exit 1
done
$make run b-new.run label=new seed=9
run $analyze compare --system A a-web.run a-db.run a-mail.run --system B b-db.run b-new.run b-web.run
cp .out c.csv
is "$status $(cells c.csv True workload | uniq | tr '\n' ' ')" "0 web db mail new (geometric mean) " "matched by name, in the order of the files"
is "$(cells c.csv 'r["metric"] == "io_time"' workload,n_base,n_cand,verdict,flags | cut -d'|' -f1)" \
"web,5,5,slower,
db,5,5,slower,
mail,5,0,too few runs,only_in_base
new,0,5,too few runs,only_in_cand
(geometric mean),,,,workloads=2/4" "what only one side has is said and left out of the mean"
is "$($python - <<'PY'
import csv, math
rows = list(csv.DictReader(open("c.csv", newline="")))
bad = 0
for m in (r for r in rows if r["workload"] == "(geometric mean)"):
    ratios = [float(r["ratio_hl"]) for r in rows if r["metric"] == m["metric"] and r["ratio_hl"] and r is not m]
    g = math.exp(sum(map(math.log, ratios)) / len(ratios))
    overhead = (1 / g if m["better"] == "higher" else g) - 1
    bad += len(ratios) != 2 or abs(float(m["ratio_hl"]) / g - 1) > 1e-5 or abs(float(m["change_pct"]) - 100 * (g - 1)) > 0.01
    bad += abs(float(m["overhead_pct"]) - 100 * overhead) > 0.01
print(bad, len([1 for r in rows if r["workload"] == "(geometric mean)" and "read" in r["metric"]]) > 3)
PY
)" "0 True" "geometric means of matched rows, for each metric by itself"
run $analyze compare --system A a-web.run --system B b-db.run
like "$status $err" "^1 .*different tapes" "no workload in common"
$make run bad.run label=web seed=77
run $analyze compare --system A a-web.run a-db.run --system B bad.run b-db.run
like "$status $err" "^1 .*'a-web.run' and 'bad.run' are of different tapes" "one name, two tapes"
run $analyze compare --system A a-web.run --system B b-web.run
is "$(cells .out 'r["workload"] != "web"' workload)" "" "of one workload there is no mean"
# A workload that is invalid on one side does not enter the mean.
$make run b-web.run label=web seed=1 latency_us=900 errors=3
run $analyze compare --system A a-web.run a-db.run a-mail.run --system B b-db.run b-web.run b-mail.run
is "$(cells .out 'r["metric"] == "io_time" and r["flags"].startswith("workloads")' flags)" "workloads=2/3" "nor does an invalid one enter it"

# n_needed: Noether's formula, by Python's normal distribution. Primary: alpha 0.05 itself.
$make run x.run records=50 step=9 && $make run y.run records=50 step=9 latency_us=104 && $analyze compare x.run y.run --raw raw.csv >c.csv || exit 1
needed() { $python - "$1" "$2" <<'PY'
import csv, math, statistics as s, sys
v = {n: [math.log(float(r["value"])) for r in csv.DictReader(open("raw.csv", newline="")) if r["metric"] == "io_time" and r["system"] == n] for n in "xy"}
sd = math.sqrt((s.variance(v["x"]) * 4 + s.variance(v["y"]) * 4) / 8)
z = s.NormalDist().inv_cdf(1 - float(sys.argv[2]) / 2) + s.NormalDist().inv_cdf(0.8)
p = s.NormalDist().cdf(math.log1p(float(sys.argv[1])) / (sd * math.sqrt(2))) - 0.5
print(math.ceil(z * z / (3 * p * p) / 2))
PY
}
is "$(cells c.csv 'r["primary"] == "yes"' verdict,n_needed)" "unsure,$(needed 0.05 0.05)" "how many repetitions would show 5 %"
$analyze compare x.run y.run --detect 20 >c.csv
is "$(cells c.csv 'r["primary"] == "yes"' verdict,n_needed)" "unsure,$(needed 0.2 0.05)" "how many would show 20 %"
$analyze compare x.run y.run --margin 10 --confidence 0.9 >c.csv
is "$(cells c.csv 'r["primary"] == "yes"' verdict,n_needed)" "unsure,$(needed 0.1 0.1)" "the margin is the difference unless --detect says another"
is "$(cells c.csv 'r["verdict"] != "unsure" and r["n_needed"]' metric)" "" "where it is not unsure nothing is needed"
run $analyze compare x.run y.run --detect -1
is $status 2 "--detect must not be negative"

# Tables beside it.
$make run y.run records=50 reps=6 errors=1 step=9 latency_us=104 host.kernel=6.18 target.model=Q && $make run x.run records=50 step=9 host.kernel=6.1 || exit 1
$analyze compare x.run y.run --raw raw.csv --context context.csv >c.csv
is "$(cells raw.csv 'r["metric"] == "elapsed"' system,file,repetition,counted,left_out | tail -6 | tr '\n' ' ')" \
    "y,y.run,1,no,errors y,y.run,2,yes, y,y.run,3,yes, y,y.run,4,yes, y,y.run,5,yes, y,y.run,6,yes, " "--raw has every repetition"
is "$($python - <<'PY'
import csv, statistics
raw, bad, n = list(csv.DictReader(open("raw.csv", newline=""))), 0, 0
for r in csv.DictReader(open("c.csv", newline="")):
    if r["median_cand"]:
        values = [float(x["value"]) for x in raw if x["metric"] == r["metric"] and x["system"] == "y" and x["counted"] == "yes"]
        bad += abs(statistics.median(values) / float(r["median_cand"]) - 1) > 1e-5
        n += 1
print(bad, n > 9)
PY
)" "0 True" "medians follow from --raw"
is "$(tail -n +2 context.csv)" "000000000000,x,y,host.kernel,6.1,6.18
000000000000,x,y,target.model,,Q" "--context"
like "$(cells c.csv 'r["primary"] == "yes"' flags)" "differs:host.kernel\|differs:target.model$" "and in flags"
run $analyze compare x.run y.run -o same.csv --raw ./same.csv
like "$status $err" "^1 .*'./same.csv' is given for two outputs" "one file for two outputs"
cp x.run x.saved
for option in -o --raw --context; do
    ln -sf x.run link
    run $analyze compare x.run y.run $option link
    like "$status $err" "^1 .*output 'link' is the file that is read" "$option: not over what is read"
done
cmp -s x.run x.saved; ok $? "which is as it was"
run $analyze compare x.run y.run -o new.csv --raw /nonexistent/raw.csv
like "$status $err $(ls new.csv 2>&1)" "^1 .*raw.csv.*No such file.*cannot access" "where one output cannot be written, none is kept"
if [ -e /dev/full ]; then
    run $analyze compare x.run y.run -o new.csv --context /dev/full
    like "$status $err $(ls new.csv 2>&1)" "^1 .*No space left.*cannot access" "nor where the disk is full"
fi
$make run w.run records=50 working_set=5000000 host.memory_bytes=4000000 target.kind=nbd && cp w.run v.run
run $analyze compare w.run v.run
like "$(cells .out 'r["primary"] == "yes"' flags)" "cand:small_working_set=5000000" "a server caches more than the replaying host has"
run $analyze compare w.run v.run --cache 5000000
is "$(cells .out 'r["primary"] == "yes"' flags)" "" "unless one knows: --cache"
run $analyze compare x.run w.run --cache 5000001
like "$(cells .out 'r["primary"] == "yes"' flags)" "cand:small_working_set=5000000" "whatever is known"
$make run w.run "target.throttle=8:0 rbps=1048576" "device.throttle=8:0 wiops=100"
run $analyze compare w.run v.run
like "$(cells .out 'r["primary"] == "yes"' flags)" "^tape_throttled.*base:throttled" "throttles of the target and of the recorded disk"
done_testing
