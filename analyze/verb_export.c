/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/verb.h"
#include "formats/base/cleanup.h"
#include "formats/base/out.h"
#include "formats/export.h"

struct export_options {
    const char *file, *output, *format;
};

static int take_word(void *values, const char *text, struct err *e)
{
    struct export_options *o = values;
    if (o->file)
        return err_set(e, EINVAL, "one file at a time: '%s' and '%s'", o->file, text);
    o->file = text;
    return 0;
}

static const struct opt opts[] = {
        {"format", 'f', OPT_STR, offsetof(struct export_options, format), "FORMAT",
                "the form to write: csv (block records, the default), net_csv (conversations), json or fio",
                NULL, NULL},
        {"output", 'o', OPT_STR, offsetof(struct export_options, output), "FILE",
                "write to FILE, which appears when it is whole, instead of standard output", NULL, NULL},
        {.name = NULL}};

static const char *const sections[] = {"CSV",
        "RFC 4180 with a header line; lines end in LF alone. Text is quoted where it must be, numbers are "
        "bare. "
        "Times are ns, positions and lengths bytes. What is not known is an empty cell; the error of an I/O "
        "whose completion was never seen is not known either.\n"
        "\n"
        "Of a tape, one line for each block record, in order of arrival:\n"
        "  t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error\n"
        "\n"
        "t_ns counts from the tape's start. stream and issuer are names. op is read, write, flush, discard "
        "or "
        "write_zeroes. flags are joined by '|': preflush, fua, sync, meta, readahead, prio, nomerge, "
        "background, "
        "secure. latency_ns runs from arrival to completion. error is the errno of the completion, 0 for "
        "success.\n"
        "\n"
        "Of a run, one line for each result, repetition by repetition:\n"
        "  "
        "repetition,record,stream,op,offset_bytes,len_bytes,scheduled_ns,issued_ns,lateness_ns,latency_ns,"
        "error\n"
        "\n"
        "record is the record's number in the tape, from 1. scheduled_ns is when the timing wanted it issued "
        "and "
        "issued_ns when it was, both since the repetition's start; lateness_ns is their difference. "
        "latency_ns "
        "counts from issued_ns.",
        "CSV of conversations",
        "net_csv writes one line for each event of a tape's socket conversations, in order of time:\n"
        "  "
        "t_ns,conversation,side,event,bytes,watermark,think_ns,flags,stream,protocol,client,client_port,"
        "server,server_port,marks\n"
        "\n"
        "conversation is a number from 1; what follows flags belongs to it and stands in its first line "
        "alone, that of "
        "its connect. side is initiator or responder. event is connect, accept, data, half_close (a side "
        "sends no more), "
        "close (the other neither), reset, or cut (the end is not known). watermark is what the event waited "
        "for: bytes "
        "of the peer, and one more for its end; of a connect, conversations of the same client that had "
        "ended; of UDP, "
        "datagrams of the peer. think_ns is the host's time after that. flags: forgotten (cut since idle for "
        "long), "
        "unseen (some packets were missed). marks: began_before (the recording), initiator_guessed.",
        "JSON",
        "JSON lines: an object on each line, with the keys and the order of CSV's columns. flags are an "
        "array of "
        "texts, what is not known is null. Numbers are exact and may exceed 2^53, which some readers round.",
        "fio",
        "fio's iolog, version 3, of a tape. With -o w.iolog two files are written: the log, w.iolog, and "
        "beside it "
        "w.iolog.fio, a job that replays it: 'fio w.iolog.fio'. The log's own name may not end in .fio. "
        "Times are "
        "whole microseconds, rounded down. Streams are files iotape-stream-N.img in fio's current folder, "
        "made sparse by "
        "the job, and never the recorded disk. Discards and write-zeroes are trims, which fio 3.33 leaves "
        "out of a replay; "
        "operations of 0 bytes are left out of the log (the job says how many), since fio gives up at the "
        "first one.",
        NULL};

