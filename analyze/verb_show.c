/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyze/show.h"
#include "analyze/verb.h"
#include "formats/base/cleanup.h"

#define FILES_MAX 4096

struct show_options {
    bool json;
    const char *files[FILES_MAX];
    size_t count;
};

static int take_word(void *values, const char *text, struct err *e)
{
    struct show_options *o = values;
    if (o->count == FILES_MAX)
        return err_set(e, E2BIG, "more than %d files", FILES_MAX);
    o->files[o->count++] = text;
    return 0;
}

static const struct opt opts[] = {
        {"json", 'j', OPT_FLAG, offsetof(struct show_options, json), NULL,
                "write JSON: one object, or an array of objects for several files", NULL, NULL},
        {.name = NULL}};

static const char *const sections[] = {"What is checked",
        "Each file is read from end to end and all of its digests, paddings and totals are verified; damage "
        "is an "
        "error that names file, member and position. A file whose recording was cut off is shown as far as "
        "it can be "
        "read, and called unfinished.",
        "JSON",
        "Times are ns, sizes bytes. Of a tape:\n"
        "  file, kind (\"recording\"), label, identity, finished, ended (null where unfinished), "
        "started_unix_ns,\n"
        "  records, lost, elapsed_ns, issuers (their number)\n"
        "  streams   [{id, name, kind, capacity_bytes, sector_bytes, disk_hash, disk_start_bytes, device "
        "{...},\n"
        "            records, read_bytes, written_bytes, lost, open}]; kind is \"disk\" or \"net\"; of an "
        "interface\n"
        "            records are events, written_bytes what initiators sent, read_bytes what responders "
        "sent, lost\n"
        "            packets, open conversations whose end is not in the tape\n"
        "  net       {conversations, events, initiator_bytes, responder_bytes, exchanges (answers to "
        "requests), open, hosts}\n"
        "  host, options, counts   {key: text}\n"
        "\n"
        "Of a run:\n"
        "  file, kind (\"run\"), label, identity (of the tape), finished, ended, started_unix_ns,\n"
        "  records   results of all repetitions\n"
        "  lost      of the tape\n"
        "  elapsed_ns   of all repetitions together\n"
        "  target_name, target {...}, working_set_bytes, streams [...], host {...}, options {...}\n"
        "  repetitions  [{repetition, warmup, complete, order, records, errors, short_io, read_bytes, "
        "written_bytes,\n"
        "               elapsed_ns, zero_latency_ns, cpu_busy_ns, cpu_spun_ns, steal_ns, pressure_..._us,\n"
        "               lateness_..._ns, behind, depth_..., starved, fit_..., unsupported, two_step, ...}]\n"
        "  fidelity  {repetitions (that count), lateness_p50_ns, lateness_p99_ns, lateness_max_ns (each the "
        "worst of\n"
        "            a repetition), behind, depth_reached (the least), depth_recorded, depth_capped, "
        "starved, errors,\n"
        "            steal_ns, pressure_cpu_us, pressure_io_us, pressure_memory_us}\n"
        "  tape      {records, lost, started_unix_ns, host {...}, options {...}}\n"
        "\n"
        "Of a file with results of other benchmarks:\n"
        "  file, kind (\"results\")\n"
        "  outputs   [{tool, form (\"text\", \"JSON\", \"terse\", \"CSV\"), line (where it begins, from 1),\n"
        "            failed (what the tool says went wrong, or null), note (or null), facts {key: text},\n"
        "            figures [{workload, metric, unit, value (null where missing), op (\"read\", \"write\" "
        "or null),\n"
        "                     compared, missing, line}]}]",
        "Results of other benchmarks",
        "What fio (text, JSON, json+, terse), bonnie++, hdparm, dd, iperf3, netperf and CrystalDiskMark "
        "printed is "
        "found in a text by what it says, whatever stands around it; white space may have been collapsed. "
        "Each figure "
        "is shown with the line that it was read from. A value that the tool could not measure (+++++) is "
        "missing, "
        "and no zero. MB is 10^6 bytes and MiB 2^20, whatever the tool calls them.",
        NULL};

