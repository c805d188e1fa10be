/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM_EVERY 4096 /* events after which the room they took is given back */

int ring_open(struct ring *r, int fd, size_t size_bytes, struct err *e)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (consumer == MAP_FAILED)
        return err_sys(e, errno, "cannot map the ring buffer");
    void *producer = mmap(NULL, page + size_bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
    if (producer == MAP_FAILED) {
        int code = errno;
        munmap(consumer, page);
        return err_sys(e, code, "cannot map the ring buffer");
    }
    *r = (struct ring){consumer, producer, size_bytes, page};
    return 0;
}

void ring_close(struct ring *r)
{
    if (!r->consumer)
        return;
    munmap(r->consumer, r->page_bytes);
    munmap((void *)r->producer, r->page_bytes + r->size_bytes);
    *r = (struct ring){0};
}

int ring_drain(struct ring *r, ring_take *take, void *self, struct err *e)
{
    const uint8_t *data = r->producer + r->page_bytes;
    uint64_t at = *r->consumer, end = __atomic_load_n((const uint64_t *)r->producer, __ATOMIC_ACQUIRE);
    unsigned taken = 0;
    int status = 1;
    while (at < end && status > 0) {
        const uint8_t *event = data + (at & (r->size_bytes - 1));
        uint32_t head = __atomic_load_n((const uint32_t *)event, __ATOMIC_ACQUIRE);
        if (head & BPF_RINGBUF_BUSY_BIT) {
            status = 0;
            break;
        }
        uint32_t len = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
            int taking = take(self, event + BPF_RINGBUF_HDR_SZ, len, e);
            if (taking < 0)
                status = taking;
        }
        at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
        if (++taken % ROOM_EVERY == 0)
            __atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
    }
    __atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
    return status;
}
