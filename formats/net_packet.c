/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sources: IEEE 802.1Q; LINKTYPE_LINUX_SLL and _SLL2 of tcpdump.org; RFC 791, 8200, 2675 (jumbograms), 9293,
 * 768.
 */
#include "formats/net_packet.h"

#include <stdbool.h>
#include <string.h>

#define TAGS_MAX       4
#define EXTENSIONS_MAX 16
#define PAD_BYTES      46 /* shortest payload of an Ethernet frame */
#define TRAILER_BYTES  8

enum { ETHERTYPE_4 = 0x0800, ETHERTYPE_6 = 0x86dd };
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

/* What is left of a frame: `captured` bytes at `data`, `wire` bytes on the wire. */
struct rest {
    const uint8_t *data;
    uint32_t captured, wire;
};

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool has(const struct rest *r, uint32_t bytes)
{
    return r->captured >= bytes;
}

/* False where that much was not captured. */
static bool skip(struct rest *r, uint32_t bytes)
{
    if (r->captured < bytes || r->wire < bytes)
        return false;
    r->data += bytes;
    r->captured -= bytes;
    r->wire -= bytes;
    return true;
}

/* ---- transport ---- */

static enum net_verdict parse_tcp(struct rest *r, struct net_packet *p)
{
    if (!has(r, 20))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    uint32_t header = (uint32_t)(d[12] >> 4) * 4;
    if (header < 20 || header > r->wire)
        return NET_PACKET_MALFORMED;
    p->source_port = get16(d);
    p->destination_port = get16(d + 2);
    p->seq = get32(d + 4);
    p->ack = get32(d + 8);
    p->flags = d[13];
    p->window = get16(d + 14);
    p->checksum = get16(d + 16);
    p->payload_bytes = r->wire - header;
    return NET_PACKET_TAKEN;
}

/* Of a datagram in fragments the first one tells the whole length. */
static enum net_verdict parse_udp(struct rest *r, bool fragmented, struct net_packet *p)
{
    if (!has(r, 8))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    uint32_t len = get16(d + 4);
    if ((len && len < 8) || r->wire < 8)
        return NET_PACKET_MALFORMED;
    p->source_port = get16(d);
    p->destination_port = get16(d + 2);
    p->checksum = get16(d + 6);
    p->udp = 1;
    p->payload_bytes = (fragmented && len ? len : r->wire) - 8;
    return p->payload_bytes <= UINT16_MAX - 8 ? NET_PACKET_TAKEN : NET_PACKET_MALFORMED;
}

static enum net_verdict parse_transport(
        struct rest *r, unsigned protocol, bool fragmented, struct net_packet *p)
{
    if (protocol == PROTOCOL_TCP)
        return parse_tcp(r, p);
    return protocol == PROTOCOL_UDP ? parse_udp(r, fragmented, p) : NET_PACKET_OTHER;
}

/* ---- network ---- */

/* Takes padding and trailers away, where the packet says that it has `len` bytes and that can be. */
static void trim(struct rest *r, uint32_t len)
{
    if (len && len < r->wire && (r->wire <= PAD_BYTES || r->wire - len <= TRAILER_BYTES)) {
        r->wire = len;
        r->captured = r->captured < len ? r->captured : len;
    }
}

static void map_address(struct net_address *a, const uint8_t *four)
{
    memset(a->bytes, 0, 10);
    memset(a->bytes + 10, 0xff, 2);
    memcpy(a->bytes + 12, four, 4);
}

static enum net_verdict parse_ipv4(struct rest *r, struct net_packet *p)
{
    if (!has(r, 20))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    uint32_t header = (uint32_t)(d[0] & 15) * 4;
    uint16_t fragment = get16(d + 6);
    if (d[0] >> 4 != 4 || header < 20)
        return NET_PACKET_MALFORMED;
    p->ip_id = get16(d + 4);
    map_address(&p->source, d + 12);
    map_address(&p->destination, d + 16);
    trim(r, get16(d + 2));
    if (fragment & 0x1fff)
        return NET_PACKET_FRAGMENT;
    if (header > r->wire)
        return NET_PACKET_MALFORMED;
    return skip(r, header) ? parse_transport(r, d[9], fragment & 0x2000, p) : NET_PACKET_TRUNCATED;
}

/* One extension header: its length in *len. False where `next` is none of those that are passed over. */
static bool extension(unsigned next, const uint8_t *d, uint32_t *len)
{
    switch (next) {
    case 0:   /* hop by hop */
    case 43:  /* routing */
    case 60:  /* destination options */
    case 135: /* mobility */
        *len = (d[1] + 1U) * 8;
        return true;
    case 44: /* fragment */
        *len = 8;
        return true;
    case 51: /* authentication, RFC 4302 */
        *len = (d[1] + 2U) * 4;
        return true;
    default:
        return false;
    }
}

