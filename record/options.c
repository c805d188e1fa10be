/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/opts.h"
#include "formats/base/units.h"
#include "record/import_options.h"

#define OPEN_MAX_LIMIT    (1 << 20) /* 64 MiB in the kernel */
#define INTERFACES_MAX    64        /* as many MiB each in the kernel */
#define SIZE_BUCKET_LIMIT (1 << 30)
#define MEMORY_MIN        (8 << 20)
#define PARTS_MAX         100000
#define PART_MIN          65536 /* less would be full by what it says of itself */

static int add_word(struct words *w, const char *text, struct err *e)
{
    const char **list = reallocarray(w->list, w->count + 1, sizeof *list);
    if (!list)
        return err_sys(e, ENOMEM, "cannot keep '%s'", text);
    list[w->count++] = text;
    w->list = list;
    return 0;
}

static int add_disk(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->disks, text, e);
}

static int add_image_file(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->image_files, text, e);
}

static int add_vm(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->vms, text, e);
}

static int add_qemu_pid(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->qemu_pids, text, e);
}

static int add_interface(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->interfaces, text, e);
}

static int add_cgroup(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->cgroups, text, e);
}

static int add_pid(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->pids, text, e);
}

static int add_import(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    o->is_import = true;
    return add_word(&o->files, text, e);
}

static int add_file(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    if (!o->is_import)
        return err_set(e, EINVAL, "unexpected word '%s'", text);
    return add_word(&o->files, text, e);
}

static int set_source(void *values, const char *text, struct err *e)
{
    const struct source_ops **source = &((struct options *)values)->source;
    *source = source_find(text);
    return *source ? 0 : err_set(e, EINVAL, "unknown source '%s' (see --help)", text);
}

static int add_only(void *values, const char *text, struct err *e)
{
    return add_word(&((struct options *)values)->only, text, e);
}

/* 0 would be the same as not given: a recording without an end. */
static int not_zero(int status, const uint64_t *value, struct err *e)
{
    return status < 0 || *value ? status : err_set(e, EINVAL, "0 records nothing");
}

static int set_for(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    return not_zero(units_parse_duration(text, &o->for_ns, e), &o->for_ns, e);
}

static int set_max_size(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    return not_zero(units_parse_size(text, &o->max_bytes, e), &o->max_bytes, e);
}

static int set_pause(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    return not_zero(units_parse_duration(text, &o->pause_ns, e), &o->pause_ns, e);
}

static int set_size_bucket(void *values, const char *text, struct err *e)
{
    struct options *o = values;
    return not_zero(units_parse_size(text, &o->size_bucket_bytes, e), &o->size_bucket_bytes, e);
}

#define AT(field) offsetof(struct options, field)

