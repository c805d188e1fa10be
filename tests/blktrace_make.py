# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a random but possible trace of a disk: BASE.blktrace.0..2, as struct blk_io_trace has it.

Three CPUs queue reads, writes, discards and flushes; some are merged; each request is issued and completed
by any CPU. Usage: blktrace_make.py BASE COUNT SEED
"""
import random
import struct
import sys

READ, WRITE, FLUSH, SYNC, QUEUE, ISSUE, COMPLETE, FS, DISCARD = (
    1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 6, 1 << 7, 1 << 8, 1 << 13)
Q, M, D, C = 1, 2, 7, 8


def main():
    base, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    events = []
    t = 5_000_000_000
    for i in range(count):
        t += rng.choice((0, 700, 20_000, 300_000))
        category = rng.choice((READ, READ, WRITE, WRITE | SYNC, WRITE | DISCARD, WRITE | FLUSH | SYNC)) | FS
        sector, size = i * 1000, 512 * rng.randint(1, 64)
        if category & FLUSH:
            sector, size = 0, 0
        end = t + rng.randint(60_000, 4_000_000)
        pid = rng.randint(100, 104)
        events.append((t, Q, category | QUEUE, sector, size, pid))
        if size and rng.random() < 0.3:  # a second bio right behind it
            more = 512 * rng.randint(1, 64)
            events.append((t + 100, Q, category | QUEUE, sector + size // 512, more, pid))
            events.append((t + 150, M, category | QUEUE, sector + size // 512, more, pid))
            size += more
        if size:
            events.append((t + 500, D, category | ISSUE, sector, size, pid))
        events.append((end, C, category & ~FLUSH | COMPLETE, sector, size, 0))
    events.sort(key=lambda e: e[0])
    files = [open(f"{base}.blktrace.{cpu}", "wb") for cpu in range(3)]
    sequence = [0, 0, 0]
    for t, action, category, sector, size, pid in events:
        cpu = rng.randrange(3)
        sequence[cpu] += 1
        files[cpu].write(struct.pack("<IIQQIIIIIHH", 0x65617407, sequence[cpu], t, sector, size,
                                     category << 16 | action, pid, 8 << 20 | 32, cpu, 0, 0))
    for f in files:
        f.close()


main()
