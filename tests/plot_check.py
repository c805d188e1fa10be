#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""plot_check.py [--outline] PLOT.svg...: says what is wrong with a plot, or for each "ok: N labels".

Reads the file as any XML parser does, and takes the labels' boxes from the text elements themselves: a line of text is
textLength wide, and as high as DejaVu Sans makes it (ascender 0.928, descender 0.236 of its size)."""
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(root):
    for t in root.iter(SVG + "text"):
        x, y = float(t.get("x")), float(t.get("y"))
        width, size = float(t.get("textLength")), float(t.get("font-size"))
        yield x, y - 0.9282 * size, x + width, y + 0.2358 * size, t.text or ""


def faults_of(root):
    width, height = float(root.get("width")), float(root.get("height"))
    if root.tag != SVG + "svg":
        yield "no svg"
    for name in ("title", "desc"):
        if not (root.findtext(SVG + name) or "").strip():
            yield f"no {name}"
    for e in root.iter():
        for key, value in e.attrib.items():
            if key.endswith("href") and not value.startswith(("#", "data:image/png;base64,")):
                yield f"{e.tag} refers to {value}"
            if key.startswith("on"):
                yield f"{e.tag} has {key}"
        if e.tag in (SVG + "script", SVG + "foreignObject", SVG + "a", SVG + "style"):
            yield f"there is a {e.tag}"
    labels = list(boxes_of(root))
    for i, a in enumerate(labels):
        if a[0] < -0.5 or a[1] < -0.5 or a[2] > width + 0.5 or a[3] > height + 0.5:
            yield f"'{a[4]}' leaves the page"
        for b in labels[:i]:
            if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] - 0.02 and b[1] < a[3] - 0.02:
                yield f"'{a[4]}' and '{b[4]}' overlap"
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    if len(ids) != len(set(ids)):
        yield "an id occurs twice"


def outline(root):
    """What a reader sees, without what differs from one cairo to the next: whole pixels, and how many shapes there are."""
    print(f"{root.get('width')} x {root.get('height')}: {root.findtext(SVG + 'title')}")
    print(root.findtext(SVG + "desc"))
    for x0, y0, x1, y1, text in boxes_of(root):
        print(f"{round(x0)},{round(y0)} {round(x1 - x0)}: {text}")
    tags = [e.tag.replace(SVG, "") for e in root.iter()]
    print(", ".join(f"{tags.count(t)} {t}" for t in ("path", "image", "rect", "text")))


if sys.argv[1] == "--outline":
    outline(ET.parse(sys.argv[2]).getroot())
    sys.exit(0)
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        root = ET.fromstring(f.read().encode())
    found = list(faults_of(root))
    print("; ".join(found) if found else f"ok: {len(list(boxes_of(root)))} labels")