static const struct opt_spec spec = {.name = "iotape-analyze show",
        .usage = "[--json] FILE...",
        .summary = "say what is in tapes, runs and results of other benchmarks, and verify them",
        .opts = opts,
        .word = take_word,
        .sections = sections};

/* `all` collects objects; NULL: text to `o`. */
static int show_tape(const char *path, struct json *all, struct out *o, struct err *e)
{
    struct tape_reader *r;
    int rc = tape_reader_open(&r, path, e);
    if (rc < 0)
        return rc;
    rc = tape_reader_verify(r, e);
    if (rc >= 0 && all)
        rc = json_add(all, show_tape_json(path, r)) < 0 ? err_sys(e, ENOMEM, "cannot describe '%s'", path)
                                                        : 0;
    else if (rc >= 0)
        show_tape_text(path, r, o);
    tape_reader_close(r);
    return rc;
}

static int show_run(const char *path, struct json *all, struct out *o, struct err *e)
{
    struct run_reader *r;
    int rc = run_reader_open(&r, path, e);
    if (rc < 0)
        return rc;
    rc = run_reader_verify(r, e);
    if (rc >= 0 && all)
        rc = json_add(all, show_run_json(path, r)) < 0 ? err_sys(e, ENOMEM, "cannot describe '%s'", path) : 0;
    else if (rc >= 0)
        show_run_text(path, r, o);
    run_reader_close(r);
    return rc;
}

static int show_results(const char *path, struct json *all, struct out *o, struct err *e)
{
    struct results r;
    int rc = results_read(path, &r, e);
    if (rc < 0)
        return rc;
    if (all)
        rc = json_add(all, show_results_json(path, &r)) < 0 ? err_sys(e, ENOMEM, "cannot describe '%s'", path)
                                                            : 0;
    else
        show_results_text(path, &r, o);
    results_release(&r);
    return rc;
}

static int show_files(const struct show_options *s, struct json *all, struct out *o, struct err *e)
{
    for (size_t i = 0; i < s->count; i++) {
        enum tape_kind kind;
        int rc = tape_file_kind(s->files[i], &kind, e);
        if (rc < 0)
            return rc;
        if (i && !all)
            out_text(o, "\n");
        rc = kind == TAPE_KIND_RUN         ? show_run(s->files[i], all, o, e)
             : kind == TAPE_KIND_RECORDING ? show_tape(s->files[i], all, o, e)
                                           : show_results(s->files[i], all, o, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int show(const struct show_options *s, struct err *e)
{
    struct out o;
    struct json *all = s->json ? json_new_array() : NULL;
    if (s->json && !all)
        return err_sys(e, ENOMEM, "cannot write JSON");
    int rc = out_open(&o, NULL, e);
    if (rc == 0) {
        rc = show_files(s, all, &o, e);
        if (rc == 0 && all)
            rc = json_write(s->count == 1 ? json_first(all) : all, &o, e);
        int closed = out_close(&o, true, rc == 0 ? e : NULL);
        rc = rc < 0 ? rc : closed;
    }
    json_free(all);
    return rc;
}

static int run(int argc, char **argv)
{
    CLEANUP_FREE struct show_options *s = calloc(1, sizeof *s);
    struct err e = {0};
    if (!s)
        return verb_exit(&spec, err_sys(&e, ENOMEM, "cannot start"), &e);
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, s, NULL);
    if (outcome != OPTS_RUN)
        return outcome == OPTS_USAGE ? EXIT_USAGE : 0;
    if (!s->count)
        return verb_usage(&spec, "no file given");
    return verb_exit(&spec, show(s, &e), &e);
}

const struct verb verb_show = {.name = "show", .spec = &spec, .run = run};
