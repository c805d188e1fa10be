#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# From the replay to the verdict, five repetitions a side: the same target twice is not called slower, one that takes 20 % longer
# for each I/O is, with an interval that holds 20 %. nbdkit's delay filter makes the difference.
. "$(dirname "$0")/lib.sh"
need nbdkit
make=$BUILD/tests/tool_make
cd "$tmp"
cell() { awk -F, -v c="$1" -v f="$2" '$3 == "io_time" && $8 == c { print $f }' c.csv; }
server() { # DELAY-MS [NAME]: a server that sleeps so long for each read and write; `to NAME` is how to reach it
    nbdkit -f -U "$tmp/s${2:-$1}" --filter=delay memory 1M rdelay="$1ms" wdelay="$1ms" 2>/dev/null & cleanup "kill $!; wait $!"
    wait_for 10 test -S "$tmp/s${2:-$1}"
}
to() { echo "nbd+unix:///?socket=$tmp/s$1"; }

# Four reads and writes one after the other, 100 ms each, and 120 ms: (120 + x) / (100 + x) with the time x of sending and waking.
$make tape t.tape records=4 latency_us=199 label=w || exit 1
server 100 && server 100 again && server 120 || exit 1
# All three in turns, so that what else the machine does meets all alike. Where nothing differs, one time in twenty is
# called a difference: that is what the test promises, and it may happen here once, but not twice.
for try in 1 2; do
    rm -f ./*.run
    run $replay t.tape --runs 5 --to "$(to 100)" -o a.run --to "$(to again)" -o b.run --to "$(to 120)" -o c.run
    $analyze compare a.run b.run c.run >c.csv
    [[ $(cell b 21) =~ ^(same|unsure)$ ]] && break
done
is $status 0 "five repetitions on each, in turns"
like "$(cell b 9),$(cell b 10),$(cell b 21)" "^5,5,(same|unsure)$" "the same speed twice: $(cell b 15) % [$(cell b 16), $(cell b 17)]"
is "$(cell c 21)" slower "120 ms for 100: $(cell c 15) % [$(cell c 16), $(cell c 17)]"
is "$(awk "BEGIN { print ($(cell c 16) > 10 && $(cell c 17) < 30 && $(cell c 16) <= $(cell c 17)) }")" 1 "an interval around what it costs"

# A target whose speed is another each day, for five days; the candidate takes some 20 % longer. The middle of the
# 25 ratios is near 120/100; the third from either end 116/102 and 124/98: an interval from 13.7 to 26.5 %, with
# x above a little closer to 0.
for d in 96 98 101 102 104 116 118 122 123 124; do server $d || exit 1; done
day() { local name=$1 d; shift; for d; do $replay t.tape --for 1ms --runs 1 --to "$(to $d)" -o $name$d.run || return 1; done; }
{ day a 96 98 101 102 104 && day b 98 102 101 104 96 && day c 122 116 124 118 123; } 2>.err; status=$?
is $status 0 "five days"; [ $status -eq 0 ] || note "$(cat .err)"
$analyze compare --system a a[0-9]*.run --system b b[0-9]*.run --system c c[0-9]*.run >c.csv
like "$(cell b 9),$(cell b 10),$(cell b 21)" "^5,5,(same|unsure)$" "the same days twice: $(cell b 15) % [$(cell b 16), $(cell b 17)]"
is "$(cell c 9),$(cell c 10),$(cell c 21)" 5,5,slower "20 % slower on each: $(cell c 15) % [$(cell c 16), $(cell c 17)]"
is "$(awk "BEGIN { print ($(cell c 16) <= 20 && 20 <= $(cell c 17) && $(cell c 16) > 5) }")" 1 "with an interval that holds 20 %"
done_testing