static const struct opt opts[] = {
        {"output", 'o', OPT_STR, AT(output), "FILE", "the tape to write", NULL, NULL},
        {"disk", 'd', OPT_CALL, 0, "DEVICE", "record this block device; may repeat, one stream each", NULL,
                add_disk},
        {"file", 0, OPT_CALL, 0, "PATH",
                "record this file on a file system, such as a VM's image; may repeat, one stream each", NULL,
                add_image_file},
        {"vm", 0, OPT_CALL, 0, "NAME",
                "record the disks and interfaces of this virtual machine (name or UUID), by libvirt; may "
                "repeat",
                NULL, add_vm},
        {"connect", 0, OPT_STR, AT(connect), "URI", "of libvirt, for --vm (default: as virsh does)", NULL,
                NULL},
        {"qemu-pid", 0, OPT_CALL, 0, "PID",
                "record the images, block devices and taps that this process has open; may repeat", NULL,
                add_qemu_pid},
        {"net", 'n', OPT_CALL, 0, "IFACE[:FILTER]",
                "record the conversations on this interface, those that FILTER (pcap-filter(7)) lets pass; "
                "may repeat, one stream each",
                NULL, add_interface},
        {"cgroup", 0, OPT_CALL, 0, "PATH",
                "of the disks, record only what belongs to this control group or those below it; may repeat",
                NULL, add_cgroup},
        {"pid", 0, OPT_CALL, 0, "PID",
                "of the disks, record only what this process queues, all its threads; may repeat", NULL,
                add_pid},
        {"children", 0, OPT_FLAG, AT(children), NULL,
                "and what the children of --pid queue, those it has and those it makes", NULL, NULL},
        {"pause", 0, OPT_CALL, 0, "DURATION", "a longer pause splits what one side sends (default: 20ms)",
                NULL, set_pause},
        {"size-bucket", 0, OPT_CALL, 0, "SIZE", "round the sizes of sends up to multiples of this", NULL,
                set_size_bucket},
        {"for", 0, OPT_CALL, 0, "DURATION", "end after this time; of an import: take this much", NULL,
                set_for},
        {"source", 0, OPT_CALL, 0, "NAME", "how to capture; see below (default: bpf)", NULL, set_source},
        {"max-size", 0, OPT_CALL, 0, "SIZE",
                "end when the tape has grown to about this size; with --rotate: the size of a part", NULL,
                set_max_size},
        {"rotate", 0, OPT_U64, AT(rotate), "N",
                "record in parts of --max-size, and keep the last N of them; see below", NULL, NULL},
        {"save", 0, OPT_DURATION, AT(save_ns), "DURATION",
                "how far back SIGUSR1 saves with --rotate (default: all that is kept)", NULL, NULL},
        {"label", 0, OPT_STR, AT(label), "TEXT", "what to call the workload (default: FILE without .tape)",
                NULL, NULL},
        {"keep-names", 0, OPT_FLAG, AT(keep_names), NULL,
                "store the names of processes and the addresses of hosts, not pseudonyms", NULL, NULL},
        {"open-max", 0, OPT_U64, AT(open_max), "N",
                "places for I/Os in flight; up to a sixteenth of them taken, none is lost (default: 65536)",
                NULL, NULL},
        {"memory", 0, OPT_SIZE, AT(memory_bytes), "SIZE",
                "memory for I/Os that wait to be written, here and in the kernel; what finds no room is "
                "counted as "
                "lost (default: 96Mi; --net takes 64Mi more for each IFACE)",
                NULL, NULL},
        {"import", 0, OPT_CALL, 0, "FILE...",
                "make a tape of foreign traces, or of a part of a tape, instead; \"-\" is standard input",
                NULL, add_import},
        {"format", 0, OPT_STR, AT(format), "NAME", "format of the imported files (default: by their content)",
                NULL, NULL},
        {"only", 0, OPT_CALL, 0, "STREAM", "import this stream (a device of the trace) only; may repeat",
                NULL, add_only},
        {"from", 0, OPT_DURATION, AT(from_ns), "DURATION",
                "import from here on; this becomes the tape's begin", NULL, NULL},
        {"skip-bad", 0, OPT_FLAG, AT(import.skip_bad), NULL,
                "count what cannot be read in imported files, and go on", NULL, NULL},
        {"sort-window", 0, OPT_CALL, 0, "N",
                "sort so many records of an import by time at once (default: 16384)", NULL,
                import_set_window},
        {"time-unit", 0, OPT_CALL, 0, "UNIT", "unit of the times in fio's iolog: ns, us, ms, s (default: us)",
                NULL, import_set_time_unit},
        {"lba-unit", 0, OPT_CALL, 0, "SIZE", "unit of the LBAs in SPC traces (default: 512)", NULL,
                import_set_lba_unit},
        {"scrub", 0, OPT_FLAG, AT(import.scrub), NULL,
                "of an imported tape: take out names, serial numbers, IQNs and paths, to publish it", NULL,
                NULL},
        {"user", 0, OPT_STR, AT(user), "NAME",
                "become this user once the recording has begun (default: where root does not own the folder "
                "of "
                "FILE, its owner)",
                NULL, NULL},
        {"keep-privileges", 0, OPT_FLAG, AT(keep_privileges), NULL,
                "do not give up capabilities, nor filter system calls, once the recording has begun", NULL,
                NULL},
        {"verbose", 'v', OPT_FLAG, AT(verbose), NULL, "show what libbpf and the kernel's verifier say", NULL,
                NULL},
        {.name = NULL}};

