/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One session with a portal: connecting, logging in, losing it and coming back.
 *
 * What libiscsi 1.19 does that one must know: without iscsi_set_noautoreconnect(1) it connects for ever and
 * calls nobody back. With it, a lost connection cancels all commands inside iscsi_service, which returns 0
 * that time and -1 the next one. iscsi_full_connect_async loses memory where its context is destroyed
 * half-way: the steps are taken one by one here. Its timeouts count whole seconds and end commands, not
 * sessions: silence is found by the socket's own account here.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "replay/pace.h"
#include "replay/target/iscsi.h"

/* Between attempts to connect. */
#define RETRY_NS       UINT64_C(500000000)
#define ATTENTIONS_MAX 32
#define LOGOUT_NS      UINT64_C(300000000)

/* ---- reasons ---- */

static void set_reason(struct isc_path *p, int code, const char *text)
{
    p->reason_code = code;
    snprintf(p->reason, sizeof p->reason, "%.*s", ISC_REASON_BYTES - 1, text);
}

/* Only takes a note: it may be called inside a callback. */
static void note_broken(struct isc_path *p, int code, const char *text)
{
    set_reason(p, code, text);
    p->broken = true;
}

int isc_path_error(const struct isc_path *p, struct err *e)
{
    return err_set(e, p->reason_code ? p->reason_code : EIO, "'%s': portal '%s': %s", p->lun->base.url,
            p->portal->text, p->reason[0] ? p->reason : "not connected");
}

/* libiscsi's texts end in "Connection refused(111)" or "Target not found(515)". */
static long last_number(const char *text)
{
    const char *bracket = strrchr(text, '(');
    return bracket ? strtol(bracket + 1, NULL, 10) : 0;
}

static void note_unreachable(struct isc_path *p)
{
    const char *text = iscsi_get_error(p->context);
    long code = last_number(text);
    if (code > 0 && code < 4096)
        note_broken(p, (int)code, strerror((int)code));
    else
        note_broken(p, EIO, text);
}

/* Status classes and details of a login response: RFC 7143, 11.13.5. */
static void note_refused(struct isc_path *p)
{
    const char *text = iscsi_get_error(p->context);
    char name[ISC_TEXT_BYTES + 64];
    switch (last_number(text)) {
    case 0x201:
        note_broken(p, EACCES,
                p->lun->url.user[0] ? "authentication failed: wrong user or secret (CHAP)"
                                    : "authentication failed: the server wants a user and a secret (CHAP)");
        return;
    case 0x202:
        note_broken(p, EACCES, "the server does not let this initiator in (see IOTAPE_ISCSI_INITIATOR)");
        return;
    case 0x203:
        snprintf(name, sizeof name, "the server has no target '%s'", p->lun->url.name);
        note_broken(p, ENOENT, name);
        return;
    }
    if (strstr(text, "CHAP"))
        note_broken(p, EACCES, "the server failed to authenticate itself (mutual CHAP)");
    else
        note_broken(p, EPROTO, text);
}

/* The session ended and no callback said why. */
static const char *ended_text(const struct isc_path *p)
{
    if (p->state == ISC_LOGIN)
        return "the server closed the connection or answered nonsense during login: does it speak iSCSI?";
    return "the connection was lost";
}

/* ---- addresses ---- */

static int resolve(struct isc_path *p, struct err *e)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list;
    int r = getaddrinfo(p->portal->host, p->portal->port, &hints, &list);
    if (r != 0)
        return err_set(e, EHOSTUNREACH, "'%s': cannot find portal '%s': %s", p->lun->base.url,
                p->portal->text, gai_strerror(r));
    for (struct addrinfo *a = list; a && p->addresses < ISC_ADDRESSES_MAX; a = a->ai_next) {
        char host[NI_MAXHOST];
        if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST) != 0 ||
                strlen(host) > ISC_TEXT_BYTES - 16)
            continue;
        snprintf(p->address[p->addresses++], ISC_TEXT_BYTES,
                a->ai_family == AF_INET6 ? "[%.*s]:%s" : "%.*s:%s", ISC_TEXT_BYTES - 16, host,
                p->portal->port);
    }
    freeaddrinfo(list);
    if (p->addresses == 0)
        return err_set(
                e, EHOSTUNREACH, "'%s': portal '%s' has no address", p->lun->base.url, p->portal->text);
    return 0;
}

