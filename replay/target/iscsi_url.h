/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * iscsi://[USER[%SECRET]@]HOST[:PORT][,HOST[:PORT]...]/TARGET/LUN
 *
 * libiscsi's own parser knows one portal only. Secrets come from the environment or from files as well; none
 * of them is ever part of an error's text.
 */
#ifndef IOTAPE_ISCSI_URL_H
#define IOTAPE_ISCSI_URL_H

#include <stdint.h>

#include "formats/base/err.h"

#define ISC_PORTALS_MAX 16
/* What libiscsi keeps of a name, with its end (MAX_STRING_SIZE + 1). */
#define ISC_TEXT_BYTES 256

struct isc_portal {
    char host[ISC_TEXT_BYTES]; /* a name or an address, without brackets */
    char port[6];
    char text[ISC_TEXT_BYTES]; /* as it was given */
};

struct isc_url {
    struct isc_portal portal[ISC_PORTALS_MAX];
    unsigned portals;
    char name[ISC_TEXT_BYTES]; /* of the target: "iqn...", "eui...", "naa..." */
    uint32_t lun;              /* 0 to 16383 */
    /* CHAP (RFC 7143, 12.1.3); empty where there is none. */
    char user[ISC_TEXT_BYTES], secret[ISC_TEXT_BYTES];
    char mutual_user[ISC_TEXT_BYTES], mutual_secret[ISC_TEXT_BYTES];
};

/* Parses `url`. *shown becomes the URL without its secret (the caller frees it, also after a failure, where
 * it may be NULL). -EINVAL, -ENOMEM. */
int isc_url_parse(struct isc_url *u, const char *url, char **shown, struct err *e);

/* Completes CHAP from IOTAPE_CHAP_SECRET, IOTAPE_CHAP_MUTUAL_USER and IOTAPE_CHAP_MUTUAL_SECRET; where the
 * secrets' variables are not set, from the first line of the files that IOTAPE_CHAP_SECRET_FILE and
 * IOTAPE_CHAP_MUTUAL_SECRET_FILE name. A user without a secret is an error. */
int isc_url_secrets(struct isc_url *u, const char *shown, struct err *e);

/* The name that we log in with: IOTAPE_ISCSI_INITIATOR, else the host's own (/etc/iscsi/initiatorname.iscsi,
 * as open-iscsi writes it), else one of iotape's. */
void isc_initiator_name(char name[ISC_TEXT_BYTES]);

#endif
