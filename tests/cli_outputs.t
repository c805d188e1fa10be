#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An output takes the place of nothing but its own kind; 0 is not "not given"; an error is one line.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp" || exit 1
printf '%s\n' 'fio version 3 iolog' '0 /dev/x add' '0 /dev/x open' '0 /dev/x read 8192 4096' '1 /dev/x close' >in.iolog
cp in.iolog in.before
$make tape t.tape records=10 && $make run r.run records=10 || exit 1
cp t.tape t.before; cp r.run r.before

# refused REGEX NAME COMMAND...: exit status 1, one line, no file more than before. 3 checks.
refused() {
    local regex=$1 name=$2 before; shift 2
    before=$(ls -A)
    run "$@"
    is $status 1 "$name: refused"
    like "$err" "$regex" "$name: says why"
    is "$(printf '%s\n' "$err" | wc -l),$(ls -A)" "1,$before" "$name: in one line, and nothing is left"
}
: >.out; : >.err
import="$record --import in.iolog -o"
refused "is no tape; nothing is written" "a tape over the trace that is imported" $import in.iolog
refused "is no tape; nothing is written" "a tape over a run" $import r.run
ln -s in.iolog link
refused "is no tape; nothing is written" "a tape over a link to a file" $import link
mkdir dir
refused "no regular file" "a tape over a directory" $import dir
refused "cannot create ''" "a tape without a name" $record --import in.iolog -o ''
mkfifo pipe
refused "no regular file" "a tape over a pipe" $import pipe
if mknod node c 1 3 2>/dev/null; then
    refused "no regular file" "a tape over a device node" $import node
    is "$(stat -c %F node)" "character special file" "it is still there"
else skip 4 "no device nodes can be made here"; fi
refused "is the file that is read" "an export over its tape" $analyze export t.tape -o t.tape
ln t.tape hard.tape
refused "is the file that is read" "an export over its tape by another name" $analyze export t.tape -o hard.tape
refused "is the file that is read" "an export over its run" $analyze export r.run -o ./r.run
is "$(cmp in.iolog in.before && cmp t.tape t.before && cmp r.run r.before && echo same)" same "none of them has changed"
# The control: a tape may be made anew.
run $import new.tape; run $import new.tape
is $status 0 "a tape over a tape"
: >empty
run $import empty
is $status 0 "a tape over an empty file"

for words in "$record -o x --disk /dev/x --for 0" "$record -o x --disk /dev/x --max-size 0k" \
    "$replay t.tape --to null: -o x --for 0s" "$replay t.tape --to x.img -o x --size 0"; do
    run $words
    is "$status,$(printf '%s\n' "$err" | grep -c ': 0 ')" 2,1 "$(basename "$words") is a usage error"
done
(exec $record -o low.tape --import in.iolog <&- >&- 2>&-)
is "$($analyze show --json low.tape | grep -c '"finished": *true')" 1 'closed standard streams: no message lands in the tape'
$make tape long.tape records=20000 || exit 1
limited() { (ulimit -f 4; exec "$@"); }
refused "File too large" "an export larger than the limit of file size" limited $analyze export long.tape -o long.csv
refused 'a\?b\?\[31m' "a name with what a terminal would obey" $analyze show $'a\nb\e[31m'
done_testing
