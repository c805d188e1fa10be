#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes small captures, each with one thing that captures may hold, and beside each what must come of it:

    pcap_cases.py DIR        NAME.pcap or NAME.pcapng, NAME.events, NAME.counts for each case

.events: a line `t_us conversation side event bytes watermark think_us flags` for each event. .counts: what the tape must count.
The values are worked out by hand in each case, from the packets that stand there. Shares no code with iotape.
"""
import os
import struct
import sys

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
C, S = ("10.0.0.1", 40000), ("10.0.0.2", 80)
C6, S6 = ("fd00::1", 40000), ("fd00::2", 80)


def address(text):
    if ":" in text:
        left, right = (part.split(":") if part else [] for part in text.split("::"))
        words = left + ["0"] * (8 - len(left) - len(right)) + right
        return b"".join(struct.pack(">H", int(w, 16)) for w in words)
    return bytes(int(b) for b in text.split("."))


def tcp(source, to, seq, ack, flags, payload=0, window=1000, **ip):
    header = struct.pack(">HHIIBBHHH", source[1], to[1], seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 5 << 4, flags, window, 7, 0)
    return packet(source[0], to[0], 6, header + bytes(payload), **ip)


def udp(source, to, payload, checksum=7, **ip):
    return packet(source[0], to[0], 17, struct.pack(">HHHH", source[1], to[1], 8 + payload, checksum) + bytes(payload), **ip)


class Ids:
    last = 0


def packet(source, to, protocol, body, ip_len=None, extensions=(), fragment=0, ip_id=None, **_):
    """The bytes of an IP packet. `extensions`: (type, bytes) of IPv6."""
    if ip_id is None:
        Ids.last += 1
        ip_id = Ids.last
    if ":" in source:
        for kind, data in reversed(extensions):
            body, protocol = bytes([protocol]) + data + body, kind
        return struct.pack(">IHBB", 6 << 28, len(body) if ip_len is None else ip_len, protocol, 64) + address(source) + address(to) + body
    total = 20 + len(body) if ip_len is None else ip_len
    return struct.pack(">BBHHHBBH", 0x45, 0, total, ip_id, fragment, 64, protocol, 0) + address(source) + address(to) + body


def ethernet(p, tags=()):
    kind = b"\x86\xdd" if p[0] >> 4 == 6 else b"\x08\x00"
    return bytes(12) + b"".join(struct.pack(">HH", t, 5) for t in tags) + kind + p


def pad(frame):
    return frame + bytes(max(0, 60 - len(frame)))


def cooked(p, kind=0, hardware=1):
    return struct.pack(">HHH8sH", kind, hardware, 6, bytes(8), 0x86DD if p[0] >> 4 == 6 else 0x800) + p


def cooked2(p, kind=0, hardware=1):
    return struct.pack(">HHIHBB8s", 0x86DD if p[0] >> 4 == 6 else 0x800, 0, 1, hardware, kind, 6, bytes(8)) + p


def pcap(path, frames, link=1, snap=262144, nano=False, big=False):
    """frames: (t_ns, bytes[, length on the wire])."""
    e = ">" if big else "<"
    with open(path, "wb") as f:
        f.write(struct.pack(e + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, link))
        for t, data, *wire in frames:
            wire = wire[0] if wire else len(data)
            cut = data[:snap]
            f.write(struct.pack(e + "IIII", t // 10**9, t % 10**9 // (1 if nano else 1000), len(cut), wire) + cut)


def pcapng(path, frames, link=1, resolution=9):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    with open(path, "wb") as f:
        f.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        f.write(block(1, struct.pack("<HHI", link, 0, 262144) + struct.pack("<HHB3xHH", 9, 1, resolution, 0, 0)))
        for t, data in frames:
            t //= 10 ** (9 - resolution)
            f.write(block(6, struct.pack("<IIIII", 0, t >> 32, t & 0xFFFFFFFF, len(data), len(data)) + data))


class Case:
    def __init__(self, folder, name):
        self.base, self.frames, self.events, self.counts = os.path.join(folder, name), [], [], {}

    def at(self, t_us, p, frame=ethernet, wire=None):
        """A packet at t_us behind the second."""
        data = frame(p)
        self.frames.append((1_000_000_000_000 + t_us * 1000, data, *([wire] if wire else [])))

    def want(self, *event, flags=""):
        self.events.append(" ".join(str(x) for x in event) + (" " + flags if flags else ""))

    def write(self, form=pcap, **options):
        form(self.base + (".pcapng" if form is pcapng else ".pcap"), self.frames, **options)
        with open(self.base + ".events", "w") as f:
            f.writelines(e + "\n" for e in self.events)
        with open(self.base + ".counts", "w") as f:
            f.writelines(f"{k}={v}\n" for k, v in sorted(self.counts.items()))


I, R = "initiator", "responder"


def handshake(case, t=0, number=1, c=C, s=S, isn=1000, answer=5000, wait=0, **kw):
    """The capture is 100 us (there and back) from the client, 200 from the server."""
    case.at(t, tcp(c, s, isn, 0, SYN), **kw)
    case.at(t + 200, tcp(s, c, answer, isn + 1, SYN | ACK), **kw)
    case.at(t + 300, tcp(c, s, isn + 1, answer + 1, ACK), **kw)
    case.want(t, number, I, "connect", 0, wait, t)
    case.want(t + 200, number, R, "accept", 0, 0, 0)


def exchange(case, frame=ethernet, c=C, s=S, isn=1000, answer=5000, request=64, reply=3000):
    """Handshake, request and answer, both ends; the client thinks 700 us, the server 800, the client 900."""
    handshake(case, c=c, s=s, isn=isn, answer=answer, frame=frame)
    q, a = isn + 1 + request, answer + 1 + reply
    case.at(1000, tcp(c, s, isn + 1, answer + 1, ACK | PSH, request), frame=frame)
    case.want(1000, 1, I, "data", request, 0, 700)  # connected at 300
    case.at(2000, tcp(s, c, answer + 1, q, ACK, reply), frame=frame)
    case.want(2000, 1, R, "data", reply, request, 800)  # 1000 + 200 there and back
    case.at(2100, tcp(c, s, q, a, ACK), frame=frame)
    case.at(3000, tcp(c, s, q, a, FIN | ACK), frame=frame)
    case.want(3000, 1, I, "half_close", 0, reply, 900)  # 2000 + 100
    case.at(3200, tcp(s, c, a, q + 1, FIN | ACK), frame=frame)
    case.want(3200, 1, R, "close", 0, request + 1, 0)  # 3000 + 200: at once
    case.at(3300, tcp(c, s, q + 1, a + 1, ACK), frame=frame)
    case.counts["packets"] = 9


def links(folder):
    """The same conversation behind every link type."""
    for name, link, frame in [
        ("ethernet", 1, ethernet), ("vlan", 1, lambda p: ethernet(p, [0x8100])), ("qinq", 1, lambda p: ethernet(p, [0x88A8, 0x8100])),
        ("cooked", 113, cooked), ("cooked2", 276, cooked2), ("raw", 101, lambda p: p), ("ipv4", 228, lambda p: p),
        ("null", 0, lambda p: struct.pack("<I", 2) + p), ("loop", 108, lambda p: struct.pack(">I", 2) + p),
        ("padded", 1, lambda p: pad(ethernet(p))), ("trailer", 1, lambda p: ethernet(p) + bytes(4)),
    ]:
        case = Case(folder, "link-" + name)
        exchange(case, frame)
        case.write(link=link)
    for name, link, frame in [("ethernet", 1, ethernet), ("cooked", 113, cooked), ("cooked2", 276, cooked2), ("raw", 101, lambda p: p),
                              ("null", 0, lambda p: struct.pack("<I", 30) + p), ("ipv6", 229, lambda p: p)]:
        case = Case(folder, "link6-" + name)
        exchange(case, frame, C6, S6)
        case.write(link=link)


def forms(folder):
    """pcap and pcapng, byte orders, resolutions, snap length 96."""
    for name, form, options in [("nano", pcap, {"nano": True}), ("big", pcap, {"big": True}), ("big-nano", pcap, {"nano": True, "big": True}),
                                ("snap96", pcap, {"snap": 96}), ("ng", pcapng, {}), ("ng-us", pcapng, {"resolution": 6})]:
        case = Case(folder, "form-" + name)
        exchange(case)
        case.write(form, **options)
    case = Case(folder, "form-ns")  # 777 ns are kept where microseconds would lose them
    exchange(case)
    case.frames[3] = (case.frames[3][0] + 777, case.frames[3][1])
    case.events[2] = case.events[2].replace("1000 ", "1000.777 ", 1).replace(" 700", " 700.777")
    case.events[3] = case.events[3].replace(" 800", " 799.223")
    case.write(pcapng)


def sizes(folder):
    """TSO and BIG TCP: the IP length is 0 or that of one segment; the frame's counts."""
    for name, wrong in [("zero", 0), ("one", 1500)]:
        for v, c, s in [("4", C, S), ("6", C6, S6)]:
            case = Case(folder, f"size-{name}-{v}")
            handshake(case, c=c, s=s)
            case.at(1000, tcp(c, s, 1001, 5001, ACK, 180000, ip_len=wrong))
            case.at(1300, tcp(s, c, 5001, 181001, ACK))
            case.want(1000, 1, I, "data", 180000, 0, 700)
            case.want(1300, 1, I, "cut", 0, 0, 0)
            case.counts = {"packets": 5}
            case.write(snap=128)
    case = Case(folder, "size-extensions")  # hop by hop, destination options, routing
    extensions = [(0, bytes([0]) + bytes(6)), (60, bytes([1]) + bytes(14)), (43, bytes([0]) + bytes(6))]
    handshake(case, c=C6, s=S6)
    case.at(1000, tcp(C6, S6, 1001, 5001, ACK, 500, extensions=extensions))
    case.want(1000, 1, I, "data", 500, 0, 700)
    case.want(1000, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 4}
    case.write(snap=160)


