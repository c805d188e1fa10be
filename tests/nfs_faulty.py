#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An NFS version 3 server (RFC 1813) with one export, /export, over a directory, for tests: it keeps writes apart until they are
committed, loses them when told, and misbehaves when told. MOUNT and NFS share a port. SIGTERM ends it, and loses nothing. Prints
a line when it serves, and what it lost.

nfs_faulty.py DIR PORT [--log FILE] [--most BYTES] [--lose-after WRITES [--quietly]] [--jukebox EVERY] [--short]
    [--fail-commit ERRNO] [--new-verifier-always] [--reject EVERY]
"""
import argparse, os, random, signal, socketserver, struct, sys, threading, time

ap = argparse.ArgumentParser()
ap.add_argument('dir')
ap.add_argument('port', type=int)
ap.add_argument('--log')
ap.add_argument('--most', type=int, default=65536)
ap.add_argument('--lose-after', type=int, default=0)
ap.add_argument('--quietly', action='store_true')
ap.add_argument('--jukebox', type=int, default=0)
ap.add_argument('--short', action='store_true')
ap.add_argument('--fail-commit', type=int, default=0)
ap.add_argument('--new-verifier-always', action='store_true')
ap.add_argument('--reject', type=int, default=0)
opt = ap.parse_args()
log = open(opt.log, 'w') if opt.log else None
lock = threading.Lock()

OK, NOENT, EXIST, INVAL, JUKEBOX = 0, 2, 17, 22, 10008
DIR_HANDLE, NONE = b'the-directory', b'\0\0\0\0'


class State:
    verifier = os.urandom(8)
    cache = {}  # name -> bytearray: what clients see; the file itself is what a power cut leaves
    pending = {}  # name -> [(offset, length)]
    writes = calls = 0
    down_until = 0
    connections = set()


def opaque(b):
    return struct.pack('>I', len(b)) + b + b'\0' * (-len(b) % 4)


class Args:
    def __init__(self, b):
        self.b, self.at = b, 0

    def u32(self):
        self.at += 4
        return struct.unpack_from('>I', self.b, self.at - 4)[0]

    def u64(self):
        self.at += 8
        return struct.unpack_from('>Q', self.b, self.at - 8)[0]

    def opaque(self):
        n = self.u32()
        v = self.b[self.at:self.at + n]
        self.at += n + (-n % 4)
        return v


def path(name):
    return os.path.join(opt.dir, name)


def content(name):
    if name not in State.cache:
        with open(path(name), 'rb') as f:
            State.cache[name] = bytearray(f.read())
    return State.cache[name]


def put(name, offset, data):
    with open(path(name), 'r+b') as f:
        f.seek(offset)
        f.write(data)


def lose():
    n = sum(len(p) for p in State.pending.values())
    print('lost', n, 'writes', flush=True)
    State.cache, State.pending = {}, {}
    State.verifier = os.urandom(8)
    if not opt.quietly:
        State.down_until = time.monotonic() + 0.5
        for c in list(State.connections):
            try:
                c.shutdown(2)
            except OSError:
                pass


def attributes(name):
    kind, size = (2, 4096) if name is None else (1, len(content(name)))
    return struct.pack('>5I', kind, 0o600, 1, 0, 0) + struct.pack('>2Q', size, size) + struct.pack('>2I', 0, 0) + \
        struct.pack('>2Q', 1, 1) + b'\0' * 24


def name_of(handle):
    return None if handle == DIR_HANDLE else handle.decode()


def size_of(a):  # a sattr3: its size, or None
    for _ in range(3):
        if a.u32():
            a.u32()
    return a.u64() if a.u32() else None


def nfs(proc, a):
    if proc == 0:
        return b''
    name = name_of(a.opaque())
    if proc == 1:
        return struct.pack('>I', OK) + attributes(name)
    if proc == 2:
        size = size_of(a)
        content(name)
        if size is not None:
            os.truncate(path(name), size)
            c = content(name)
            del c[size:]
            c.extend(bytes(size - len(c)))
        return struct.pack('>I', OK) + NONE * 2
    if proc == 3:
        what = a.opaque().decode()
        if not os.path.exists(path(what)):
            return struct.pack('>I', NOENT) + NONE
        return struct.pack('>I', OK) + opaque(what.encode()) + NONE * 2
    if proc == 4:
        return struct.pack('>I', OK) + NONE + struct.pack('>I', a.u32())
    if proc == 8:
        what = a.opaque().decode()
        if os.path.exists(path(what)):
            return struct.pack('>I', EXIST) + NONE * 2
        open(path(what), 'wb').close()
        return struct.pack('>2I', OK, 0) + NONE * 3  # no handle: the client has to look it up
    if proc == 19:
        m = opt.most
        return struct.pack('>I', OK) + NONE + struct.pack('>7I', m, m, 512, m, m, 512, 4096) + \
            struct.pack('>Q', 1 << 60) + struct.pack('>3I', 0, 1, 0)
    return {6: read, 7: write, 21: commit}[proc](name, a)


def note(*words):
    if log:
        print(*words, file=log, flush=True)


def read(name, a):
    offset, count = a.u64(), a.u32()
    if opt.jukebox and State.calls % opt.jukebox == 0:
        return struct.pack('>I', JUKEBOX) + NONE
    note('read', offset, count, 0)
    if opt.short and count > 512:
        count = random.randrange(1, count)
    c = content(name)
    data = bytes(c[offset:offset + count])
    return struct.pack('>I', OK) + NONE + struct.pack('>2I', len(data), offset + len(data) >= len(c)) + opaque(data)


def write(name, a):
    offset, count, stable, data = a.u64(), a.u32(), a.u32(), a.opaque()
    if opt.jukebox and State.calls % opt.jukebox == 0:
        return struct.pack('>I', JUKEBOX) + NONE * 2
    if len(data) != count or count > opt.most:
        return struct.pack('>I', INVAL) + NONE * 2
    note('write', offset, count, stable)
    if opt.short and count > 512:
        count = random.randrange(1, count)
        data = data[:count]
    content(name)[offset:offset + count] = data
    if stable:
        put(name, offset, data)
    else:
        State.pending.setdefault(name, []).append((offset, count))
    verifier = os.urandom(8) if opt.new_verifier_always else State.verifier
    State.writes += 1
    answer = struct.pack('>I', OK) + NONE * 2 + struct.pack('>2I', count, stable) + verifier
    if opt.lose_after and State.writes == opt.lose_after:
        lose()
        return answer if opt.quietly else None
    return answer


def commit(name, a):
    note('flush', 0, 0, 0)
    if opt.fail_commit:
        return struct.pack('>I', opt.fail_commit) + NONE * 2
    for offset, n in State.pending.pop(name, []):
        put(name, offset, content(name)[offset:offset + n])
    return struct.pack('>I', OK) + NONE * 2 + State.verifier


def mount(proc, a):
    if proc == 0:
        return b''
    if a.opaque() == b'/export':
        return struct.pack('>I', OK) + opaque(DIR_HANDLE) + struct.pack('>2I', 1, 1)
    return struct.pack('>I', NOENT)


def serve(call):
    a = Args(call)
    xid, _, _, program, _, proc = (a.u32() for _ in range(6))
    for _ in range(2):
        a.u32()
        a.opaque()
    State.calls += 1
    if opt.reject and program == 100003 and proc in (6, 7) and State.calls % opt.reject == 0:
        return struct.pack('>6I', xid, 1, 0, 0, 0, 5)  # SYSTEM_ERR
    body = (nfs if program == 100003 else mount)(proc, a)
    return None if body is None else struct.pack('>6I', xid, 1, 0, 0, 0, 0) + body


class Handler(socketserver.BaseRequestHandler):
    def take(self, n):
        b = b''
        while len(b) < n:
            more = self.request.recv(n - len(b))
            if not more:
                raise ConnectionError
            b += more
        return b

    def handle(self):
        State.connections.add(self.request)
        try:
            while time.monotonic() >= State.down_until:
                mark = struct.unpack('>I', self.take(4))[0]
                call = self.take(mark & 0x7fffffff)
                with lock:
                    if time.monotonic() < State.down_until:
                        break
                    answer = serve(call)
                if answer is None:
                    break
                self.request.sendall(struct.pack('>I', 0x80000000 | len(answer)) + answer)
        except OSError:
            pass
        State.connections.discard(self.request)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def stop(*_):  # what a server process that ends leaves: all of it
    for n, c in State.cache.items():
        put(n, 0, c)
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
with Server(('127.0.0.1', opt.port), Handler) as server:
    print('serving', flush=True)
    server.serve_forever()
