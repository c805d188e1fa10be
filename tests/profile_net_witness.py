#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what "sockets" of `iotape-analyze profile --json` must be, from the tape's exported net_csv, by definitions alone.
Usage: profile_net_witness.py TAPE.net.csv SHOW.json PROFILE.json
SHOW.json is `show --json` of the tape. Prints "ok" or what differs."""
import collections, csv, json, math, sys

SIDES = ("initiator", "responder")


def values(v, unit):
    """A percentile is the value at rank ceil(q n), and said from the least n with 1 - q^n >= 0.95 on."""
    v, c = sorted(v), collections.Counter(x.bit_length() for x in v)
    d = {"count": len(v), "min_" + unit: v[0] if v else None, "mean_" + unit: sum(v) / len(v) if v else None}
    for name, num, den, needed in (("p50", 1, 2, 5), ("p90", 9, 10, 29), ("p99", 99, 100, 299), ("p999", 999, 1000, 2995)):
        d[name + "_" + unit] = v[-(-len(v) * num // den) - 1] if len(v) >= needed else None
    d["max_" + unit] = v[-1] if v else None
    d["log"] = [{"from": 1 << (k - 1) if k else 0, "count": c[k]} for k in sorted(c)]
    return d


def main(net_csv, show_json, profile_json):
    events, show = list(csv.DictReader(open(net_csv, newline=""))), json.load(open(show_json))
    elapsed = show["elapsed_ns"]
    connects = {e["conversation"]: e for e in events if e["event"] == "connect"}
    # Each conversation's place in the tape: from the number of its connect to that of its end.
    spans = {c: [None, len(events), 0, elapsed] for c in connects}
    for i, e in enumerate(events):
        s = spans[e["conversation"]]
        if e["event"] == "connect":
            s[0], s[2] = i, int(e["t_ns"])
        elif e["event"] in ("close", "reset", "cut"):
            s[1], s[3] = i, int(e["t_ns"])

    def one(part):
        """`part`: numbers of conversations."""
        d = {"conversations": len(part), "open_max": 0}
        for side in SIDES:
            sent = [int(e["bytes"]) for e in events if e["conversation"] in part and e["event"] == "data" and e["side"] == side]
            d[side] = {"messages": len(sent), "bytes": sum(sent)}
        begins, ends = sorted(spans[c][0] for c in part), sorted(spans[c][1] for c in part)
        d["open_max"] = max((n + 1 - sum(e < b for e in ends) for n, b in enumerate(begins)), default=0)
        d["open_mean"] = sum(spans[c][3] - spans[c][2] for c in part) / elapsed if elapsed else None
        return d

    want = one(set(connects))
    for side in SIDES:
        data = [e for e in events if e["event"] == "data" and e["side"] == side]
        want[side]["size"] = values([int(e["bytes"]) for e in data], "bytes")
        want[side]["think"] = values([int(e["think_ns"]) for e in data], "ns")
    over = {e["conversation"] for e in events if e["event"] in ("close", "reset")}
    seen = {c for c, e in connects.items() if "began_before" not in e["marks"]}
    want["length"] = values([spans[c][3] - spans[c][2] for c in over & seen], "ns")
    want["events"], want["open"] = len(events), len(set(connects) - over)
    want["streams"] = [one({c for c, e in connects.items() if e["stream"] == s["name"]}) for s in show["streams"]]

    def differences(want, got, path):
        if isinstance(want, dict) and isinstance(got, dict):
            for k in want:
                yield from differences(want[k], got.get(k, "nothing"), path + "." + k)
        elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
            for i, w in enumerate(want):
                yield from differences(w, got[i], "%s[%d]" % (path, i))
        elif isinstance(want, float) and isinstance(got, (int, float)):
            if not math.isclose(want, got, rel_tol=1e-12):
                yield "%s: wanted %r, got %r" % (path, want, got)
        elif want != got:
            yield "%s: wanted %r, got %r" % (path, want, got)

    print("\n".join(list(differences(want, json.load(open(profile_json))["sockets"], "sockets"))[:10]) or "ok")


main(*sys.argv[1:])
