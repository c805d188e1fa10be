#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The forms of `compare` as their readers see them: Python's parsers of CSV, JSON, HTML and XML; for Markdown and wikitext, that
# nothing of a hostile name is left bare. (tests/golden holds the outputs themselves.)
. "$(dirname "$0")/lib.sh"
cd "$tmp"
. "$top/tests/golden/inputs"
export bad
hostile csv >h.csv && hostile json >h.json && hostile html >h.html && hostile markdown >h.md && hostile mediawiki >h.wiki || exit 1
read_by() { $python - "$@"; }
is "$(read_by <<'PY'
import csv, json, os
bad = os.fsencode(os.environ["bad"]).decode("utf-8", "replace")
raw = open("h.csv", "rb").read()
rows = list(csv.DictReader(open("h.csv", newline="", encoding="utf-8"), strict=True))
text = [r[c] for r in rows for c in ("workload", "stream", "base", "candidate", "flags")]
number = [r[c] for r in rows for c in ("median_base", "ratio_hl", "change_pct", "overhead_pct", "overhead_lo", "p") if r[c]]
print(raw[:3] != b"\xef\xbb\xbf", b"\r" not in raw, {len(r) for r in rows} == {23}, None not in rows[0])
print({r["workload"] for r in rows} == {bad}, {r["base"] for r in rows} == {"'=1+1" + bad}, {r["candidate"] for r in rows} == {"'-2" + bad})
print(any(t[0] in "=+-@\t\r" for t in text if t), any(n[0] == "'" for n in number), any(n[0] == "-" for n in number), len([float(n) for n in number]) > 50)
j = json.load(open("h.json"))
c = j["comparisons"][0]
print(c["workload"] == bad, c["base"] == "=1+1" + bad, len(c["rows"]) == len(rows), [f"{r['change_pct']:.2f}" for r in c["rows"] if r["change_pct"] is not None] == [r["change_pct"] for r in rows if r["change_pct"]])
PY
)" "True True True True
True True True
False False True True
True True True True" "CSV and JSON: names come back as they are, formulas defused, numbers untouched"

is "$(read_by <<'PY'
import os, re, html.parser, xml.etree.ElementTree as xml
bad = re.sub("[\n\u202e]", " ", os.fsencode(os.environ["bad"]).decode("utf-8", "replace"))
text = open("h.html", encoding="utf-8").read()
tree = xml.fromstring(text.replace("<!DOCTYPE html>", "", 1))
class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.tags = set(); self.words = ""
    def handle_starttag(self, tag, attrs):
        self.tags |= {tag} | {a for a, v in attrs if a in ("href", "src") or a.startswith("on")}
    def handle_data(self, data): self.words += data
p = Tags(); p.feed(text)
print(sorted(p.tags - {"html", "head", "meta", "title", "style", "body", "h2", "table", "tr", "th", "td", "p", "br"}), bad in p.words)
widths = [{len(r) for r in t.iter("tr")} for t in tree.iter("table")]
print(all(len(w) == 1 for w in widths), len(widths))
PY
)" "[] True
True 2" "HTML: well-formed, no tag comes from a name"

# In Markdown each line of a table has as many bars as the first; what is left of names holds nothing that means something.
is "$(read_by <<'PY'
import html, os, re
bad = re.sub("[\n\u202e]", " ", os.fsencode(os.environ["bad"]).decode("utf-8", "replace"))
lines = open("h.md", encoding="utf-8").read().split("\n")
tables, last = [], None
for l in lines:
    if l.startswith("|"):
        if last is None: tables.append(set())
        tables[-1].add(l.count("|")); last = l
    else: last = None
print([len(t) for t in tables])
rest = " ".join(re.sub("&(#[0-9]+|[a-z]+);", "", l) for l in lines if "NOTOC" in l)
print(sorted(set(re.findall(r"[`*<>\[\]{}~@$\\]|__|://", rest))))
print(bad in html.unescape("\n".join(lines)))
wiki = open("h.wiki", encoding="utf-8").read().split("\n")
print(sorted({l[:2] for l in wiki if l} - {"==", "{|", "|-", "! ", "| ", "|}"}))
rest = " ".join(re.sub("&(#[0-9]+|[a-z]+);", "", l[2:]).replace(' style="text-align:right" |', "") for l in wiki if "NOTOC" in l)
print(sorted(set(re.findall(r"[<>\[\]{}|~*#;:\"]|''|__", rest))), bad in html.unescape("\n".join(wiki)))
PY
)" "[1, 1]
[]
True
['Ba', 'Le']
[] True" "Markdown and wikitext: names are text"
LC_ALL=de_DE.UTF-8 $analyze compare hostile-1.run hostile-2.run -f markdown >a.md && $analyze compare hostile-1.run hostile-2.run -f markdown -o b.md
is "$(cat b.md)" "$(cat a.md)" "-o, whatever the locale"
run $analyze compare hostile-1.run hostile-2.run --format yaml
like "$status $err" "^2 .*--format: there are csv, markdown, mediawiki, html and json" "an unknown form"
if [ -e /dev/full ]; then
    for f in csv markdown mediawiki html json; do
        run $analyze compare hostile-1.run hostile-2.run --format $f -o /dev/full
        like "$status $err" "^1 .*No space left" "$f: a full disk is an error"
    done
fi
done_testing
