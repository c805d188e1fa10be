#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a tape or a run as formats/TAPE.md describes it, with tar, zstd and a generic msgpack decoder, and prints its
records as CSV. Everything that a reader may verify is verified. Shares no code with libtape.

    read_tape.py FILE
    read_tape.py FILE net        the events of conversations instead of block records
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import msgpack

M64 = (1 << 64) - 1
UNKNOWN = M64
OPS = ["read", "write", "flush", "discard", "write_zeroes"]
FLAGS = ["preflush", "fua", "sync", "meta", "readahead", "prio", "nomerge", "background", "secure"]


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_128bits.restype = Hash128
for function in xxhash.XXH3_64bits, xxhash.XXH3_128bits:
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3_64(data):
    return xxhash.XXH3_64bits(data, len(data))


def xxh3_128(data):
    h = xxhash.XXH3_128bits(data, len(data))
    return h.low + (h.high << 64)


def little(value, width):
    return value.to_bytes(width, "little")


class Tape:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.file = f.read()
        folder = tempfile.mkdtemp()
        subprocess.run(["tar", "xf", os.path.abspath(path)], cwd=folder, check=True)
        listing = subprocess.run(["tar", "tf", path], check=True, stdout=subprocess.PIPE).stdout
        self.names = listing.decode().split()
        self.folder = folder

    def body(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return f.read()

    def member(self, name):
        """The map that a member is, its seal verified."""
        data = self.body(name)
        if name.endswith(".zst"):
            assert data[-16:-8] == bytes.fromhex("582a4d1808000000"), name
            assert data[-8:] == little(xxh3_64(data[:-16]), 8), name
            data = subprocess.run(["zstd", "-dc"], input=data, check=True, stdout=subprocess.PIPE).stdout
            return msgpack.unpackb(data, raw=False)
        content = msgpack.unpackb(data, raw=False)
        assert list(content)[-1] == "xxh3" and data[-9] == 0xCF, name
        assert content["xxh3"] == xxh3_64(data[:-9]) == int.from_bytes(data[-8:], "big"), name
        return content

    def folder_members(self, folder):
        return [n for n in self.names if n.startswith(folder + "/")]

    def check_index(self, index):
        """Index and end against what tar and the file itself say."""
        assert self.names[0] == "iotape.msgpack" and self.names[-2:] == ["index.msgpack", "end.msgpack"]
        assert [m[0] for m in index["members"]] == self.names[:-2]
        place = 0
        for name, offset, size, digest, *extent in index["members"]:
            body = self.body(name)
            assert (offset, size, digest) == (place, len(body), xxh3_64(body)), name
            assert self.file[place + 512 : place + 512 + size] == body
            place += 512 + (size + 511) // 512 * 512
            if name.startswith(("iotape", "dict", "repetition")):
                assert extent == [0, 0, 0, 0]
        end, body = self.member("end.msgpack"), self.body("index.msgpack")
        assert len(self.body("end.msgpack")) == 79
        assert (end["index_offset"], end["index_size"], end["index_digest"]) == (place, len(body), xxh3_64(body))
        assert self.file[-2048 + 512 :].startswith(self.body("end.msgpack"))
        assert self.file[-1024:] == bytes(1024)


def planes(column, count):
    coding, base, shift, start, data = column
    assert len(data) % count == 0 and len(data) // count <= 8 and 0 <= shift <= 63
    x = []
    for i in range(count):
        p = 0
        for k in range(len(data) // count):
            p |= data[k * count + i] << (8 * k)
        x.append((base + (p << shift)) & M64)
    return coding, start, x


def decode(chunk):
    """name -> list of values."""
    count, table = chunk["count"], chunk["columns"]
    values = {}

    def column(name):
        if name in values:
            return values[name]
        coding, start, x = planes(table[name], count)
        if coding == "value":
            v = x
        elif coding == "delta":
            v, last = [], start
            for step in x:
                last = (last + step) & M64
                v.append(last)
        elif coding == "end":
            v, ends = [], {}
            for i, step in enumerate(x):
                stream = column("stream")[i]
                v.append((ends.get(stream, start) + step) & M64)
                ends[stream] = v[i] + column("len_bytes")[i]
        elif coding == "lag":
            v = [(issued - step) & M64 for issued, step in zip(column("issued_ns"), x)]
        else:
            raise ValueError(coding)
        values[name] = v
        return v

    for name in table:
        column(name)
    return values


def known(value):
    return "" if value == UNKNOWN else value


def flags_name(flags):
    return "|".join(name for bit, name in enumerate(FLAGS) if flags >> bit & 1)


def read_hosts(tape):
    return [h for name in tape.folder_members("dict") for h in tape.member(name).get("hosts", [])]


def read_streams(tape):
    streams, issuers = [], []
    for name in tape.folder_members("dict"):
        content = tape.member(name)
        streams += content["streams"]
        issuers += content["issuers"]
    return streams, issuers


def read_records(tape):
    records, firsts = [], {}
    for name in tape.names:
        if name.startswith("block/"):
            chunk = tape.member(name)
            values = decode(chunk)
            assert chunk["first"] == len(records)
            firsts[chunk["first"]] = chunk["count"]
            for i in range(chunk["count"]):
                records.append({key: column[i] for key, column in values.items()})
        elif name.startswith("late/"):
            chunk = tape.member(name)
            values = decode(chunk)
            for i, number in enumerate(values["record"]):
                record = records[number]
                assert chunk["first"] <= number < chunk["first"] + firsts[chunk["first"]]
                assert record["latency_ns"] == UNKNOWN
                assert (record["stream"], record["t_ns"]) == (values["stream"][i], values["t_ns"][i])
                record["latency_ns"], record["error"] = values["latency_ns"][i], values["error"][i]
    return records


PROTOCOLS = ["tcp", "udp"]
SIDES = ["initiator", "responder"]
CONNECT, ACCEPT, DATA, HALF_CLOSE, CLOSE, RESET, CUT = range(7)
KINDS = ["connect", "accept", "data", "half_close", "close", "reset", "cut"]


def read_net(tape):
    """Conversations and events, as lists of dicts."""
    conversations, events, begun = [], [], []
    for name in tape.names:
        if name.startswith("conversation/"):
            assert not begun
            chunk = tape.member(name)
            values = decode(chunk)
            assert chunk["first"] == len(conversations)
            begun = [{key: column[i] for key, column in values.items()} for i in range(chunk["count"])]
        elif name.startswith("net/"):
            chunk = tape.member(name)
            values = decode(chunk)
            assert chunk["first"] == len(events)
            new = [{key: column[i] for key, column in values.items()} for i in range(chunk["count"])]
            connects = [ev["conversation"] for ev in new if ev["kind"] == CONNECT]
            assert connects == list(range(len(conversations), len(conversations) + len(begun)))
            conversations += begun
            events += new
            begun = []
    assert not begun
    return conversations, events


def check_net(conversations, events, totals, streams, hosts):
    """The rules of TAPE.md, and what the totals count."""
    state, ended, last, exchanges, sent, open_ = {}, {}, 0, 0, [0, 0], 0
    for ev in events:
        number, side, kind = ev["conversation"], ev["side"], ev["kind"]
        talk = conversations[number]
        tcp = talk["protocol"] == 0
        assert last <= ev["t_ns"] and ev["think_ns"] <= ev["t_ns"] and ev["flags"] < 4
        last = ev["t_ns"]
        if kind == CONNECT:
            assert side == 0 and streams[talk["stream"]]["kind"] == "net" and talk["marks"] < 4
            assert max(talk["client"], talk["server"]) < len(hosts)
            assert ev["watermark"] <= (0 if talk["marks"] & 1 else ended.get(talk["client"], 0))
            state[number] = {"got": [0, 0], "fin": [False, False], "answered": 0, "left": False}
            open_ += 1
            assert len(state) <= 262144
            continue
        s = state[number]
        assert ev["watermark"] <= s["got"][1 - side]
        assert kind == DATA or ev["bytes"] == 0
        assert tcp or kind in (DATA, CUT)
        assert kind != ACCEPT or side == 1
        if kind == DATA:
            assert not s["fin"][side] and (ev["bytes"] or not tcp)
            s["got"][side] += ev["bytes"] if tcp else 1
            sent[side] += ev["bytes"]
            if side == 1 and ev["watermark"] > s["answered"]:
                s["answered"], exchanges = ev["watermark"], exchanges + 1
        elif kind in (HALF_CLOSE, CLOSE):
            assert not s["fin"][side] and s["fin"][1 - side] == (kind == CLOSE)
            s["fin"][side] = True
            s["got"][side] += 1
        if not s["left"] and (kind == RESET or (kind in (HALF_CLOSE, CLOSE) and side == 0)):
            s["left"] = True
            ended[talk["client"]] = ended.get(talk["client"], 0) + 1
        open_ -= kind in (CLOSE, RESET)
        if kind in (CLOSE, RESET, CUT):
            del state[number]
    wanted = [len(conversations), len(events), *sent, open_, exchanges]
    assert totals.get("net", [0] * 6) == wanted, (totals.get("net"), wanted)
    for i, stream in enumerate(streams):
        if stream.get("kind") == "net":
            mine = [ev for ev in events if conversations[ev["conversation"]]["stream"] == i]
            by = [sum(ev["bytes"] for ev in mine if ev["side"] == side) for side in (1, 0)]
            assert totals["streams"][i][:3] == [len(mine), *by]


def net_identity(conversations, events):
    work = 0
    for n, c in enumerate(conversations):
        work += xxh3_128(little(n, 8) + little(c["stream"], 4) + little(c["client"], 4) + little(c["server"], 4)
                         + little(c["client_port"], 2) + little(c["server_port"], 2) + little(c["protocol"], 1)
                         + little(c["marks"], 1))
    for n, ev in enumerate(events):
        work += xxh3_128(little(n, 8) + little(ev["t_ns"], 8) + little(ev["conversation"], 4) + little(ev["side"], 1)
                         + little(ev["kind"], 1) + little(ev["flags"], 2) + little(ev["bytes"], 8)
                         + little(ev["watermark"], 8) + little(ev["think_ns"], 8))
    return work


def print_net(conversations, events, streams, hosts):
    print("t_ns,conversation,side,event,bytes,watermark,think_ns,flags,"
          "stream,protocol,client,client_port,server,server_port,marks")
    for ev in events:
        c = conversations[ev["conversation"]]
        about = [""] * 7
        if ev["kind"] == CONNECT:
            marks = "|".join(n for b, n in enumerate(["began_before", "initiator_guessed"]) if c["marks"] >> b & 1)
            about = [streams[c["stream"]]["name"], PROTOCOLS[c["protocol"]], hosts[c["client"]], c["client_port"],
                     hosts[c["server"]], c["server_port"], marks]
        flags = "|".join(n for b, n in enumerate(["forgotten", "unseen"]) if ev["flags"] >> b & 1)
        print(ev["t_ns"], ev["conversation"] + 1, SIDES[ev["side"]], KINDS[ev["kind"]], ev["bytes"], ev["watermark"],
              ev["think_ns"], flags, *about, sep=",")


def check_identity(records, totals, work):
    timed = 0
    for n, r in enumerate(records):
        work += xxh3_128(little(n, 8) + little(r["t_ns"], 8) + little(r["stream"], 4) + little(r["op"], 1)
                         + little(r["flags"], 2) + little(r["offset_bytes"], 8) + little(r["len_bytes"], 8))
        if r["latency_ns"] != UNKNOWN:
            timed += xxh3_128(little(n, 8) + little(r["latency_ns"], 8) + little(r["error"], 2))
    work, timed = work % (1 << 128), timed % (1 << 128)
    assert totals["identity"] == [work & M64, work >> 64, timed & M64, timed >> 64]


def print_tape(tape, index):
    streams, issuers = read_streams(tape)
    records = read_records(tape)
    totals = index["totals"]
    assert totals["records"] == len(records)
    conversations, events = read_net(tape)
    check_net(conversations, events, totals, streams, read_hosts(tape))
    check_identity(records, totals, net_identity(conversations, events))
    if sys.argv[2:] == ["net"]:
        print_net(conversations, events, streams, read_hosts(tape))
        return
    for i, (count, _, _, _, without) in enumerate(totals["streams"]):
        if streams[i].get("kind") == "net":
            continue
        mine = [r for r in records if r["stream"] == i]
        assert (count, without) == (len(mine), sum(r["latency_ns"] == UNKNOWN for r in mine))
    print("t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error")
    for r in records:
        unknown = r["latency_ns"] == UNKNOWN
        print(r["t_ns"], streams[r["stream"]]["name"], issuers[r["issuer"]], OPS[r["op"]], flags_name(r["flags"]),
              r["offset_bytes"], r["len_bytes"], known(r["latency_ns"]), "" if unknown else r["error"], sep=",")


def print_run(tape, index):
    streams, _ = read_streams(tape)
    results = 0
    print("repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,error")
    for name in tape.folder_members("result"):
        chunk = tape.member(name)
        v = decode(chunk)
        results += chunk["count"]
        for i in range(chunk["count"]):
            print(chunk["repetition"], v["record"][i] + 1, streams[v["stream"][i]]["name"], OPS[v["op"][i]],
                  v["offset_bytes"][i], v["len_bytes"][i], v["scheduled_ns"][i], v["issued_ns"][i],
                  v["issued_ns"][i] - v["scheduled_ns"][i], known(v["latency_ns"][i]), v["error"][i], sep=",")
    for name in tape.folder_members("repetition"):
        tape.member(name)
    assert index["totals"]["results"] == results
    assert index["totals"]["repetitions"] == len(tape.folder_members("repetition"))


def main():
    tape = Tape(sys.argv[1])
    try:
        head = tape.member("iotape.msgpack")
        assert (head["format"], head["version"]) == ("iotape", 1)
        index = tape.member("index.msgpack")
        tape.check_index(index)
        {"recording": print_tape, "run": print_run}[head["kind"]](tape, index)
    finally:
        subprocess.run(["rm", "-rf", tape.folder], check=True)


main()
