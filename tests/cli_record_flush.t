#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Flushes, FUA and a file system's life are recorded, with latencies that end where the I/O truly ends.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio mkfs.ext4

# rows TAPE CONDITION EXPRESSION: awk's EXPRESSION, summed over the records where CONDITION; $op, $flags, ... by name.
rows() {
    "$analyze" export --format csv "$1" | awk -F, 'NR > 1 { op = $4; flags = "|" $5 "|"; len = $7; latency = $8 }
        NR > 1 && ('"$2"') { sum += '"$3"' } END { printf "%.0f\n", sum }'
}
# between LOW VALUE HIGH NAME
between() {
    awk -v l="$1" -v v="$2" -v h="$3" 'BEGIN { exit !(l <= v && v <= h) }'
    local s=$?
    ok $s "$4"
    [ $s -eq 0 ] || note "$2 is not within $1 and $3"
}
record_fio() { # record_fio TAPE FIO-OPTIONS: fio's JSON lands in $tmp/json
    local tape=$1; shift
    run "$record" -o "$tape" --disk "$loop" -- bash -c '. "$0"; fio_on "$@"' "$here/record.sh" "$loop" "$tmp/log" "$@"
    printf '%s\n' "$out" >"$tmp/json"
    like "$err" ', 0 lost,' "nothing lost"
}

# On a disk of its own, since there a flush takes time. A loop device has a volatile cache and no FUA: the kernel makes
# a write and a flush of each FUA write, and the record's latency has to cover both.
loop_new 64M "$tmp"
on_ram=$(stat -f -c %T "$loop_file" | grep -c tmpfs)

record_fio "$tmp/fsync.tape" --rw=randwrite --bs=4k --size=64M --number_ios=400 --fsync=4 --iodepth=1
is "$(rows "$tmp/fsync.tape" 'op == "write"' 1)" 400 "fsync=4: 400 writes"
syncs=$(json 'd["jobs"][0]["sync"]["total_ios"]' <"$tmp/json")
is "$(rows "$tmp/fsync.tape" 'op == "flush"' 1)" "$syncs" "fsync=4: as many flushes as fio has syncs ($syncs)"
is "$(rows "$tmp/fsync.tape" 'op == "flush"' len)" 0 "flushes have no length"
total=$(json 'd["jobs"][0]["sync"]["lat_ns"]["mean"] * d["jobs"][0]["sync"]["total_ios"]' <"$tmp/json")
flushed=$(rows "$tmp/fsync.tape" 'op == "flush"' latency)
# fio's sync lies around the flush, and contains the process's way back to a CPU.
if [ "$on_ram" -gt 0 ]; then skip 1 "a flush to memory takes no time"
else between "$(awk -v t="$total" 'BEGIN { print t * 0.2 }')" "$flushed" "$total" "flushes take what fio's syncs take"; fi

record_fio "$tmp/sync.tape" --rw=randwrite --bs=4k --size=64M --number_ios=200 --sync=1 --iodepth=1
is "$(rows "$tmp/sync.tape" 'op == "write" && flags ~ /\|fua\|/' 1)" 200 "sync=1: 200 writes with FUA"
is "$(rows "$tmp/sync.tape" 'op == "write" && flags ~ /\|fua\|/' len)" $((200 * 4096)) "sync=1: their length"
# The block layer takes an I/O while fio still submits it: not clat, which begins after that, but slat and clat contain it. Without its
# flush, a write takes an eighth of that.
total=$(json 'd["jobs"][0]["write"]["lat_ns"]["mean"] * 200' <"$tmp/json")
fua=$(rows "$tmp/sync.tape" 'op == "write"' latency)
if [ "$on_ram" -gt 0 ]; then skip 1 "a flush to memory takes no time"
else between "$(awk -v t="$total" 'BEGIN { print t * 0.3 }')" "$fua" "$total" "a FUA write lasts to its true end"; fi

# Large ones are split by the block layer, each part through the flush machinery.
limit=/sys/block/$(basename "$loop")/queue/max_sectors_kb
echo 64 >"$limit"
recorded=$tmp/large.tape
ended "large FUA writes: all have ended" record_fio "$recorded" --rw=write --bs=8m --size=64M --sync=1 --iodepth=1
is "$(rows "$tmp/large.tape" 'op == "write"' len)" $((64 << 20)) "large FUA writes: every byte once"

# A file system's whole life, beside what the kernel counts for the device: sectors read, written and discarded
# (Documentation/block/stat.rst).
loop_new 256M
sectors() { awk '{ printf "%.0f %.0f %.0f\n", $3 * 512, $7 * 512, $14 * 512 }' "/sys/block/$(basename "$loop")/stat"; }
mkdir "$tmp/mnt" "$tmp/files"
for i in $(seq 100); do head -c $((i * 3000)) /dev/urandom >"$tmp/files/$i"; done
life() {
    read -r r0 w0 d0 < <(sectors)
    run "$record" -o "$recorded" --disk "$loop" -- bash -c '
        set -e
        mkfs.ext4 -q "$0"; mount "$0" "$1"; trap "umount $1" EXIT
        cp -r "$2" "$1/"
        umount "$1"; mount "$0" "$1"; find "$1" -type f -exec cat {} + >/dev/null' "$loop" "$tmp/mnt" "$tmp/files"
    is "$status" 0 "mkfs, mount, copy, read, umount"
    [ "$status" -eq 0 ] || note "$err"
}
recorded=$tmp/fs.tape
ended "a file system's life: all has ended" life
read -r r1 w1 d1 < <(sectors)
like "$err" ', 0 lost,' "a file system's life: nothing lost"
is "$(rows "$tmp/fs.tape" 'op == "read"' len)" $((r1 - r0)) "a file system's life: bytes read"
is "$(rows "$tmp/fs.tape" 'op == "write" || op == "write_zeroes"' len)" $((w1 - w0)) "a file system's life: bytes written"
is "$(rows "$tmp/fs.tape" 'op == "discard"' len)" $((d1 - d0)) "a file system's life: bytes discarded"
[ "$(rows "$tmp/fs.tape" 'flags ~ /\|meta\|/' 1)" -gt 0 ]; ok $? "metadata is marked"
[ "$(rows "$tmp/fs.tape" 'flags ~ /\|readahead\|/' 1)" -gt 0 ]; ok $? "read-ahead is marked"
[ "$(rows "$tmp/fs.tape" 'flags ~ /\|preflush\|/ && flags ~ /\|fua\|/' 1)" -gt 0 ]; ok $? "journal commits have preflush and FUA"
done_testing