def losses(folder):
    case = Case(folder, "retransmission")  # the request is lost behind the capture and comes again 250 ms later
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(251000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(252000, tcp(S, C, 5001, 1101, ACK, 50))
    case.want(1000, 1, I, "data", 100, 0, 700)
    case.want(252000, 1, R, "data", 50, 100, 800)  # since the second time: no time-out in it
    case.want(252000, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 6, "retransmissions": 1, "retransmitted_bytes": 100}
    case.write()

    case = Case(folder, "reordering")  # the second of three comes last
    handshake(case)
    for t, seq in (1000, 1001), (1010, 1201), (1020, 1101):
        case.at(t, tcp(C, S, seq, 5001, ACK, 100))
    case.at(1300, tcp(S, C, 5001, 1301, ACK))
    case.want(1000, 1, I, "data", 300, 0, 700, flags="unseen")
    case.want(1300, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 7, "late_segments": 1}
    case.write()

    case = Case(folder, "overlap")  # 50 old bytes and 70 new ones in one segment
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(1100, tcp(C, S, 1051, 5001, ACK, 120))
    case.want(1000, 1, I, "data", 170, 0, 700)
    case.want(1100, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 5, "retransmissions": 1, "retransmitted_bytes": 50}
    case.write()

    case = Case(folder, "missed")  # the capture misses 200 of 300 bytes, and all of an answer: acknowledgements tell
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(1300, tcp(S, C, 5001, 1301, ACK))
    case.at(2000, tcp(C, S, 1301, 5401, ACK, 10))
    case.at(2200, tcp(S, C, 5401, 1311, ACK))
    case.want(1000, 1, I, "data", 300, 0, 700, flags="unseen")
    case.want(2000, 1, R, "data", 400, 300, 500, flags="unseen")  # 1300 + 200 at the earliest
    case.want(2000, 1, I, "data", 10, 400, 0)
    case.want(2200, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 7, "unseen_bytes": 600}
    case.write()

    case = Case(folder, "duplicates")  # each packet seen twice 20 us apart, as on a bridge and its port
    exchange(case)
    case.frames = [f for t, data in case.frames for f in ((t, data), (t + 20000, data))]
    case.counts = {"packets": 18, "duplicate_packets": 9}
    case.write()


def quiet(folder):
    case = Case(folder, "keep-alive")  # one with a byte, one without; answered; and a window that closes
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(1300, tcp(S, C, 5001, 1101, ACK))
    for t, length in (10_000_000, 0), (20_000_000, 1):
        case.at(t, tcp(C, S, 1100, 5001, ACK, length))
        case.at(t + 200, tcp(S, C, 5001, 1101, ACK))
    case.at(30_000_000, tcp(S, C, 5001, 1101, ACK, window=0))
    case.at(30_000_100, tcp(C, S, 1100, 5001, ACK))  # a probe
    case.at(30_000_300, tcp(S, C, 5001, 1101, ACK, window=0))
    case.at(31_000_000, tcp(S, C, 5001, 1101, ACK))
    case.at(31_000_100, tcp(C, S, 1101, 5001, ACK, 10))  # at once when it opens: no think time
    case.want(1000, 1, I, "data", 100, 0, 700)
    case.want(31_000_100, 1, I, "data", 10, 0, 0)
    case.want(31_000_100, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 14, "keep_alives": 3, "zero_windows": 1}
    case.write()

    case = Case(folder, "pauses")  # 20 ms split a send, 19 do not; 100 ms split one that goes on
    handshake(case)
    t, seq = 1000, 1001
    for step in (0, 19_000, 25_000, *[10_000] * 12):
        t += step
        case.at(t, tcp(C, S, seq, 5001, ACK, 100))
        seq += 100
    case.want(1000, 1, I, "data", 200, 0, 700)
    case.want(45_000, 1, I, "data", 1000, 0, 25_000)  # up to 99,999 us behind its begin
    case.want(145_000, 1, I, "data", 300, 0, 0)
    case.want(165_000, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 18}
    case.write()


def ends(folder):
    case = Case(folder, "wrap")  # the client's numbers wrap at 4 GiB
    exchange(case, isn=0xFFFFFFF0, request=64)
    case.write()

    case = Case(folder, "wrap-long")  # 5 GiB by jumps of 1 GiB less a byte, as where most was missed
    handshake(case)
    seq, t = 1001, 1000
    for _ in range(5):
        seq += 1 << 30
        case.at(t, tcp(C, S, seq - 1000, 5001, ACK, 1000))
        case.at(t + 200, tcp(S, C, 5001, seq, ACK))
        t += 1000
    case.want(1000, 1, I, "data", 5 << 30, 0, 700, flags="unseen")
    case.want(t - 800, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 13, "unseen_bytes": 5 * ((1 << 30) - 1000)}
    case.write()

    case = Case(folder, "port-reuse")  # after its end, and where no end was seen
    exchange(case)
    case.at(10_000, tcp(C, S, 77_000, 0, SYN))
    case.at(10_200, tcp(S, C, 88_000, 77_001, SYN | ACK))
    case.at(10_300, tcp(C, S, 77_001, 88_001, ACK, 10))
    case.at(20_000, tcp(C, S, 99_000, 0, SYN))
    case.want(10_000, 2, I, "connect", 0, 1, 7000)  # the client's FIN was at 3000
    case.want(10_200, 2, R, "accept", 0, 0, 0)
    case.want(10_300, 2, I, "data", 10, 0, 0)
    case.want(20_000, 2, I, "cut", 0, 0, 0)
    case.want(20_000, 3, I, "connect", 0, 1, 17_000)
    case.want(20_000, 3, I, "cut", 0, 0, 0)
    case.counts = {"packets": 13, "reused_tuples": 1}
    case.write()

    case = Case(folder, "missing-syn")  # begins with a request that is answered; the lower port is the server's
    case.at(0, tcp(S, C, 5001, 1001, ACK, 70))
    case.at(100, tcp(C, S, 1001, 5071, ACK))
    case.at(5000, tcp(C, S, 1001, 5071, ACK, 30))
    case.want(0, 1, I, "connect", 0, 0, 0, flags="began_before|initiator_guessed")
    case.want(0, 1, R, "data", 70, 0, 0)
    case.want(5000, 1, I, "data", 30, 70, 5000)  # how far it is was not seen: all is the host's
    case.want(5000, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 3}
    case.write()

    case = Case(folder, "missing-syn-flight")  # what was on its way when the recording began does not count
    case.at(0, tcp(C, S, 1001, 5001, ACK))
    case.at(100, tcp(S, C, 5001, 1500, ACK))
    case.at(200, tcp(S, C, 5001, 1500, ACK, 20))
    case.want(0, 1, I, "connect", 0, 0, 0, flags="began_before|initiator_guessed")
    case.want(200, 1, R, "data", 20, 0, 200)
    case.want(200, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 3}
    case.write()

    case = Case(folder, "missing-first")  # only the SYN-ACK: it tells who began, from the higher port too
    low, high = ("10.0.0.1", 25), ("10.0.0.2", 9999)
    case.at(0, tcp(high, low, 5000, 1001, SYN | ACK))
    case.at(100, tcp(low, high, 1001, 5001, ACK, 40))
    case.want(0, 1, I, "connect", 0, 0, 0, flags="began_before")
    case.want(0, 1, R, "accept", 0, 0, 0)
    case.want(100, 1, I, "data", 40, 0, 0)
    case.want(100, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 2}
    case.write()

    case = Case(folder, "half-close")  # the client ends, then the server answers for long
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK | FIN, 100))
    case.at(1200, tcp(S, C, 5001, 1102, ACK))
    case.at(40_000, tcp(S, C, 5001, 1102, ACK, 900))
    case.at(90_000, tcp(S, C, 5901, 1102, ACK | FIN, 1))
    case.at(90_100, tcp(C, S, 1102, 5903, ACK))
    case.want(1000, 1, I, "data", 100, 0, 700)
    case.want(1000, 1, I, "half_close", 0, 0, 0)
    case.want(40_000, 1, R, "data", 900, 101, 38_800)
    case.want(90_000, 1, R, "data", 1, 101, 50_000)
    case.want(90_000, 1, R, "close", 0, 101, 0)
    case.counts = {"packets": 8}
    case.write()

    case = Case(folder, "reset")
    handshake(case)
    case.at(1000, tcp(C, S, 1001, 5001, ACK, 100))
    case.at(1700, tcp(S, C, 5001, 1101, RST | ACK))
    case.at(1800, tcp(C, S, 1101, 5001, ACK, 5))  # was on its way
    case.want(1000, 1, I, "data", 100, 0, 700)
    case.want(1700, 1, R, "reset", 0, 100, 500)
    case.counts = {"packets": 6, "stray_packets": 1}
    case.write()

    case = Case(folder, "refused")
    case.at(0, tcp(C, S, 1000, 0, SYN))
    case.at(100, tcp(S, C, 0, 1001, RST | ACK))
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(100, 1, R, "reset", 0, 0, 100)
    case.counts = {"packets": 2}
    case.write()

    case = Case(folder, "unanswered")  # SYN again and again
    for t in 0, 1_000_000, 3_000_000:
        case.at(t, tcp(C, S, 1000, 0, SYN))
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(3_000_000, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 3, "retransmissions": 2}
    case.write()


