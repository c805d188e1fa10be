#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small iSCSI target that real ones would have to be persuaded to be (RFC 7143, SPC-4, SBC-3):

    iscsi_fake.py PORT-FILE LOG [KEY=VALUE]...

One LUN of 8 MiB in memory, blocks of 512 bytes, writes of at most 64 KiB as immediate data. Each command becomes a line of
LOG: name, first block, blocks, FUA. Keys: cdb16=0 refuses READ/WRITE (16) and READ CAPACITY (16); fua=0; unmap=BLOCKS (at
most in one command; 0: none); same=BLOCKS (0: refuses WRITE SAME); busy=N, attention=N, aborted=N: every Nth read or write
is answered so; conflict=1: writes meet a reservation; after the first flush medium=N: every Nth read fails; short=N: every Nth
read lacks its last block. redirect=PORT: logging in leads there."""
import os, socket, struct, sys, threading

keys = dict(k.split('=') for k in sys.argv[3:])
option = lambda k, otherwise=0: int(keys.get(k, otherwise))
log = open(sys.argv[2], 'w', buffering=1)
BLOCK, BLOCKS, TRANSFER = 512, 16384, 128
disk = bytearray(BLOCK * BLOCKS)
count = {}
flushed = False  # filling the LUN before it is measured ends with a flush

def every(key):
    n = option(key)
    if n:
        count[key] = count.get(key, 0) + 1
    return n and count[key] % n == 0

class Sense(Exception):
    pass

def inquiry(cdb):
    if not cdb[1] & 1:
        return struct.pack('>8B8s16s4s', 0, 0, 5, 2, 31, 0, 0, 2, b'IOTAPE', b'FAKE', b'1'.ljust(4))
    page = {0x83: bytes([1, 1, 0, 4]) + b'FAKE',
            0xb0: struct.pack('>BxHIIIIIIIQ', 0, 0, TRANSFER, 0, 0, option('unmap', 4096), 1 if option('unmap', 4096) else 0, 0, 0,
                              option('same', 64)).ljust(60, b'\0'),
            0xb2: bytes([0, 0x80 if option('unmap', 4096) else 0, 2, 0])}.get(cdb[2])
    if page is None:
        raise Sense(5, 0x2400)
    return bytes([0, cdb[2]]) + struct.pack('>H', len(page)) + page

def place(cdb):
    if cdb[0] & 0xe0 == 0x80:
        if not option('cdb16', 1):
            raise Sense(5, 0x2000)
        lba, blocks = struct.unpack('>QI', cdb[2:14])
    else:
        lba, blocks = struct.unpack('>IxH', cdb[2:9])
    if lba + blocks > BLOCKS:
        raise Sense(5, 0x2100)
    return lba, blocks

def moved(cdb):
    """Of a read or a write: where, how much; faults."""
    lba, blocks = place(cdb)
    if blocks > TRANSFER:
        raise Sense(5, 0x2400)
    if every('attention'):
        raise Sense(6, 0x2900)
    if every('aborted'):
        raise Sense(11, 0x4700)
    return lba, blocks

def execute(cdb, data):
    """Returns (SCSI status, data)."""
    global flushed
    op = cdb[0]
    if op == 0x00:
        return 0, b''
    if op == 0x12:
        return 0, inquiry(cdb)
    if op == 0x1a:
        return 0, bytes([3, 0, 0x10 if option('fua', 1) else 0, 0])
    if op == 0x25:
        return 0, struct.pack('>II', BLOCKS - 1, BLOCK)
    if op == 0x9e and cdb[1] & 31 == 0x10 and option('cdb16', 1):
        return 0, struct.pack('>QIBBB17x', BLOCKS - 1, BLOCK, 0, 0, 0x80)
    if op in (0x28, 0x88, 0x2a, 0x8a) and every('busy'):
        return 8, b''
    if op in (0x28, 0x88):
        lba, blocks = moved(cdb)
        if flushed and every('medium'):
            raise Sense(3, 0x1100)
        print('read', lba, blocks, 0, file=log)
        end = lba + blocks - (1 if flushed and every('short') else 0)
        return 0, bytes(disk[lba * BLOCK:end * BLOCK])
    if op in (0x2a, 0x8a):
        lba, blocks = moved(cdb)
        if option('conflict'):
            return 0x18, b''
        print('write', lba, blocks, int(bool(cdb[1] & 8)), file=log)
        disk[lba * BLOCK:(lba + blocks) * BLOCK] = data
        return 0, b''
    if op == 0x35:
        print('flush 0 0 0', file=log)
        flushed = True
        return 0, b''
    if op == 0x42 and option('unmap', 4096):
        lba, blocks = struct.unpack('>QI', data[8:20])
        if blocks > option('unmap', 4096) or len(data) != 24:
            raise Sense(5, 0x2600)
        print('unmap', lba, blocks, 0, file=log)
        disk[lba * BLOCK:(lba + blocks) * BLOCK] = bytes(blocks * BLOCK)
        return 0, b''
    if op == 0x93 and option('same', 64):
        lba, blocks = place(cdb)
        if blocks > option('same', 64) or len(data) != BLOCK:
            raise Sense(5, 0x2400)
        print('same', lba, blocks, 0, file=log)
        disk[lba * BLOCK:(lba + blocks) * BLOCK] = data * blocks
        return 0, b''
    raise Sense(5, 0x2000)

class Session:
    def __init__(self, s):
        self.s, self.stat = s, 1

    def read(self, n):
        data = b''
        while len(data) < n:
            more = self.s.recv(n - len(data))
            if not more:
                raise OSError
            data += more
        return data

    def send(self, op, flags, rest, itt, data=b'', ttt=0xffffffff, tail=b'', status=True):
        head = bytes([op, flags]) + rest + b'\0' + len(data).to_bytes(3, 'big') + bytes(8) + itt
        head += struct.pack('>IIII', ttt, self.stat, self.command + 1, self.command + 64) + tail.ljust(12, b'\0')
        self.stat += status
        self.s.sendall(head[:48] + data + bytes(-len(data) % 4))

    def login(self, h, data, itt):
        stage, wanted = h[1] >> 2 & 3, dict(k.split('=', 1) for k in data.rstrip(b'\0').decode().split('\0') if '=' in k)
        answer = {'AuthMethod': 'None'} if 'AuthMethod' in wanted else {}
        if stage == 1:
            answer |= {'HeaderDigest': 'None', 'DataDigest': 'None', 'InitialR2T': 'Yes', 'ImmediateData': 'Yes',
                       'MaxRecvDataSegmentLength': '65536', 'FirstBurstLength': '65536', 'MaxBurstLength': '262144'}
        if 'TargetName' in wanted:
            answer['TargetPortalGroupTag'] = '1'
        text = ''.join(f'{k}={v}\0' for k, v in answer.items()).encode()
        if option('redirect'):
            text = f'TargetAddress=127.0.0.1:{option("redirect")},1\0'.encode()
        head = bytes([0x23, h[1], 0, 0, 0]) + len(text).to_bytes(3, 'big') + h[8:14] + b'\0\1' + itt + bytes(4)
        status = 0x0101 if option('redirect') else 0
        head += struct.pack('>IIIH', self.stat, self.command, self.command + 64, status) + bytes(10)
        self.stat += 1
        self.s.sendall(head + text + bytes(-len(text) % 4))

    def scsi(self, h, data, itt):
        expected = int.from_bytes(h[20:24], 'big')
        try:
            status, answer = execute(h[32:48], data)
        except Sense as e:
            sense = bytes([0x70, 0, e.args[0], 0, 0, 0, 0, 10, 0, 0, 0, 0]) + struct.pack('>H', e.args[1]) + bytes(4)
            self.send(0x21, 0x80, bytes([0, 2]), itt, struct.pack('>H', len(sense)) + sense, 0)
            return
        if h[1] & 0x40 and status == 0:
            answer = answer[:expected]
            under = expected - len(answer)
            self.send(0x25, 0x81 | (2 if under else 0), bytes(2), itt, answer, tail=struct.pack('>III', 0, 0, under))
        else:
            self.send(0x21, 0x80, bytes([0, status]), itt, b'', 0)

    def serve(self):
        try:
            while True:
                h = self.read(48)
                length = int.from_bytes(h[5:8], 'big')
                data = self.read((length + 3) & ~3)[:length]
                op, itt = h[0] & 0x3f, h[16:20]
                self.command = int.from_bytes(h[24:28], 'big')
                if op == 0x03:
                    self.login(h, data, itt)
                elif op == 0x01:
                    self.scsi(h, data, itt)
                elif op == 0x00:
                    self.send(0x20, 0x80, bytes(2), itt)
                elif op == 0x06:
                    self.send(0x26, 0x80, bytes(2), itt, b'', 0)
                    return
        except OSError:
            pass
        finally:
            self.s.close()

listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(8)
with open(sys.argv[1] + '.new', 'w') as f:
    f.write(str(listener.getsockname()[1]))
os.rename(sys.argv[1] + '.new', sys.argv[1])
while True:
    s = listener.accept()[0]
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=Session(s).serve, daemon=True).start()
