/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines of the tables of metrics.c and metrics_net.c: metrics of conversations. Include where CLOSED, ASAP
 * and ALL are bits of timings; NET_PRIMARY and NET_PRIMARY_MEAN are those where net_elapsed and the
 * exchanges' mean are primary.
 */
#define NET_TIME(what, stat, kind, quantity_, quantile_, tail_, primary_)                                    \
    {                                                                                                        \
        .name = what "_latency_" stat, .response_name = what "_response_" stat, .unit = "us",                \
        .quantity = quantity_, .net = true, .exchange = kind, .quantile = quantile_, .timings = ALL,         \
        .tail = tail_, .primary = primary_                                                                   \
    }
#define NET_TIMES(what, kind, primary_)                                                                      \
    NET_TIME(what, "mean", kind, QUANTITY_MEAN, 0, false, primary_),                                         \
            NET_TIME(what, "p50", kind, QUANTITY_QUANTILE, QUANTILE_P50, false, 0),                          \
            NET_TIME(what, "p95", kind, QUANTITY_QUANTILE, QUANTILE_P95, false, 0),                          \
            NET_TIME(what, "p99", kind, QUANTITY_QUANTILE, QUANTILE_P99, true, 0),                           \
            NET_TIME(what, "p99.9", kind, QUANTITY_QUANTILE, QUANTILE_P999, true, 0),                        \
            NET_TIME(what, "max", kind, QUANTITY_MAX, 0, true, 0)
#define NET_RATE(name_, unit_, quantity_)                                                                    \
    {                                                                                                        \
        .name = name_, .unit = unit_, .quantity = quantity_, .net = true, .more_is_better = true,            \
        .timings = CLOSED | ASAP                                                                             \
    }
#define NET_METRICS                                                                                          \
    {.name = "net_elapsed",                                                                                  \
            .unit = "s",                                                                                     \
            .quantity = QUANTITY_NET_ELAPSED,                                                                \
            .net = true,                                                                                     \
            .timings = CLOSED | ASAP,                                                                        \
            .primary = NET_PRIMARY},                                                                         \
            NET_TIMES("exchange", RUN_EXCHANGE, NET_PRIMARY_MEAN), NET_TIMES("connect", RUN_CONNECT, 0),     \
            NET_RATE("net_bandwidth", "MB/s", QUANTITY_NET_BANDWIDTH),                                       \
            NET_RATE("net_bandwidth_there", "MB/s", QUANTITY_NET_BANDWIDTH_THERE),                           \
            NET_RATE("net_bandwidth_here", "MB/s", QUANTITY_NET_BANDWIDTH_HERE),                             \
            NET_RATE("net_conversations", "1/s", QUANTITY_NET_CONVERSATIONS),                                \
            NET_RATE("net_messages", "1/s", QUANTITY_NET_MESSAGES),                                          \
            {.name = "net_cpu_here_per_GB",                                                                  \
                    .unit = "s/GB",                                                                          \
                    .quantity = QUANTITY_NET_CPU_HERE,                                                       \
                    .net = true,                                                                             \
                    .timings = ALL},                                                                         \
            {.name = "net_cpu_there_per_GB",                                                                 \
                    .unit = "s/GB",                                                                          \
                    .quantity = QUANTITY_NET_CPU_THERE,                                                      \
                    .net = true,                                                                             \
                    .timings = ALL},                                                                         \
    {                                                                                                        \
        .name = "net_cpu_per_message", .unit = "us", .quantity = QUANTITY_NET_CPU_MESSAGE, .net = true,      \
        .timings = ALL                                                                                       \
    }