static const char *const sections[] = {"Recording",
        "Records every I/O that is queued on the named block devices: time, process, operation, flags, "
        "place, size, "
        "latency and error, never the data. A device is a whole disk, a partition, or one that lies on "
        "others (LVM, "
        "RAID). The recording ends after --for, at --max-size, with the COMMAND after \"--\" (whose exit "
        "status is "
        "passed on), or by SIGINT or SIGTERM. Where COMMAND runs longer than the recording, it is waited "
        "for.\n\n"
        "While it is written the tape is called FILE.partial; it is readable up to its last whole chunk, "
        "whatever "
        "happens to the recorder.",
        "Files",
        "--file records a file on a file system (ext2, ext3, ext4, XFS), such as the image of a virtual "
        "machine: the block device below is recorded, and what is at the file's places (FIEMAP) is kept, at "
        "the "
        "offset in the file. A file that grows, shrinks or is moved is followed; one I/O that touches places "
        "that are no neighbours on the device is several records. What the page cache absorbs is not "
        "seen; what it writes back later is recorded when it is written. A flush is the file's where the "
        "process "
        "that sent it has the file open, or reads and writes it; where a file system commits its journal "
        "instead, there is no flush of the file's. Of an image with a format of its own (qcow2) the offsets "
        "are the image's, not the guest's.",
        "Whose I/O",
        "--cgroup takes what the kernel charges to a control group or one below it: also writeback, journals "
        "and "
        "workers that act for it, as far as the kernel knows (cgroup v2 with the controllers io and memory). "
        "PATH is "
        "a directory below /sys/fs/cgroup, or as /proc/PID/cgroup shows it. Where the io controller is not "
        "enabled for it, it is said, and what its processes queue themselves is taken. --pid takes what a "
        "process "
        "queues; its children only with --children. Several are added up. All else is dropped in the kernel. "
        "What "
        "kernel threads queue for nobody known (writeback on cgroup v1, with --pid all of it) is not "
        "recorded but counted (\"unattributed\").",
        "Virtual machines",
        "--vm asks libvirt (for reading only) what a running domain has: block devices and image files, with "
        "the images below them (NAME.base1, ...), and interfaces on the host. They become streams by the "
        "guest's "
        "names (vda, net0); of several guests with \"vm1.\", \"vm2.\" before them, or the domains' names "
        "with "
        "--keep-names. How each is attached (bus, cache mode, aio, format) is in the tape. What cannot be "
        "seen "
        "on this host (network disks, passed-through devices, vhost-user) is said, with what to do instead. "
        "The domain is looked at once a second: a disk that is pulled out is closed and marked with its "
        "time; "
        "one that is plugged in, and an interface where there was one from the start, is recorded with "
        "--keep-privileges (else it cannot be opened, which is "
        "said), what it does in its first second perhaps not; where all guests "
        "left, or migrated away, the recording ends. --qemu-pid needs no libvirt: it takes what the process "
        "has "
        "open (disk0, disk1, ..., net0), and ends with it. Taps must be in the network namespace that "
        "iotape-record runs "
        "in.\n\n"
        "  libvirt         iotape-record -o web01.tape --vm web01 --for 10m\n"
        "  plain QEMU      iotape-record -o web01.tape --qemu-pid $(pgrep -f 'qemu.*web01') --for 10m\n"
        "  Proxmox VE      iotape-record -o web01.tape --qemu-pid $(cat /var/run/qemu-server/101.pid) --for "
        "10m\n"
        "  Xen by libvirt  iotape-record -o web01.tape --connect xen:///system --vm web01 --for 10m\n"
        "  Xen by xl       iotape-record -o web01.tape --disk /dev/vg0/web01 --net vif7.0 --for 10m\n\n"
        "In a Xen Dom0, `xl block-list web01` and `xl network-list web01` tell disks and interfaces "
        "(vifDOMID.N); "
        "an image file is a loop device there (losetup -a) or, with a QEMU of the guest's (qdisk), the "
        "process "
        "that `xenstore-read /local/domain/0/image/DOMID/qemu-pid` and ps tell: --qemu-pid.\n\n"
        "samples/try-places records a guest, replays it on several places and writes one report.",
        "Conversations",
        "--net records who sent how many bytes to whom on a network interface (a tap, vif, bridge or a "
        "physical "
        "one), and what each send waited for; never a byte of payload. Hosts are numbered, ports are kept. "
        "TCP is put together "
        "by its sequence numbers: what is sent again, reordered or kept alive is counted apart. UDP is "
        "recorded as datagrams. Think times are the hosts': the way to them, as handshakes "
        "show it, and "
        "retransmission time-outs are taken out. Packets that the kernel had no room for are counted as "
        "lost. "
        "An interface that is down is waited for; one that is removed ends its stream. "
        "With --disk beside it, both are on one clock. Sizes and times alone can still tell what was "
        "said to whom: --size-bucket makes sizes coarser.",
        "Flight recorder",
        "With --rotate, -o web01.tape makes web01-000001.tape, web01-000002.tape, ... of about --max-size "
        "each. The "
        "last N finished ones are kept beside the one that is written; the oldest is removed once the next "
        "has been "
        "begun. So the disk holds at most about N + 2 times --max-size, whatever is recorded. Each part is a "
        "whole "
        "tape. No I/O falls between two parts; one that arrived in a part and took so long that it was "
        "written "
        "without its latency stays without where the part ends before it completes. Parts that an earlier "
        "recording left there count, whole or not, so that the bound holds over restarts.\n\n"
        "SIGUSR1 saves the last minutes: the part that is written is ended at once, and those that reach "
        "back "
        "--save are renamed to web01-saved-000007.tape and so on. What is saved is never removed.\n\n"
        "As a service: samples/iotape-flight-recorder.service.",
        "Needs",
        "For --disk: a kernel from 5.15 on with type information (/sys/kernel/btf/vmlinux), and the "
        "capabilities "
        "CAP_BPF and CAP_PERFMON. Where it has no type information, --source tracefs needs root and tracefs "
        "only. "
        "For --net: CAP_NET_RAW. Root has them; an ordinary user may be given them for this program "
        "alone:\n\n"
        "  setcap cap_bpf,cap_perfmon,cap_net_raw+ep iotape-record",
        "Safety",
        "Guests and hosts are never held up: what finds no room is counted as lost, and a recorder that "
        "stands still "
        "loses events, nothing else. "
        "Once the recording has begun, the recorder gives up all capabilities and supplementary groups, and "
        "can get "
        "none back; root becomes the owner of FILE's folder, or --user. Then a filter of system calls "
        "(seccomp) and "
        "Landlock leave it nothing but writing, renaming and removing files in FILE's folder: other calls "
        "fail "
        "(EPERM). COMMAND is started before that and keeps all. The tracefs source keeps its privileges, "
        "since it "
        "has to remove its instance at the end.",
        "Importing",
        "All files of one import are merged by time into one tape. Compressed ones (gzip, zstd, xz) are read "
        "as "
        "they are. A line or record that cannot be read is an error, and then no tape is made; with "
        "--skip-bad it "
        "is counted. Times that go back are sorted, and counted.",
        "Examples",
        "  iotape-record -o web01.tape --disk /dev/vg0/web01 --for 10m\n"
        "  iotape-record -o web01.tape --vm web01 --for 10m\n"
        "  iotape-record -o web01.tape --disk /dev/vg0/web01 --net vnet3:'port 443' --for 10m\n"
        "  iotape-record -o fio.tape --disk /dev/loop0 -- fio job.fio\n"
        "  iotape-record -o /var/lib/iotape/web01.tape --disk /dev/vg0/web01 --rotate 20 --max-size 64M "
        "--save 10m\n"
        "  iotape-record -o old.tape --import sda.blktrace.*\n"
        "  iotape-record -o part.tape --import big.tape --from 10m --for 5m",
        NULL};

