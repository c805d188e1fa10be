/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of tapes and runs that are plain msgpack (TAPE.md, "Descriptions"): what a tape says about
 * itself, streams and issuers, totals. Reading checks types and bounds: -EBADMSG with a text, -ENOMEM.
 */
#ifndef IOTAPE_DESCRIBE_H
#define IOTAPE_DESCRIBE_H

#include "formats/pack.h"
#include "formats/run.h"
#include "formats/tape.h"

#define DESCRIBE_VERSION    1
#define DESCRIBE_ISSUER_MAX 256 /* bytes of a name */

void describe_pack_facts(struct packer *p, const struct facts *f);
/* `f` is empty before. Anything but a map is refused, none is an empty one. */
int describe_read_facts(struct value v, struct facts *f, struct err *e);

/* A copy of a text of less than `max` bytes, without zeros in it. None gives "". */
int describe_read_text(struct value v, size_t max, char **text, struct err *e);

void describe_pack_identity(struct packer *p, const struct tape_identity *id);
int describe_read_identity(struct value v, struct tape_identity *id, struct err *e);

/* DESCRIBE_INFO_PAIRS pairs of a map that the caller has begun. */
#define DESCRIBE_INFO_PAIRS 5
void describe_pack_info(struct packer *p, const struct tape_info *i);
int describe_read_info(struct value map, struct tape_info *i, struct err *e);

/* The three pairs that every first member begins with. */
#define DESCRIBE_HEAD_PAIRS 3
void describe_pack_head(struct packer *p, enum tape_kind kind);
int describe_read_head(struct value map, enum tape_kind *kind, struct err *e);

void describe_pack_stream(struct packer *p, const struct tape_stream *s);
int describe_read_stream(struct value v, struct tape_stream *s, struct err *e);

/* Whole first member of a run. */
int describe_pack_run(const struct run_info *i, struct bytes *out, struct err *e);
int describe_read_run(struct value map, struct run_info *i, struct err *e);

#endif
