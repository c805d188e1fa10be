#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A recorder that stands still (SIGSTOP) holds nobody up: the load goes on, what finds no room is counted, memory stays
# within its bound.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio dd

loop_new 64M; disk=$loop
tape=$ram/iotape-stopped-$$.tape
cleanup "rm -f $tape $tape.partial"
"$record" -o "$tape" --disk "$disk" --memory 16M 2>"$tmp/said" & pid=$!
cleanup "kill -CONT $pid; kill $pid"
wait_for 20 test -e "$tape.partial"
kill -STOP "$pid"
wait_for 5 grep -q '^State:.*T' "/proc/$pid/status"; ok $? "the recorder stands still"
# More than any ring of it holds: it needs no recorder to come to its end.
timeout 300 fio --name=load --filename="$disk" --direct=1 --ioengine=libaio --iodepth=32 --rw=randread --bs=4k --size=64M \
    --io_size=600M --norandommap --output-format=json --output="$tmp/load"
is $? 0 "a load of 150,000 I/Os ends meanwhile"
is "$(json 'd["jobs"][0]["read"]["total_ios"], d["jobs"][0]["error"]' <"$tmp/load")" "(153600, 0)" "... all of it, without an error"
like "$(grep ^State "/proc/$pid/status")" T "... and the recorder has not run"
kill -CONT "$pid"; sleep 0.5
dd if="$disk" of=/dev/null bs=4k count=10 iflag=direct 2>/dev/null
kill "$pid"; wait "$pid"; is $? 0 "it goes on, and ends well"
shown() { "$analyze" show --json "$tape" | json "d$1"; }
lost=$(shown '["lost"]') records=$(shown '["records"]')
[ "$lost" -gt 0 ]; ok $? "what found no room is counted ($lost lost, $records recorded)"
# An event without a place, or the one that stands for those behind a gap: each I/O is recorded or counted.
is $((lost + records)) 153610 "each I/O is recorded or counted"
like "$(cat "$tmp/said")" ", $lost lost," "... and said"
run "$record" -o "$tape" --disk "$disk" --memory 1k --for 50ms
is "$status" 2 "less memory than it can do with is refused"
done_testing
