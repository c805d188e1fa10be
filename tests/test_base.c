/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The base library: errors, units, option tables, facts, names of operations and flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/base/opts.h"
#include "formats/base/units.h"
#include "formats/block.h"
#include "formats/facts.h"

static void errors_nest(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(err_sys(&e, ENOENT, "cannot open '%s'", "x"), -ENOENT);
    assert_string_equal(e.text, "cannot open 'x': No such file or directory");
    assert_int_equal(err_prefix(&e, "tape '%s'", "y"), -ENOENT);
    assert_string_equal(e.text, "tape 'y': cannot open 'x': No such file or directory");
    assert_int_equal(err_sys(&e, -EIO, "read"), -EIO);
    assert_int_equal(err_set(NULL, EINVAL, "ignored"), -EINVAL);
}

static void errors_do_not_overflow(void **state)
{
    (void)state;
    struct err e = {0};
    char longer[2 * ERR_TEXT_BYTES];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    err_sys(&e, ENOENT, "%s", longer);
    assert_int_equal(strlen(e.text), ERR_TEXT_BYTES - 1);
    err_prefix(&e, "%s", longer);
    assert_int_equal(strlen(e.text), ERR_TEXT_BYTES - 1);
}

struct size_case {
    const char *text;
    int result;
    uint64_t value;
};

