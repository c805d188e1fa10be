#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Imports: packed files, standard input, parts of traces and of tapes, cleaned tapes.
. "$(dirname "$0")/lib.sh"
csv() { "$analyze" export "$1" --format csv; }
# refused NAME REGEX ARGUMENTS...: exit 1, one line, no tape.
refused() {
    local name=$1 wanted=$2; shift 2
    run "$record" -o "$tmp/bad.tape" "$@"
    is "$status" 1 "$name: fails"
    like "$err" "^iotape-record: error: $wanted" "$name: says why"
    is "$(wc -l <<<"$err")$(ls "$tmp" | grep -c '^bad.tape')" 10 "$name: in one line, without a tape"
}

# 50,000 I/Os of three devices, 10 us apart.
awk 'BEGIN { srand(7); for (i = 0; i < 50000; i++)
    printf "%d,%s,%d000,%d,1577808144%06d\n", i % 3 + 10, rand() < 0.3 ? "W" : "R", int(rand() * 1e6), 4096, i * 10 }' >"$tmp/a.csv"
"$record" -o "$tmp/a.tape" --import "$tmp/a.csv" 2>/dev/null
csv "$tmp/a.tape" >"$tmp/a.out"
is "$(wc -l <"$tmp/a.out")" 50001 "a trace of 50,000 I/Os"

# ---- packed, and by standard input ----
gzip -k "$tmp/a.csv"; zstd -qk "$tmp/a.csv"; xz -k0 "$tmp/a.csv"
for form in gz zst xz; do
    run "$record" -o "$tmp/$form.tape" --import "$tmp/a.csv.$form"
    csv "$tmp/$form.tape" | cmp -s - "$tmp/a.out"; ok $? ".$form is read as it is"
    "$record" -o "$tmp/in-$form.tape" --import - <"$tmp/a.csv.$form" 2>/dev/null
    csv "$tmp/in-$form.tape" | cmp -s - "$tmp/a.out"; ok $? ".$form from standard input"
done
(head -c 5000 "$tmp/a.csv"; sleep 0.2; tail -c +5001 "$tmp/a.csv") | "$record" -o "$tmp/pipe.tape" --import - 2>/dev/null
csv "$tmp/pipe.tape" | cmp -s - "$tmp/a.out"; ok $? "from a pipe that pauses"
head -c 100000 "$tmp/a.csv.gz" >"$tmp/cut.gz"
refused "a packed file that is cut off" "'$tmp/cut.gz' cannot be unpacked: " --import "$tmp/cut.gz"
printf '\x1f\x8b\x08garbage' >"$tmp/junk.gz"
refused "a packed file that is none" "'$tmp/junk.gz' " --import "$tmp/junk.gz"
refused "an empty standard input" ".*'-' is empty" --import - </dev/null
(cat "$tmp/a.csv.gz"; head -c 5 "$tmp/a.csv.gz") >"$tmp/more.gz"
refused "a packed file with the begin of another behind it" "'$tmp/more.gz' cannot be unpacked: what follows" --import "$tmp/more.gz"
refused "standard input twice" "'-' is given twice" --import - - <"$tmp/a.csv"
(printf '\xef\xbb\xbf'; cat "$tmp/a.csv") >"$tmp/mark.csv"
"$record" -o "$tmp/mark.tape" --import "$tmp/mark.csv" 2>/dev/null
csv "$tmp/mark.tape" | cmp -s - "$tmp/a.out"; ok $? "UTF-8's byte order mark is no part of the first cell"
(echo '1,R,0,4096,18446744073709551'; cat "$tmp/a.csv") >"$tmp/absurd.csv"
refused "an absurd first time, with --skip-bad" "'$tmp/absurd.csv': 50000 records, more than were kept" --import "$tmp/absurd.csv" --skip-bad
$python "$top/tests/blktrace_make.py" "$tmp/g" 500 1
"$record" -o "$tmp/g.tape" --import "$tmp/g" 2>/dev/null
gzip "$tmp"/g.blktrace.*
run "$record" -o "$tmp/gz-g.tape" --import "$tmp/g"
is "$status$(csv "$tmp/gz-g.tape" | md5sum)" "0$(csv "$tmp/g.tape" | md5sum)" "packed files of all CPUs by their base name"

# ---- what export writes comes back ----
"$record" -o "$tmp/back.tape" --import "$tmp/a.out" 2>/dev/null
csv "$tmp/back.tape" | cmp -s - "$tmp/a.out"; ok $? "export and import of CSV give the same records"
identity() { "$analyze" show --json "$1" | sed -n 's/.*"identity": "\([^"]*\)".*/\1/p'; }
is "$(identity "$tmp/back.tape")" "$(identity "$tmp/a.tape")" "and the same identity"

