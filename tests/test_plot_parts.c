/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The pieces of plots. Right values: WCAG 2.1 (relative luminance, contrast), XML 1.0 section 2.2,
 * nearest-rank percentiles of sorted values, arithmetic.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/plot_axis.h"
#include "analyze/plot_bins.h"
#include "analyze/plot_colours.h"
#include "analyze/plot_sheet.h"
#include "analyze/plot_text.h"
#include "formats/base/random.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- colours ---- */

static double linear(uint8_t v)
{
    double s = v / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}
static double luminance(struct colour c)
{
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}
static double contrast(struct colour a, struct colour b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static void test_contrast(void **state)
{
    (void)state;
    struct colour light = plot_tones[TONE_PAGE].light, dark = plot_tones[TONE_PAGE].dark;
    for (int t = TONE_INK; t <= TONE_MUTED; t++) { /* text: 4.5 */
        assert_true(contrast(plot_tones[t].light, light) >= 4.5);
        assert_true(contrast(plot_tones[t].dark, dark) >= 4.5);
    }
    for (size_t side = 0; side < 4; side++) { /* graphics: 3 */
        assert_true(contrast(side_colour(side), light) >= 3.0);
        assert_true(contrast(side_colour(side), dark) >= 3.0);
    }
    /* More is lighter, so that the ramp holds without colours, too. */
    for (int i = 1; i <= 100; i++)
        assert_true(luminance(density_colour(i / 100.0)) >= luminance(density_colour((i - 1) / 100.0)));
    assert_true(luminance(density_colour(NAN)) == luminance(density_colour(0)));
}

/* ---- text ---- */

static void test_text(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"web01", "web01"}, {"a\tb\n", "a\357\277\275b\357\277\275"},
            {"\377\376x", "\357\277\275\357\277\275x"}, {"\303\251", "\303\251"},
            {"\355\240\200", "\357\277\275\357\277\275\357\277\275"}, /* a surrogate */
            {"\342\200\256evil", "\357\277\275evil"},                 /* right-to-left override */
            {"\357\277\276", "\357\277\275"},                         /* U+FFFE is no XML character */
            {"\302\205", "\357\277\275"}, {"", ""}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char *clean = plot_text_clean(pairs[i][0]);
        assert_string_equal(clean, pairs[i][1]);
        free(clean);
    }
}

/* ---- axes ---- */

