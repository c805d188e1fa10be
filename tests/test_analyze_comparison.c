/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From measured repetitions to rows: percentages, verdicts, what is left empty. Values are arithmetic in the
 * comments.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/comparison.h"
#include "analyze/contrast.h"
#include "analyze/report.h"

#define REPS 10
static const struct comparison_options defaults = COMPARISON_DEFAULTS;

/* Two systems of one run each. */
struct fixture {
    struct result results[2][REPS];
    struct source source[2];
    size_t left_out[2]; /* beside the results */
    struct contrasts contrasts;
    struct comparison c;
};

/* `reads` reads of 1 MB each in elapsed_s[i] seconds, each taking latency_us[i]. */
static void fill(struct fixture *f, int side, size_t n, const double *elapsed_s, const double *latency_us,
        uint64_t reads)
{
    for (size_t i = 0; i < n; i++) {
        struct result *r = &f->results[side][i];
        *r = (struct result){.summary = {.complete = 1, .records = reads, .cpu_busy_ns = 5000 * reads}};
        r->summary.elapsed_ns = (uint64_t)llround(elapsed_s[i] * 1e9);
        struct op_result *op = &r->ops[BLOCK_READ];
        op->count = reads;
        op->bytes = reads * 1000000;
        op->sum_ns = latency_us[i] * 1e3 * (double)reads;
        op->max_ns = (uint64_t)llround(latency_us[i] * 1e3);
        for (int q = 0; q < QUANTILES; q++)
            op->quantile_ns[q] = op->max_ns;
    }
    f->source[side] = (struct source){.kind = TAPE_KIND_RUN, .results = f->results[side], .result_count = n};
}

static void release(struct fixture *f)
{
    comparison_release(&f->c);
    contrasts_release(&f->contrasts);
}

static const struct row *find(const struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->c.count; i++)
        if (strcmp(f->c.rows[i].name, name) == 0)
            return &f->c.rows[i];
    return NULL;
}

static const struct row *make(struct fixture *f, enum timing timing, const char *name)
{
    struct err e = {0};
    const struct source *list[2] = {&f->source[0], &f->source[1]};
    const struct party base = {"base", &list[0], 1}, cand = {"cand", &list[1], 1};
    struct contrasts *k = &f->contrasts;
    release(f);
    assert_int_equal(contrasts_make(k, &metrics_own, &base, &cand, timing, &e), 0);
    k->base.left_out += f->left_out[0];
    k->cand.left_out += f->left_out[1];
    assert_int_equal(comparison_make(&f->c, "w", &k->base, &k->cand, k->list, k->count, &defaults, &e), 0);
    return find(f, name);
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 5e-6 * (1 + fabs(wanted))))
        fail_msg("got %.9g, wanted %.9g", got, wanted);
}

