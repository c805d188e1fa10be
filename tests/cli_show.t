#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `show` says of tapes and runs, and that it verifies them.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
json() { $python -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' .out "$1"; }

$make tape a.tape label=web01 records=1000 unknown=3 lost=7 host.cpus=2 option.source=live || exit 1
run $analyze show --json a.tape
is $status 0 "a tape is shown"
is "$(json '[d["kind"],d["label"],d["finished"],d["ended"],d["records"],d["lost"],d["elapsed_ns"]]')" \
    "['recording', 'web01', True, 'duration', 1000, 7, 200000000]" "its totals in JSON"
# 500 even records are reads of 4096 bytes, 400 odd ones that end in no 9 are writes; the last three stay open.
is "$(json '[(s["name"],s["records"],s["read_bytes"],s["written_bytes"],s["lost"],s["open"]) for s in d["streams"]]')" \
    "[('vda', 1000, 2048000, 1638400, 7, 3)]" "its streams"
is "$(json 'd["host"], d["options"]')" "({'cpus': '2'}, {'source': 'live'})" "host and options"
like "$(json 'd["identity"]')" '^[0-9a-f]{32}-[0-9a-f]{32}$' "the identity"
run $analyze show a.tape
like "$out" "a recording, finished \(duration\)" "as text"
like "$out" "1000, 7 lost" "as text, totals"

$make run r.run label=web01 from_tape=a.tape target=/dev/sdz reps=4 warmup=1 errors=2 option.depth=32 target.model=X || exit 1
run $analyze show --json r.run
is "$(json '[d["kind"],d["finished"],d["records"],d["lost"],d["target_name"],d["target"],d["options"]["depth"]]')" \
    "['run', True, 4000, 0, '/dev/sdz', {'model': 'X'}, '32']" "a run in JSON"
is "$(json '[(r["repetition"],r["warmup"],r["errors"],r["read_bytes"]) for r in d["repetitions"]]')" \
    "[(1, 1, 3, 2048000), (2, 0, 3, 2048000), (3, 0, 0, 2048000), (4, 0, 0, 2048000)]" "its repetitions"
is "$(json '[d["fidelity"]["repetitions"], d["fidelity"]["errors"], d["tape"]["records"]]')" "[2, 3, 1000]" "fidelity counts two"
identity=$(json 'd["identity"]')
$analyze show --json a.tape >.out
is "$(json 'd["identity"]')" "$identity" "a run has its tape's identity"
run $analyze show r.run
like "$out" "repetition 1: .*not counted \(warmup\)" "as text: a warm-up"
like "$out" "repetition 2: .*not counted \(errors\)" "as text: errors"

run $analyze show --json a.tape r.run
is "$(json '[f["kind"] for f in d]')" "['recording', 'run']" "several files make an array"

$make tape cut.tape unfinished=1 records=70000 || exit 1
run $analyze show cut.tape.partial
is $status 0 "an unfinished tape is shown"
like "$out" "unfinished: it was cut off" "and said to be so"
run $analyze show --json cut.tape.partial
# A chunk also ends after 10 s of records, which are 50,000.
is "$(json '[d["finished"],d["ended"],d["records"]]')" "[False, None, 50000]" "JSON: up to the last whole chunk"

# One flipped bit in the middle; the control is the untouched copy above.
$python - <<'PY'
d = bytearray(open("a.tape", "rb").read()); d[len(d) // 2] ^= 1; open("bad.tape", "wb").write(d)
d = bytearray(open("r.run", "rb").read()); d[len(d) // 2] ^= 1; open("bad.run", "wb").write(d)
PY
for f in bad.tape bad.run; do
    run $analyze show $f
    is $status 1 "$f: damage fails"
    is "$out" "" "$f: and prints no result"
    like "$err" "^iotape-analyze show: error: .*$f" "$f: in one line that names the file"
    is "$(wc -l <.err)" 1 "$f: one line"
done

# Names of strangers: neither escapes to a terminal nor broken JSON.
$make tape evil.tape "stream=$(printf 'a\033[31m\377"b')" || exit 1
run $analyze show evil.tape
is "$(grep -c $'\033' .out)" 0 "no escape sequence reaches the terminal"
run $analyze show --json evil.tape
is "$(json 'ascii(d["streams"][0]["name"])')" "'a\\x1b[31m\\ufffd\"b'" "JSON: bytes that are not UTF-8 are replaced"

echo hello >text
run $analyze show text
like "$status $err" "^1 iotape-analyze show: error: 'text' is neither a tape nor a run" "no container"
mkfifo pipe
run timeout 5 $analyze show pipe
is $status 1 "a pipe is refused, not waited for"
run $analyze show nowhere
like "$status $err" "^1 .*nowhere.*No such file" "no file"
run $analyze show
is $status 2 "no argument is a usage error"
run $analyze show --jsn a.tape
is $status 2 "an unknown option, too"
run $analyze
is $status 2 "no verb"
run $analyze nonsense
is $status 2 "an unknown verb"
for v in "" show export compare; do
    run $analyze $v --help
    like "$status $out" "^0 Usage: iotape-analyze" "help of '$v'"
done
if [ -e /dev/full ]; then
    $analyze show --json a.tape >/dev/full 2>.err
    is $? 1 "a full disk is an error"
    like "$(cat .err)" "No space left" "that is said"
fi
done_testing