static void sizes(void **state)
{
    (void)state;
    /* IEC 80000-13: Ki = 2^10, Mi = 2^20, Gi = 2^30; SI: k = 10^3, ... */
    static const struct size_case cases[] = {{"0", 0, 0}, {"512", 0, 512}, {"4k", 0, 4000}, {"4K", 0, 4000},
            {"4Ki", 0, 4096}, {"4KiB", 0, 4096}, {"1.5G", 0, 1500000000}, {"1.5Gi", 0, 1610612736},
            {"1.1G", 0, 1100000000}, {"2M", 0, 2000000}, {"2Mi", 0, 2097152}, {"1Ti", 0, 1099511627776},
            {"18446744073709551615", 0, UINT64_MAX}, {"18446744073709551616", -ERANGE, 0},
            {"17179869184Gi", -ERANGE, 0}, {"99999999999999999999999", -ERANGE, 0}, {"1.5", -EINVAL, 0},
            {"0.5Ki", 0, 512}, {"", -EINVAL, 0}, {"k", -EINVAL, 0}, {"4x", -EINVAL, 0}, {"-1", -EINVAL, 0},
            {" 1", -EINVAL, 0}, {"1 k", -EINVAL, 0}, {"1.2.3k", -EINVAL, 0}, {".", -EINVAL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t v = 77;
        struct err e = {0};
        int r = units_parse_size(cases[i].text, &v, &e);
        if (r != cases[i].result)
            fail_msg("'%s' gives %d", cases[i].text, r);
        assert_int_equal(v, r ? 77 : cases[i].value);
        assert_int_equal(e.code, -r);
    }
}

static void durations(void **state)
{
    (void)state;
    static const struct size_case cases[] = {{"10m", 0, UINT64_C(600000000000)}, {"1.5s", 0, 1500000000},
            {"200us", 0, 200000}, {"30", 0, UINT64_C(30000000000)}, {"7ns", 0, 7}, {"2h", 0, UINT64_C(7200000000000)},
            {"1ms", 0, 1000000}, {"0.5ns", -EINVAL, 0}, {"1d", -EINVAL, 0}, {"6000000h", -ERANGE, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t v = 77;
        int r = units_parse_duration(cases[i].text, &v, NULL);
        if (r != cases[i].result)
            fail_msg("'%s' gives %d", cases[i].text, r);
        assert_int_equal(v, r ? 77 : cases[i].value);
    }
}

static void doubles_ignore_the_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it exists, its decimal point is a comma */
    double v = 0;
    assert_int_equal(units_parse_double("2.5", &v, NULL), 0);
    assert_true(v == 2.5);
    assert_int_equal(units_parse_double("2,5", &v, NULL), -EINVAL);
    assert_int_equal(units_parse_double("nan", &v, NULL), -EINVAL);
    assert_int_equal(units_parse_double("inf", &v, NULL), -EINVAL);
    setlocale(LC_ALL, "C");
}

static void names_for_people(void **state)
{
    (void)state;
    char buf[UNITS_TEXT_BYTES];
    assert_string_equal(units_size(512, buf), "512 B");
    assert_string_equal(units_size(1610612736, buf), "1.50 GiB");
    assert_string_equal(units_size(UINT64_MAX, buf), "16.00 EiB");
    assert_string_equal(units_duration(999, buf), "999 ns");
    assert_string_equal(units_duration(123400, buf), "123.4 us");
    assert_string_equal(units_duration(1500000000, buf), "1.500 s");
    assert_string_equal(units_duration(UINT64_C(125000000000), buf), "2m05s");
}

struct values {
    bool flag;
    const char *text;
    uint64_t size, duration, number;
    int choice;
    char words[64], calls[64];
};

static int add_word(void *values, const char *text, struct err *e)
{
    struct values *v = values;
    if (strcmp(text, "bad") == 0)
        return err_set(e, EINVAL, "bad word");
    strcat(strcat(v->words, text), ";");
    return 0;
}
static int add_call(void *values, const char *text, struct err *e)
{
    (void)e;
    struct values *v = values;
    /* Options and words come in the order of the command line. */
    strcat(strcat(strcat(v->calls, text), "@"), v->words);
    return 0;
}

static const char *const choices[] = {"red", "green", NULL};
static const struct opt table[] = {
        {"flag", 'f', OPT_FLAG, offsetof(struct values, flag), NULL, "a flag", NULL, NULL},
        {"text", 't', OPT_STR, offsetof(struct values, text), "TEXT", "a text", NULL, NULL},
        {"size", 0, OPT_SIZE, offsetof(struct values, size), "BYTES", "a size", NULL, NULL},
        {"for", 0, OPT_DURATION, offsetof(struct values, duration), "TIME", "a duration", NULL, NULL},
        {"runs", 0, OPT_U64, offsetof(struct values, number), "N", "a number", NULL, NULL},
        {"colour", 0, OPT_CHOICE, offsetof(struct values, choice), "NAME", "a choice", choices, NULL},
        {"system", 0, OPT_CALL, 0, "NAME", "a call", NULL, add_call}, {.name = NULL}};
static const struct opt_spec spec = {"test", "[OPTIONS] WORD...", "Tests.", table, add_word, NULL};

static void options_parse_in_order(void **state)
{
    (void)state;
    struct values v = {0};
    char *argv[] = {"test", "one", "-ft", "x", "--system", "a", "two", "--size=4Ki", "--for", "10m", "--runs", "5",
            "--colour", "green", "--system", "b", "--", "fio", "--size=1", NULL};
    char **command = NULL;
    assert_int_equal(opts_parse(&spec, 19, argv, &v, &command), OPTS_RUN);
    assert_true(v.flag);
    assert_string_equal(v.text, "x");
    assert_int_equal(v.size, 4096);
    assert_int_equal(v.duration, UINT64_C(600000000000));
    assert_int_equal(v.number, 5);
    assert_int_equal(v.choice, 1);
    assert_string_equal(v.words, "one;two;");
    assert_string_equal(v.calls, "a@one;b@one;two;");
    assert_non_null(command);
    assert_string_equal(command[0], "fio");
    assert_string_equal(command[1], "--size=1");
    assert_null(command[2]);
}

static void option_errors_are_usage(void **state)
{
    (void)state;
    static char *const lines[][3] = {{"--nonsense", NULL}, {"--size", NULL}, {"--size", "4x", NULL},
            {"--colour", "blue", NULL}, {"bad", NULL}, {"--flag=1", NULL}, {"-z", NULL}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct values v = {0};
        char *argv[4] = {"test", lines[i][0], lines[i][1], NULL};
        assert_int_equal(opts_parse(&spec, lines[i][1] ? 3 : 2, argv, &v, NULL), OPTS_USAGE);
    }
}

static void no_command_without_dashes(void **state)
{
    (void)state;
    struct values v = {0};
    char *argv[] = {"test", "one", NULL};
    char **command = argv;
    assert_int_equal(opts_parse(&spec, 2, argv, &v, &command), OPTS_RUN);
    assert_null(command);
}

static void facts_keep_order(void **state)
{
    (void)state;
    struct facts a = {0}, b = {0};
    struct err e = {0};
    assert_int_equal(facts_set(&a, &e, "kernel", "%d.%d", 6, 1), 0);
    assert_int_equal(facts_set(&a, &e, "cpu", "x"), 0);
    assert_int_equal(facts_set(&a, &e, "kernel", "6.2"), 0);
    assert_int_equal(a.count, 2);
    assert_string_equal(a.list[0].key, "kernel");
    assert_string_equal(facts_get(&a, "kernel"), "6.2");
    assert_null(facts_get(&a, "nothing"));
    assert_int_equal(facts_merge(&b, &a, "host.", &e), 0);
    assert_string_equal(facts_get(&b, "host.cpu"), "x");
    for (int i = 0; i < FACTS_MAX - 2; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(facts_set(&a, &e, key, "v"), 0);
    }
    assert_int_equal(facts_set(&a, &e, "one more", "v"), -E2BIG);
    facts_release(&a);
    facts_release(&b);
}

static void operation_and_flag_names(void **state)
{
    (void)state;
    char buf[BLOCK_FLAGS_TEXT_BYTES];
    for (unsigned op = 0; op < BLOCK_OPS; op++)
        assert_int_equal(block_op_parse(block_op_name(op)), op);
    assert_null(block_op_name(BLOCK_OPS));
    assert_int_equal(block_op_parse("trim"), -1);
    assert_string_equal(block_flags_name(0, buf), "");
    assert_string_equal(block_flags_name(BLOCK_PREFLUSH | BLOCK_FUA | BLOCK_META, buf), "preflush|fua|meta");
    for (unsigned f = 0; f < 1U << BLOCK_FLAGS; f++) /* all of them fit and come back */
        assert_int_equal(block_flags_parse(block_flags_name(f, buf)), f);
    assert_int_equal(block_flags_parse("fu"), -1);
    assert_int_equal(block_flags_parse("fua|x"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(errors_nest),
            cmocka_unit_test(errors_do_not_overflow),
            cmocka_unit_test(sizes),
            cmocka_unit_test(durations),
            cmocka_unit_test(doubles_ignore_the_locale),
            cmocka_unit_test(names_for_people),
            cmocka_unit_test(options_parse_in_order),
            cmocka_unit_test(option_errors_are_usage),
            cmocka_unit_test(no_command_without_dashes),
            cmocka_unit_test(facts_keep_order),
            cmocka_unit_test(operation_and_flag_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
