/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

static void cleanup_cap(cap_t *caps)
{
    if (*caps)
        cap_free(*caps);
}

/* ---- before ---- */

static bool has(cap_t caps, cap_value_t which)
{
    cap_flag_value_t value = CAP_CLEAR;
    return cap_get_flag(caps, which, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

int privileges_check(bool bpf, bool net, struct err *e)
{
    CLEANUP(cleanup_cap) cap_t caps = cap_get_proc();
    char missing[64] = "";
    if (!caps)
        return err_sys(e, errno, "cannot ask for the capabilities");
    bool admin = has(caps, CAP_SYS_ADMIN); /* which has meant these two since before they were made */
    const struct {
        const char *name;
        bool is_missing;
    } all[] = {{"CAP_BPF", bpf && !admin && !has(caps, CAP_BPF)},
            {"CAP_PERFMON", bpf && !admin && !has(caps, CAP_PERFMON)},
            {"CAP_NET_RAW", net && !has(caps, CAP_NET_RAW)}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t used = strlen(missing);
        if (all[i].is_missing)
            snprintf(missing + used, sizeof missing - used, "%s%s", count++ ? " and " : "", all[i].name);
    }
    if (!count)
        return 0;
    return err_set(e, EPERM,
            "no permission to record: missing %s %s; run as root, or let root give the program what it "
            "needs: "
            "setcap cap_bpf,cap_perfmon,cap_net_raw+ep iotape-record (or AmbientCapabilities= of a systemd "
            "unit)",
            count > 1 ? "capabilities" : "capability", missing);
}

/* ---- after ---- */

struct identity {
    uid_t user;
    gid_t group;
};

/* Who is to write the files; false: who we are. */
static int choose(const char *directory, const char *user, struct identity *who, struct err *e)
{
    struct stat st;
    *who = (struct identity){geteuid(), getegid()};
    if (user) {
        errno = 0;
        const struct passwd *p = getpwnam(user);
        if (!p)
            return err_set(e, errno ? errno : ENOENT, "--user: there is no user '%s'", user);
        *who = (struct identity){p->pw_uid, p->pw_gid};
        return 0;
    }
    if (stat(directory, &st) != 0)
        return err_sys(e, errno, "cannot write to '%s'", directory);
    if (who->user == 0 && st.st_uid != 0 && !(st.st_mode & S_IWOTH))
        *who = (struct identity){st.st_uid, st.st_gid};
    return 0;
}

static int become(const struct identity *who, bool may_signal, struct err *e)
{
    if (geteuid() == 0 && setgroups(0, NULL) != 0 && errno != EPERM)
        return err_sys(e, errno, "cannot leave supplementary groups");
    if (who->user == geteuid() && who->group == getegid())
        return 0;
    uid_t real = may_signal ? getuid() : who->user;
    if (setresgid(who->group, who->group, who->group) != 0 || setresuid(real, who->user, who->user) != 0)
        return err_sys(e, errno, "cannot become user %u", who->user);
    return 0;
}

/* Needs CAP_SETPCAP, which ordinary users have not: to them no_new_privs does the same. */
static void close_doors(void)
{
    cap_set_secbits(SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
    for (cap_value_t c = 0; c < cap_max_bits(); c++)
        cap_drop_bound(c);
}

int privileges_drop(const char *directory, const char *user, bool may_signal, struct err *e)
{
    struct identity who;
    int status = choose(directory, user, &who, e);
    if (status < 0)
        return status;
    close_doors();
    if ((status = become(&who, may_signal, e)) < 0)
        return status;
    CLEANUP(cleanup_cap) cap_t none = cap_init();
    cap_reset_ambient();
    if (!none || cap_set_proc(none) != 0)
        return err_sys(e, errno, "cannot give up the capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return err_sys(e, errno, "cannot give up new privileges");
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) != 0)
        return err_set(e, errno,
                "user %u, who writes the tape once privileges are given up, cannot write to '%s': %s; give "
                "-o "
                "another place, or --user NAME, or --keep-privileges",
                geteuid(), directory, strerror(errno));
    return 0;
}