int isc_paths_init(struct isc_lun *l, struct err *e)
{
    int r = 0;
    uint32_t isid = (uint32_t)(pace_now_ns() >> 10);
    for (unsigned i = 0; i < l->url.portals && r == 0; i++) {
        struct isc_path *p = &l->path[l->paths++];
        p->lun = l;
        p->portal = &l->url.portal[i];
        p->isid = (isid + i) & 0xffffff;
        TAILQ_INIT(&p->running);
        r = resolve(p, e);
    }
    return r;
}

/* ---- coming up ---- */

static void now_up(struct isc_path *p)
{
    struct isc_lun *l = p->lun;
    p->state = ISC_UP;
    p->reason[0] = '\0';
    p->reason_code = 0;
    p->probing = false;
    l->up++;
    l->gone = false;
    if (l->opened)
        l->events.path_changes++;
}

static void on_identity(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_path *p = private;
    struct scsi_task *task = data;
    struct isc_lun *l = p->lun;
    unsigned char identity[ISC_IDENTITY_BYTES];
    size_t n = 0;
    if (status == SCSI_STATUS_GOOD && task->datain.data && task->datain.size > 0)
        n = isc_identity(task->datain.data, (size_t)task->datain.size, identity);
    scsi_free_scsi_task(task);
    if (p->context != context)
        return;
    if (status == SCSI_STATUS_CANCELLED) {
        note_broken(p, ECONNRESET, ended_text(p));
        return;
    }
    if (n && l->identity_bytes && (n != l->identity_bytes || memcmp(identity, l->identity, n) != 0)) {
        note_broken(p, ENXIO, "it leads to another LUN than was found before");
        return;
    }
    if (n && !l->identity_bytes) {
        memcpy(l->identity, identity, n);
        l->identity_bytes = n;
    }
    now_up(p);
}

static void on_check(struct iscsi_context *context, int status, void *data, void *private);

static void check(struct isc_path *p)
{
    p->state = ISC_CHECK;
    if (!iscsi_testunitready_task(p->context, p->lun->lun, on_check, p))
        note_broken(p, EIO, iscsi_get_error(p->context));
}

static void identify(struct isc_path *p)
{
    p->state = ISC_IDENTIFY;
    if (!iscsi_inquiry_task(
                p->context, p->lun->lun, 1, SCSI_INQUIRY_PAGECODE_DEVICE_IDENTIFICATION, 255, on_identity, p))
        note_broken(p, EIO, iscsi_get_error(p->context));
}

static void on_check(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_path *p = private;
    struct scsi_task *task = data;
    bool attention = isc_unit_attention(status, task);
    int error = isc_sense_errno(status, task);
    scsi_free_scsi_task(task);
    if (p->context != context)
        return;
    char text[128];
    if (status == SCSI_STATUS_CANCELLED) {
        note_broken(p, ECONNRESET, ended_text(p));
    } else if (attention && p->attentions++ < ATTENTIONS_MAX) {
        check(p);
    } else if (error == 0 || status == SCSI_STATUS_RESERVATION_CONFLICT) {
        identify(p);
    } else if (error == -ENXIO) {
        snprintf(text, sizeof text, "the target has no LUN %u", (unsigned)p->lun->url.lun);
        note_broken(p, ENOENT, text);
    } else {
        snprintf(text, sizeof text, "LUN %u is not ready: %s", (unsigned)p->lun->url.lun,
                iscsi_get_error(context));
        note_broken(p, -error, text);
    }
}