static const double one[REPS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* 65 MB/s to 20.59 MB/s is -68.32 %; one MB costs 65/20.59 - 1 = +215.69 %. */
static void test_two_percentages(void **state)
{
    (void)state;
    static struct fixture f;
    double base[5], cand[5];
    for (int i = 0; i < 5; i++) {
        base[i] = 1000 / 65.0;
        cand[i] = 1000 / 20.59;
    }
    fill(&f, 0, 5, base, one, 1000);
    fill(&f, 1, 5, cand, one, 1000);
    const struct row *r = make(&f, TIMING_CLOSED, "read_bandwidth");
    assert_non_null(r);
    near(r->median_base, 65);
    near(r->median_cand, 20.59);
    near(r->change_pct, (20.59 / 65 - 1) * 100);
    near(r->overhead_pct, (65 / 20.59 - 1) * 100);
    assert_int_equal(r->verdict, VERDICT_SLOWER);
    r = find(&f, "elapsed"); /* a time: both percentages are the same, positive is worse */
    near(r->change_pct, (65 / 20.59 - 1) * 100);
    near(r->overhead_pct, r->change_pct);
    release(&f);
}

/* 64.86 to 54.85 MB/s is +18.25 % (64.86/54.85 = 1.18250). */
static void test_published(void **state)
{
    (void)state;
    static struct fixture f;
    double base[5], cand[5];
    for (int i = 0; i < 5; i++) {
        base[i] = 1000 / (64.86 + 0.02 * (i - 2));
        cand[i] = 1000 / (54.85 + 0.02 * (i - 2));
    }
    fill(&f, 0, 5, base, one, 1000);
    fill(&f, 1, 5, cand, one, 1000);
    const struct row *r = make(&f, TIMING_CLOSED, "read_bandwidth");
    assert_true(fabs(r->overhead_pct - 18.25) < 0.02);
    near(r->p, 2.0 / 252);
    assert_true(r->overhead_lo <= r->overhead_pct && r->overhead_pct <= r->overhead_hi);
    near(r->conf, 0.968253968);
    assert_true(isfinite(r->p_adjusted));
    r = make(&f, TIMING_CLOSED, "io_time");
    assert_true(r->primary && isnan(r->p_adjusted));
    release(&f);
}

static enum verdict verdict_for(size_t n_base, size_t n_cand, double ratio, double spread)
{
    static struct fixture f;
    double base[REPS], cand[REPS];
    for (size_t i = 0; i < REPS; i++) {
        base[i] = 10 * (1 + spread * (double)i);
        cand[i] = 10 * ratio * (1 + spread * (double)i) + 1e-6;
    }
    fill(&f, 0, n_base, base, one, 1000);
    fill(&f, 1, n_cand, cand, one, 1000);
    enum verdict v = make(&f, TIMING_ASAP, "elapsed")->verdict;
    release(&f);
    return v;
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_int_equal(verdict_for(5, 5, 1.2, 0.001), VERDICT_SLOWER);
    assert_int_equal(verdict_for(5, 5, 0.8, 0.001), VERDICT_FASTER);
    assert_int_equal(verdict_for(5, 5, 1.03, 0.001), VERDICT_SAME); /* significant, but within 5 % */
    assert_int_equal(verdict_for(5, 5, 1 / 1.03, 0.001), VERDICT_SAME);
    assert_int_equal(verdict_for(5, 5, 1.049, 0.005), VERDICT_SLOWER); /* the interval reaches beyond 5 % */
    assert_int_equal(verdict_for(5, 5, 1.02, 0.1), VERDICT_UNSURE);
    assert_int_equal(verdict_for(3, 3, 2, 0.001), VERDICT_TOO_FEW);
    assert_int_equal(verdict_for(3, 3, 1, 0.001), VERDICT_TOO_FEW); /* 90 % is all that 3 against 3 attains */
    assert_int_equal(verdict_for(3, 5, 2, 0.001), VERDICT_SLOWER);
    assert_int_equal(verdict_for(4, 4, 2, 0.001), VERDICT_SLOWER);
    assert_int_equal(verdict_for(1, 10, 2, 0.001), VERDICT_TOO_FEW); /* 2/11 */
}

/* The margin of 5 % is symmetric on logarithms: 1.0499 and 1/1.0499 are within, 1.0501 and 1/1.0501 not.
 * Tails have 10 %. */
static void test_margin(void **state)
{
    (void)state;
    assert_int_equal(verdict_for(5, 5, 1.0499, 0), VERDICT_SAME);
    assert_int_equal(verdict_for(5, 5, 1 / 1.0499, 0), VERDICT_SAME);
    assert_int_equal(verdict_for(5, 5, 1.0501, 0), VERDICT_SLOWER);
    assert_int_equal(verdict_for(5, 5, 1 / 1.0501, 0), VERDICT_FASTER);
    static struct fixture f;
    double base[5] = {100, 100, 100, 100, 100}, cand[5] = {109, 109, 109, 109, 109};
    fill(&f, 0, 5, one, base, 1000);
    fill(&f, 1, 5, one, cand, 1000);
    assert_int_equal(make(&f, TIMING_ASAP, "read_latency_p99")->verdict, VERDICT_SAME);
    assert_int_equal(find(&f, "read_latency_p95")->verdict, VERDICT_SLOWER);
    release(&f);
}

/* What is an input is no metric; names say from where a time counts. */
static void test_timings(void **state)
{
    (void)state;
    static struct fixture f;
    fill(&f, 0, 5, one, one, 1000);
    fill(&f, 1, 5, one, one, 1000);
    assert_true(make(&f, TIMING_RECORDED, "response_mean")->primary);
    assert_null(find(&f, "elapsed"));
    assert_null(find(&f, "io_time"));
    assert_null(find(&f, "read_iops"));
    assert_null(find(&f, "read_latency_p99"));
    assert_non_null(find(&f, "read_response_p99"));
    assert_true(make(&f, TIMING_ASAP, "elapsed")->primary);
    assert_null(find(&f, "io_time"));
    assert_true(make(&f, TIMING_CLOSED, "io_time")->primary);
    assert_false(find(&f, "elapsed")->primary);
    assert_null(find(&f, "write_iops")); /* there was no write */
    size_t primaries = 0;
    for (size_t i = 0; i < f.c.count; i++)
        primaries += f.c.rows[i].primary;
    assert_int_equal(primaries, 1);
    release(&f);
}

static void test_too_few_ios(void **state)
{
    (void)state;
    static struct fixture f;
    fill(&f, 0, 5, one, one, 299);
    fill(&f, 1, 5, one, one, 299);
    assert_true(isfinite(make(&f, TIMING_ASAP, "read_latency_p99")->ratio_hl));
    const struct row *r = find(&f, "read_latency_p99.9");
    assert_true(isnan(r->ratio_hl) && isnan(r->median_base) && isnan(r->p) && r->verdict == VERDICT_UNSURE);
    assert_string_equal(r->flags.text, "too_few_ios");
    f.results[1][4].ops[BLOCK_READ].count = 298; /* one repetition is enough */
    r = make(&f, TIMING_ASAP, "read_latency_p99");
    assert_true(isnan(r->ratio_hl));
    assert_string_equal(r->flags.text, "too_few_ios");
    release(&f);
}

/* Zero has no ratio: a difference instead. */
static void test_zeros(void **state)
{
    (void)state;
    static struct fixture f;
    double base[5] = {0, 0, 0, 0, 0}, cand[5] = {1, 2, 3, 4, 5};
    fill(&f, 0, 5, one, base, 1000);
    fill(&f, 1, 5, one, cand, 1000);
    const struct row *r = make(&f, TIMING_ASAP, "read_latency_mean");
    assert_true(isnan(r->ratio_hl) && isnan(r->change_pct) && isnan(r->overhead_lo) && isnan(r->conf));
    near(r->median_cand, 3);
    assert_string_equal(r->flags.text, "not_positive:difference=3");
    assert_int_equal(r->verdict, VERDICT_SLOWER); /* ranks need no ratio */
    fill(&f, 1, 5, one, base, 1000);
    r = make(&f, TIMING_ASAP, "read_latency_mean");
    assert_string_equal(r->flags.text, "not_positive:difference=0");
    assert_int_equal(r->verdict, VERDICT_SAME);
    release(&f);
}

static void test_invalid(void **state)
{
    (void)state;
    static struct fixture f;
    double two[5] = {2, 2, 2, 2, 2};
    fill(&f, 0, 5, one, one, 1000);
    fill(&f, 1, 5, two, two, 1000);
    f.left_out[1] = 5; /* half */
    assert_int_equal(make(&f, TIMING_ASAP, "elapsed")->verdict, VERDICT_SLOWER);
    f.left_out[1] = 6;
    assert_int_equal(make(&f, TIMING_ASAP, "elapsed")->verdict, VERDICT_INVALID);
    f.source[1].result_count = 0;
    const struct row *r = make(&f, TIMING_ASAP, "elapsed");
    assert_int_equal(r->verdict, VERDICT_INVALID);
    assert_true(r->n_base == 5 && r->n_cand == 0 && isnan(r->ratio_hl));
    release(&f);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"}, {2.0 / 252, "0.00793651"}, {123456789, "123456789"}, {0.5, "0.5"},
            {-68.3231, "-68.3231"}, {1, "1"}, {1e-9, "0.000000001"}, {NAN, ""}, {INFINITY, ""},
            {999999.5, "1000000"}, {100, "100"}, {1.0825088e-5, "0.0000108251"}};
    char buf[REPORT_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(report_number(rows[i].value, buf), rows[i].text);
    report_number(2.5e-49, buf); /* a p of many repetitions is not 0 */
    assert_true(strlen(buf) == 52 && strcmp(buf + 48, "0025") == 0);
    report_number(1e308, buf);
    assert_true(strlen(buf) == 309);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_percentages),
            cmocka_unit_test(test_published), cmocka_unit_test(test_verdicts), cmocka_unit_test(test_margin),
            cmocka_unit_test(test_timings), cmocka_unit_test(test_too_few_ios), cmocka_unit_test(test_zeros),
            cmocka_unit_test(test_invalid), cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