static void test_format(void **state)
{
    (void)state;
    static const struct {
        enum unit unit;
        double value;
        const char *text;
    } cases[] = {{UNIT_DURATION, 150e3, "150 \302\265s"}, {UNIT_DURATION, 1.5e6, "1.5 ms"},
            {UNIT_DURATION, 2e9, "2 s"}, {UNIT_DURATION, 0, "0"}, {UNIT_DURATION, 12, "12 ns"},
            {UNIT_COUNT, 1500, "1.5k"}, {UNIT_COUNT, 2e6, "2M"}, {UNIT_COUNT, 0.25, "0.25"},
            {UNIT_BYTES, 1536.0 * 1048576, "1.5 GiB"}, {UNIT_PERCENT, 0.999, "99.9%"},
            {UNIT_OVERHEAD, 1.1825, "+18.3%"}, {UNIT_OVERHEAD, 0.5, "\342\210\22250%"},
            {UNIT_OVERHEAD, 1, "0%"}, {UNIT_OVERHEAD, 9.99, "+899%"}, {UNIT_OVERHEAD, 17.37, "\303\22717.4"},
            {UNIT_OVERHEAD, 162.4, "\303\227162"}, {UNIT_COUNT, NAN, ""}, {UNIT_COUNT, INFINITY, ""},
            {UNIT_COUNT, 1e300, "1e+300"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[TICK_TEXT_BYTES];
        axis_format(cases[i].unit, cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
    char interval[INTERVAL_TEXT_BYTES];
    axis_format_interval(1.12, 1.2, interval);
    assert_string_equal(interval, "+12% to +20%");
    axis_format_interval(8.15, 22.3, interval);
    assert_string_equal(interval, "\303\2278.2 to \303\22722.3");
    axis_format_interval(NAN, 2, interval);
    assert_string_equal(interval, "");
}

static void check_axis(const struct axis *a, double spacing)
{
    struct tick ticks[TICKS_MAX];
    size_t count = axis_ticks(a, spacing, ticks);
    assert_true(count <= TICKS_MAX);
    for (size_t i = 0; i < count; i++) {
        double place = axis_place(a, ticks[i].value);
        assert_true(isfinite(place));
        assert_true(place >= fmin(a->from, a->to) - 0.01 && place <= fmax(a->from, a->to) + 0.01);
        assert_true(*ticks[i].text);
        if (i) {
            assert_true(ticks[i].value > ticks[i - 1].value);
            assert_string_not_equal(ticks[i].text, ticks[i - 1].text);
        }
    }
}

static void test_ticks(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        double x = exp2((double)(random_next(&seed) % 6000) / 100),
               y = x * (1 + (double)(random_next(&seed) % 1000) / 99);
        double size = 40 + (double)(random_next(&seed) % 1000);
        enum unit unit = (enum unit)(random_next(&seed) % (UNIT_MB_S + 1));
        struct axis log = axis_cover(SCALE_LOG, unit, x, y, size, 0);
        struct axis linear_axis = axis_cover(SCALE_LINEAR, unit, x, y, 0, size);
        check_axis(&log, 26);
        check_axis(&linear_axis, 64);
        struct tick ticks[TICKS_MAX];
        if (size > 200 && x > 100) /* a reader needs two numbers; bytes are not cut */
            assert_true(axis_ticks(&log, 26, ticks) >= 2);
        struct axis overhead = axis_cover(SCALE_LOG, UNIT_OVERHEAD, fmin(1, 2 / x), fmax(1, y / x), 0, size);
        check_axis(&overhead, 64);
    }
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0, -5, 1e-300, 1e300, 7};
    for (size_t i = 0; i < COUNT(odd); i++)
        for (size_t j = 0; j < COUNT(odd); j++)
            for (int scale = SCALE_LINEAR; scale <= SCALE_LOG; scale++) {
                struct axis a = axis_cover((enum scale)scale, UNIT_COUNT, odd[i], odd[j], 0, 100);
                assert_true(a.high > a.low);
                check_axis(&a, 26);
            }
    assert_true(isnan(axis_place(&(struct axis){SCALE_LOG, UNIT_COUNT, 1, 10, 0, 1}, 0)));
}

static void test_nines(void **state)
{
    (void)state;
    struct axis a = {SCALE_NINES, UNIT_PERCENT, 0, 0.9999, 0, 400};
    struct tick ticks[TICKS_MAX];
    assert_true(fabs(axis_place(&a, 0.9) - 100) < 1e-6); /* one nine of four */
    assert_true(fabs(axis_place(&a, 0.99) - 200) < 1e-6);
    assert_int_equal(axis_ticks(&a, 60, ticks), 7);
    assert_string_equal(ticks[6].text, "99.99%");
}

/* ---- labels ---- */

static void test_spread(void **state)
{
    (void)state;
    double free_ones[] = {10, 40, 80};
    assert_int_equal(spread(free_ones, 3, 15, 0, 200), 0);
    assert_true(free_ones[0] == 10 && free_ones[1] == 40 && free_ones[2] == 80);
    double same[] = {50, 50, 50}; /* least squares: the middle one stays */
    assert_int_equal(spread(same, 3, 10, 0, 200), 0);
    assert_true(fabs(same[0] - 40) < 1e-9 && fabs(same[1] - 50) < 1e-9 && fabs(same[2] - 60) < 1e-9);
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        double wanted[64];
        size_t count = random_next(&seed) % 64;
        double bottom = (double)count * 15 + (double)(random_next(&seed) % 100);
        for (size_t i = 0; i < count; i++)
            wanted[i] = (double)(random_next(&seed) % 1200) - 100;
        for (size_t i = 1; i < count; i++)
            wanted[i] = fmax(wanted[i], wanted[i - 1]);
        assert_int_equal(spread(wanted, count, 15, 0, bottom), 0);
        for (size_t i = 0; i < count; i++) {
            assert_true(wanted[i] >= -1e-6 && wanted[i] + 15 <= bottom + 1e-6);
            assert_true(!i || wanted[i] - wanted[i - 1] >= 15 - 1e-6);
        }
    }
}

