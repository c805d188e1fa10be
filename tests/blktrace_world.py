# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulates a block layer and writes what blktrace would have seen, and beside it what really happened.

A disk 8:0 and a logical volume 253:0 on its partition 8:2. Bios are merged, split, remapped, requeued, completed in
steps; writes with FUA or preflush go through the flush machinery and complete twice; empty flushes; errors.
BASE.blktrace.0..2 hold the events, BASE.truth one line for each bio: t_ns,stream,op,offset,length,latency,error, times since
the first event. Usage: blktrace_world.py BASE COUNT SEED OLD (1: as kernels before 4.14 queue the rest of a split)
"""
import random
import struct
import sys

READ, WRITE, FLUSH, SYNC, FS, DISCARD, FUA = 1, 2, 4, 8, 1 << 8, 1 << 13, 1 << 15
Q, M, F, G, R, D, C, I, X, A = 1, 2, 3, 4, 6, 7, 8, 12, 13, 15
SDA, SDA2, DM = 8 << 20, 8 << 20 | 2, 253 << 20
PART_START, DM_START = 1_000_000_000, 384  # sectors: of the partition on the disk, of the volume on the partition


class World:
    def __init__(self, seed, old):
        self.rng, self.old = random.Random(seed), old
        self.events, self.truth, self.step = [], [], (0, 0)

    def put(self, t, action, category, sector, size, device=SDA, pdu=b"", error=0):
        self.events.append((t, len(self.events), action, category, sector, size, device, pdu, error))

    def later(self, t, most=200_000):
        return t + self.rng.randint(1, most)

    def queue(self, t, category, sector, size, device):
        """Q, and for the volume what leads to the disk below. Returns the sector on the disk."""
        self.put(t, Q, category, sector, size, device)
        if device == SDA:
            return sector
        part, disk = (sector + DM_START, sector + DM_START + PART_START) if size else (0, 0)
        self.put(t, A, category, part, size, SDA, struct.pack(">IIQ", DM, SDA2, sector))
        self.put(t, A, category, disk, size, SDA, struct.pack(">IIQ", SDA2, SDA, part))
        self.put(t, Q, category, disk, size)
        return disk

    def request(self, t, category, sector, size, error):
        """G, I, D, perhaps a requeue, C in one or two steps. Returns the time of the last completion; self.step
        says up to which sector the first step came, and when: bios that end there have ended then."""
        for action in (G, I):
            self.put(t, action, category, sector, size)
        t = self.later(t, 3000)
        self.put(t, D, category, sector, size)
        if self.rng.random() < 0.1:
            t = self.later(t)
            self.put(t, R, category, sector, size)
            t = self.later(t)
            self.put(t, D, category, sector, size)
        t, self.step = self.later(t), (0, 0)
        if size > 512 and self.rng.random() < 0.2:
            part = 512 * self.rng.randint(1, size // 512 - 1)
            self.put(t, C, category, sector, part)
            self.step = sector + part // 512, t
            sector, size, t = sector + part // 512, size - part, self.later(t)
        self.put(t, C, category, sector, size, error=error)
        return t

    def parts(self, t, category, sector, size):
        """Splits a bio into up to three requests."""
        out = []
        while size > 1024 and len(out) < 2 and self.rng.random() < 0.4:
            front = 512 * self.rng.randint(1, size // 512 - 1)
            self.put(t, X, category, sector, size if self.old else front, pdu=struct.pack(">Q", sector + front // 512))
            out.append((sector, front))
            sector, size = sector + front // 512, size - front
            if self.old:
                self.put(t, Q, category, sector, size)
        return out + [(sector, size)]

    def flush_request(self, t):
        self.put(t, D, READ | FLUSH | FS, 0, 0)
        t = self.later(t, 900_000)
        self.put(t, C, READ | FLUSH | FS, 0, 0)
        return t

    def one(self, t, number):
        rng, device = self.rng, self.rng.choice((SDA, SDA, DM))
        category = rng.choice((READ, READ, WRITE, WRITE | SYNC, WRITE | DISCARD, WRITE | FUA, WRITE | FUA | FLUSH)) | FS
        sector, size = number * 4096, 512 * rng.randint(1, 2048)
        disk = self.queue(t, category, sector, size, device)
        error = 0xfffb if rng.random() < 0.02 else 0
        bios = [(t, sector, size)]
        if category & FUA:  # data without its flags, then the cache, then the write's own end
            end = self.request(t + 10, category & ~(FUA | FLUSH), disk, size, error)
            end = self.flush_request(end + 5) + 7
            self.put(end, C, category & ~(FUA | FLUSH), disk + rng.choice((0, size // 512)), 0)
        elif device == SDA and rng.random() < 0.3:
            more = 512 * rng.randint(1, 200)
            front = number and rng.random() < 0.5
            at = sector - more // 512 if front else sector + size // 512
            self.put(t + 3, Q, category, at, more)
            self.put(t + 4, F if front else M, category, at, more)
            bios.append((t + 3, at, more))
            end = self.request(t + 10, category, min(disk, at), size + more, error)
        else:
            end = max(self.request(t + 10, category, s, n, error) for s, n in self.parts(t + 2, category, disk, size))
        if device == DM:
            end += 20
            self.put(end, C, category, sector, size, DM, error=error)
        op = "discard" if category & DISCARD else "write" if category & WRITE else "read"
        name = "8:0" if device == SDA else "253:0"
        for at, s, n in bios:
            early = len(bios) > 1 and s + n // 512 <= self.step[0]
            self.truth.append((at, name, op, s * 512, n, (self.step[1] if early else end) - at,
                               5 if error and not early else 0))
        return end

    def flush(self, t):
        """An empty flush; alone, since completions of several are alike."""
        self.put(t, Q, WRITE | FLUSH | SYNC | FS, 0, 0)
        end = self.flush_request(t + 10) + 30
        self.put(end, C, WRITE | SYNC | FS, 0, 0)
        self.truth.append((t, "8:0", "flush", 0, 0, end - t, 0))
        return end


def main():
    base, count, seed, old = sys.argv[1], *map(int, sys.argv[2:5])
    world, t, busy = World(seed, old), 7_000_000, 0
    for number in range(1, count + 1):
        t += world.rng.choice((50, 2_000, 90_000, 400_000))
        busy = max(busy, world.one(t, number))
        if number % 50 == 0:
            t = world.flush(busy + 1000) + 1000
    world.events.sort()
    files, sequence = [open(f"{base}.blktrace.{cpu}", "wb") for cpu in range(3)], {}
    cpu, last = 0, None
    for t, _, action, category, sector, size, device, pdu, error in world.events:
        if t != last:  # what happens at one time is one CPU's doing
            cpu, last = world.rng.randrange(3), t
        sequence[cpu, device] = sequence.get((cpu, device), 0) + 1
        files[cpu].write(struct.pack("<IIQQIIIIIHH", 0x65617407, sequence[cpu, device], t, sector, size,
                                     category << 16 | action, 100, device, cpu, error, len(pdu)) + pdu)
    for f in files:
        f.close()
    start = world.events[0][0]
    with open(base + ".truth", "w") as f:
        for t, *rest in sorted(world.truth):
            print(t - start, *rest, sep=",", file=f)


main()