def clients(folder):
    case = Case(folder, "clients")  # a connect counts what had ended for its own client alone
    ports = [(("10.0.0.1", 40001), 0), (("10.0.0.1", 40002), 0), (("10.0.0.9", 40003), 0)]
    for i, (c, _) in enumerate(ports):
        case.at(i, tcp(c, S, 1000, 0, SYN))
        case.want(i, i + 1, I, "connect", 0, 0, i)
    for i, (c, _) in enumerate(ports):
        case.at(100 + i, tcp(c, S, 1001, 1, RST))
        case.want(100 + i, i + 1, I, "reset", 0, 0, 100)
    case.at(500, tcp(("10.0.0.1", 40004), S, 1000, 0, SYN))
    case.want(500, 4, I, "connect", 0, 2, 399)  # the second one of this client ended at 101
    case.at(600, tcp(("10.0.0.9", 40004), S, 1000, 0, SYN))
    case.want(600, 5, I, "connect", 0, 1, 498)
    for i in 4, 5:
        case.want(600, i, I, "cut", 0, 0, 0)
    case.counts = {"packets": 8}
    case.write()


def datagrams(folder):
    dns, client = ("10.0.0.2", 53), ("10.0.0.1", 50000)
    case = Case(folder, "udp")
    case.at(0, udp(client, dns, 30))
    case.at(400, udp(dns, client, 300))
    case.at(1000, udp(client, dns, 0))
    case.at(1001, udp(client, dns, 8000))
    case.at(62_000_000, udp(client, dns, 5))  # 60 s later it is another conversation
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(0, 1, I, "data", 30, 0, 0)
    case.want(400, 1, R, "data", 300, 1, 400)
    case.want(1000, 1, I, "data", 0, 1, 600)
    case.want(1001, 1, I, "data", 8000, 1, 1)
    case.want(62_000_000, 1, I, "cut", 0, 0, 0, flags="forgotten")
    case.want(62_000_000, 2, I, "connect", 0, 0, 62_000_000)
    case.want(62_000_000, 2, I, "data", 5, 0, 0)
    case.want(62_000_000, 2, I, "cut", 0, 0, 0)
    case.counts = {"packets": 5, "forgotten": 1}
    case.write(snap=96)

    case = Case(folder, "fragments")  # the first one of three tells the whole length
    whole = udp(client, dns, 3000, fragment=0x2000, ip_id=9)
    case.at(0, whole[:20 + 1480])
    case.at(1, packet(client[0], dns[0], 17, bytes(1480), fragment=0x2000 | 185, ip_id=9))
    case.at(2, packet(client[0], dns[0], 17, bytes(48), fragment=370, ip_id=9))
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(0, 1, I, "data", 3000, 0, 0)
    case.want(0, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 1, "fragments": 2}
    case.write()

    case = Case(folder, "loopback")  # what passes lo is shown twice: cooked headers tell the copies
    for t, source, to in (0, client, dns), (100, dns, client):
        case.at(t, udp(source, to, 77), frame=lambda p: cooked2(p, 4, 772))
        case.at(t + 1, udp(source, to, 77), frame=lambda p: cooked2(p, 0, 772))
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(0, 1, I, "data", 77, 0, 0)
    case.want(100, 1, R, "data", 77, 1, 100)
    case.want(100, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 2, "loopback_copies": 2}
    case.write(link=276)

    case = Case(folder, "others")  # what is no conversation is counted by its kind
    case.at(0, udp(client, dns, 1))
    case.at(1, packet("10.0.0.1", "10.0.0.2", 1, bytes(8)))
    case.at(2, b"", frame=lambda _: bytes(12) + b"\x08\x06" + bytes(28))
    case.at(3, udp(client, dns, 1), frame=lambda p: ethernet(p)[:30], wire=43)
    case.at(4, udp(client, dns, 1), frame=lambda p: ethernet(b"\x41" + p[1:]))
    case.want(0, 1, I, "connect", 0, 0, 0)
    case.want(0, 1, I, "data", 1, 0, 0)
    case.want(0, 1, I, "cut", 0, 0, 0)
    case.counts = {"packets": 1, "other_protocols": 1, "not_ip": 1, "truncated_packets": 1, "malformed_packets": 1}
    case.write()


