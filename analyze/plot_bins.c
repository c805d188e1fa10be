/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_bins.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/select.h"

/* Buckets as wide as the leading bit's place less these bits, as in H. Wickham's and G. Tene's log-linear
 * histograms: below 2^(MANTISSA_BITS + 1) each value has its own. */
#define MANTISSA_BITS 10
#define BUCKETS       ((64 - MANTISSA_BITS + 1) << MANTISSA_BITS)
#define SLICES        (1U << 20)

struct bins {
    struct plot_data *data;
    struct plot_side *side;
    bool places;
    uint64_t elapsed_ns;
    double slice_ns;
    uint64_t counts[PLOT_OPS];
    uint32_t latencies[PLOT_OPS][BUCKETS];
    uint64_t done[PLOT_TIMES], bytes[PLOT_TIMES];
    double latency_sum_ns[PLOT_TIMES];
    /* In flight: what begins or ends within a slice counts by its part of it (`partial`), and in all slices
     * from there on as a whole (`whole`, differences). */
    double partial[SLICES + 1];
    int32_t whole[SLICES + 2];
};

int bins_open(struct bins **b, struct err *e)
{
    *b = calloc(1, sizeof **b);
    return *b ? 0 : err_sys(e, ENOMEM, "cannot plot");
}

void bins_close(struct bins *b)
{
    free(b);
}

void bins_begin(
        struct bins *b, struct plot_data *data, struct plot_side *side, uint64_t elapsed_ns, bool places)
{
    memset(b, 0, sizeof *b);
    b->data = data;
    b->side = side;
    b->places = places;
    b->elapsed_ns = elapsed_ns ? elapsed_ns : 1;
    b->slice_ns = (double)b->elapsed_ns / SLICES;
}

/* ---- adding ---- */

static size_t bucket_of(uint64_t value)
{
    if (value < (UINT64_C(1) << MANTISSA_BITS))
        return value;
    unsigned shift = 63U - (unsigned)__builtin_clzll(value) - MANTISSA_BITS;
    return ((size_t)(shift + 1) << MANTISSA_BITS) + ((value >> shift) & ((UINT64_C(1) << MANTISSA_BITS) - 1));
}

/* The middle of a bucket. */
static double bucket_value(size_t bucket)
{
    uint64_t mantissa = bucket & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    size_t group = bucket >> MANTISSA_BITS;
    if (!group)
        return (double)mantissa;
    double width = ldexp(1, (int)group - 1);
    return ((double)(mantissa | (UINT64_C(1) << MANTISSA_BITS)) + 0.5) * width - 0.5;
}

static void add_moment(struct bins *b, double t_ns, int sign)
{
    double at = t_ns / b->slice_ns;
    size_t slice = at < SLICES ? (size_t)at : SLICES;
    b->partial[slice] += sign * (slice < SLICES ? (double)(slice + 1) - at : 1);
    b->whole[slice + 1] += sign;
}

static size_t latency_row(double ns)
{
    double row = log10(ns / PLOT_HEAT_LOWEST_NS) * PLOT_HEAT_DECADE;
    return row >= PLOT_HEAT_LATENCIES ? PLOT_HEAT_LATENCIES - 1 : row > 0 ? (size_t)row : 0;
}

static void count_cell(uint32_t *cell)
{
    if (*cell < UINT32_MAX)
        ++*cell;
}

static void add_place(struct plot_stream *stream, const struct sample *s, size_t time)
{
    uint64_t size = stream->high_bytes - stream->low_bytes;
    if (s->offset_bytes < stream->low_bytes || s->offset_bytes >= stream->high_bytes)
        return;
    double part = (double)(s->offset_bytes - stream->low_bytes) / (double)size;
    count_cell(&stream->heat[(size_t)fmin(part * PLOT_PLACES, PLOT_PLACES - 1)][time]);
}

/* PLOT_OPS for what has no curve. */
static enum plot_op curve_of(uint8_t op)
{
    return op <= BLOCK_FLUSH       ? (enum plot_op)op
           : op == SAMPLE_CONNECT  ? PLOT_CONNECT
           : op == SAMPLE_EXCHANGE ? PLOT_EXCHANGE
                                   : PLOT_OPS;
}