# ---- parts ----
run "$record" -o "$tmp/only.tape" --import "$tmp/a.csv" --only 11
is "$(csv "$tmp/only.tape" | cut -d, -f1,2,4-)" "$(awk -F, 'NR == 1 || $2 == 11' "$tmp/a.out" | cut -d, -f1,2,4-)" "--only takes one device"
run "$record" -o "$tmp/part.tape" --import "$tmp/a.csv" --from 100ms --for 50ms
is "$(csv "$tmp/part.tape" | sed 1d | md5sum)" \
    "$(awk -F, -v OFS=, 'NR > 1 && $1 >= 100000000 && $1 < 150000000 { $1 -= 100000000; print }' "$tmp/a.out" | md5sum)" "--from, --for cut a trace"
run "$record" -o "$tmp/cut.tape" --import "$tmp/a.tape" --from 100ms --for 50ms
csv "$tmp/cut.tape" | cmp -s - <(csv "$tmp/part.tape"); ok $? "and a tape"
like "$("$analyze" show --json "$tmp/cut.tape" | tr -d ' \n')" '"elapsed_ns":50000000,' "which is as long as was asked for"
run "$record" -o "$tmp/copy.tape" --import "$tmp/a.tape"
is "$(identity "$tmp/copy.tape")" "$(identity "$tmp/a.tape")" "a whole tape has the same identity"
refused "a part beyond the end" "none of the trace's I/Os lies in the part" --import "$tmp/a.csv" --from 1h
refused "a part beyond the end of a tape" "none of the trace's I/Os lies in the part" --import "$tmp/a.tape" --from 1h
refused "an unknown stream" "--only: no stream of the trace is called 'nobody'" --import "$tmp/a.csv" --only nobody
refused "several traces of one clock each" ".*one tape makes one tape" --import "$tmp/a.tape" "$tmp/cut.tape"
run "$record" -o "$tmp/x.tape" --disk /dev/null --from 1s
is "$status" 2 "--from without --import is a usage error"
refused "--scrub of what is no tape" "--scrub cleans tapes" --import "$tmp/a.csv" --scrub

# ---- cleaning ----
cat >"$tmp/personal.csv" <<'END'
t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error
0,/srv/joe/disk.img,mysqld/77,read,,0,4096,1000,0
5,iqn.2010-08.example:disk,joe-shell,write,,4096,512,2000,0
END
"$record" -o "$tmp/joe.tape" --label joes-secret --import "$tmp/personal.csv" 2>/dev/null
run "$record" -o "$tmp/clean.tape" --import "$tmp/joe.tape" --scrub
is "$status" 0 "a tape is cleaned"
is "$(csv "$tmp/clean.tape" | sed 1d)" "0,disk-1,process-1,read,,0,4096,1000,0
5,disk-2,process-2,write,,4096,512,2000,0" "its names are numbers, its records the same"
mkdir "$tmp/parts"; tar -C "$tmp/parts" -xf "$tmp/clean.tape"
(cd "$tmp/parts" && find . -name '*.zst' -exec zstd -qd --rm {} +)
is "$(grep -raolE 'joe|iqn|mysqld|/srv' "$tmp/parts" | wc -l)" 0 "and nothing of them is in the file"
mkdir "$tmp/parts2"; tar -C "$tmp/parts2" -xf "$tmp/joe.tape"
ok "$([ "$(grep -raolE 'joe|iqn|mysqld|/srv' "$tmp/parts2" | wc -l)" -gt 0 ]; echo $?)" "the search finds them in the one before"
run "$record" -o "$tmp/one.tape" --import "$tmp/joe.tape" --scrub --only iqn.2010-08.example:disk
is "$status $(csv "$tmp/one.tape" 2>/dev/null | sed 1d)" "0 5,disk-2,process-2,write,,4096,512,2000,0" "--only means the name that it had"
run "$record" -o "$tmp/none.tape" --import "$tmp/joe.tape" --scrub --only disk-2
is "$status" 1 "and not the one that it gets"

# ---- help ----
help=$("$record" --help)
for name in blktrace blkparse fio_iolog spc msr alibaba tencent vscsi vscsistats csv tape; do
    like "$help" "^ +$name +[A-Za-z]" "--help tells of $name"
done
like "$help" "^ +tracefs +" "and of the sources"
done_testing
