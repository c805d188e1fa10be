/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Touches in order of their keys; those of one key stay in the order in which they came.
 */
#ifndef IOTAPE_PROFILE_TOUCH_SORT_H
#define IOTAPE_PROFILE_TOUCH_SORT_H

#include <stddef.h>

#include "analyze/profile/touched.h"

/* `spare` has room for as many. */
void touch_sort(struct touch *list, struct touch *spare, size_t count);

#endif
