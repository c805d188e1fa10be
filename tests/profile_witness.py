#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Says what `iotape-analyze profile --json` must say, from the tape's exported CSV, by definitions alone and without thrift.
Usage: profile_witness.py TAPE.csv SHOW.json PROFILE.json [ASPECT...]
SHOW.json is `show --json` of the tape. Prints "ok" or what differs."""
import collections, csv, json, math, sys

OPS = ["read", "write", "flush", "discard", "write_zeroes"]
TOP = 2**64 - 1


def cap(n):
    return min(n, TOP)


def as_json(n):  # whole numbers beyond 2^63 - 1 become the nearest double
    return n if n < 2**63 else float(n)


def log(values):
    c = collections.Counter(v.bit_length() for v in values)
    return [{"from": 1 << (k - 1) if k else 0, "count": c[k]} for k in sorted(c)]


def least(q):  # so many that one of them lies beyond the true percentile with 95 % probability
    n = 1
    while 1 - q**n < 0.95:
        n += 1
    return n


def values(v, unit="ns"):
    v = sorted(v)
    d = {"count": len(v)}
    d["min_" + unit] = as_json(v[0]) if v else None
    d["mean_" + unit] = sum(v) / len(v) if v else None
    for name, num, den in (("p50", 1, 2), ("p90", 9, 10), ("p99", 99, 100), ("p999", 999, 1000)):
        rank = -(-len(v) * num // den)
        d[name + "_" + unit] = as_json(v[rank - 1]) if len(v) >= least(num / den) else None
    d["max_" + unit] = as_json(v[-1]) if v else None
    d["log"] = log(v)
    return d


class Record:
    def __init__(self, row, streams):
        self.t, self.offset, self.len = int(row["t_ns"]), int(row["offset_bytes"]), int(row["len_bytes"])
        self.stream, self.issuer, self.op = streams[row["stream"]], row["issuer"], row["op"]
        self.flags = row["flags"].split("|") if row["flags"] else []
        self.latency = int(row["latency_ns"]) if row["latency_ns"] else None
        self.error = int(row["error"]) if row["error"] else 0
        self.data = self.op in ("read", "write")
        self.end = cap(self.offset + self.len)


class Tape:
    def __init__(self, path, show):
        self.elapsed = show["elapsed_ns"]
        self.streams = range(len(show["streams"]))
        names = {s["name"]: s["id"] for s in show["streams"]}
        self.records = [Record(r, names) for r in csv.DictReader(open(path, newline=""))]

    def of(self, stream, op=None):
        return [r for r in self.records if r.stream == stream and (op is None or r.op == op)]

    def data(self, stream):
        return [r for r in self.records if r.stream == stream and r.data]


def operation(records):
    lens = [r.len for r in records]
    return {"count": len(records), "bytes": as_json(cap(sum(lens))), "errors": sum(r.error != 0 for r in records),
            "unknown": sum(r.latency is None for r in records), "min_bytes": as_json(min(lens, default=0)),
            "max_bytes": as_json(max(lens, default=0))}


def mix(t):
    flags = ["preflush", "fua", "sync", "meta", "readahead", "prio", "nomerge", "background", "secure"]
    return {"operations": {o: operation([r for r in t.records if r.op == o]) for o in OPS},
            "flags": {f: sum(f in r.flags for r in t.records) for f in flags},
            "streams": [{o: operation(t.of(s, o)) for o in OPS} for s in t.streams]}


def sizes(t):
    def one(records):
        c = collections.Counter(r.len for r in records if r.len % 512 == 0 and r.len <= 4 << 20)
        top = sorted(c.items(), key=lambda x: (-x[1], x[0]))[:8]
        return {"frequent": [{"len_bytes": n, "count": k} for n, k in top],
                "others": len(records) - sum(k for _, k in top), "log": log([r.len for r in records])}
    return {"read": one([r for r in t.records if r.op == "read"]), "write": one([r for r in t.records if r.op == "write"]),
            "streams": [{o: log([r.len for r in t.of(s, o)]) for o in ("read", "write")} for s in t.streams]}


def alignment(numbers):
    def of(n):
        if n == 0:
            return 1 << 20
        a = 1
        while a < 1 << 20 and n % (2 * a) == 0:
            a *= 2
        return a if a >= 512 else 1
    c = collections.Counter(of(n) for n in numbers)
    return [{"multiple_of_bytes": a, "count": c[a]} for a in sorted(c)]


def places(t):
    def one(rs):
        forward, backward, nearest = [], [], []
        for i, r in enumerate(rs[1:], 1):
            d = r.offset - rs[i - 1].end
            (backward if d < 0 else forward).append(abs(d))
            nearest.append(min(abs(r.offset - b.end) for b in rs[max(0, i - 16):i]))
        return {"count": len(rs), "sequential": forward.count(0), "sequential_to_one_of_16": nearest.count(0),
                "forward_bytes": log(forward), "backward_bytes": log(backward), "nearest_of_16_bytes": log(nearest),
                "lowest_bytes": as_json(min((r.offset for r in rs), default=0)),
                "end_bytes": as_json(max((r.end for r in rs), default=0)),
                "offset_alignment": alignment([r.offset for r in rs]), "length_alignment": alignment([r.len for r in rs]),
                "misaligned_4096": sum(r.offset % 4096 != 0 or r.len % 4096 != 0 for r in rs)}
    return {"streams": [one(t.data(s)) for s in t.streams]}


def gaps(records):
    return [b.t - a.t for a, b in zip(records, records[1:])]


def arrivals(t):
    return {"gap": values(gaps(t.records)), "streams": [log(gaps(t.of(s))) for s in t.streams]}


def classes(counts, unit):
    c = collections.Counter()
    for depth, n in counts.items():
        c[min(depth, 256)] += n
    return [{"depth": d, unit: c[d]} for d in sorted(c) if c[d]]


def sweep(records, elapsed):
    """Yields (from, to, depth) for 0 .. elapsed."""
    change = collections.Counter()
    for r in records:
        if r.latency:
            change[r.t] += 1
            change[cap(r.t + r.latency)] -= 1
    now = depth = 0
    for at in sorted(change):
        if min(at, elapsed) > now:
            yield now, min(at, elapsed), depth
        now, depth = max(now, min(at, elapsed)), depth + change[at]
    if elapsed > now:
        yield now, elapsed, depth


def found(records):
    """The depth that each arrival makes, itself counted."""
    import heapq
    ends, depths = [], []
    for r in records:
        while ends and ends[0] <= r.t:
            heapq.heappop(ends)
        heapq.heappush(ends, cap(r.t + r.latency))
        depths.append(len(ends))
    return depths


def depth(t):
    known = [r for r in t.records if r.latency is not None]
    if not known:
        return {}
    time, idle, busy = collections.Counter(), [], 0
    for a, b, d in sweep(known, t.elapsed):
        time[d] += b - a
    for r in known:
        if r.t > busy:
            idle.append(r.t - busy)
        busy = max(busy, cap(r.t + r.latency))
    if t.elapsed > busy:
        idle.append(t.elapsed - busy)
    depths = found(known)
    return {"left_out": len(t.records) - len(known),
            "mean": sum(d * n for d, n in time.items()) / t.elapsed if t.elapsed else None, "max": max(depths),
            "time": classes(time, "ns"), "arrivals": classes(collections.Counter(depths), "count"), "idle_ns": sum(idle),
            "idle_periods": len(idle), "idle_longest_ns": max(idle, default=0), "idle_log": log(idle),
            "streams": [{"max": max(found([r for r in known if r.stream == s]), default=0)} for s in t.streams]}


def latency(t):
    return {o: values([r.latency for r in t.records if r.op == o and r.latency is not None]) for o in OPS}


def unit(rs):
    u = 4096
    while u > 512 and any(r.offset % u or r.len % u for r in rs):
        u //= 2
    return u


def touched(read, written):
    return {"bytes": sum(len(read[s][1] | written[s][1]) * read[s][0] for s in read),
            "read_bytes": sum(len(read[s][1]) * read[s][0] for s in read),
            "written_bytes": sum(len(written[s][1]) * written[s][0] for s in written)}


def working_set(t):
    units = {s: unit(t.data(s)) for s in t.streams}
    read, written = ({s: (units[s], set()) for s in t.streams} for _ in range(2))
    n, touches, left_out, grown = collections.Counter(), collections.Counter(), 0, []
    for r in t.records:
        if not r.data or not r.len:
            continue
        u, mine, other = units[r.stream], read[r.stream][1], written[r.stream][1]
        first, last = r.offset // u, cap(r.offset + r.len - 1) // u
        if last // 64 - first // 64 >= 4096:
            left_out += 1
            continue
        blocks = set(range(first, last + 1))
        grown.append((r.t, len(blocks - mine - other) * u))
        if r.op == "read":
            n["all_read_bytes"] += len(blocks) * u
            n["read_again_bytes"] += len(blocks & mine) * u
            n["read_after_write_bytes"] += len(blocks & other) * u
            mine |= blocks
        else:
            n["all_written_bytes"] += len(blocks) * u
            n["overwritten_bytes"] += len(blocks & other) * u
            other |= blocks
        for k in range(first // 64, last // 64 + 1):
            touches[r.stream, k * 64 * u] += 1
    t.grown = grown
    order = sorted(touches.items(), key=lambda x: (-x[1], x[0]))
    hot = []
    for (s, at), k in sorted(order[:256]):
        if hot and hot[-1][0] == s and hot[-1][1] + hot[-1][2] == at:
            hot[-1][2] += 64 * units[s]
            hot[-1][3] += k
        else:
            hot.append([s, at, 64 * units[s], k])
    hot.sort(key=lambda h: (-h[3], h[0], h[1]))
    out = {**touched(read, written), "left_out": left_out, "ranges": len(touches), "touches": sum(touches.values()),
           "touches_of_hottest_percent": {str(p): sum(k for _, k in order[:math.ceil(len(order) * p / 100)])
                                          for p in (1, 5, 10, 20, 50)},
           "hot": [{"stream": h[0], "offset_bytes": as_json(h[1]), "len_bytes": h[2], "touches": h[3]} for h in hot[:16]],
           "streams": [{**touched({s: read[s]}, {s: written[s]}), "unit_bytes": units[s]} for s in t.streams]}
    for k in ("all_read_bytes", "read_again_bytes", "read_after_write_bytes", "all_written_bytes", "overwritten_bytes"):
        out[k] = n[k]
    return out


def timeline(t):
    slot = next(b * 10**a for a in range(20) for b in (1, 2, 5) if -(-t.elapsed // (b * 10**a)) <= 240)
    count = max(1, -(-t.elapsed // slot))
    slots = [{"t_ns": i * slot, **{k: dict.fromkeys(OPS, 0) for k in ("count", "bytes", "known", "latency_sum_ns", "latency_max_ns")},
              "depth_sum_ns": 0, "depth_max": 0, "grown_bytes": 0} for i in range(count)]
    at = lambda ns: slots[min(ns // slot, count - 1)]
    for r in t.records:
        s = at(r.t)
        s["count"][r.op] += 1
        s["bytes"][r.op] += r.len
        if r.latency is not None:
            s["known"][r.op] += 1
            s["latency_sum_ns"][r.op] += r.latency
            s["latency_max_ns"][r.op] = max(s["latency_max_ns"][r.op], r.latency)
    known = [r for r in t.records if r.latency is not None]
    for r, d in zip(known, found(known)):
        at(r.t)["depth_max"] = max(at(r.t)["depth_max"], d)
    for a, b, d in sweep(known, t.elapsed):
        while a < b:
            end = b if a // slot >= count - 1 else min(b, (a // slot + 1) * slot)
            at(a)["depth_sum_ns"] += d * (end - a)
            at(a)["depth_max"] = max(at(a)["depth_max"], d)
            a = end
    working_set(t)
    for when, n in t.grown:
        at(when)["grown_bytes"] += n
    for s in slots:
        for o in OPS:
            s["bytes"][o], s["latency_sum_ns"][o] = as_json(cap(s["bytes"][o])), as_json(cap(s["latency_sum_ns"][o]))
    return {"slot_ns": slot, "slots": slots}


def differences(want, got, path):
    if isinstance(want, dict):
        if not isinstance(got, dict):
            yield "%s: wanted an object, got %r" % (path, got)
            return
        for k in want:
            yield from differences(want[k], got.get(k, "nothing"), path + "." + k)
    elif isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            yield "%s: wanted %d, got %s" % (path, len(want), got)
            return
        for i, w in enumerate(want):
            yield from differences(w, got[i], "%s[%d]" % (path, i))
    elif isinstance(want, float) and isinstance(got, (int, float)):
        if not math.isclose(want, got, rel_tol=1e-12):
            yield "%s: wanted %r, got %r" % (path, want, got)
    elif want != got:
        yield "%s: wanted %r, got %r" % (path, want, got)


ASPECTS = [mix, sizes, places, arrivals, depth, latency, working_set, timeline]


def main(tape_csv, show_json, profile_json, *only):
    t, p = Tape(tape_csv, json.load(open(show_json))), json.load(open(profile_json))
    bad = list(differences(len(t.records), p["records"], "records"))
    for aspect in ASPECTS:
        if not only or aspect.__name__ in only:
            bad += differences(aspect(t), p[aspect.__name__], aspect.__name__)
    if "issuers" in p["mix"]:
        bad += differences(len({r.issuer for r in t.records}) if not only else p["mix"]["issuers"], p["mix"]["issuers"], "issuers")
    print("\n".join(bad[:10]) or "ok")


main(*sys.argv[1:])
