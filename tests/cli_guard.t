#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A target is written to only where it is empty or ours; no byte of a refused one changes.
. "$(dirname "$0")/lib.sh"
need_loop
export PATH=$PATH:/usr/sbin:/sbin
need mkfs.ext4 mkswap losetup sha256sum
cd "$tmp" || exit 1

# Reads 64 KiB at 8 MiB, writes 4 KiB at 9 MiB, discards 64 KiB at 10 MiB.
printf '%s\n' 'fio version 3 iolog' '0 /dev/x add' '0 /dev/x open' '0 /dev/x read 8388608 65536' \
    '1000 /dev/x write 9437184 4096' '2000 /dev/x trim 10485760 65536' '3000 /dev/x close' >work.iolog
run $record -o work.tape --import work.iolog
is $status 0 "a tape is made"

hash() { head -c "${span:-1G}" "$1" | sha256sum | cut -d' ' -f1; }
# refused TARGET BYTES-OF REGEX NAME [OPTION...]: exits 1 with the text, changes nothing of the file BYTES-OF. 5 checks.
refused() {
    local target=$1 file=$2 regex=$3 name=$4 before; shift 4
    before=$(hash "$file")
    run $replay work.tape --to "$target" -o out.run "$@"
    is $status 1 "$name: refused"
    like "$err" "$regex" "$name: says what was found"
    is "$(printf '%s\n' "$err" | wc -l)" 1 "$name: one line"
    is "$(hash "$file")" "$before" "$name: no byte changed"
    is "$(ls out.run* 2>/dev/null)" "" "$name: no run is left"
}
accepted() {
    local target=$1 name=$2; shift 2
    run $replay work.tape --to "$target" -o out.run "$@"
    is $status 0 "$name: accepted"
    [ $status = 0 ] || note "$err"
    rm -f out.run
}

loop_new 32M
disk=$loop file=$loop_file
wipe() { : >"$file"; truncate -s 32M "$file"; blockdev --flushbufs $disk; }
poke() { printf x | dd of="$file" bs=1 seek="$1" conv=notrunc status=none; blockdev --flushbufs $disk; }

accepted $disk "an empty device"
is "$(od -An -tx1 -j8388608 -N8 "$file" | tr -d ' ')" 89696f746170650a "what is read was filled with our data"
is "$(cmp -n 8388608 "$file" /dev/zero && echo same)" same "nothing before the touched ranges was written"
accepted $disk "one that iotape wrote before"
accepted $disk "once more, twice" --runs 2

# Foreign data, also where only a read would go, and where it is one byte.
poke 8400000
refused $disk "$file" "holds data that iotape did not write, at byte 8399872 " "a byte in the middle of our own data"
wipe; poke 8400000
refused $disk "$file" "at byte 8399872 " "a byte in the middle of a range that is read"
wipe; poke 9441279
refused $disk "$file" "at byte 9440768 " "the last byte of a range that is written"
wipe; poke 10500000
refused $disk "$file" "at byte 10499584 " "a byte in a range that is discarded"
wipe; poke 33554431
refused $disk "$file" "at byte 33553920 " "the last byte of the device"
wipe; poke 1000000
refused $disk "$file" "at byte 999936 " "a byte in the first MiB"
wipe; head -c 32M /dev/urandom >"$file"; blockdev --flushbufs $disk
refused $disk "$file" "holds data that iotape did not write" "random data without signature"
# The control: where nothing touches it, data does not matter.
wipe; poke 20000000
accepted $disk "a byte that no I/O touches"
is "$(dd if="$file" bs=1 skip=20000000 count=1 status=none)" x "and it is still there"

# Signatures.
wipe; mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$file" 2>/dev/null; blockdev --flushbufs $disk
refused $disk "$file" "ext4 signature \(a file system\)" "a file system"
wipe; mkswap "$file" >/dev/null 2>&1; blockdev --flushbufs $disk
refused $disk "$file" "swap signature" "swap space"
# One MBR entry: type 0x83, from sector 2048, 4096 sectors; then 55 aa.
wipe; printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\020\0\0' | dd of="$file" bs=1 seek=446 conv=notrunc status=none
printf '\125\252' | dd of="$file" bs=1 seek=510 conv=notrunc status=none; blockdev --flushbufs $disk
refused $disk "$file" "dos partition table" "a partition table"
accepted $disk "the same with --overwrite-data" --overwrite-data

# In use.
wipe; mkfs.ext4 -q "$file" 2>/dev/null; blockdev --flushbufs $disk
mkdir mnt; mount $disk mnt; cleanup "umount $tmp/mnt"
sync
refused $disk "$file" "is mounted at '$tmp/mnt'" "a mounted device"
refused $disk "$file" "is mounted at" "a mounted device, with --overwrite-data" --overwrite-data
refused "$file" "$file" "holds the same bytes .* is mounted at" "the file behind a mounted loop device" --overwrite-data
loop_attach "$file"; second=$loop
refused "$second" "$file" "holds the same bytes .* is mounted at" "another loop device over the same file" \
    --overwrite-data