def unsorted(folder):
    case = Case(folder, "unsorted")  # as several queues of a card deliver them: every two change places
    exchange(case)
    f = case.frames
    case.frames = [f[i ^ 1] for i in range(8)] + f[8:]
    case.counts["out_of_order"] = 4
    case.write()


def early(folder):
    case = Case(folder, "early")  # stamps of two CPUs: an answer 1 us before its request, whose place it takes
    c, s = C, S
    handshake(case)
    case.at(999, tcp(s, c, 5001, 1065, ACK, 3000))
    case.at(1000, tcp(c, s, 1001, 5001, ACK | PSH, 64))
    case.want(1000, 1, I, "data", 64, 0, 700)
    case.want(1000, 1, R, "data", 3000, 64, 0)
    case.at(1100, tcp(c, s, 1065, 8001, ACK))
    case.at(3000, tcp(c, s, 1065, 8001, FIN | ACK))
    case.want(3000, 1, I, "half_close", 0, 3000, 1900)  # 1000 + 100
    case.at(3200, tcp(s, c, 8001, 1066, FIN | ACK))
    case.want(3200, 1, R, "close", 0, 65, 0)
    case.at(3300, tcp(c, s, 1066, 8002, ACK))
    case.counts["packets"] = 9
    case.write()

    case = Case(folder, "early-reset")  # what it answers was missed: a reset 5 us later does not fill that
    handshake(case)
    case.at(1000, tcp(S, C, 5001, 1065, ACK, 500))
    case.at(1005, tcp(C, S, 1065, 5501, RST | ACK))
    case.want(1005, 1, I, "data", 64, 0, 705, flags="unseen")
    case.want(1005, 1, R, "data", 500, 64, 0)
    case.want(1005, 1, I, "reset", 0, 500, 0)
    case.counts = {"packets": 5, "unseen_bytes": 64}
    case.write()

    case = Case(folder, "early-reuse")  # and a SYN of the same ports begins another conversation, which it is not of
    handshake(case)
    case.at(1000, tcp(S, C, 5001, 1065, ACK, 500))
    case.at(1005, tcp(C, S, 9000, 0, SYN))
    case.at(1205, tcp(S, C, 70000, 9001, SYN | ACK))
    case.at(1305, tcp(C, S, 9001, 70001, ACK))
    case.want(1005, 1, I, "data", 64, 0, 705, flags="unseen")
    case.want(1005, 1, R, "data", 500, 64, 0)
    case.want(1005, 1, I, "cut", 0, 0, 0)
    case.want(1005, 2, I, "connect", 0, 0, 1005)  # a cut is no end that a client waits for
    case.want(1205, 2, R, "accept", 0, 0, 0)
    case.want(1305, 2, I, "cut", 0, 0, 0)
    case.counts = {"packets": 7, "unseen_bytes": 64, "reused_tuples": 1}
    case.write()


def main():
    for make in links, forms, sizes, losses, quiet, ends, clients, datagrams, unsorted, early:
        make(sys.argv[1])


if __name__ == "__main__":
    main()
