#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile ends of the control channel and strangers at the data ports, written from message.h and events.h.

    net_hostile.py client PROGRAM      a client that breaks the rules, against PROGRAM --serve --stdio
    net_hostile.py server MODE         a server that breaks the rules: what --rsh starts
    net_hostile.py strangers ADDRESS PORT SECONDS     many connections without a token

`client` prints a line for each case: ok NAME, or no NAME: what came instead.
"""
import os, select, socket, struct, subprocess, sys, time
import msgpack

(HELLO, BEGIN, READY, EVENTS, TAKEN, END, GO, FAILED, STOP, RESULTS, REFUSED, ALIVE, BYE) = range(13)
CONNECT, ACCEPT, DATA, HALF_CLOSE, CLOSE, RESET, CUT = range(7)
MAGIC = "iotape-peer test"


def frame(body):
    return struct.pack(">I", len(body)) + body


def pack(*parts):
    return frame(msgpack.packb(list(parts)))


def record(kind, side=0, conversation=0, t=0, size=0, watermark=0, think=0, protocol=0, marks=0):
    return struct.pack("<BBBBIQQQQ", kind, side, protocol, marks, conversation, t, size, watermark, think)


def events(first, records, tokens):
    return pack(EVENTS, first, len(records), b"".join(records), b"".join(tokens))


def begin(threads=1, timing=0, ppm=1000000, stall=2 * 10**9):
    return pack(BEGIN, threads, timing, ppm, stall)


hello = pack(HELLO, 1, MAGIC)


class Serve:
    def __init__(self, program, *options):
        self.p = subprocess.Popen([program, "--serve", "--stdio", "--listen", "127.0.0.1", *options],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.buffer = b""

    def send(self, data):
        try:
            self.p.stdin.write(data)
            self.p.stdin.flush()
        except BrokenPipeError:
            pass

    def message(self, seconds=10):
        end = time.time() + seconds
        while True:
            if len(self.buffer) >= 4:
                n = struct.unpack(">I", self.buffer[:4])[0]
                if len(self.buffer) >= 4 + n:
                    m = msgpack.unpackb(self.buffer[4:4 + n])
                    self.buffer = self.buffer[4 + n:]
                    if m[0] != ALIVE:
                        return m
                    continue
            ready = select.poll()
            ready.register(self.p.stdout, select.POLLIN)
            if not ready.poll(max(0, end - time.time()) * 1000):
                return ["silence"]
            got = os.read(self.p.stdout.fileno(), 65536)
            if not got:
                return ["end"]
            self.buffer += got

    def wait_for(self, kind, seconds=10):
        while True:
            m = self.message(seconds)
            if m[0] in (kind, "end", "silence", REFUSED):
                return m

    def end(self, close=True):
        """Exit status and standard error."""
        if close:
            try:
                self.p.stdin.close()
            except BrokenPipeError:  # it has ended, and not taken all
                pass
        try:
            status = self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            status = "hung"
        return status, self.p.stderr.read().decode(errors="replace")

    def peak_kib(self):
        with open(f"/proc/{self.p.pid}/status") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM")), 0)  # 0: it has ended


def say(good, name, what=""):
    print(f"ok {name}" if good else f"no {name}: {what}", flush=True)


def refused(program, name, data, wanted, options=(), close=True):
    """What is sent must be answered by a reason, and end it with status 1 and one line of error."""
    s = Serve(program, *options)
    s.send(data)
    m = s.wait_for(REFUSED) if wanted else ["none"]
    status, text = s.end(close)
    good = status == 1 and text.count("\n") == 1 and "error:" in text
    say(good and (not wanted or (m[0] == REFUSED and wanted in m[1])), name, (m, status, text))


def talk_cases(program):
    ready = hello + begin()
    cases = [
        ("another version", pack(HELLO, 2, MAGIC), "speaks version 2"),
        ("something else altogether", pack(HELLO, 1, "telnet"), "no iotape-replay"),
        ("begin before hello", begin(), "out of turn"),
        ("hello twice", hello + hello, "out of turn"),
        ("events before begin", hello + events(0, [record(CONNECT)], [bytes(16)]), "out of turn"),
        ("go before begin", hello + pack(GO), "out of turn"),
        ("results from a client", hello + pack(RESULTS, *[0] * 16, b""), "out of turn"),
        ("ready from a client", hello + pack(READY, 1, 1, 1, *[0] * 8), "out of turn"),
        ("events after the end", ready + pack(END, 0) + events(0, [record(CONNECT)], [bytes(16)]), "out of turn"),
        ("an unknown type", hello + pack(99), "unknown type"),
        ("a text in place of a number", hello + pack(BEGIN, "1", 0, 1, 1), "malformed control message"),
        ("too few parts", hello + pack(BEGIN, 1), "malformed control message"),
        ("too many parts", hello + pack(BEGIN, 1, 0, 1, 1, 1), "malformed control message"),
        ("a text that is too long", pack(HELLO, 1, "iotape-peer" + "x" * 5000), "malformed control message"),
        ("no msgpack", hello + frame(b"\xc1\xff\xff"), "control message"),
        ("a bomb", hello + frame(b"\xdd\xff\xff\xff\xff"), "control message"),
        ("no length", hello + b"\0\0\0\0", "control message"),
        ("an oversize message", hello + struct.pack(">I", 131073) + b"x" * 1000, "control message"),
        ("a length of 4 GiB", hello + b"\xff\xff\xff\xff", "control message"),
        ("a thousand threads", hello + begin(threads=1000), "asks for what there is not"),
        ("timing 7", hello + begin(timing=7), "asks for what there is not"),
        ("no speed", hello + begin(ppm=0), "asks for what there is not"),
    ]
    for name, data, wanted in cases:
        refused(program, name, data, wanted)
    refused(program, "a message that is cut off", hello + b"\0\0\1\0abc", None)


def event_cases(program):
    ready = hello + begin()
    token = [bytes([i]) * 16 for i in range(256)]
    connect = record(CONNECT)
    cases = [
        ("events out of place", events(5, [connect], token[:1]), "instead of 0"),
        ("a connect with bytes", events(0, [record(CONNECT, size=5)], token[:1]), "malformed connect"),
        ("a connect without a token", events(0, [connect], []), "without a token"),
        ("a token too many", events(0, [connect], token[:2]), "bytes of tokens"),
        ("a token twice", events(0, [connect, record(CONNECT, conversation=1)], [token[0], token[0]]), "two conversations"),
        ("a record cut off", pack(EVENTS, 0, 1, connect[:-1], token[0]), "events in 39 bytes"),
        ("conversations out of order", events(0, [record(CONNECT, conversation=7)], token[:1]), "malformed connect"),
        ("an unknown protocol", events(0, [record(CONNECT, protocol=9)], token[:1]), "malformed connect"),
        ("data of no conversation", events(0, [record(DATA, size=1)], []), "cannot have"),
        ("an unknown kind", events(0, [connect, record(77)], token[:1]), "cannot have"),
        ("an unknown side", events(0, [connect, record(DATA, side=5, size=1)], token[:1]), "unknown side"),
        ("a watermark that nothing reaches", events(0, [connect, record(DATA, size=1, watermark=1)], token[:1]), "cannot have"),
        ("2^63 bytes", events(0, [connect, record(DATA, size=2**63)], token[:1]), "cannot have"),
        ("data after a half-close", events(0, [connect, record(HALF_CLOSE), record(DATA, size=1)], token[:1]), "cannot have"),
        ("an event after the end", events(0, [connect, record(RESET), record(DATA, size=1)], token[:1]), "cannot have"),
        ("time that runs backwards", events(0, [record(CONNECT, t=9), record(DATA, size=1)], token[:1]), "out of order"),
        ("a wrong count at the end", pack(END, 3), "an end after 3 events"),
    ]
    for name, data, wanted in cases:
        refused(program, name, ready + data, wanted)
    many = [record(CONNECT, conversation=i) for i in range(5)]
    refused(program, "more conversations than allowed", ready + events(0, many, token[:5]), "more than 4 conversations",
            ["--serve-max-conversations", "4"])
    refused(program, "more bytes than allowed", ready + events(0, [connect, record(DATA, size=1001)], token[:1]),
            "more than 1000 bytes", ["--serve-max-bytes", "1000"])
    refused(program, "longer than allowed", ready, "--serve-max-duration", ["--serve-max-duration", "1s"], False)
    refused(program, "no memory allowed", hello, "--serve-max-memory", ["--serve-max-memory", "1M"])
    window_case(program)
    alive_case(program)


def window_case(program):
    """A client that ignores the window: what it may fill is bounded."""
    s = Serve(program)
    s.send(hello + begin())
    window = s.wait_for(READY)[1]
    s.send(events(0, [record(CONNECT)], [bytes(16)]))
    for i in range(window // 1024 + 8):
        s.send(events(1 + 1024 * i, [record(DATA, side=1, size=1)] * 1024, []))
    m = s.wait_for(REFUSED)
    peak = s.peak_kib() if s.p.poll() is None else 0
    status, _ = s.end()
    say(m[0] == REFUSED and "room" in m[1] and status == 1 and peak < 100000, "more events than there is room for",
        (m, status, peak))


def alive_case(program):
    """A flood of signs of life keeps it from nothing."""
    s = Serve(program)
    s.send(hello + begin())
    s.wait_for(READY)
    s.send(pack(ALIVE) * 100000 + pack(STOP))
    m = s.wait_for(RESULTS)
    peak = s.peak_kib()
    s.send(pack(BYE))
    status, text = s.end()
    say(m[0] == RESULTS and status == 0 and peak < 100000, "a flood of signs of life", (m, status, text, peak))


def ready_serve(program, records, tokens, *options):
    s = Serve(program, *options)
    s.send(hello + begin())
    m = s.wait_for(READY)
    s.send(events(0, records, tokens) + pack(END, len(records)) + pack(GO))
    s.wait_for(TAKEN)
    return s, m[4], m[3]


def silent(c, seconds=8):
    """True where the other end closes and sends nothing."""
    c.settimeout(seconds)
    try:
        return c.recv(100) == b""
    except ConnectionResetError:
        return True
    except OSError:
        return False


def stranger_cases(program):
    token = os.urandom(16)
    s, port, _ = ready_serve(program, [record(CONNECT), record(DATA, size=5), record(CUT, watermark=0)], [token])
    address = ("127.0.0.1", port)
    idle = [socket.create_connection(address) for _ in range(50)]
    wrong = socket.create_connection(address)
    wrong.sendall(os.urandom(16) + b"x" * 1000)
    say(silent(wrong), "a wrong token")
    half = socket.create_connection(address)
    half.sendall(token[:8])
    many = [socket.create_connection(address) for _ in range(1500)]
    right = socket.create_connection(address)
    right.sendall(token)
    again = socket.create_connection(address)
    time.sleep(0.2)
    again.sendall(token)
    say(silent(again), "a token that was used")
    right.sendall(b"hello")
    right.shutdown(socket.SHUT_WR)
    say(silent(right), "the rightful connection, after 1,500 strangers")
    m = s.wait_for(RESULTS)
    say(m[0] == RESULTS and m[1] == 1 and m[2] == 5 and m[14] >= 1552, "strangers are counted", m)
    say(s.peak_kib() < 60000, "memory is bounded", s.peak_kib())
    say(all(silent(c) for c in idle + many + [half]), "strangers get nothing")
    for c in idle + many:
        c.close()
    s.send(pack(BYE))
    status, text = s.end()
    say(status == 0 and not text, "and it ends well", (status, text))
    # Idle ones are closed after five seconds, and read for no more than a token.
    token = os.urandom(16)
    s, port, _ = ready_serve(program, [record(CONNECT)], [token], "--serve-max-duration", "30s")
    c = socket.create_connection(("127.0.0.1", port))
    began = time.time()
    say(silent(c) and 4 < time.time() - began < 8, "an idle stranger is closed after 5 s", time.time() - began)
    c = socket.create_connection(("127.0.0.1", port))
    c.sendall(token)
    c.sendall(b"x" * 100)
    say(silent(c), "bytes that no event tells of")
    s.p.stdin.close()
    say(s.p.wait(5) != "hung", "the channel's end ends it")
    say(not can_connect(port), "nothing listens after that")


def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1)
        return True
    except OSError:
        return False


def datagram_cases(program):
    token = os.urandom(16)
    s, _, port = ready_serve(program, [record(CONNECT, protocol=1), record(DATA, side=1, size=1000, protocol=0),
                                       record(CUT)], [token])
    def ask(data):
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        c.connect(("127.0.0.1", port))
        c.send(data)
        c.settimeout(0.4)
        try:
            return c, c.recv(2000)
        except OSError:
            return c, b""
    say(ask(b"H" + os.urandom(32))[1] == b"", "a datagram with a wrong token gets nothing")
    say(ask(b"A" + token + os.urandom(16))[1] == b"", "a token with a wrong cookie gets nothing")
    say(ask(b"\0" * 500)[1] == b"", "data of strangers get nothing")
    c, cookie = ask(b"H" + token + bytes(16))
    say(len(cookie) == 17 and cookie[:1] == b"C", "a token gets a cookie, in fewer bytes", cookie)
    spy = ask(b"A" + token + cookie[1:])
    say(spy[1][:1] == b"R", "a cookie is answered", spy[1])
    say(len(spy[0].recv(2000)) == 1000, "and data go there")
    c.settimeout(0.3)
    try:
        got = c.recv(2000)
    except OSError:
        got = b""
    say(got == b"", "and to no other address", got)
    s.end()


def client(program):
    talk_cases(program)
    event_cases(program)
    stranger_cases(program)
    datagram_cases(program)


def server(mode, *command):
    out = sys.stdout.buffer
    def put(data):
        out.write(data)
        out.flush()
    def wait():
        while sys.stdin.buffer.read1(65536):
            pass
    ready = pack(READY, 65536, 1, 9, 9, *[0] * 7)
    modes = {
        "banner": b"Welcome to this machine!\r\n",
        "version": pack(HELLO, 9, MAGIC),
        "silent": b"",
        "refuse": pack(REFUSED, "not today"),
        "oversize": b"\xff\xff\xff\xff",
        "cut": pack(HELLO, 1, MAGIC)[:-2],
        "results": pack(HELLO, 1, MAGIC) + pack(RESULTS, *[0] * 16, b""),
        "ports": pack(HELLO, 1, MAGIC) + pack(READY, 65536, 99, 9, 9, *[0] * 7),
        "window": pack(HELLO, 1, MAGIC) + pack(READY, 0, 1, 9, 9, *[0] * 7),
        "taken": pack(HELLO, 1, MAGIC) + ready + pack(TAKEN, 10**9, 0),
        "events": pack(HELLO, 1, MAGIC) + ready + events(0, [record(CONNECT)], [bytes(16)]),
        "mute": pack(HELLO, 1, MAGIC) + ready,
    }
    put(modes[mode])
    if mode == "cut":
        sys.stderr.write("the disk is on fire\n")
        sys.exit(3)
    wait()


def strangers(address, port, seconds):
    end, held = time.time() + float(seconds), []
    while time.time() < end:
        try:
            c = socket.create_connection((address, int(port)), 1)
            if len(held) % 3 == 1:
                c.sendall(os.urandom(16))
            held.append(c)
        except OSError:
            time.sleep(0.01)
        if len(held) > 1000:
            time.sleep(0.05)
            held = held[100:]


if __name__ == "__main__":
    {"client": client, "server": server, "strangers": strangers}[sys.argv[1]](*sys.argv[2:])