run $replay work.tape --to $disk -o out.run --read-only
is $status 0 "a mounted device may be read with --read-only"
rm -f out.run
umount mnt

wipe
cat >hold.py <<'EOF'
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
open("held", "w").close()
time.sleep(60)
EOF
$python hold.py $disk & holder=$!; cleanup "kill $holder"
wait_for 10 test -e held
refused $disk "$file" "in use by another program" "a device that is held" --overwrite-data
refused "$file" "$file" "in use by another program" "the file behind a held loop device" --overwrite-data
kill $holder; wait $holder 2>/dev/null

# As QEMU locks its images: some bytes, for reading.
cat >lock.py <<'EOF'
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 100)
open("locked", "w").close()
time.sleep(60)
EOF
truncate -s 16M vm.img
$python lock.py vm.img & holder=$!; cleanup "kill $holder"
wait_for 10 test -e locked
refused vm.img vm.img "another program has locked it" "the image of a running virtual machine" --overwrite-data
kill $holder; wait $holder 2>/dev/null
accepted vm.img "the same when it no longer runs"

mkswap $disk >/dev/null 2>&1
if swapon $disk 2>/dev/null; then
    cleanup "swapoff $disk"
    span=4096 refused $disk "$file" "in use as swap" "active swap" --overwrite-data # the kernel may use what follows
    swapoff $disk
else
    skip 5 "swap cannot be switched on here"
fi
wipe
losetup -d $second

# A partition of the device is mounted.
truncate -s 48M part.img
printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\0\001\0' | dd of=part.img bs=1 seek=446 conv=notrunc status=none
printf '\125\252' | dd of=part.img bs=1 seek=510 conv=notrunc status=none
loop_attach part.img; whole=$loop
if partx -a $whole 2>/dev/null && [ -b ${whole}p1 ]; then
    # Nothing is left to be written later by the kernel itself.
    mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 ${whole}p1 2>/dev/null && mount ${whole}p1 mnt
    cleanup "umount $tmp/mnt"
    sync
    refused $whole part.img "${whole}p1.* is mounted at" "a disk whose partition is mounted" --overwrite-data
    refused ${whole}p1 part.img "is mounted at" "a mounted partition" --overwrite-data
    umount mnt
    refused ${whole}p1 part.img "ext4 signature" "a partition with a file system"
    accepted part.img "the file behind an idle loop device with a partition" --overwrite-data
else
    skip 16 "no partitions on loop devices"
fi

# Files.
accepted new.img "a file that does not exist"
is "$(stat -c %s new.img)" $((10485760 + 65536)) "it is as large as needed"
accepted new.img "a file that iotape wrote before"
accepted big.img "a file of a size" --size 64M
is "$(stat -c %s big.img)" 64000000 "it has that size"
: >empty.img
accepted empty.img "an empty file"
head -c 16M /dev/urandom >foreign.img
refused foreign.img foreign.img "holds data that iotape did not write" "a file with data"
refused /dev/no-such-disk foreign.img "cannot open '/dev/no-such-disk': No such file" "a device that is not there"
refused "$tmp" foreign.img "neither a block device nor a regular file" "a directory"
refused work.tape work.tape "is the tape" "the tape itself" --overwrite-data --fit wrap
run $replay work.tape --to a.img -o a.img
is "$status,$(ls a.img 2>/dev/null)" 1, "an output that is the target is refused and not created"
cp foreign.img precious
run $replay work.tape --to null: -o precious
is "$status,$(cmp precious foreign.img && echo same)" 1,same "an output that exists and is no run is refused"
run $replay work.tape --to null: -o x.run --to null: -o ./x.run
is $status 1 "the same output twice is refused"

# The recorded disk.
wipe
if [ -e /sys/kernel/btf/vmlinux ] &&
    $record -o disk.tape --disk $disk -- dd if=$disk of=/dev/null bs=1M count=1 iflag=direct 2>/dev/null; then
    mv disk.tape work.tape
    refused $disk "$file" "is the disk that 'work.tape' was recorded from" "the recorded disk"
    refused $disk "$file" "is the disk that 'work.tape' was recorded from" "the recorded disk, with --overwrite-data" \
        --overwrite-data
    refused "$file" "$file" "was recorded from" "the file behind the recorded loop device"
    accepted $disk "the recorded disk, empty, with --overwrite-recorded-disk" --overwrite-recorded-disk
    poke 100
    refused $disk "$file" "did not write, at byte 0 " "the recorded disk with data" --overwrite-recorded-disk
    run $replay work.tape --to $disk -o out.run --read-only
    is $status 0 "the recorded disk may be read with --read-only"
else
    skip 22 "cannot record here"
fi
done_testing