static const struct opt_spec bare_spec = {.name = "iotape-record",
        .usage = "-o FILE [--disk DEVICE] [--net IFACE] [--for DURATION] [-- COMMAND...]\n-o FILE --import "
                 "FILE... [--format "
                 "NAME] [--only STREAM] [--from DURATION] [--for DURATION]",
        .summary = "record a workload's block I/O and socket conversations to a tape",
        .opts = opts,
        .word = add_file};

static int check(const struct options *o, struct err *e)
{
    if (!o->output)
        return err_set(e, EINVAL, "no -o FILE: where to write the tape");
    bool any_guest = o->vms.count || o->qemu_pids.count;
    bool any_disk = o->disks.count || o->image_files.count || any_guest;
    bool any_net = o->interfaces.count || any_guest, any_live = any_disk || any_net;
    if (o->is_import && (any_live || o->command || o->max_bytes))
        return err_set(e, EINVAL,
                "--import makes a tape of files: it goes with no --disk, --file, --vm, --qemu-pid, --net, "
                "--max-size or command");
    const char *only = o->is_import ? NULL : import_only_option(o);
    if (only)
        return err_set(e, EINVAL, "%s goes with --import only", only);
    if (!o->is_import && !any_live)
        return err_set(e, EINVAL,
                "nothing to record: give --disk DEVICE, --file PATH, --vm NAME, --qemu-pid PID, --net IFACE, "
                "or --import FILE");
    if (!o->is_import && !any_net && (o->pause_ns || o->size_bucket_bytes))
        return err_set(e, EINVAL, "--pause and --size-bucket go with --net or --import only");
    if ((o->cgroups.count || o->pids.count) && !any_disk)
        return err_set(e, EINVAL, "--cgroup and --pid go with --disk and --file only");
    if ((o->cgroups.count || o->pids.count) && o->source != &source_bpf)
        return err_set(e, EINVAL, "--cgroup and --pid go with --source bpf only");
    if (o->memory_bytes && o->memory_bytes < MEMORY_MIN)
        return err_set(e, EINVAL, "--memory: at least %d MiB", MEMORY_MIN >> 20);
    if (o->rotate && (o->is_import || o->max_bytes < PART_MIN || o->rotate > PARTS_MAX))
        return err_set(e, EINVAL,
                "--rotate takes up to %d parts, and goes with a --max-size of 64 KiB or more", PARTS_MAX);
    if (o->save_ns && !o->rotate)
        return err_set(e, EINVAL, "--save goes with --rotate only");
    if (o->user && (o->is_import || o->keep_privileges))
        return err_set(e, EINVAL, "--user goes neither with --import nor with --keep-privileges");
    if (o->children && o->pids.count == 0)
        return err_set(e, EINVAL, "--children goes with --pid only");
    if (o->connect && o->vms.count == 0)
        return err_set(e, EINVAL, "--connect goes with --vm only");
    if (o->interfaces.count > INTERFACES_MAX)
        return err_set(e, EINVAL, "--net: at most %d interfaces", INTERFACES_MAX);
    if (o->size_bucket_bytes > SIZE_BUCKET_LIMIT)
        return err_set(e, EINVAL, "--size-bucket: at most %d", SIZE_BUCKET_LIMIT);
    if (o->command && !o->command[0])
        return err_set(e, EINVAL, "no command after --");
    if (o->open_max > OPEN_MAX_LIMIT)
        return err_set(e, EINVAL, "--open-max: at most %d", OPEN_MAX_LIMIT);
    return 0;
}

