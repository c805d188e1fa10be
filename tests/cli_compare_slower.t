#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From the replay to the verdict, five repetitions a side: the same target twice is not called slower, one that takes 20 % longer
# for each I/O is, with an interval that holds 20 %. nbdkit's delay filter makes the difference.
. "$(dirname "$0")/lib.sh"
need nbdkit
make=$BUILD/tests/tool_make
cd "$tmp"
cell() { awk -F, -v c="$1" -v f="$2" '$3 == "io_time" && $8 == c { print $f }' c.csv; }
server() { # DELAY-MS: a server that sleeps so long for each read and write; $to.MS is how to reach it
    nbdkit -f -U "$tmp/s$1" --filter=delay memory 1M rdelay="$1ms" wdelay="$1ms" 2>/dev/null & cleanup "kill $!; wait $!"
    wait_for 10 test -S "$tmp/s$1"
}
to() { echo "nbd+unix:///?socket=$tmp/s$1"; }

# Eight reads and writes one after the other, 25 ms each, and 30 ms: (30 + x) / (25 + x) with the time x of sending and waking.
$make tape t.tape records=8 latency_us=199 label=w || exit 1
server 25 && server 30 || exit 1
run $replay t.tape --runs 5 --to "$(to 25)" -o a.run --to "$(to 30)" -o c.run
is $status 0 "five repetitions on both, one after the other"
run $replay t.tape --runs 5 --to "$(to 25)" -o b.run
is $status 0 "five more on the first"
$analyze compare a.run b.run c.run >c.csv
like "$(cell b 9),$(cell b 10),$(cell b 21)" "^5,5,(same|unsure)$" "the same target twice: $(cell b 15) % [$(cell b 16), $(cell b 17)]"
is "$(cell c 21)" slower "30 ms for 25: $(cell c 15) % [$(cell c 16), $(cell c 17)]"
is "$(awk "BEGIN { print ($(cell c 16) > 10 && $(cell c 17) < 30 && $(cell c 16) <= $(cell c 17)) }")" 1 "an interval around what it costs"

# A target whose speed is another each day, for five days; the candidate takes 20 % longer on each. The middle of the
# 25 ratios is 60/50; the third from either end 58/51 and 62/49: an interval from 13.7 to 26.5 %, with
# x above a little closer to 0.
for d in 48 49 50 51 52 58 59 60 61 62; do server $d || exit 1; done
day() { local name=$1 d; shift; for d; do $replay t.tape --for 1ms --runs 1 --to "$(to $d)" -o $name$d.run || return 1; done; }
{ day a 48 49 50 51 52 && day b 49 51 50 52 48 && day c 60 58 62 59 61; } 2>.err; status=$?
is $status 0 "five days"; [ $status -eq 0 ] || note "$(cat .err)"
$analyze compare --system a a??.run --system b b??.run --system c c??.run >c.csv
like "$(cell b 9),$(cell b 10),$(cell b 21)" "^5,5,(same|unsure)$" "the same days twice: $(cell b 15) % [$(cell b 16), $(cell b 17)]"
is "$(cell c 9),$(cell c 10),$(cell c 21)" 5,5,slower "20 % slower on each: $(cell c 15) % [$(cell c 16), $(cell c 17)]"
is "$(awk "BEGIN { print ($(cell c 16) <= 20 && 20 <= $(cell c 17) && $(cell c 16) > 5) }")" 1 "with an interval that holds 20 %"
done_testing
