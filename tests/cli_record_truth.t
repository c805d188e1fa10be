#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is recorded is what fio says it did, on every kind of device.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio addpart

loop_new 256M; disk=$loop
for device in loop zram partition; do
    case $device in
    loop) dev=$disk ;;
    zram) zram_new 256M || { skip 5 "no zram device"; continue; }; dev=$zram ;;
    partition) # begins at an odd place, so that no offset is right by chance
        addpart "$disk" 1 30008 400000 || { skip 5 "no partitions on loop devices"; continue; }
        cleanup "delpart $disk 1"
        dev=${disk}p1 ;;
    esac
    record_fio "$device, 4 KiB random" --disk "$dev" --rw=randrw --bs=4k --size=128M --number_ios=20000
    same_ios "$tmp/fio" "$tmp/tape" "$device, 4 KiB random: the records are fio's"
    [ $device = loop ] && turns_red "$tmp/fio" "$tmp/tape"
    record_fio "$device, 64 KiB sequential" --disk "$dev" --rw=rw --bs=64k --size=128M
    same_ios "$tmp/fio" "$tmp/tape" "$device, 64 KiB sequential: the records are fio's"
    record_fio "$device, 4 MiB" --disk "$dev" --rw=rw --bs=4m --size=128M --iodepth=4
    same_blocks "$device, 4 MiB: the records cover fio's byte for byte"
    record_fio "$device, discards" --disk "$dev" --rw=randtrim --bs=64k --size=128M --number_ios=500
    same_ios "$tmp/fio" "$tmp/tape" "$device, randtrim: the discards are fio's"
done

# Bios that the block layer splits into many requests are one record each, at their end.
limit=/sys/block/$(basename "$disk")/queue/max_sectors_kb
was=$(cat "$limit"); echo 16 >"$limit"
record_fio "split" --disk "$disk" --rw=randrw --bs=256k --size=128M --number_ios=400
same_ios "$tmp/fio" "$tmp/tape" "each bio split into 16 requests: the records are fio's"
echo "$was" >"$limit"

if [ -b "${disk}p1" ]; then
    # A disk and its partition in one recording: the partition's I/O is in both, each counted from its own begin.
    rm -f "$tmp/log"
    run "$record" -o "$tmp/both.tape" --disk "$disk" --disk "${disk}p1" -- \
        bash -c '. "$0"; fio_on "$1" "$2" --rw=randrw --bs=4k --size=128M --number_ios=2000' \
        "$here/record.sh" "${disk}p1" "$tmp/log"
    iolog_ios "$tmp/log" >"$tmp/fio"
    STREAM=$(basename "$disk")p1 tape_ios "$tmp/both.tape" >"$tmp/tape"
    same_ios "$tmp/fio" "$tmp/tape" "a disk and its partition: the partition's stream"
    awk '{ $2 += 30008 * 512; print }' "$tmp/fio" | sort >"$tmp/moved"
    STREAM=$(basename "$disk") tape_ios "$tmp/both.tape" >"$tmp/tape"
    same_ios "$tmp/moved" "$tmp/tape" "a disk and its partition: the disk's stream"
fi

# Two disks: each I/O in its own stream only.
loop_new 64M; second=$loop
rm -f "$tmp"/log*
run "$record" -o "$tmp/two.tape" --disk "$second" --disk "$disk" -- bash -c '. "$0"
    fio_on "$1" "$2" --rw=randrw --bs=4k --size=64M --number_ios=3000 &
    fio_on "$3" "$4" --rw=randread --bs=8k --size=64M --number_ios=3000; wait' \
    "$here/record.sh" "$disk" "$tmp/log1" "$second" "$tmp/log2"
for i in 1 2; do
    iolog_ios "$tmp/log$i" >"$tmp/fio"
    STREAM=$(basename "$([ $i = 1 ] && echo "$disk" || echo "$second")") tape_ios "$tmp/two.tape" >"$tmp/tape"
    same_ios "$tmp/fio" "$tmp/tape" "two disks at once, disk $i"
done
done_testing
