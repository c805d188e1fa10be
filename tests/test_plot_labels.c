/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * No two labels of a plot share a place, and none leaves the page, whatever the data are.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/plot.h"
#include "formats/base/random.h"

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define SIDES_MAX 64

/* ---- data ---- */

/* What the numbers of a data set are like. */
enum kind { REAL, EQUAL, ZERO, HUGE_RANGE, ONE_POINT, NOTHING, NOT_FINITE, TINY, KINDS };

static uint64_t seed;

static double value_of(enum kind kind, size_t side, size_t i)
{
    double noise = (double)(random_next(&seed) % 1000) / 1000;
    switch (kind) {
    case EQUAL:
        return 5000;
    case ZERO:
        return 0;
    case HUGE_RANGE:
        return exp2((double)(random_next(&seed) % 60));
    case ONE_POINT:
        return i == 7 ? 1e6 : NAN;
    case NOTHING:
        return NAN;
    case NOT_FINITE:
        return i % 3 == 0 ? INFINITY : i % 3 == 1 ? -INFINITY : NAN;
    case TINY:
        return 1e-9 * (1 + noise);
    default:
        return 1e5 * (double)(side + 1) * (1 + noise) * (1 + (double)i / 10);
    }
}

static void fill(double *values, size_t count, enum kind kind, size_t side, double unit)
{
    for (size_t i = 0; i < count; i++)
        values[i] = unit * value_of(kind, side, i);
}

static struct plot_repetition *make_repetition(enum kind kind, size_t side)
{
    struct plot_repetition *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->elapsed_ns = 1000000000;
    for (int op = 0; op < PLOT_OPS; op++)
        fill(r->curve_ns[op], PLOT_CURVE_POINTS, kind, side, 1);
    fill(r->iops, PLOT_TIMES, kind, side, 0.01);
    fill(r->mb_s, PLOT_TIMES, kind, side, 1e-4);
    fill(r->latency_ns, PLOT_TIMES, kind, side, 1);
    fill(r->depth, PLOT_TIMES, kind, side, 1e-5);
    for (size_t i = 0; i < PLOT_DEPTHS; i++)
        r->depth_at_least[i] = kind == NOTHING ? NAN : kind == ZERO ? 0 : 1 - (double)i / PLOT_DEPTHS;
    return r;
}

static void make_heat(uint32_t (*heat)[PLOT_HEAT_TIMES], size_t rows, enum kind kind)
{
    size_t cells = kind == NOTHING ? 0 : kind == ONE_POINT ? 1 : 500;
    for (size_t i = 0; i < cells; i++)
        heat[random_next(&seed) % rows][random_next(&seed) % PLOT_HEAT_TIMES] +=
                kind == HUGE_RANGE ? (uint32_t)random_next(&seed) : 1;
}

struct set {
    struct plot_data data;
    struct plot_side sides[SIDES_MAX];
    char names[SIDES_MAX][400];
};

static void make_name(char *name, size_t i, int style)
{
    static const char *const odd[] = {"a", "", "\377\376\375", "<script>alert(1)</script>",
            "\"><svg onload=x>", "\346\227\245\346\234\254\350\252\236", "\342\200\256gpj.run",
            "tab\there\nand there", "x&y;'z'"};
    if (style == 0)
        snprintf(name, 400, "side%zu", i);
    else if (style == 1) /* long, and alike but in the middle */
        snprintf(name, 400,
                "/very/long/path/to/the/results/of/a/night/in/the/lab/%zu/of/the/same/name/each/time/nfs.run",
                i);
    else if (style == 2)
        memset(name, 'W', 399);
    else
        snprintf(name, 400, "%s", odd[i % COUNT(odd)]);
}

