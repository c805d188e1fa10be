#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `report`: a page that needs nothing else, read strictly (report_check.py) and opened in a browser, wide and narrow.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
check="$python $top/tests/report_check.py"
cd "$tmp"
mkdir saved hostile

$make tape t.tape records=3000 label=web01 || exit 1
$make run a.run records=3000 from_tape=t.tape label=web01 target=/dev/vdb noise_us=40 working_set=4096000 host.kernel=6.1 || exit 1
$make run b.run records=3000 from_tape=t.tape label=web01 latency_us=150 noise_us=200 host.kernel=6.6 || exit 1
run $analyze report a.run b.run --tape t.tape -o r.html
is "$status$out$err" 0 "report"
like "$($check r.html saved)" "^ok: 7 sections, 10 plots, saved: overhead.csv repetitions.csv percentiles.csv timeline.csv profile.txt differences.csv$" \
    "the page: five plots, each wide and narrow, nothing loaded from elsewhere"
$analyze compare a.run b.run >compare.csv
cmp -s saved/overhead.csv compare.csv; ok $? "the table in the page is what compare writes"
like "$(sed -n 2p saved/percentiles.csv)" "^a,1,read,0.000000,[0-9.]+$" "the curves as CSV"
is "$(grep -c . saved/differences.csv)" 2 "the differences as CSV: one, and its header"
like "$(cat r.html)" "A unit of work costs more than on a" "the verdict in words"
like "$(cat r.html)" "iotape-replay t.tape --timing closed --runs 5 --to /dev/vdb -o a.run" "the commands to repeat it"
run $analyze report a.run b.run --tape t.tape -o again.html
cmp -s <(sed s/again.html/r.html/ again.html) r.html; ok $? "the same page each time"

# One system; a recording as base; standard output.
run $analyze report a.run
printf '%s\n' "$out" >one.html
like "$status $($check one.html)" "^0 ok: " "one system alone"
run $analyze report t.tape a.run -o tape.html
like "$status $($check tape.html)" "^0 ok: " "a recording as base"

# Names from strangers.
x=$'<img src=x onerror=alert(1)>"\x27&amp;\x01\xff]]>'
$make tape h.tape records=1000 label="$x" stream="$x" || exit 1
$make run h1.run records=1000 from_tape=h.tape label="$x" stream="$x" target="$x" host."<b>"="$x" option.seed="\$(reboot) '\`" || exit 1
$make run h2.run records=1000 from_tape=h.tape label="$x" stream="$x" target="a'b" option.seed="\$(reboot) '\`" || exit 1
run $analyze report --system "$x" h1.run --system $'</style><script>\n' h2.run -o h.html
is "$status$err" 0 "hostile names"
like "$($check h.html hostile)" "^ok: " "nothing of them becomes markup"
like "$(cat h.html)" "--seed &#39;.\(reboot\) &#39;.&#39;&#39;.&#39; --runs" "and a shell would take them as they are"

# What must not be.
run $analyze report a.run -o a.run
is "$status $err" "1 iotape-analyze report: error: output 'a.run' is the file that is read" "no input is overwritten"
$make tape other.tape records=10 || exit 1
run $analyze report a.run b.run --tape other.tape -o no.html
is "$status $err" "1 iotape-analyze report: error: 'other.tape' is not the tape that was replayed: no file has its identity" "another tape"
[ ! -e no.html ]; ok $? "leaves no page"
run $analyze report a.run b.run -o /dev/full
like "$status $err" "^1 .*cannot write '/dev/full': No space" "a full disk"
run $analyze report
is $status 2 "no file"

# In a browser: labels where its own fonts and layout put them, and no part of the page wider than the window.
browser=$(command -v chromium-headless-shell || command -v chromium) || { skip 4 "needs chromium"; done_testing; }
cat >probe.js <<'END'
window.onload = function () {
  var faults = [], seen = 0;
  document.querySelectorAll("svg").forEach(function (svg) {
    if (!svg.getClientRects().length) return;
    seen++;
    var boxes = Array.from(svg.querySelectorAll("text")).map(function (t) { return [t.getBBox(), t.textContent]; });
    boxes.forEach(function (a, i) { boxes.slice(0, i).forEach(function (b) {
      var p = a[0], q = b[0];
      if (p.x < q.x + q.width - 0.5 && q.x < p.x + p.width - 0.5 && p.y < q.y + q.height - 1 && q.y < p.y + p.height - 1)
        faults.push(a[1] + " meets " + b[1]);
    }); });
  });
  if (document.documentElement.scrollWidth > window.innerWidth) faults.push("wider than " + window.innerWidth);
  document.title = "PROBE " + seen + " plots: " + (faults.length ? faults.slice(0, 3).join("; ") : "fine");
};
END
for page in r h; do
    { sed '/<\/body>/,$d' $page.html; echo "<script>"; cat probe.js; echo "</script></body></html>"; } >probed-$page.html
    for width in 1000 390; do
        HOME=$tmp timeout 100 "$browser" --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" --window-size=$width,1000 \
            --dump-dom "file://$tmp/probed-$page.html" >dom.html 2>browser.log
        is "$(grep -o '<title>PROBE [^<]*' dom.html | head -1)" "<title>PROBE 5 plots: fine" "$page, $width pixels wide, in a browser"
    done
done
done_testing