static void test_fit(void **state)
{
    (void)state;
    struct canvas *c;
    struct err e = {0};
    assert_int_equal(canvas_open(&c, CANVAS_PNG, 1, 1, "", &e), 0);
    static const char *const texts[] = {"a", "", "a-very-long-name-of-a-run-that-does-not-fit.run",
            "\346\227\245\346\234\254\350\252\236\343\201\256\345\220\215\345\211\215", "\377\377\377\377",
            "<&>\"'", "\001\002"};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (double width = 5; width < 200; width += 13) {
            char *fitted = sheet_fit(c, texts[i], font_plain, width);
            assert_non_null(fitted);
            for (const char *p = fitted; *p; p += plot_text_char(p)) /* still whole characters */
                assert_true(plot_text_char(p) > 0);
            if (strcmp(fitted, "\342\200\246") != 0)
                assert_true(canvas_text_width(c, fitted, font_plain) <= width + 1e-6);
            free(fitted);
        }
    char *cut = sheet_fit(c, "prefix-that-all-have-in-common-nfs", font_plain, 120);
    assert_non_null(strstr(cut, "\342\200\246"));
    assert_string_equal(cut + strlen(cut) - 3, "nfs"); /* where names differ */
    free(cut);
    canvas_close(c);
}

/* ---- bins ---- */

#define MS UINT64_C(1000000)

static void open_bins(struct bins **b, struct plot_data *d, struct plot_side *side)
{
    struct err e = {0};
    assert_int_equal(bins_open(b, &e), 0);
    *d = (struct plot_data){
            .timing = TIMING_CLOSED, .sides = side, .count = 1, .time_ns = 10 * MS, .heat_time_ns = 5 * MS};
    side->heat = calloc(PLOT_HEAT_LATENCIES, sizeof *side->heat);
    assert_non_null(side->heat);
}

static void test_bins_times(void **state)
{
    (void)state;
    struct bins *b;
    struct plot_data d;
    struct plot_side side = {0};
    static struct plot_repetition r;
    open_bins(&b, &d, &side);
    /* 100 reads of 4 KiB back to back, 1 ms each; from 50 ms on a second stream of 2 ms writes of 8 KiB. */
    bins_begin(b, &d, &side, 100 * MS, false);
    for (uint64_t i = 0; i < 100; i++)
        bins_add(b, &(struct sample){i * MS, MS, MS, 0, 4096, 0, BLOCK_READ});
    for (uint64_t i = 0; i < 25; i++)
        bins_add(b, &(struct sample){(50 + 2 * i) * MS, 2 * MS, 2 * MS, 0, 8192, 0, BLOCK_WRITE});
    bins_end(b, &r);
    /* Those that complete at the very begin of a bin are in it: 9 in the first 10 ms, 10 in each of the next.
     */
    assert_true(fabs(r.iops[0] - 900) < 1e-6 && fabs(r.iops[2] - 1000) < 1e-6);
    assert_true(fabs(r.mb_s[2] - 10 * 4096 / 1e6 / 0.01) < 1e-6);
    assert_true(fabs(r.iops[7] - 1500) < 1e-6);
    assert_true(fabs(r.latency_ns[7] - (10.0 * 1 + 5 * 2) / 15 * 1e6) < 1e-3);
    assert_true(isnan(r.iops[10]) || r.iops[10] == 0); /* beyond the end */
    /* One in flight in the first half, two in the second. */
    assert_true(fabs(r.depth[2] - 1) < 1e-3 && fabs(r.depth[7] - 2) < 1e-3);
    for (size_t i = 0; i < PLOT_DEPTHS; i++) {
        double from = plot_depth_from(i), wanted = from <= 1 ? 1 : from <= 2 ? 0.5 : 0;
        assert_true(fabs(r.depth_at_least[i] - wanted) < 0.001);
    }
    bins_close(b);
    free(side.heat);
}

