#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# CSV of tapes and runs. Right values follow from tool_make's description of what it makes.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
$make tape a.tape records=20 latency_us=100 unknown=1 || exit 1
run $analyze export a.tape --format csv
is $status 0 "a tape is exported"
is "$(sed -n 1p .out)" "t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error" "header"
is "$(sed -n 2p .out)" "0,vda,fio,read,,0,4096,100000,0" "a read"
is "$(sed -n 3p .out)" "200000,vda,fio,write,fua|sync,4096,4096,101000,0" "a write, its flags joined"
is "$(sed -n 11p .out)" "1800000,vda,fio,flush,preflush,0,0,109000,0" "a flush"
is "$(sed -n 21p .out)" "3800000,vda,fio,flush,preflush,0,0,," "an unknown latency is an empty cell, so is its error"
is "$(wc -l <.out)" 21 "one line a record"
is "$(grep -c $'\r' .out)" 0 "lines end in LF"

$make run r.run records=10 reps=2 errors=1 option.timing=recorded step=10 || exit 1
run $analyze export r.run --format csv
is "$(sed -n 1p .out)" \
    "repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,error" "a run: header"
is "$(sed -n 2p .out)" "1,1,vda,read,0,4096,0,10000,10000,100000,5" "records count from 1; an error is its errno"
is "$(sed -n 5p .out)" "1,4,vda,write,12288,4096,600000,610000,10000,103000,0" "a write"
is "$(sed -n 13p .out)" "2,2,vda,write,4096,4096,200000,210000,10000,111000,0" "the second repetition, 10 % slower"
is "$(wc -l <.out)" 21 "all repetitions"
# The control: a latency 10 % off must show.
$make run s.run records=10 reps=2 errors=1 option.timing=recorded step=10 latency_us=110 || exit 1
$analyze export s.run >s.csv
is "$(sed -n 5p s.csv)" "1,4,vda,write,12288,4096,600000,610000,10000,113000,0" "10 us more are 10 us more"

# Names with what CSV must quote: read back by another implementation.
$make tape q.tape records=2 'stream=a,"b"' "issuer= c
d" || exit 1
$analyze export q.tape >q.csv
is "$($python -c 'import csv; print([r[1:3] for r in csv.reader(open("q.csv", newline=""))][1])')" \
    "['a,\"b\"', ' c\\nd']" "quoting is undone by another reader"

# More than one chunk, against the tape's own arithmetic.
$make tape big.tape records=70000 || exit 1
$analyze export big.tape -o big.csv
is $? 0 "to a file"
is "$(awk -F, 'NR > 1 && ($1 != (NR - 2) * 200000 || $8 != 100000 + (NR - 2) % 10 * 1000) { bad++ } END { print NR, bad + 0 }' big.csv)" \
    "70001 0" "each record is as it was made"
is "$(ls big.csv*)" "big.csv" "nothing is left beside it"
ls -l big.csv | grep -q '^-rw-r--r--' || [ "$(umask)" != 0022 ]
ok $? "its mode follows the umask"

# Damage: an error, and no file.
$python -c 'd = bytearray(open("big.tape", "rb").read()); d[len(d) // 2] ^= 1; open("bad.tape", "wb").write(d)'
run $analyze export bad.tape -o bad.csv
like "$status $err" "^1 iotape-analyze export: error: .*bad.tape" "damage fails"
is "$(ls bad.csv* 2>/dev/null)" "" "and leaves no file"
run $analyze export big.tape -o /nowhere/x.csv
like "$status $err" "^1 .*cannot write '/nowhere/x.csv': No such file" "nowhere to write"
run $analyze export big.tape -o /dev/null
is "$status $(stat -c %F /dev/null)" "0 character special file" "a device is written to, not replaced"
ln -s big.csv link.csv && run $analyze export a.tape -o link.csv
is "$(readlink link.csv) $(wc -l <big.csv)" "big.csv 21" "a link is followed"
echo before >both.csv && $analyze export a.tape -o /dev/stdout >>both.csv
is "$(wc -l <both.csv) $(readlink /dev/stdout)" "22 /proc/self/fd/1" "standard output by its name"
if [ -e /dev/full ]; then
    run $analyze export big.tape -o /dev/full
    like "$status $err" "^1 .*No space left" "a full disk is an error"
fi
{ $analyze export big.tape 2>pipe.err; echo $? >pipe.status; } | head -c 10 >/dev/null
like "$(cat pipe.status pipe.err)" "^1" "a closed pipe is an error"
like "$(cat pipe.err)" "Broken pipe" "that is said"
run $analyze export big.tape --format nonsense
is $status 2 "an unknown format is a usage error"
run $analyze export
is $status 2 "so is no file"
run $analyze export a.tape r.run
is $status 2 "so are two"
done_testing
