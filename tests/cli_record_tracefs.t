#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recording by tracefs and by eBPF at once: both must see the same I/Os (tests/bench/22-record-tracefs compares latencies).
. "$(dirname "$0")/lib.sh"
need_bpf
need_loop
need fio
grep -qw tracefs /proc/filesystems || skip_all "needs a kernel with tracefs"

# both NAME COMMAND...: records $loop in both ways while the command runs; $tmp/NAME.tracefs and .bpf are the records, sorted.
both() {
    local name=$1 p1 p2 disk=${disk:-$loop}; shift
    rm -f "$tmp"/ready.* "$tmp/end"
    # A command begins when all is recorded.
    until_end() { echo "touch '$tmp/ready.$1'; until [ -e '$tmp/end' ]; do sleep 0.05; done"; }
    "$record" --source tracefs -o "$tmp/$name-t.tape" --disk "$disk" -- sh -c "$(until_end t)" 2>"$tmp/t.err" & p1=$!
    cleanup "kill $p1"
    "$record" -o "$tmp/$name-b.tape" --disk "$disk" -- sh -c "$(until_end b)" 2>"$tmp/b.err" & p2=$!
    cleanup "kill $p2"
    wait_for 30 test -e "$tmp/ready.t" -a -e "$tmp/ready.b"
    "$@" >/dev/null 2>&1
    touch "$tmp/end"
    wait $p1; local s1=$?; wait $p2
    is "$s1$?" 00 "$name: both recordings end well"
    for n in t b; do
        "$analyze" export "$tmp/$name-$n.tape" --format csv | sed 1d | cut -d, -f4,6,7,9 | sort >"$tmp/$name.$n"
    done
    [ -s "$tmp/$name.b" ] && cmp -s "$tmp/$name.t" "$tmp/$name.b"
    ok $? "$name: the same $(wc -l <"$tmp/$name.b") I/Os (operation, offset, length, error)"
    cmp -s "$tmp/$name.t" "$tmp/$name.b" || note "$(diff "$tmp/$name.t" "$tmp/$name.b" | head -5)"
    is "$(grep -c ' 0 lost,' "$tmp/t.err")" 1 "$name: nothing is lost"
}

loop_new 256M
job="--name=j --filename=$loop --direct=1 --ioengine=libaio"
both mixed fio $job --rw=randrw --bsrange=4k-64k --iodepth=16 --io_size=64M --fsync=32
is "$(cut -d, -f1 "$tmp/mixed.t" | sort -u | tr '\n' ' ')" "flush read write " "mixed: flushes, reads and writes"
is "$("$analyze" export "$tmp/mixed-t.tape" --format csv | awk -F, '$8 == ""' | wc -l)" 0 "mixed: every I/O has its latency"
# The control: the comparison sees one I/O less.
sed 1d "$tmp/mixed.t" | cmp -s - "$tmp/mixed.b"; is $? 1 "the comparison sees an I/O that is missing"
both large fio $job --rw=write --bs=4M --iodepth=4 --io_size=128M
both trimmed fio $job --rw=randtrim --bs=1M --iodepth=4 --io_size=64M
both synced fio $job --rw=randwrite --bs=4k --iodepth=1 --io_size=2M --sync=1

# A partition, which has the disk's sectors in its events.
if addpart "$loop" 1 2048 204800 && wait_for 5 test -b "${loop}p1"; then
    disk=${loop}p1 both partition fio --name=j --filename="${loop}p1" --direct=1 --rw=randrw --bs=4k --size=90M --io_size=8M
    disk=$loop both whole fio --name=j --filename="${loop}p1" --direct=1 --rw=randread --bs=4k --size=90M --io_size=8M
    is "$(awk -F, '$2 < 1048576' "$tmp/whole.t" | wc -l)" 0 "whole: offsets of the disk, not of the partition"
else
    skip 7 "no partition could be added to a loop device"
fi

# A device that takes bios.
if zram_new 64M; then
    disk=$zram both zram fio --name=j --filename="$zram" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bs=4k --io_size=16M
else
    skip 3 "no zram device could be made"
fi

# ---- names, leftovers, errors ----
run "$record" --source tracefs --keep-names -o "$tmp/names.tape" --disk "$loop" -- \
    dd if="$loop" of=/dev/null bs=4k count=20 iflag=direct status=none
is "$status" 0 "a command is recorded"
like "$("$analyze" export "$tmp/names.tape" --format csv | sed -n 2p)" ",(dd|iotape-record)," "--keep-names: its name"
"$record" --source tracefs -o "$tmp/killed.tape" --disk "$loop" 2>/dev/null & victim=$!
wait_for 10 test -e "$tmp/killed.tape.partial"
kill -KILL $victim; wait $victim 2>/dev/null
[ -d /sys/kernel/tracing/instances/iotape-$victim ] || note "no instance was left behind"
run "$record" --source tracefs -o "$tmp/after.tape" --disk "$loop" --for 100ms
is "$(ls /sys/kernel/tracing/instances 2>/dev/null | grep -cx "iotape-$victim")" 0 "the next recorder removes what a killed one left"
is "$status" 0 "and records"
run "$record" --source nonsense -o "$tmp/x.tape" --disk "$loop"
is "$status" 2 "an unknown source is a usage error"
like "$err" "^iotape-record: error: .*unknown source 'nonsense'" "which says so"
done_testing
