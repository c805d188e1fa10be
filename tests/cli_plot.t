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
done_testing