static void on_login(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_path *p = private;
    (void)data;
    if (p->context != context)
        return;
    if (status == SCSI_STATUS_GOOD) {
        p->attentions = 0;
        check(p);
    } else if (status == SCSI_STATUS_REDIRECT && !p->redirect[0]) {
        snprintf(p->redirect, sizeof p->redirect, "%s", iscsi_get_target_address(context));
        p->redirect[strcspn(p->redirect, ",")] = '\0'; /* the portal group's tag */
        note_broken(p, EREMCHG, "the portal sends us elsewhere");
    } else {
        note_refused(p);
    }
}

static void on_connected(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_path *p = private;
    (void)data;
    if (p->context != context)
        return;
    p->state = ISC_LOGIN;
    if (status != SCSI_STATUS_GOOD)
        note_unreachable(p);
    else if (iscsi_login_async(context, on_login, p) != 0)
        note_broken(p, EIO, iscsi_get_error(context));
}

static struct iscsi_context *make_context(struct isc_path *p)
{
    const struct isc_url *u = &p->lun->url;
    struct iscsi_context *context = iscsi_create_context(p->lun->initiator);
    if (!context)
        return NULL;
    iscsi_set_noautoreconnect(context, 1);
    iscsi_set_session_type(context, ISCSI_SESSION_NORMAL);
    iscsi_set_isid_random(context, p->isid, 0);
    iscsi_set_targetname(context, u->name);
    if (u->user[0])
        iscsi_set_initiator_username_pwd(context, u->user, u->secret);
    if (u->mutual_user[0])
        iscsi_set_target_username_pwd(context, u->mutual_user, u->mutual_secret);
    return context;
}

void isc_path_start(struct isc_path *p, uint64_t now_ns)
{
    const char *address = p->redirect[0] ? p->redirect : p->address[p->next_address++ % p->addresses];
    p->deadline_ns = now_ns + p->lun->path_timeout_ns;
    p->context = make_context(p);
    if (!p->context) {
        set_reason(p, ENOMEM, strerror(ENOMEM));
        p->retry_ns = now_ns + RETRY_NS;
        return;
    }
    p->state = ISC_CONNECTING;
    if (iscsi_connect_async(p->context, address, on_connected, p) != 0) {
        note_unreachable(p);
        isc_path_drop(p, now_ns);
    }
}

/* ---- going down ---- */

void isc_path_drop(struct isc_path *p, uint64_t now_ns)
{
    struct isc_lun *l = p->lun;
    struct iscsi_context *context = p->context;
    bool was_up = p->state == ISC_UP;
    p->context = NULL;
    p->state = ISC_DOWN;
    p->broken = p->unsent = p->probing = false;
    if (was_up) {
        l->up--;
        l->drops++;
        l->events.path_changes += l->opened;
        if (l->up == 0)
            l->lost_ns = now_ns;
    }
    if (was_up || p->reason_code == EREMCHG)
        p->retry_ns = now_ns;
    else
        p->retry_ns = now_ns + RETRY_NS;
    if (was_up || p->reason_code != EREMCHG)
        p->redirect[0] = '\0';
    iscsi_destroy_context(context); /* cancels its commands: callbacks */
    struct isc_command *c;
    while ((c = TAILQ_FIRST(&p->running)))
        isc_lun_lost(c);
}

/* ---- serving ---- */

struct pollfd isc_path_poll(const struct isc_path *p)
{
    if (!p->context)
        return (struct pollfd){.fd = -1};
    return (struct pollfd){.fd = iscsi_get_fd(p->context), .events = (short)iscsi_which_events(p->context)};
}

/* Reading and writing are separate calls, so that nothing is written after an answer said that the session is
 * broken. */
