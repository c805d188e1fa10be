#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Export as JSON lines and as fio's iolog. Witnesses: python's csv and json, and fio itself.
. "$(dirname "$0")/lib.sh"
random=$BUILD/tests/tool_random make=$BUILD/tests/tool_make
cd "$tmp"

# ---- JSON lines hold what the CSV holds ----
cat >same.py <<'PY'
import csv, json, sys
def cell(v):
    return "" if v is None else "|".join(v) if isinstance(v, list) else str(v)
rows, lines = list(csv.DictReader(open(sys.argv[1], newline=""))), [json.loads(l) for l in open(sys.argv[2])]
bad = [i for i, (r, l) in enumerate(zip(rows, lines), 1) if list(r) != list(l) or list(r.values()) != [cell(v) for v in l.values()]]
print(len(rows), "same" if len(rows) == len(lines) and not bad else "differ at %s" % bad[:3])
PY
same() { $analyze export "$1" >x.csv && $analyze export --format json "$1" >x.json && $python same.py x.csv x.json; }
$random r.tape legal 3000 5 && $make run r.run records=50 reps=2 errors=1 option.timing=recorded || exit 1
is "$(same r.tape)" "3000 same" "a tape as JSON lines: each record is the CSV's"
sed -i '7s/"len_bytes":/"len_bytes":1/' x.json
is "$($python same.py x.csv x.json)" "3000 differ at [7]" "the control: a digit more shows"
is "$(same r.run)" "100 same" "a run as JSON lines"
$make tape q.tape records=2 $'stream=a,"b"\n\e' || exit 1
is "$(same q.tape)" "2 same" "a name that must be quoted"
$make tape empty.tape records=0 || exit 1
is "$($analyze export --format json empty.tape | wc -c)" 0 "an empty tape: no line"

# ---- fio's iolog comes back as the same multiset, with the same microseconds ----
cat >back.py <<'PY'
import collections, csv, sys
def key(r, tape):
    op = {"write_zeroes": "discard"}.get(r["op"], r["op"])  # a trim, in fio's words
    return int(r["t_ns"]) // 1000, r["stream"] if tape else None, op, int(r["offset_bytes"]), int(r["len_bytes"])
a, b = (list(csv.DictReader(open(f, newline=""))) for f in sys.argv[1:3])
a = [r for r in a if r["op"] == "flush" or r["len_bytes"] != "0"]  # operations of 0 bytes are left out
streams = {}
for r in b:  # streams are numbered anew, in order of appearance
    streams.setdefault(r["stream"], len(streams))
names = {}
for r in a:
    names.setdefault(r["stream"], len(names))
for rows, ids in ((a, names), (b, streams)):
    for r in rows:
        r["stream"] = ids[r["stream"]]
count = lambda rows: collections.Counter(key(r, True) for r in rows)
print("same" if len(a) > 1000 and count(a) == count(b) else "differ", all(int(r["t_ns"]) % 1000 == 0 for r in b))
PY
back() { rm -f back.tape; $record -o back.tape --import x.iolog >/dev/null && $analyze export back.tape >back.csv && $python back.py x.csv back.csv; }
$analyze export r.tape >x.csv
run $analyze export --format fio r.tape -o x.iolog
is "$status,$(ls x.iolog*)" "0,x.iolog
x.iolog.fio" "an iolog, and its job"
is "$(back)" "same True" "exported to fio and imported again: the same multiset with the same microseconds"
sed -i '500s/ \([0-9]*\)$/ 1\1/' x.iolog
is "$(back)" "differ True" "the control: a length that differs shows"
is "$($analyze export --format fio r.tape | cmp - <($analyze export --format fio r.tape -o /dev/stdout) && echo same; ls -A | grep -c stdout)" \
    "same
0" "to standard output: the log alone"

# ---- fio replays it ----
cat >replayed.py <<'PY'
import json, sys
text = open("fio.json").read()
job = json.loads(text[text.index("{"):])["jobs"][-1]
print(job["jobname"], job["error"], job["read"]["total_ios"], job["write"]["total_ios"], job["sync"]["total_ios"])
PY
mkdir fio && cd fio
$analyze export --format fio "$top/samples/database.tape" -o d.iolog || exit 1
wanted=$($analyze export "$top/samples/database.tape" | awk -F, '{ n[$4]++ } END { print n["read"], n["write"], n["flush"] }')
# Direct I/O is not possible on every file system that tests run on.
sed -i 's/^direct=1$/direct=0/' d.iolog.fio
timeout 60 fio --output-format=json d.iolog.fio >fio.json 2>fio.err
is "$($python ../replayed.py)" "replay 0 $wanted" "fio replays the export, with the same number of I/Os"
cd ..
$analyze export --format fio r.tape -o r.iolog
like "$(cat r.iolog.fio)" "^; Left out: [1-9][0-9]* operations of 0 bytes" "the job says what was left out"
is "$(grep -c ' \(read\|write\|trim\) [0-9]* 0$' r.iolog)" 0 "and it is"

# ---- what is refused ----
run $analyze export --format fio r.run -o y
is "$status,$err,$(ls y* 2>/dev/null)" "1,iotape-analyze export: error: fio has no form for a run," "a run is no iolog"
run $analyze export --format fio r.tape -o a:b
like "$status $err,$(ls a:b* 2>/dev/null)" "^1 .*fio takes no ':'.*,$" "a name that fio would cut"
run $analyze export --format fio r.tape -o w.fio
like "$status $err,$(ls w.fio* 2>/dev/null)" "^2 .*-o: is the log's name.*,$" "a log that has the name of a job"
run $analyze export --format excel r.tape
is $status 2 "an unknown format is a usage error"
cp r.tape z.fio
run $analyze export --format fio z.fio -o z
like "$status $err" "^1 .*'z.fio' is the file that is read" "a job over the tape"
is "$(cmp z.fio r.tape && ls z)$(ls z 2>/dev/null)" "" "which leaves nothing"

# ---- who is killed leaves nothing ----
here=$(mktemp -d $ram/iotape-test.XXXXXX); cleanup "rm -rf $here"
$make tape $here/big.tape records=2000000 || exit 1
nameless() { ls -l /proc/$pid/fd | grep -q "$here.*(deleted)"; }
$analyze export $here/big.tape -o $here/big.csv & pid=$!
wait_for 10 nameless
ok $? "while it is written, the file has no name"
kill -9 $pid; wait $pid 2>/dev/null
is "$(ls $here)" "big.tape" "a killed export leaves nothing"
echo before >$here/r.csv
$analyze export r.tape -o $here/r.csv
is "$(wc -l <$here/r.csv),$(ls $here)" "3001,big.tape
r.csv" "a file that is there is replaced"
done_testing
