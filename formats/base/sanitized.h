/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether this is a build with a sanitizer of addresses: 1 or 0. gcc and clang say so in different ways.
 */
#ifndef IOTAPE_SANITIZED_H
#define IOTAPE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