static struct set *make_set(enum kind kind, size_t sides, size_t repetitions, int style)
{
    struct set *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->data = (struct plot_data){.timing = sides % 2 ? TIMING_CLOSED : TIMING_RECORDED,
            .sides = s->sides,
            .count = sides,
            .time_ns = 10000000,
            .heat_time_ns = 5000000,
            .end_ns = kind == HUGE_RANGE ? UINT64_C(1) << 62
                      : kind == TINY     ? 1
                                         : 1000000000,
            .stream_count = sides % (PLOT_STREAMS + 1),
            .stream_total = 9};
    for (size_t i = 0; i < sides; i++) {
        make_name(s->names[i], i, style);
        s->sides[i] = (struct plot_side){.name = s->names[i], .count = repetitions};
        s->sides[i].heat = calloc(PLOT_HEAT_LATENCIES, sizeof *s->sides[i].heat);
        s->sides[i].repetitions = calloc(repetitions + 1, sizeof *s->sides[i].repetitions);
        make_heat(s->sides[i].heat, PLOT_HEAT_LATENCIES, kind);
        for (size_t j = 0; j < repetitions; j++)
            s->sides[i].repetitions[j] = make_repetition(kind, i);
    }
    for (size_t i = 0; i < s->data.stream_count; i++) {
        struct plot_stream *x = &s->data.streams[i];
        *x = (struct plot_stream){.low_bytes = 0, .high_bytes = kind == EQUAL ? 1 : UINT64_MAX};
        snprintf(x->name, sizeof x->name, "%.60s", s->names[i]);
        x->heat = calloc(PLOT_PLACES, sizeof *x->heat);
        make_heat(x->heat, PLOT_PLACES, kind);
    }
    return s;
}

static void free_set(struct set *s)
{
    for (size_t i = 0; i < s->data.count; i++) {
        for (size_t j = 0; j < s->sides[i].count; j++)
            free(s->sides[i].repetitions[j]);
        free(s->sides[i].repetitions);
        free(s->sides[i].heat);
    }
    for (size_t i = 0; i < s->data.stream_count; i++)
        free(s->data.streams[i].heat);
    free(s);
}

/* ---- checking ---- */

static size_t overlaps(const struct canvas *c)
{
    size_t count, found = 0;
    const struct label *l = canvas_labels(c, &count);
    for (size_t i = 0; i < count; i++) {
        found += l[i].box.left < -0.01 || l[i].box.top < -0.01 || l[i].box.right > canvas_width(c) + 0.01 ||
                 l[i].box.bottom > canvas_height(c) + 0.01;
        if (found)
            fprintf(stderr, "'%s' %g..%g, %g..%g\n", l[i].text, l[i].box.left, l[i].box.right, l[i].box.top,
                    l[i].box.bottom);
        for (size_t j = 0; j < i && !found; j++) {
            struct box a = l[i].box, b = l[j].box;
            if (a.left < b.right && b.left < a.right && a.top < b.bottom - 0.01 && b.top < a.bottom - 0.01) {
                fprintf(stderr, "'%s' and '%s'\n", l[i].text, l[j].text);
                found++;
            }
        }
        if (found)
            return found;
    }
    assert_true(count > 0);
    return found;
}

/* Draws it; 1 where it was drawn, 0 where there was nothing to draw. */
static int draw_and_check(
        const struct plot_ops *ops, const struct plot_input *in, double width, enum canvas_form form)
{
    struct plot p;
    struct err e = {0};
    int rc = ops->draw(&p, in, &(struct plot_request){form, width, "test"}, &e);
    if (rc == -ENODATA) {
        assert_true(strlen(e.text) > 10);
        return 0;
    }
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", ops->name, e.text);
    assert_int_equal(rc, 0);
    if (overlaps(p.canvas))
        fail_msg("%s, %g wide", ops->name, width);
    assert_true(strlen(p.title) > 2 && strlen(p.description) > 20);
    plot_release(&p);
    return 1;
}

