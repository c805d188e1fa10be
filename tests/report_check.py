#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""report_check.py [--outline] PAGE.html [FOLDER]: says what is wrong with a page, or "ok: N sections"; puts what can be saved from it into
FOLDER.

Strict: the page is read as HTML by html.parser and as XML by expat, and both must see the same elements; nothing may be
loaded, run or linked that is not in the page; every id is there once, every link to one leads somewhere."""
import base64
import os
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link", "path", "rect", "use", "image", "circle"}
FORBIDDEN = {"script", "iframe", "object", "embed", "link", "base", "form", "foreignObject", "foreignobject", "img", "video"}
faults = []


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.ids, self.links, self.saved = [], [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.see(tag, attrs)
        if tag not in ("meta",):
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.see(tag, attrs)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            faults.append(f"</{tag}> closes nothing")

    def see(self, tag, attrs):
        self.tags.append(tag.lower())
        if tag in FORBIDDEN:
            faults.append(f"there is a <{tag}>")
        names = [n for n, _ in attrs]
        if len(names) != len(set(names)):
            faults.append(f"<{tag}> has an attribute twice")
        for name, value in attrs:
            value = value or ""
            if name.startswith("on"):
                faults.append(f"<{tag}> has {name}")
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src"):
                self.link(tag, dict(attrs), value)

    def link(self, tag, attrs, value):
        if value.startswith("#"):
            self.links.append(value[1:])
        elif value.startswith("data:") and tag == "a" and "download" in attrs:
            self.saved[attrs["download"]] = base64.b64decode(value.split(",", 1)[1], validate=True)
        elif not (value.startswith("data:image/png;base64,") and tag == "image"):
            faults.append(f"<{tag}> refers to {value[:60]}")


class Outline(HTMLParser):
    """The page as lines of text, one for each element; plots by their titles, what can be saved by its name."""

    def __init__(self):
        super().__init__()
        self.skip, self.words = 0, []

    def handle_starttag(self, tag, attrs):
        if tag in ("style", "svg"):
            self.skip += 1
        if tag in ("section", "tr", "h1", "h2", "h3", "p", "dt", "dd", "li", "figure", "caption", "pre", "div", "summary"):
            self.flush()
            self.words.append(f"<{tag}{''.join(f' {k}={v}' for k, v in attrs if k in ('id', 'class'))}>")
        if "download" in dict(attrs):
            self.words.append(f"[{dict(attrs)['download']}]")
        if tag in ("td", "th"):
            self.words.append("|")

    def handle_endtag(self, tag):
        if tag in ("style", "svg"):
            self.skip -= 1

    def handle_data(self, data):
        if not self.skip or self.lasttag == "title":
            self.words += data.split()

    def flush(self):
        if self.words:
            print(" ".join(self.words))
        self.words = []


if sys.argv[1] == "--outline":
    page = Outline()
    page.feed(open(sys.argv[2], encoding="utf-8").read())
    page.flush()
    sys.exit(0)
text = open(sys.argv[1], encoding="utf-8", errors="strict").read()
page = Reader()
page.feed(text)
page.close()
if page.stack:
    faults.append(f"left open: {page.stack}")
if len(page.ids) != len(set(page.ids)):
    faults.append("ids occur twice: " + ", ".join(sorted({i for i in page.ids if page.ids.count(i) > 1})[:5]))
faults += [f"nothing is #{x}" for x in page.links if x not in page.ids]
root = ET.fromstring(text.replace("<!DOCTYPE html>", ""))
if [e.tag.split("}")[1].lower() for e in root.iter()] != page.tags:
    faults.append("HTML and XML see different elements")
H = "{http://www.w3.org/1999/xhtml}"
if root.get("lang") != "en" or not root.findtext(f"{H}head/{H}title"):
    faults.append("no language or no title")
for svg in root.iter("{http://www.w3.org/2000/svg}svg"):
    if svg.get("role") != "img" or not all((svg.findtext("{http://www.w3.org/2000/svg}" + t) or "").strip() for t in ("title", "desc")):
        faults.append("a plot without alternative text")
if "@import" in text or "url(http" in text or "url(//" in text:
    faults.append("the style loads something")
for name, data in page.saved.items():
    if len(sys.argv) > 2:
        with open(os.path.join(sys.argv[2], os.path.basename(name)), "wb") as f:
            f.write(data)
print("; ".join(faults) if faults else f"ok: {len(list(root.iter(H + 'section')))} sections, {len(list(root.iter('{http://www.w3.org/2000/svg}svg')))} plots, saved: {' '.join(page.saved)}")