void bins_add(struct bins *b, const struct sample *s)
{
    uint64_t end_ns = s->issued_ns + s->latency_ns;
    uint64_t time = end_ns / b->data->time_ns, heat_time = end_ns / b->data->heat_time_ns;
    time = time < PLOT_TIMES ? time : PLOT_TIMES - 1;
    heat_time = heat_time < PLOT_HEAT_TIMES ? heat_time : PLOT_HEAT_TIMES - 1;
    enum plot_op curve = curve_of(s->op);
    if (curve < PLOT_OPS) {
        b->counts[curve]++;
        b->latencies[curve][bucket_of(s->time_ns)]++;
    }
    if (curve == PLOT_CONNECT)
        return;
    b->done[time]++;
    b->bytes[time] += s->op <= BLOCK_WRITE || s->op == SAMPLE_EXCHANGE ? s->len_bytes : 0;
    b->latency_sum_ns[time] += (double)s->time_ns;
    count_cell(&b->side->heat[latency_row((double)s->time_ns)][heat_time]);
    if (b->places && s->op != BLOCK_FLUSH) {
        for (size_t i = 0; i < b->data->stream_count; i++)
            if (b->data->streams[i].id == s->stream)
                add_place(&b->data->streams[i], s, heat_time);
    }
    add_moment(b, (double)s->issued_ns, 1);
    add_moment(b, (double)end_ns, -1);
}

/* ---- what follows ---- */

const char *plot_op_name(enum plot_op op)
{
    static const char *const names[PLOT_OPS] = {"read", "write", "flush", "connect", "exchange"};
    return names[op];
}

double plot_curve_fraction(size_t point)
{
    return 1 - pow(10, -(double)point / PLOT_CURVE_STEPS);
}

/* The value at rank ceil(q n), as in select.h, for all points in one go. */
static void fill_curve(const uint32_t *buckets, uint64_t count, double *curve_ns)
{
    size_t bucket = 0;
    uint64_t below = 0;
    for (size_t i = 0; i < PLOT_CURVE_POINTS; i++) {
        double q = plot_curve_fraction(i);
        curve_ns[i] = NAN;
        if (!count || count < select_least(q))
            continue;
        uint64_t rank = (uint64_t)ceil(q * (double)count - 1e-9);
        rank = rank < 1 ? 1 : rank > count ? count : rank;
        while (below + buckets[bucket] < rank)
            below += buckets[bucket++];
        curve_ns[i] = bucket_value(bucket);
    }
}

/* Of a bin that the repetition's end cuts, only what it covers counts; less than a fifth says nothing. */
static void fill_times(const struct bins *b, struct plot_repetition *r)
{
    double width_ns = (double)b->data->time_ns;
    for (size_t i = 0; i < PLOT_TIMES; i++) {
        double covered_ns = fmin(width_ns, (double)b->elapsed_ns - (double)i * width_ns);
        bool says = covered_ns >= width_ns / 5 || i == 0;
        r->iops[i] = says ? (double)b->done[i] / covered_ns * 1e9 : NAN;
        r->mb_s[i] = says ? (double)b->bytes[i] / covered_ns * 1e3 : NAN;
        r->latency_ns[i] = says && b->done[i] ? b->latency_sum_ns[i] / (double)b->done[i] : NAN;
        r->depth[i] = says ? 0 : NAN;
    }
}

double plot_depth_from(size_t bin)
{
    return bin ? exp2(((double)bin - 1) / PLOT_DEPTH_OCTAVE - 4) : 0;
}

static size_t depth_bin(double depth)
{
    if (depth < 1e-6)
        return 0;
    double bin = (log2(depth) + 4) * PLOT_DEPTH_OCTAVE + 1 + 1e-6;
    return bin >= PLOT_DEPTHS ? PLOT_DEPTHS - 1 : bin > 1 ? (size_t)bin : 1;
}

static void fill_depths(const struct bins *b, struct plot_repetition *r)
{
    int64_t whole = 0;
    double slices[PLOT_TIMES] = {0};
    for (size_t i = 0; i < SLICES; i++) {
        whole += b->whole[i];
        double depth = fmax((double)whole + b->partial[i], 0);
        r->depth_at_least[depth_bin(depth)] += 1.0 / SLICES;
        double time = ((double)i + 0.5) * b->slice_ns / (double)b->data->time_ns;
        size_t bin = time < PLOT_TIMES ? (size_t)time : PLOT_TIMES - 1;
        r->depth[bin] += depth;
        slices[bin]++;
    }
    for (size_t i = 0; i < PLOT_TIMES; i++)
        r->depth[i] = slices[i] > 0 ? r->depth[i] / slices[i] : NAN;
    for (size_t i = PLOT_DEPTHS - 1; i-- > 0;)
        r->depth_at_least[i] = fmin(r->depth_at_least[i] + r->depth_at_least[i + 1], 1);
}

void bins_end(struct bins *b, struct plot_repetition *r)
{
    *r = (struct plot_repetition){.elapsed_ns = b->elapsed_ns};
    memcpy(r->counts, b->counts, sizeof r->counts);
    for (int op = 0; op < PLOT_OPS; op++)
        fill_curve(b->latencies[op], b->counts[op], r->curve_ns[op]);
    fill_times(b, r);
    fill_depths(b, r);
}
