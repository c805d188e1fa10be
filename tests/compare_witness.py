#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what a row of `iotape-analyze compare` must say, from the runs' exported records, by definitions alone: sorting, all
pairs, all splits. Usage: compare_witness.py BASE.csv CANDIDATE.csv COMPARE.csv [FIRST_COUNTED_REPETITION]
Prints "ok" or what differs."""
import csv, itertools, math, statistics, sys


def repetitions(path, first):
    reps = {}
    for r in csv.DictReader(open(path, newline="")):
        if int(r["repetition"]) >= first:
            reps.setdefault(int(r["repetition"]), []).append(r)
    return [reps[k] for k in sorted(reps)]


def metric(name, records, response, stream):
    def time(r):
        return (int(r["latency_ns"]) + (int(r["lateness_ns"]) if response else 0)) / 1000

    good = [r for r in records if r["error"] == "0" and stream in ("", r["stream"])]
    elapsed = max(int(r["issued_ns"]) + int(r["latency_ns"]) for r in records) / 1e9
    if name == "elapsed":
        return elapsed
    if name in ("latency_mean", "response_mean"):
        return statistics.fmean(map(time, good))
    op, what = name.split("_", 1)
    times = sorted(time(r) for r in good if r["op"] == op)
    if what == "iops":
        return len(times) / elapsed
    if what == "bandwidth":
        return sum(int(r["len_bytes"]) for r in good if r["op"] == op) / 1e6 / elapsed
    stat = what.split("_")[1]
    if stat == "mean":
        return statistics.fmean(times)
    if stat == "max":
        return times[-1]
    per_mille = {"p50": 500, "p95": 950, "p99": 990, "p99.9": 999}[stat]
    least = math.ceil(math.log(0.05) / math.log(per_mille / 1000))
    return times[-(-len(times) * per_mille // 1000) - 1] if len(times) >= least else None


def ranks(values):
    return [sum(w < v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def p_value(rank, base):
    mean = len(base) * sum(rank) / len(rank)
    far = abs(sum(rank[i] for i in base) - mean) - 1e-9
    splits = list(itertools.combinations(range(len(rank)), len(base)))
    return sum(abs(sum(rank[i] for i in s) - mean) >= far for s in splits) / len(splits)


def close(text, value, digits):
    return text != "" and abs(float(text) - value) <= max(abs(value) * 2e-5, 10.0**-digits)


def main():
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    sides = [repetitions(p, first) for p in sys.argv[1:3]]
    wrong, family = [], []
    rows = list(csv.DictReader(open(sys.argv[3], newline="")))
    response = any("response" in r["metric"] for r in rows)
    checked = 0
    for row in rows:
        name = row["metric"]
        if name in ("io_time", "host_cpu_per_io"):
            continue
        base, cand = ([metric(name, reps, response, row["stream"]) for reps in side] for side in sides)
        if None in base + cand:
            if row["ratio_hl"] or row["median_base"] or "too_few_ios" not in row["flags"]:
                wrong.append(f"{name} is not empty")
            continue
        pairs = sorted(c / b for b in base for c in cand)
        ratio = math.exp(statistics.median(map(math.log, pairs)))
        rank = ranks(base + cand)
        p = p_value(rank, range(len(base)))
        overhead = (1 / ratio if row["better"] == "higher" else ratio) - 1
        wanted = {"median_base": (statistics.median(base), 9), "median_cand": (statistics.median(cand), 9),
                  "ratio_hl": (ratio, 6), "change_pct": (100 * (ratio - 1), 2), "overhead_pct": (100 * overhead, 2), "p": (p, 6)}
        if len(base) == len(cand) == 5:  # [D(3), D(23)] of 25: 1 - 2 * 4/252
            ends = [(1 / x if row["better"] == "higher" else x) - 1 for x in (pairs[2], pairs[22])]
            wanted |= {"overhead_lo": (100 * min(ends), 2), "overhead_hi": (100 * max(ends), 2), "conf": (1 - 8 / 252, 6)}
        for key, (value, digits) in wanted.items():
            if not close(row[key], value, digits):
                wrong.append(f"{name} {key}: {row[key]} instead of {value}")
        checked += 1
    if checked < 5:
        wrong.append(f"only {checked} rows")
    print("; ".join(wrong) or "ok")


main()
