/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Dictionary members: streams and issuers in the order of their numbers, each member going on where the one
 * before ended. {"streams": [...], "issuers": [...]}, and "hosts": [...] where there are new ones.
 */
#ifndef IOTAPE_DICT_H
#define IOTAPE_DICT_H

#include "formats/pack.h"
#include "formats/tape.h"

/* What a reader has gathered; zero-initialised is empty. */
struct dict {
    struct tape_stream *streams;
    size_t stream_count;
    char **issuers, **hosts;
    size_t issuer_count, issuer_cap, host_count, host_cap;
    uint64_t lost;         /* as the last member that tells */
    uint64_t *lost_stream; /* of the first lost_count streams; owned */
    size_t lost_count;
};

void dict_release(struct dict *d);
/* Appends what a dictionary member holds. -EBADMSG, also beyond TAPE_STREAMS_MAX,
 * TAPE_ISSUERS_MAX and NET_HOSTS_MAX. */
int dict_read(struct dict *d, const uint8_t *body, size_t len, struct err *e);

/* What a writer still has to write: packed values. Zero-initialised is empty. */
struct dict_pending {
    struct bytes streams, issuers, hosts;
    size_t stream_count, issuer_count, host_count;
};

void dict_pending_release(struct dict_pending *d);
int dict_add_stream(struct dict_pending *d, const struct tape_stream *s, struct err *e);
int dict_add_issuer(struct dict_pending *d, const char *name, struct err *e);
int dict_add_host(struct dict_pending *d, const char *name, struct err *e);
/* True where there is anything to be written. */
bool dict_is_pending(const struct dict_pending *d);
/* True when a member should be written though no record needs it yet, so that none becomes too large. */
bool dict_is_large(const struct dict_pending *d);
/* Packs the member, with the lost events of `lost` (NULL: none to be told), and empties `d`. */
int dict_pack(struct dict_pending *d, const struct tape_totals *lost, struct bytes *out, struct err *e);

#endif
