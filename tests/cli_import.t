#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Foreign traces at the command line: blkparse and fio are the witnesses of what is in them.
. "$(dirname "$0")/lib.sh"
here=$top/tests

# ---- blktrace: a trace of three CPUs with merges, flushes and discards ----
$python "$here/blktrace_make.py" "$tmp/g" 3000 20100801
run "$record" --import "$tmp/g.blktrace.1" -o "$tmp/g.tape"
is "$status" 0 "a trace is imported by the name of one CPU's file"
"$analyze" export "$tmp/g.tape" --format csv >"$tmp/g.csv"
run "$record" --import "$tmp/g" -o "$tmp/base.tape" --format blktrace
"$analyze" export "$tmp/base.tape" --format csv | cmp -s - "$tmp/g.csv"
ok $? "and by its base name"

# Latencies: in this trace every request lies within its own 1,000 sectors, so that a completion belongs to
# all that was queued there. Flushes lie nowhere, and are compared without.
cat >"$tmp/witness.py" <<'END'
import csv, sys
ops = {"D": "discard", "F": "flush", "R": "read", "W": "write"}
queued, ends = [], {}
for line in open(sys.argv[1]):
    if line.startswith("Input file"):
        continue
    action, seconds, ns, kind, sector, size = line.split()
    t, sector, size = int(seconds) * 10**9 + int(ns), int(sector), int(size)
    if action == "Q":
        queued.append((t, ops[kind[0]], sector * 512 if size else 0, size))
    elif action == "C" and size:
        ends[sector // 1000] = t
wanted = sorted((t, op, offset, size, ends[offset // 512000] - t if size else None) for t, op, offset, size in queued)
got = sorted((int(r["t_ns"]), r["op"], int(r["offset_bytes"]), int(r["len_bytes"]),
              int(r["latency_ns"]) if int(r["len_bytes"]) else None) for r in csv.DictReader(open(sys.argv[2])))
key = lambda r: (r[0], r[1], r[2])
wanted.sort(key=key), got.sort(key=key)
bad = [(w, g) for w, g in zip(wanted, got) if w != g]
if len(wanted) != len(got) or bad:
    print("differs:", len(wanted), len(got), bad[:1])
END
if command -v blkparse >/dev/null; then
    (cd "$tmp" && blkparse -q -i g -f "%a %T %t %d %S %N\n" >parsed)
    run $python "$tmp/witness.py" "$tmp/parsed" "$tmp/g.csv"
    is "$status$out$err" 0 "all I/O that blkparse reads, to the nanosecond, and their latencies"
    # The control: an end 100 ns off, and a record less.
    awk -F, -v OFS=, 'NR == 100 { $8 += 100 } 1' "$tmp/g.csv" >"$tmp/off.csv"
    run $python "$tmp/witness.py" "$tmp/parsed" "$tmp/off.csv"
    like "$out" "^differs: ([0-9]+) \\1 " "the comparison sees a latency 100 ns off"
    sed 1000d "$tmp/g.csv" >"$tmp/less.csv"
    run $python "$tmp/witness.py" "$tmp/parsed" "$tmp/less.csv"
    like "$out" "^differs: " "the comparison sees a record less"
else
    skip 3 "needs blkparse"
fi

# ---- blktrace: a simulated block layer that knows what happened ----
for old in 0 1; do
    $python "$here/blktrace_world.py" "$tmp/w$old" 4000 $((42 + old)) $old
    run "$record" --import "$tmp/w$old" -o "$tmp/w$old.tape"
    is "$status" 0 "a simulated trace is imported (old kernel: $old)"
    "$analyze" export "$tmp/w$old.tape" --format csv | sed 1d | cut -d, -f1,2,4,6-9 | sort >"$tmp/got"
    sort "$tmp/w$old.truth" >"$tmp/wanted"
    [ -s "$tmp/wanted" ] && cmp -s "$tmp/wanted" "$tmp/got"; ok $? "merged, split, remapped, requeued: each I/O once, with its true end"
    cmp -s "$tmp/wanted" "$tmp/got" || note "$(diff "$tmp/wanted" "$tmp/got" | head)"
done

# ---- fio's own log of a run ----
if command -v fio >/dev/null; then
    (cd "$tmp" && fio --name=a --filename="$tmp/fio.dat" --size=4M --rw=randrw --bs=4k --fsync=16 --ioengine=sync \
        --write_iolog="$tmp/fio.log" >/dev/null 2>&1)
    run "$record" --import "$tmp/fio.log" -o "$tmp/fio.tape"
    is "$status" 0 "fio's iolog is imported"
    "$analyze" export "$tmp/fio.tape" --format csv | awk -F, 'NR > 1 { print $1, $4, $6, $7 }' >"$tmp/got"
    awk 'NF == 5 { if ($3 ~ /sync/) print $1 * 1000, "flush", 0, 0; else print $1 * 1000, $3, $4, $5 }' "$tmp/fio.log" >"$tmp/wanted"
    sort -n "$tmp/wanted" >"$tmp/wanted.sorted"; sort -n "$tmp/got" >"$tmp/got.sorted"
    [ -s "$tmp/wanted" ] && cmp -s "$tmp/wanted.sorted" "$tmp/got.sorted"
    ok $? "its records are fio's, in microseconds since the run began"
    ! grep -q "fio.dat\|$tmp" <<<"$("$analyze" show --json "$tmp/fio.tape" | grep -v '"file":')"
    ok $? "and the file's path is not in the tape"
else
    skip 3 "needs fio"
fi

# ---- what cannot be read ----
# refused NAME REGEX ARGUMENTS...: exit 1, one line, no tape.
refused() {
    local name=$1 wanted=$2; shift 2
    run "$record" -o "$tmp/bad.tape" --import "$@"
    is "$status" 1 "$name: fails"
    like "$err" "^iotape-record: error: $wanted" "$name: says why"
    is "$(wc -l <<<"$err")$(ls "$tmp" | grep -c '^bad.tape')" 10 "$name: in one line, without a tape"
}
printf 'fio version 3 iolog\n0 d read 0 4096\n5 d wri' >"$tmp/torn.log"
refused "a torn line" "'$tmp/torn.log':3: " "$tmp/torn.log"
head -c 100 "$tmp/g.blktrace.0" >"$tmp/cut"
refused "a cut event" "'$tmp/cut' is cut off at byte 96: " "$tmp/cut"
{ head -c 96 "$tmp/g.blktrace.0"; echo junk; tail -c +97 "$tmp/g.blktrace.0"; } >"$tmp/junk"
refused "junk within a trace" "'$tmp/junk', byte 96: " "$tmp/junk"
run "$record" -o "$tmp/bad.tape" --import "$tmp/junk" --skip-bad
is "$status" 0 "--skip-bad: goes on behind it"
like "$("$analyze" show --json "$tmp/bad.tape" | tr -d ' \n')" '"bad":"?1"?[,}]' "--skip-bad: counts it"
rm -f "$tmp/bad.tape"
echo hello >"$tmp/hello"
refused "another file" "'$tmp/hello' is of no known format .*blktrace, .*fio_iolog" "$tmp/hello"
refused "an unknown format" "unknown format 'x': known are blktrace, .*fio_iolog" "$tmp/hello" --format x
refused "a missing file" ".*'$tmp/none': No such file or directory" "$tmp/none"
refused "a directory" ".*'$tmp'.*: Is a directory" "$tmp"
done_testing
