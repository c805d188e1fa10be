#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A device that stalls for 5 s while another one is recorded at full rate: memory stays bounded, the stalled I/O gets
# its latency, order and identity hold.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio nbdkit nbdfuse dd "$python"

control=$tmp/pause
nbd_loop 64M --filter=pause memory 64M pause-control="$control" || skip_all "no nbdfuse device"
slow=$loop
loop_new 256M; fast=$loop
# nbdkit-pause-filter(1): 'p' pauses, 'r' resumes, each answered in upper case.
say() { "$python" -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(sys.argv[2].encode()); sys.exit(s.recv(1) != sys.argv[2].upper().encode())' "$control" "$1"; }

tape=$ram/iotape-stall-$$.tape
cleanup "rm -f $tape $tape.partial"
"$record" -o "$tape" --disk "$slow" --disk "$fast" 2>"$tmp/said" & pid=$!
wait_for 10 test -e "$tape.partial" || skip_all "$(cat "$tmp/said")"
fio --name=load --filename="$fast" --direct=1 --ioengine=libaio --iodepth=32 --rw=randread --bs=4k --size=256M \
    --time_based --runtime=8 --output="$tmp/load" & load=$!
cleanup "kill $load"
sleep 1
say p; ok $? "the slow device is paused"
dd if="$slow" of=/dev/null bs=4k count=1 skip=100 iflag=direct 2>/dev/null & reader=$!
sleep 5.2
say r; ok $? "... and goes on 5 s later"
wait $reader $load
dd if="$slow" of=/dev/null bs=4k count=1 skip=101 iflag=direct 2>/dev/null # after the late completion
peak=$(awk '/VmHWM/ { print $2 }' /proc/$pid/status)
kill $pid; wait $pid
is $? 0 "the recording ends well"
like "$(cat "$tmp/said")" ', 0 lost,' "nothing lost"
if grep -q __asan_init "$record"; then skip 1 "a sanitizer takes memory of its own"
else [ "$peak" -le 65536 ]; ok $? "at most 64 MiB resident ($((peak / 1024)) MiB)"; fi
"$analyze" export --format csv "$tape" >"$tmp/csv"
name=$(basename "$slow")
latency=$(awk -F, -v s="$name" '$2 == s && $6 == 100 * 4096 { print $8 }' "$tmp/csv")
[ "${latency:-0}" -ge 5000000000 ]; ok $? "the stalled I/O has its latency (${latency:-none} ns)"
is "$(awk -F, -v s="$name" '$2 == s' "$tmp/csv" | wc -l)" 2 "the slow stream has its two I/Os"
wanted=$(awk '/issued rwts: total=/ { split($0, a, /[=,]/); print a[2] }' "$tmp/load")
# Not none: see `ended` in record.sh.
open=$(awk -F, 'NR > 1 && $8 == ""' "$tmp/csv" | wc -l)
[ "$open" -le $((wanted / 500)) ]; ok $? "the others have their latencies ($open have not)"
awk -F, 'NR > 1 { if ($1 < last) exit 1; last = $1 }' "$tmp/csv"; ok $? "records are in the order of arrival"
is "$(awk -F, -v s="$(basename "$fast")" '$2 == s' "$tmp/csv" | wc -l)" "$wanted" "the fast stream has all of fio's $wanted"
run "$analyze" show "$tape"
is "$status" 0 "the identity holds: show verifies the tape"
done_testing