void options_release(struct options *o)
{
    free(o->disks.list);
    free(o->image_files.list);
    free(o->vms.list);
    free(o->qemu_pids.list);
    free(o->interfaces.list);
    free(o->cgroups.list);
    free(o->pids.list);
    free(o->files.list);
    free(o->only.list);
}

int options_parse(struct options *o, int argc, char **argv)
{
    struct err e = {0};
    CLEANUP_FREE char *formats = import_formats_help();
    CLEANUP_FREE char *sources = source_help();
    const char *all[sizeof sections / sizeof sections[0] + 4] = {
            "Sources", sources ? sources : "", "Import formats", formats ? formats : ""};
    memcpy(all + 4, sections, sizeof sections);
    struct opt_spec spec = bare_spec;
    spec.sections = all;
    enum opts_outcome outcome = opts_parse(&spec, argc, argv, o, &o->command);
    if (outcome == OPTS_RUN && check(o, &e) < 0) {
        options_report(&e);
        outcome = OPTS_USAGE;
    }
    return outcome;
}

void options_report(const struct err *e)
{
    opts_report(&bare_spec, e);
}

char *options_label(const struct options *o)
{
    if (o->label)
        return strdup(o->label);
    const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output;
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, ".tape") == 0)
        len -= 5;
    return strndup(name, len);
}
