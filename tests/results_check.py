#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""results_check.py ANALYZE EXPECTED FOLDER: whether `show --json` reads every file of the folder as the table says.

One line for each file: "ok NAME" or "not ok NAME: what is wrong". The table's form is explained in
results_corpus.expected.
"""
import json, os, re, subprocess, sys

FIO = ["bandwidth", "iops", "slat_mean", "clat_mean", "lat_mean", "lat_max", "clat_p50", "clat_p95", "clat_p99", "clat_p99.9"]
FIO_UNITS = ["KiB/s", "1/s"] + 8 * ["us"]


def number(text):
    if not re.fullmatch(r"[0-9.e*/+-]+", text):
        raise ValueError("no number: " + text)
    return eval(text)


def load(path):
    """{name: {"head": [...], "figures": {(output, workload, metric): (value, unit)}}}"""
    files, now, names = {}, None, {}
    for line in open(path):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        if line.startswith("= "):
            words = line[2:].split(" ", 3)
            now = files.setdefault(words[0], {"head": words[1:], "figures": {}})
            if words[1] == "as":
                now.update(files[words[2]])
        elif line.startswith("fio "):
            words = line.split()
            for what, unit, value in zip(FIO, FIO_UNITS, words[3:], strict=True):
                if value != "-":
                    now["figures"][1, words[1], words[2] + "_" + what] = (number(value), unit)
        else:
            output = 1
            if line.startswith("2: "):
                output, line = 2, line[3:]
            workload, metric, value = [part.strip() for part in line.split("|")]
            value, unit = value.split()
            now["figures"][output, workload, metric] = (None if value == "missing" else number(value), unit)
    return files


def check(analyze, path, wanted):
    shown = subprocess.run([analyze, "show", "--json", path], capture_output=True, text=True)
    head = wanted["head"]
    if head[0] == "refused":
        text = " ".join(head[1:])
        good = shown.returncode == 1 and not shown.stdout and re.search(text, shown.stderr)
        return [] if good else ["wanted '%s', got %d %s" % (text, shown.returncode, shown.stderr)]
    if shown.returncode != 0:
        return [shown.stderr]
    outputs = json.loads(shown.stdout)["outputs"]
    tool, form = head[1], head[2].split()[0]
    wrong = []
    if len(outputs) != int(head[0]) or any((o["tool"], o["form"]) != (tool, form) for o in outputs):
        wrong.append("outputs: %s" % [(o["tool"], o["form"]) for o in outputs])
    failed = head[2].partition(" failed ")[2] or None
    if [o["failed"] for o in outputs] != [failed] * len(outputs):
        wrong.append("failed: %s" % [o["failed"] for o in outputs])
    got = {(i + 1, f["workload"], f["metric"]): f for i, o in enumerate(outputs) for f in o["figures"]}
    for key, (value, unit) in wanted["figures"].items():
        f = got.get(key)
        if f is None:
            wrong.append("%s is not there" % (key,))
        elif f["unit"] != unit or f["missing"] != (value is None) or (f["value"] is None) != (value is None):
            wrong.append("%s is %s %s" % (key, f["value"], f["unit"]))
        elif value is not None and abs(f["value"] - value) > 1e-9 * abs(value):
            wrong.append("%s is %r, wanted %r" % (key, f["value"], value))
    return wrong + ["%s is not in the table" % (key,) for key, f in got.items()
                    if f["compared"] and key not in wanted["figures"]]


def main(analyze, expected, folder):
    files = load(expected)
    for name in sorted(set(os.listdir(folder)) | set(files)):
        wrong = check(analyze, os.path.join(folder, name), files[name]) if name in files else ["not in the table"]
        print("%s %s%s" % ("not ok" if wrong else "ok", name, "".join(": " + w.strip() for w in wrong)))


main(*sys.argv[1:])
