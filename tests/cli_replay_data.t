#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --compressible and --dedupe, as zstd and a count of equal blocks see what is on the target.
. "$(dirname "$0")/replay.sh"
need zstd

# All of 8 MiB is filled; half of it is written, in pieces of 4 to 64 KiB.
awk 'BEGIN { print 0, "read", 0, 4194304; for (at = 4194304; at < 8388608; at += n) { n = 4096 * (1 + i++ % 16)
    if (at + n > 8388608) n = 8388608 - at; print i, "write", at, n } }' | "$BUILD/tests/tool_tape" work.tape || exit 1
go() { run $replay work.tape --to img -o a.run --timing asap "$@"; [ $status = 0 ] || note "$err"; }
left() { awk -v a="$(zstd -q -c "$1" | wc -c)" -v b="$(stat -c %s "$1")" 'BEGIN { printf "%d", 100 * a / b + 0.5 }'; }
# near GOT WANTED BELOW ABOVE NAME
near() { [ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $4)) ]; ok $? "$5: $1, wanted $2"; }
halves() { head -c 4194304 img >filled; tail -c 4194304 img >written; }
different() { $python -c "import sys; f = open('$1', 'rb'); print(len({*iter(lambda: f.read(4096), b'')}))"; }

go; halves
near "$(left filled)" 100 2 1 "the default, filled: per cent that zstd leaves"
near "$(left written)" 100 2 1 "the default, written"
is "$(different img)" 2048 "no block is there twice"
cp a.run plain.run
for percent in 30 50 80; do
    go --compressible $percent; halves
    near "$(left filled)" $((100 - percent)) 2 4 "--compressible $percent, filled"
    near "$(left written)" $((100 - percent)) 2 4 "--compressible $percent, written"
done
like "$err" "repetition 1: " "what was on the target in between was ours of another kind: no refusal"
run $replay work.tape --to img -o b.run --dry-run --compressible 80
like "$out" "to be filled first: 0 " "the same kind again: nothing to fill"
run $replay work.tape --to img -o b.run --dry-run --compressible 79
like "$out" "to be filled first: 8388608|to be filled first: 8.*M" "another kind: all is filled again"
run $analyze compare plain.run a.run
like "$status,$err" "1,.*did different work: option compressible is" "runs of different data are not compared"

# PCT % of 2048 blocks are duplicates: of 64 different ones. Three standard deviations: 68.
for percent in 25 60; do
    go --dedupe $percent; halves
    near "$(different img)" $((2048 * (100 - percent) / 100 + 64)) 68 68 "--dedupe $percent: different blocks of 2048"
    near "$(different written)" $((1024 * (100 - percent) / 100 + 64)) 55 55 "of these, those that were written"
done
go --dedupe 100 --compressible 100 --runs 2
is "$(different img)" 64 "--dedupe 100: 64 different blocks"
run $analyze show --json a.run
like "$(tr -d '\n ' <<<"$out")" '"compressible":"100".*"dedupe":"100"' "both stand in the run"
go; is $status 0 "and back"
printf x | dd of=img bs=1 seek=5000000 conv=notrunc status=none
run $replay work.tape --to img -o a.run --compressible 50
like "$status,$err" "1,.*holds data that iotape did not write" "foreign data among it is refused"
run $replay work.tape --to img -o a.run --compressible 101; is $status 2 "--compressible 101: usage"
run $replay work.tape --to img -o a.run --dedupe x; is $status 2 "--dedupe x: usage"
done_testing