static void test_data(void **state)
{
    (void)state;
    static const double widths[] = {320, 360, 760, 1900};
    static const size_t sides[] = {1, 3, 40}; /* many only of some kinds: they take time */
    size_t drawn = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < COUNT(sides); n++) {
            int style = (int)((n + (size_t)kind) % 4);
            if (sides[n] > 3 && kind != REAL && kind != ONE_POINT)
                continue;
            struct set *s = make_set((enum kind)kind, sides[n], n ? 3 : 1, style);
            for (size_t i = 0; plot_list[i]; i++)
                if (!plot_list[i]->compares)
                    drawn += (size_t)draw_and_check(plot_list[i], &(struct plot_input){.data = &s->data},
                            widths[(n + (size_t)style + i) % COUNT(widths)], CANVAS_SVG);
            free_set(s);
        }
    assert_true(drawn > 40);
}

/* ---- comparisons ---- */

static void make_rows(struct comparison *k, enum kind kind, const struct metric *m)
{
    static const char *const names[] = {"io_time", "latency_mean", "read_latency_p99.9",
            "a_metric_of_another_tool_with_a_name_that_is_very_long_indeed_and_goes_on", ""};
    for (size_t i = 0; i < k->count; i++) {
        double x = value_of(kind, 0, i);
        k->rows[i] = (struct row){.metric = m,
                .name = names[i % COUNT(names)],
                .stream = i % 7 == 6 ? "sda, the third of many disks" : "",
                .primary = i == 0,
                .n_base = 5,
                .n_cand = i % 5 ? 5 : 0,
                .overhead_pct = x,
                .overhead_lo = kind == HUGE_RANGE ? -100 : x / 2,
                .overhead_hi = kind == EQUAL ? x : x * 2,
                .margin_pct = 5,
                .verdict = (enum verdict)(i % 6)};
    }
}

static void test_comparisons(void **state)
{
    (void)state;
    static const struct metric m = {.name = "x", .unit = "us"};
    static struct row rows[30];
    char names[2][400];
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t count = 1; count <= 30; count += 29)
            for (int style = 0; style < 4; style++) {
                struct comparison k[6] = {0};
                for (size_t i = 0; i < COUNT(k); i++) {
                    make_name(names[0], 0, style);
                    make_name(names[1], 1, style);
                    k[i] = (struct comparison){.workload = names[i % 2],
                            .base.name = names[0],
                            .cand.name = names[1],
                            .rows = rows,
                            .count = count};
                }
                make_rows(&k[0], (enum kind)kind, &m);
                struct report r = {
                        .comparisons = k, .count = style % 2 ? COUNT(k) : 1, .options = COMPARISON_DEFAULTS};
                draw_and_check(plot_find("overhead"), &(struct plot_input){.report = &r},
                        count > 1 ? 340 : 760, CANVAS_SVG);
            }
}

/* The control: labels that do overlap are seen. */
static void test_control(void **state)
{
    (void)state;
    struct canvas *c;
    struct err e = {0};
    assert_int_equal(canvas_open(&c, CANVAS_SVG, 200, 100, "x", &e), 0);
    canvas_text(
            c, (struct point){10, 50}, ANCHOR_START, "one label", (struct font){12, false}, tone(TONE_INK));
    assert_int_equal(overlaps(c), 0);
    assert_false(canvas_text_if_free(
            c, (struct point){30, 55}, ANCHOR_START, "two", (struct font){12, false}, tone(TONE_INK), 2));
    assert_true(canvas_text_if_free(
            c, (struct point){10, 80}, ANCHOR_START, "two", (struct font){12, false}, tone(TONE_INK), 2));
    assert_int_equal(overlaps(c), 0);
    canvas_text(c, (struct point){30, 55}, ANCHOR_START, "three", (struct font){12, false}, tone(TONE_INK));
    assert_int_equal(overlaps(c), 1);
    canvas_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_control), cmocka_unit_test(test_data), cmocka_unit_test(test_comparisons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