static const struct opt_spec spec = {.name = "iotape-analyze export",
        .usage = "[OPTION]... TAPE|RUN",
        .summary = "write the records of a tape or a run in another format",
        .opts = opts,
        .word = take_word,
        .sections = sections};

/* Whether a name is already one of a second file. */
static bool is_beside(const char *path, const char *beside)
{
    size_t len = path ? strlen(path) : 0, end = beside ? strlen(beside) : 0;
    return end && len >= end && strcmp(path + len - end, beside) == 0;
}

/* The second file of a format that has one. */
static int export_beside(
        struct tape_reader *r, const struct export_options *x, const struct export_ops *ops, struct err *e)
{
    CLEANUP_FREE char *path = NULL;
    struct out o;
    struct stat st;
    if (!ops->beside || !x->output || strcmp(x->output, "-") == 0)
        return 0;
    if (stat(x->output, &st) == 0 && !S_ISREG(st.st_mode)) /* a pipe or a device */
        return 0;
    if (asprintf(&path, "%s%s", x->output, ops->beside) < 0) {
        path = NULL;
        return err_sys(e, ENOMEM, "cannot write beside '%s'", x->output);
    }
    int rc = verb_check_output(x->file, path, e);
    if (rc == 0)
        rc = out_open(&o, path, e);
    if (rc < 0)
        return rc;
    rc = ops->tape_beside(r, x->output, &o, e);
    int closed = out_close(&o, rc == 0, rc == 0 ? e : NULL);
    return rc < 0 ? rc : closed;
}

static int export_tape(
        const struct export_options *x, const struct export_ops *ops, struct out *o, struct err *e)
{
    struct tape_reader *r;
    int rc = tape_reader_open(&r, x->file, e);
    if (rc < 0)
        return rc;
    rc = ops->tape ? ops->tape(r, o, e) : err_set(e, EINVAL, "%s has no form for a tape", ops->name);
    if (rc == 0 && !o->failed)
        rc = export_beside(r, x, ops, e);
    tape_reader_close(r);
    return rc;
}

static int export_run(const char *path, const struct export_ops *ops, struct out *o, struct err *e)
{
    struct run_reader *r;
    int rc = run_reader_open(&r, path, e);
    if (rc < 0)
        return rc;
    rc = ops->run ? ops->run(r, o, e) : err_set(e, EINVAL, "%s has no form for a run", ops->name);
    run_reader_close(r);
    return rc;
}

static int export_file(const struct export_options *x, const struct export_ops *ops, struct err *e)
{
    enum tape_kind kind;
    struct out o;
    int rc = tape_file_kind(x->file, &kind, e);
    if (rc == 0 && kind == TAPE_KIND_NONE)
        rc = err_set(e, EINVAL, "'%s' is neither a tape nor a run", x->file);
    if (rc == 0)
        rc = verb_check_output(x->file, x->output, e);
    if (rc == 0)
        rc = out_open(&o, x->output, e);
    if (rc < 0)
        return rc;
    rc = kind == TAPE_KIND_RUN ? export_run(x->file, ops, &o, e) : export_tape(x, ops, &o, e);
    int closed = out_close(&o, rc == 0, rc == 0 ? e : NULL);
    return rc < 0 ? rc : closed;
}

static int run(int argc, char **argv)
{
    struct export_options x = {.format = "csv"};
    struct err e = {0};
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, &x, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    const struct export_ops *ops = export_find(x.format);
    if (!ops)
        return verb_usage(&spec, "--format: known are csv, net_csv, json and fio");
    if (!x.file)
        return verb_usage(&spec, "no file given");
    if (is_beside(x.output, ops->beside))
        return verb_usage(&spec,
                "-o: is the log's name, to which .fio is added for the job's: it may not end so itself");
    return verb_exit(&spec, export_file(&x, ops, &e), &e);
}

const struct verb verb_export = {.name = "export", .spec = &spec, .run = run};