void isc_path_service(struct isc_path *p, short events, uint64_t now_ns)
{
    int r = 0;
    if (!p->context)
        return;
    if (p->state == ISC_CONNECTING)
        r = events ? iscsi_service(p->context, events) : 0;
    else if (events & ~POLLOUT)
        r = iscsi_service(p->context, events & ~POLLOUT);
    if (r == 0 && !p->broken && p->state > ISC_CONNECTING && (iscsi_which_events(p->context) & POLLOUT))
        r = iscsi_service(p->context, POLLOUT);
    p->unsent = false;
    if (r < 0 && !p->broken)
        note_broken(p, ECONNRESET, ended_text(p));
    if (p->broken)
        isc_path_drop(p, now_ns);
}

void isc_paths_serve(struct isc_lun *l, uint64_t timeout_ns)
{
    struct pollfd fd[ISC_PORTALS_MAX];
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    for (unsigned i = 0; i < l->paths; i++)
        fd[i] = isc_path_poll(&l->path[i]);
    if (ppoll(fd, l->paths, &t, NULL) <= 0)
        return;
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < l->paths; i++)
        if (fd[i].revents)
            isc_path_service(&l->path[i], fd[i].revents, now_ns);
}

/* ---- silence ---- */

static void on_probe_answer(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_path *p = private;
    (void)status;
    (void)data;
    if (p->context == context)
        p->probing = false;
}

/* For how long something has been expected and nothing has come. */
static uint64_t silence_ns(const struct isc_path *p, uint64_t now_ns)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    uint64_t waited_ns = isc_since_ns(now_ns, p->busy_ns);
    if (getsockopt(iscsi_get_fd(p->context), IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return 0;
    uint64_t quiet_ns = (uint64_t)info.tcpi_last_data_recv * 1000000u;
    return quiet_ns < waited_ns ? quiet_ns : waited_ns;
}

static void listen_for_silence(struct isc_path *p, uint64_t now_ns)
{
    uint64_t limit_ns = p->lun->path_timeout_ns;
    if (p->commands == 0 || isc_since_ns(now_ns, p->busy_ns) < limit_ns / 2)
        return;
    uint64_t silent_ns = silence_ns(p, now_ns);
    if (silent_ns >= limit_ns) {
        set_reason(p, ETIMEDOUT, "no answer any more");
        isc_path_drop(p, now_ns);
    } else if (silent_ns >= limit_ns / 2 && !p->probing) {
        p->probing = iscsi_nop_out_async(p->context, on_probe_answer, NULL, 0, p) == 0;
        isc_path_service(p, 0, now_ns);
    }
}

void isc_path_tick(struct isc_path *p, uint64_t now_ns)
{
    if (p->state == ISC_UP) {
        listen_for_silence(p, now_ns);
    } else if (p->state == ISC_DOWN) {
        if (now_ns >= p->retry_ns)
            isc_path_start(p, now_ns);
    } else if (now_ns >= p->deadline_ns) {
        set_reason(p, ETIMEDOUT,
                p->state == ISC_CONNECTING ? "no answer to connecting"
                                           : "connected, and no answer to logging in: does it speak iSCSI?");
        isc_path_drop(p, now_ns);
    }
}

/* ---- the end ---- */

static void on_logout(struct iscsi_context *context, int status, void *data, void *private)
{
    (void)context;
    (void)status;
    (void)data;
    *(bool *)private = true;
}

void isc_path_close(struct isc_path *p)
{
    bool done = false;
    uint64_t end_ns = pace_now_ns() + LOGOUT_NS;
    if (!p->context)
        return;
    bool asked = p->state == ISC_UP && iscsi_logout_async(p->context, on_logout, &done) == 0;
    while (asked && !done && pace_now_ns() < end_ns) {
        struct pollfd fd = isc_path_poll(p);
        if (poll(&fd, 1, 10) < 0 || iscsi_service(p->context, fd.revents) < 0)
            break;
    }
    p->lun->opened = false;
    isc_path_drop(p, end_ns);
}
