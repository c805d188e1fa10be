#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `plot`: every kind as SVG and PNG, whatever the data: well-formed, nothing loaded from elsewhere, no two labels in one
# place (plot_check.py, which reads the file and knows nothing of how it was made).
. "$(dirname "$0")/lib.sh"
need xmllint
make=$BUILD/tests/tool_make
check="$python $top/tests/plot_check.py"
cd "$tmp"
kinds="latency timeline heatmap depth overhead"

$make tape t.tape records=3000 label=web01 || exit 1
$make run a.run records=3000 reps=5 noise_us=40 from_tape=t.tape || exit 1
$make run b.run records=3000 reps=5 noise_us=300 latency_us=300 from_tape=t.tape || exit 1
for kind in $kinds; do
    run $analyze plot $kind a.run b.run -o $kind.svg
    is "$status$out$err" 0 "$kind: drawn"
    xmllint --noout $kind.svg; ok $? "$kind: well-formed"
    like "$($check $kind.svg)" "^ok: " "$kind: fit to be published"
    run $analyze plot $kind a.run b.run -o $kind.png
    is "$status $(od -An -c -N8 $kind.png | tr -d ' ')" '0 211PNG\r\n032\n' "$kind: as PNG"
done
# The control: a label moved onto another is found.
$python - <<'END'
import re
s = open("latency.svg").read()
m = list(re.finditer(r'<text x="[0-9.]+" y="[0-9.]+"', s))
s = s[:m[5].start()] + m[4].group() + s[m[5].end():]
open("moved.svg", "w").write(s)
END
like "$($check moved.svg)" overlap "and an overlap would be seen"

# Systems of several files, one repetition, a recording, names from strangers.
$make run c.run records=40 reps=1 from_tape=t.tape || exit 1
$make run "x<y>&\"' z.run" records=1000 from_tape=t.tape stream=$'<b>\001' || exit 1
for kind in $kinds; do
    run $analyze plot $kind --system "<i>&amp;" a.run c.run --system $'b\xff\nc' b.run -o s.svg --width 340
    is "$status$err" 0 "$kind: systems"
    like "$($check s.svg)" "^ok: " "$kind: whose names become no markup"
done
for kind in latency timeline heatmap depth; do
    run $analyze plot $kind t.tape "x<y>&\"' z.run" -o s.svg
    like "$status $($check s.svg)" "^0 ok: " "$kind: a recording beside a run"
done
is "$(grep -c '<svg ' s.svg) $(grep -o '<text' s.svg | wc -l)" "1 $($check s.svg | tr -dc 0-9)" "text is text"
# Of conversations: 900 exchanges of 1,000 in 0.2 s, 1,000 bytes each: 4,500 a second and 4.5 MB/s; the rest are connects.
for i in 1 2; do $make run n$i.run records=0 exchanges=1000 latency_us=$((i * 200)) || exit 1; done
for kind in $kinds; do
    [ $kind = overhead ] || run $analyze plot $kind n1.run n2.run -o $kind.svg
    [ $kind = overhead ] || like "$status $($check $kind.svg)" "^0 ok: " "$kind: of conversations"
done
like "$(tr -d '\n' <latency.svg)" ">Connects: latency<.*>Exchanges: latency<" "connects and exchanges are told apart"
is "$(grep -c 'Reads: latency\|I/O' latency.svg timeline.svg depth.svg heatmap.svg | cut -d: -f2 | paste -sd' ')" "0 0 0 0" "and nothing is said of I/Os"
like "$(cat timeline.svg)" "n1 4.5k exchanges and 4.5 MB a second" "their rates"
$make tape u.tape records=500 unknown=500 && $make run both.run records=500 exchanges=1000 reps=2 from_tape=u.tape || exit 1
run $analyze plot latency u.tape both.run -o latency.svg
like "$status $(tr -d '\n' <latency.svg)" "^0 .*>Reads: latency<" "beside a recording without latencies, the disks of a run that has both"
run $analyze plot overhead --base b a.run b.run -o s.svg
like "$(cat s.svg)" ">a against b<" "the base is chosen"

# What cannot be drawn.
refuse() { # refuse STATUS TEXT ARGUMENTS...
    local wanted=$1 text=$2
    shift 2
    run $analyze plot "$@"
    is "$status $err" "$wanted iotape-analyze plot: error: $text" "refused: $*"
}
refuse 2 "no kind of plot given (see --help)"
refuse 2 "'pie' is no kind of plot; there are latency, timeline, heatmap, depth, overhead (see --help)" pie a.run -o p.svg
refuse 2 "--output: a name that ends in .svg or .png is needed (see --help)" latency a.run -o p.pdf
refuse 2 "--width: not between 320 and 4096 (see --help)" latency a.run -o p.svg --width 100000
refuse 1 "cannot write '/no/p.svg': No such file or directory" latency a.run -o /no/p.svg
cp a.run in.svg
refuse 1 "output 'in.svg' is the file that is read" latency in.svg -o in.svg
$make run few.run records=3 reps=1 || exit 1
refuse 1 "there are too few I/Os with a known latency for a percentile curve" latency few.run -o p.svg
$make run none.run records=50 reps=2 cut=2 || exit 1
refuse 1 "there is nothing to plot: no repetition counts" timeline none.run -o p.svg
[ ! -e p.svg ]; ok $? "and nothing is left behind"
done_testing
