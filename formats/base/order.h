/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * For qsort: numbers in ascending order.
 */
#ifndef IOTAPE_ORDER_H
#define IOTAPE_ORDER_H

#include <stdint.h>

static inline int order_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline int order_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