static int by_size(const void *a, const void *b)
{
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}

static void test_bins_curve(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct bins *b;
    struct plot_data d;
    struct plot_side side = {0};
    static struct plot_repetition r;
    static uint64_t sorted[N];
    uint64_t seed = 3;
    open_bins(&b, &d, &side);
    bins_begin(b, &d, &side, N * MS, false);
    for (uint64_t i = 0; i < N; i++) {
        sorted[i] = (uint64_t)exp2(7 + (double)(random_next(&seed) % 300000) / 10000);
        bins_add(b, &(struct sample){i * MS, sorted[i], sorted[i], 0, 512, 0, BLOCK_READ});
    }
    bins_end(b, &r);
    qsort(sorted, N, sizeof *sorted, by_size);
    for (size_t i = 0; i < PLOT_CURVE_POINTS; i++) {
        double q = plot_curve_fraction(i);
        if (!isfinite(r.curve_ns[BLOCK_READ][i])) {
            assert_true(pow(q, N) > 0.05); /* Wilks: too few lie beyond */
            continue;
        }
        size_t rank = (size_t)ceil(q * N - 1e-6);
        double wanted = (double)sorted[rank ? rank - 1 : 0];
        assert_true(fabs(r.curve_ns[BLOCK_READ][i] - wanted) <= wanted / 1024 / 2 + 1);
        assert_true(isnan(r.curve_ns[BLOCK_WRITE][i]));
    }
    bins_close(b);
    free(side.heat);
}

/* What no clock should give must not leave any array. */
static void test_bins_hostile(void **state)
{
    (void)state;
    static const uint64_t odd[] = {0, 1, 999, MS, UINT64_MAX / 2, UINT64_MAX - 1};
    struct bins *b;
    struct plot_data d;
    struct plot_side side = {0};
    static struct plot_repetition r;
    open_bins(&b, &d, &side);
    d.streams[0] = (struct plot_stream){
            .low_bytes = 0, .high_bytes = 1, .heat = calloc(PLOT_PLACES, sizeof *d.streams[0].heat)};
    d.stream_count = 1;
    for (size_t elapsed = 0; elapsed < COUNT(odd); elapsed++) {
        bins_begin(b, &d, &side, odd[elapsed], true);
        for (size_t i = 0; i < COUNT(odd); i++)
            for (size_t j = 0; j < COUNT(odd); j++)
                bins_add(b, &(struct sample){odd[i], odd[j], odd[j], odd[i], odd[j], (uint32_t)i,
                                    (uint8_t)(j % BLOCK_OPS)});
        bins_end(b, &r);
        for (size_t i = 0; i < PLOT_DEPTHS; i++)
            assert_true(r.depth_at_least[i] >= 0 && r.depth_at_least[i] <= 1);
    }
    free(d.streams[0].heat);
    free(side.heat);
    bins_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contrast), cmocka_unit_test(test_text),
            cmocka_unit_test(test_format), cmocka_unit_test(test_ticks), cmocka_unit_test(test_nines),
            cmocka_unit_test(test_spread), cmocka_unit_test(test_fit), cmocka_unit_test(test_bins_times),
            cmocka_unit_test(test_bins_curve), cmocka_unit_test(test_bins_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