static enum net_verdict parse_ipv6(struct rest *r, struct net_packet *p)
{
    if (!has(r, 40))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    unsigned next = d[6];
    bool fragmented = false;
    if (d[0] >> 4 != 6)
        return NET_PACKET_MALFORMED;
    memcpy(p->source.bytes, d + 8, 16);
    memcpy(p->destination.bytes, d + 24, 16);
    if (get16(d + 4))
        trim(r, get16(d + 4) + 40U);
    if (!skip(r, 40))
        return NET_PACKET_MALFORMED;
    for (unsigned i = 0; i < EXTENSIONS_MAX; i++) {
        uint32_t len;
        static const uint8_t none[2];
        if (!extension(next, has(r, 2) ? r->data : none, &len))
            return parse_transport(r, next, fragmented, p);
        if (!has(r, 8))
            return NET_PACKET_TRUNCATED;
        if (next == 44) {
            uint16_t fragment = get16(r->data + 2);
            if (fragment & 0xfff8)
                return NET_PACKET_FRAGMENT;
            fragmented = fragment & 1;
        }
        next = r->data[0];
        if (len > r->wire)
            return NET_PACKET_MALFORMED;
        if (!skip(r, len))
            return NET_PACKET_TRUNCATED;
    }
    return NET_PACKET_MALFORMED;
}

static enum net_verdict parse_ip(struct rest *r, struct net_packet *p)
{
    if (!has(r, 1))
        return NET_PACKET_TRUNCATED;
    unsigned version = r->data[0] >> 4;
    return version == 4 ? parse_ipv4(r, p) : version == 6 ? parse_ipv6(r, p) : NET_PACKET_NOT_IP;
}

/* ---- link ---- */

static bool is_tag(unsigned type)
{
    return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static enum net_verdict parse_type(struct rest *r, unsigned type, struct net_packet *p)
{
    for (unsigned i = 0; is_tag(type); i++) {
        if (i == TAGS_MAX)
            return NET_PACKET_MALFORMED;
        if (!has(r, 4))
            return NET_PACKET_TRUNCATED;
        type = get16(r->data + 2);
        if (!skip(r, 4))
            return NET_PACKET_MALFORMED;
    }
    if (type == ETHERTYPE_4)
        return parse_ipv4(r, p);
    return type == ETHERTYPE_6 ? parse_ipv6(r, p) : NET_PACKET_NOT_IP;
}

static enum net_verdict parse_ethernet(struct rest *r, struct net_packet *p)
{
    if (!has(r, 14))
        return NET_PACKET_TRUNCATED;
    unsigned type = get16(r->data + 12);
    return skip(r, 14) ? parse_type(r, type, p) : NET_PACKET_MALFORMED;
}

/* Linux shows what passes a loopback interface twice: going out, and coming in. Cooked headers tell which. */
enum { COOKED_OUTGOING = 4, ARPHRD_LOOPBACK = 772 };

static enum net_verdict parse_cooked(struct rest *r, struct net_packet *p)
{
    if (!has(r, 16))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    if (get16(d) == COOKED_OUTGOING && get16(d + 2) == ARPHRD_LOOPBACK)
        return NET_PACKET_LOOP_COPY;
    return skip(r, 16) ? parse_type(r, get16(d + 14), p) : NET_PACKET_MALFORMED;
}

static enum net_verdict parse_cooked_2(struct rest *r, struct net_packet *p)
{
    if (!has(r, 20))
        return NET_PACKET_TRUNCATED;
    const uint8_t *d = r->data;
    if (d[10] == COOKED_OUTGOING && get16(d + 8) == ARPHRD_LOOPBACK)
        return NET_PACKET_LOOP_COPY;
    return skip(r, 20) ? parse_type(r, get16(d), p) : NET_PACKET_MALFORMED;
}

/* The address family is not needed: the packet's version says the same, whatever system captured. */
static enum net_verdict parse_null(struct rest *r, struct net_packet *p)
{
    return skip(r, 4) ? parse_ip(r, p) : NET_PACKET_TRUNCATED;
}

int net_link_known(int link)
{
    switch (link) {
    case NET_LINK_NULL:
    case NET_LINK_ETHERNET:
    case NET_LINK_RAW:
    case NET_LINK_LOOP:
    case NET_LINK_COOKED:
    case NET_LINK_IPV4:
    case NET_LINK_IPV6:
    case NET_LINK_COOKED_2:
        return 1;
    default:
        return 0;
    }
}

enum net_verdict net_packet_parse(
        int link, const uint8_t *data, uint32_t captured, uint32_t wire_bytes, struct net_packet *p)
{
    struct rest r = {data, captured < wire_bytes ? captured : wire_bytes, wire_bytes};
    p->ip_id = p->checksum = p->window = 0;
    p->seq = p->ack = 0;
    p->flags = p->udp = 0;
    switch (link) {
    case NET_LINK_ETHERNET:
        return parse_ethernet(&r, p);
    case NET_LINK_COOKED:
        return parse_cooked(&r, p);
    case NET_LINK_COOKED_2:
        return parse_cooked_2(&r, p);
    case NET_LINK_NULL:
    case NET_LINK_LOOP:
        return parse_null(&r, p);
    default:
        return parse_ip(&r, p);
    }
}
