# SPDX-License-Identifier: GPL-2.0-or-later
# An NBD server with a volatile cache, which does one thing wrong: nbd_faulty.py SOCKET IMAGE [FAULT [OFFSET LEN [ELSEWHERE]]]
#
#   lost        the write of LEN bytes at OFFSET is answered and never done
#   misplaced   it goes to ELSEWHERE
#   torn        only its first half is done
#   stale       it is done; reads of these places go on to see what was there before
#   fail-old    it fails and is not done; fail-new: it fails and is done
#   lie         flushes and FUA are answered and do nothing
#
# IMAGE is stable storage: flushed data and FUA writes reach it. SIGTERM is a power cut: every other sector of 512 bytes that was
# written and not flushed still reaches it. The end of a connection changes nothing. On SIGUSR1 and at the power cut, the file
# IMAGE.overlaps says how many requests came in that overlap an unanswered one (unless both are reads).
# Protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
import os, queue, signal, socket, struct, sys, threading, time

path, image, fault = (sys.argv[1:] + ['none'])[:3]
offset, length, elsewhere = ([int(a) for a in sys.argv[4:]] + [0, 0, 0])[:3]
stable = os.open(image, os.O_RDWR)
data = bytearray(os.pread(stable, os.fstat(stable).st_size, 0))
dirty, shadow, lock, overlaps = set(), {}, threading.Lock(), 0
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6

def say_overlaps(*_):
    with open(image + '.overlaps', 'w') as f:
        f.write(str(overlaps))

def power_cut(*_):
    for sector in sorted(dirty)[::2]:
        os.pwrite(stable, data[sector * 512:sector * 512 + 512], sector * 512)
    say_overlaps()
    os._exit(0)

def flush():
    if fault == 'lie':
        return
    for sector in dirty:
        os.pwrite(stable, data[sector * 512:sector * 512 + 512], sector * 512)
    dirty.clear()

def store(at, what, fua):
    data[at:at + len(what)] = what
    if fua and fault != 'lie':
        os.pwrite(stable, what, at)
        dirty.difference_update(range(at // 512, (at + len(what)) // 512))
    else:
        dirty.update(range(at // 512, (at + len(what)) // 512))

def write(at, what, fua):
    if (at, len(what)) == (offset, length) and length:
        if fault == 'lost':
            return 0
        if fault == 'misplaced':
            at = elsewhere
        if fault == 'torn':
            what = what[:len(what) // 2]
        if fault == 'stale' and not shadow:
            shadow.update((s, bytes(data[s * 512:s * 512 + 512])) for s in range(at // 512, (at + length) // 512))
        if fault == 'fail-old':
            return 5
        store(at, what, fua)
        return 5 if fault == 'fail-new' else 0
    store(at, what, fua)
    return 0

def read(at, n):
    out = bytearray(data[at:at + n])
    for s, old in shadow.items():
        if at <= s * 512 < at + n:
            out[s * 512 - at:s * 512 - at + 512] = old
    return out

def perform(c, flags, op, handle, at, n, what):
    fua, error, out = flags & 1, 0, b''
    if op == READ:
        out = read(at, n)
    elif op == WRITE:
        error = write(at, what, fua)
    elif op in (TRIM, ZEROES):
        store(at, bytes(n), fua)
    elif op == FLUSH:
        flush()
    c.sendall(struct.pack('>II8s', 0x67446698, error, handle) + out)

def get(c, n):
    out = b''
    while len(out) < n:
        more = c.recv(n - len(out))
        if not more:
            raise EOFError
        out += more
    return out

def greet(c):
    flags = 1 | 4 | 8 | 32 | 64
    c.sendall(b'NBDMAGIC' + b'IHAVEOPT' + struct.pack('>H', 3))
    get(c, 4)
    while True:
        magic, option, n = struct.unpack('>8sII', get(c, 16))
        get(c, n)
        reply = lambda kind, body=b'': c.sendall(struct.pack('>QIII', 0x3e889045565a9, option, kind, len(body)) + body)
        if option == 1:
            c.sendall(struct.pack('>QH', len(data), flags))
            return
        if option in (6, 7):
            reply(3, struct.pack('>HQH', 0, len(data), flags))
            reply(1)
            if option == 7:
                return
        else:
            reply(0x80000001)

def work(c, jobs, open_):
    while True:
        job = jobs.get()
        if not job:
            return
        time.sleep(0.0003) # so that several are under way
        with lock:
            open_.remove(job[1:5])
            try:
                perform(c, *job)
            except OSError:
                return

def serve(c):
    global overlaps
    jobs, open_ = queue.Queue(), []
    greet(c)
    threading.Thread(target=work, args=(c, jobs, open_), daemon=True).start()
    while True:
        magic, flags, op, handle, at, n = struct.unpack('>IHH8sQI', get(c, 28))
        if op == DISCONNECT:
            break
        what = get(c, n) if op == WRITE else b''
        with lock:
            overlaps += n > 0 and any(at < a + m and a < at + n and (op or o) for o, _, a, m in open_)
            open_.append((op, handle, at, n))
        jobs.put((flags, op, handle, at, n, what))
    jobs.put(None)

def client(c):
    try:
        serve(c)
    except (EOFError, OSError):
        pass

signal.signal(signal.SIGTERM, power_cut)
signal.signal(signal.SIGUSR1, say_overlaps)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
while True:
    threading.Thread(target=client, args=(server.accept()[0],), daemon=True).start()
