#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The profile of a tape. Right values: tests/profile_witness.py works each figure out from the exported CSV, by its
# definition alone; small ones by arithmetic on what tool_make says it makes.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make random=$BUILD/tests/tool_random witness=$top/tests/profile_witness.py
cd "$tmp"

# witnessed TAPE NAME [ASPECT...]
witnessed() {
    local tape=$1 name=$2; shift 2
    $analyze profile --json "$tape" >p.json && $analyze export "$tape" >p.csv && $analyze show --json "$tape" >s.json || rm -f p.json
    is "$($python "$witness" p.csv s.json p.json "$@" 2>&1)" ok "$name"
}
for kind in "mixed 4000 1" "mixed 1500 2" "pages 3000 3" "busy 3000 8" "odd 600 4" "far 2000 5" "wide 2000 7" "blind 500 6"; do
    $random r.tape $kind || exit 1
    witnessed r.tape "random records ($kind): each figure is the witness's"
done
# The control: one length more must show.
awk -F, -v OFS=, 'NR == 100 { $7 += 512 } 1' p.csv >q.csv
[ "$($python "$witness" q.csv s.json p.json)" != ok ]
ok $? "the witness sees one record that differs"
# More in flight than are followed in one pass.
$random deep.tape deep 270000 1 || exit 1
witnessed deep.tape "270,000 I/Os in flight: depth is exact" depth

# By hand: 1,000 records 200 us apart, every tenth a flush, reads and writes of 4 KiB in turns, in sequence; latency of
# 100 us + 1 us * (i % 10); elapsed 200 ms.
$make tape m.tape || exit 1
run $analyze profile m.tape
is $status 0 "a profile as text"
like "$out" "m.tape: 1000 I/Os in 200.0 ms, of 1 process, on vda$" "text: what it is of"
like "$out" "^ +read +500 +50.0 % +2500 +1.95 MiB +10.24 +4.00 KiB$" "text: reads: 500 in 0.2 s"
like "$out" "^ +flush +100 +10.0 %" "text: flushes"
like "$out" "begin where the one before ended: 89.0 %" "text: 800 of 899: after each of 99 flushes a place is left out"
like "$out" "^ +0 +47.8 % " "text: idle 95.5 us of each 200 us"
like "$out" "^ +1 +52.2 % +100.0 %$" "text: busy 104.5 us of each 200 us"
like "$out" "^ +3.52 MiB: 1.95 MiB were read, 1.56 MiB were written" "text: working set of 900 blocks"
is "$(printf '%s\n' "$out" | grep -c '[^ -~]')" 0 "text is plain ASCII"
run $analyze profile --json m.tape -o m.json
is "$status,$out,$($python -c 'import json; print(json.load(open("m.json"))["latency"]["read"]["p50_ns"])')" "0,,104000" "JSON to a file"

# Tapes at the edge.
printf '%s\n' t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error 0,a,b,read,,0,4096,9223372036854775806,0 \
    5,a,b,write,,18446744073709551104,512,3,0 9223372036854775806,a,b,read,,512,0,9223372036854775806,5 >end.csv
$record --import end.csv -o end.tape 2>/dev/null || exit 1
run timeout 60 $analyze profile end.tape
is $status 0 "times of 292 years: it ends"
$make tape empty.tape records=0 && $make tape one.tape records=1 && $make tape cut.tape records=70000 unfinished=1 || exit 1
witnessed empty.tape "an empty tape"
witnessed one.tape "a tape of one record"
run $analyze profile empty.tape; is "$status $out" "0 empty.tape: 0 I/Os in 0 ns, on vda" "an empty tape as text"
run $analyze profile one.tape; like "$status $out" "^0 one.tape: 1 I/O in " "one record as text"
run $analyze profile cut.tape.partial
like "$status $(printf '%s' "$out" | sed -n 2p)" "^0 The recording was cut off" "a recording that was cut off is profiled, and it is said"
witnessed cut.tape.partial "and its figures are those of what is there" mix arrivals working_set
$make tape lost.tape lost=7 && $make tape lost1.tape lost=1 || exit 1
like "$($analyze profile lost.tape)" "lost 7 events:" "lost events are said"
like "$($analyze profile lost1.tape)" "lost 1 event:" "one, too"
$make tape evil.tape $'stream=a\e[31mb' || exit 1
is "$($analyze profile evil.tape | grep -c $'\e')" 0 "no name reaches the terminal as it is"

# What is refused.
$make run r.run || exit 1
run $analyze profile r.run
like "$status $err" "^1 iotape-analyze profile: error: .*r.run.* run" "a run is refused"
run $analyze profile nothing.tape
like "$status $err" "^1 iotape-analyze profile: error: .*No such file" "no file"
run $analyze profile
is $status 2 "no tape is a usage error"
run $analyze profile m.tape -o m.tape
like "$status $err" "^1 .*is the file that is read" "a profile over its tape"
run $analyze profile m.tape -o /dev/full
like "$status $err" "^1 .*No space left" "a full disk"
$python -c 'd = bytearray(open("m.tape", "rb").read()); d[len(d) // 2] ^= 1; open("bad.tape", "wb").write(d)'
run $analyze profile bad.tape -o bad.txt
like "$status $err,$(ls bad.txt 2>/dev/null)" "^1 .*bad.tape.*,$" "damage is an error, and leaves nothing"
done_testing
