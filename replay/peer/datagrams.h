/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What opens a UDP conversation, so that data goes to no address that has not asked for it: the initiators'
 * end sends `hello` with its token; who knows that token is answered with a cookie, in fewer bytes; who knows
 * the cookie, too, can be reached at that address, and is `accepted`. Each is asked for again until it is
 * answered.
 *
 *     hello      'H' token[16] zeros[16]
 *     cookie     'C' cookie[16]
 *     answer     'A' token[16] cookie[16]
 *     accepted   'R' cookie[16]
 *
 * Data begin with a zero byte.
 */
#ifndef IOTAPE_PEER_DATAGRAMS_H
#define IOTAPE_PEER_DATAGRAMS_H

#define DATAGRAM_ASK_BYTES    33 /* hello, answer */
#define DATAGRAM_REPLY_BYTES  17 /* cookie, accepted */
#define DATAGRAM_COOKIE_BYTES 16
#define DATAGRAM_AGAIN_NS     100000000u
#define DATAGRAM_GIVE_UP_NS   5000000000u

#endif
