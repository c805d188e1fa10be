#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A file on a file system is recorded at its own offsets, wherever its blocks are and while it grows: fio's log says so.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
UNIT=1024 # blocks of an ext4 of this size: what the test calls a block
need_bpf; need_loop; need fio mkfs.ext4 mkfs.xfs addpart filefrag

count() { tape_ios "$tmp/t.tape" "$1" | wc -l; }
syncs() { awk '$3 == "datasync"' "$tmp/log" | wc -l; }
# full FILE SIZE: a file whose blocks are all there and written.
full() { fio --name=full --filename="$1" --rw=write --bs=1m --size="$2" --direct=1 --end_fsync=1 >/dev/null; }
# pieces FILE SIZE: one whose neighbours lie apart, since it is written in no order, into holes of 8 KiB
# in another file that takes all the rest.
pieces() {
    "$python" - "$1" "$2" <<'PY'
import ctypes, os, random, sys
libc = ctypes.CDLL(None, use_errno=True)
fallocate = lambda fd, mode, at, n: libc.fallocate(fd, mode, ctypes.c_int64(at), ctypes.c_int64(n)) == 0
other = os.open(sys.argv[1] + ".other", os.O_RDWR | os.O_CREAT, 0o600)
end, step = 0, 64 << 20
while step >= 8192:
    if fallocate(other, 0, end, step):
        end += step
    else:
        step //= 2
for at in range(0, int(sys.argv[2]) * 4, 16384):
    fallocate(other, 3, at, 8192)  # punch a hole, keep the size
os.fsync(other)
os.sync()
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_SYNC, 0o600)
for at in random.Random(1).sample(range(0, int(sys.argv[2]), 8192), int(sys.argv[2]) // 8192):
    os.pwrite(fd, b"x" * 8192, at)
os.unlink(sys.argv[1] + ".other")
PY
}

loop_new 512M; disk=$loop
addpart "$disk" 1 30008 1000000 || skip_all "no partitions on loop devices"
cleanup "delpart $disk 1"
mnt=$tmp/mnt; mkdir "$mnt"
cleanup "umount $mnt"
for fs in ext4 xfs; do
    mountpoint -q "$mnt" && { wait_for 20 umount "$mnt" || skip_all "cannot unmount"; }
    # On a partition: places of the file system are not those of the disk.
    # Mount namespaces that others made meanwhile may hold the one before for a while.
    if [ $fs = ext4 ]; then
        mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "${disk}p1"
    else
        wait_for 60 mkfs.xfs -q -f "${disk}p1"
    fi
    ok $? "$fs is made"
    mount "${disk}p1" "$mnt" || skip_all "cannot mount $fs"

    full "$mnt/full" 32M
    record_fio "$fs, a full file" --file "$mnt/full" --rw=randrw --bs=4k --size=32M --number_ios=4000
    same_ios "$tmp/fio" "$tmp/tape" "$fs, a full file: the records are fio's"
    turns_red "$tmp/fio" "$tmp/tape"

    truncate -s 64M "$mnt/sparse"
    record_fio "$fs, a sparse file" --file "$mnt/sparse" --rw=randwrite --bs=4k --size=64M --number_ios=3000
    same_ios "$tmp/fio" "$tmp/tape" "$fs, a file that grows while it is recorded: the records are fio's"

    pieces "$mnt/pieces" $((2 << 20))
    like "$(filefrag "$mnt/pieces")" ' [1-9][0-9]+ extents' "$fs, a file in pieces"
    record_fio "$fs, a file in pieces" --file "$mnt/pieces" --rw=randrw --bs=64k --size=2M --io_size=16M
    same_blocks "$fs, a file in pieces: the records cover fio's byte for byte"

    # Beside others on the same file system, of which none may appear.
    full "$mnt/other" 32M
    rm -f "$tmp/log" "$tmp/t.tape"
    run "$record" -o "$tmp/t.tape" --file "$mnt/full" -- bash -c '. "$0"
        fio_on "$1/other" "$2.other" --rw=randrw --bs=4k --size=32M --number_ios=4000 --fdatasync=32 >/dev/null &
        fio_on "$1/full" "$2" --rw=randrw --bs=4k --size=32M --number_ios=1000
        wait' "$here/record.sh" "$mnt" "$tmp/log"
    iolog_ios "$tmp/log" >"$tmp/fio"; tape_ios "$tmp/t.tape" >"$tmp/tape"
    same_ios "$tmp/fio" "$tmp/tape" "$fs, beside another file: the records are fio's"
    is "$(count flush)" 0 "$fs, beside another file: none of its flushes"

    # A flush is the file's whose process sent it.
    record_fio "$fs, flushes" --file "$mnt/full" --rw=randwrite --bs=4k --size=32M --number_ios=200 --fdatasync=4 --iodepth=1
    is "$(count flush)" "$(syncs)" "$fs: as many flushes as fio has syncs"

    # Through the page cache: blocks get their places when they are written back, by a kernel thread.
    rm -f "$tmp/t.tape"
    run "$record" -o "$tmp/t.tape" --file "$mnt/sparse" -- \
        bash -c 'dd if=/dev/urandom of="$0" bs=64k count=64 seek=512 conv=notrunc 2>/dev/null; sync "$0"' "$mnt/sparse"
    for ((at = 512 * 65536; at < 576 * 65536; at += UNIT)); do echo "write $at"; done | sort >"$tmp/fio_blocks"
    tape_ios "$tmp/t.tape" write >"$tmp/tape"
    ios_blocks "$tmp/tape" | sort -u >"$tmp/tape_blocks"
    same_ios "$tmp/fio_blocks" "$tmp/tape_blocks" "$fs, written back later: every block at its place"
done

# The disk and a file on it in one recording.
rm -f "$tmp/log" "$tmp/t.tape"
run "$record" -o "$tmp/t.tape" --disk "${disk}p1" --file "$mnt/full" --file "$mnt/other" -- \
    bash -c '. "$0"; fio_on "$@"' "$here/record.sh" "$mnt/full" "$tmp/log" --rw=randrw --bs=4k --size=32M --number_ios=1000
iolog_ios "$tmp/log" >"$tmp/fio"
STREAM=file tape_ios "$tmp/t.tape" >"$tmp/tape"
same_ios "$tmp/fio" "$tmp/tape" "a disk and files on it: the file's stream"
is "$(STREAM=file2 tape_ios "$tmp/t.tape" | wc -l)" 0 "a disk and files on it: none of the other file"
STREAM=$(basename "$disk")p1 tape_ios "$tmp/t.tape" | awk '{ print $1, $3 }' | sort | uniq -c >"$tmp/sizes"
like "$(awk '$2 == "read" && $3 == 4096 { print ($1 >= reads) }' reads="$(grep -c ^read "$tmp/fio")" "$tmp/sizes")" 1 \
    "a disk and files on it: the disk's stream has them, too"
run "$analyze" show "$tmp/t.tape"
like "$out" 'below_driver: *loop' "what is below the file is described"

# Refusals, each with what to do instead.
refuse() { # refuse REGEX NAME RECORD-OPTION...
    local regex=$1 name=$2; shift 2
    rm -f "$tmp/no.tape"
    run "$record" -o "$tmp/no.tape" --for 1s "$@"
    like "$status $err" "^1 iotape-record: error: $regex" "$name"
}
refuse ".*it is a block device: use --disk" "a block device as a file" --file "$disk"
refuse ".*--file records a file" "a file as a disk" --disk "$mnt/full"
refuse ".*not a regular file" "a directory" --file "$mnt"
refuse ".*No such file" "no file" --file "$mnt/none"
refuse ".*are the same file" "a file by two names" --file "$mnt/full" --file "$mnt/../mnt/full"
truncate -s 1M /dev/shm/iotape-file.$$; cleanup "rm -f /dev/shm/iotape-file.$$"
refuse ".*file system in memory" "a file in memory" --file /dev/shm/iotape-file.$$
# A tape inside the recorded file.
truncate -s 64M "$mnt/inner"; mkfs.ext4 -q "$mnt/inner"; mkdir "$tmp/inner"
loop_attach "$mnt/inner" && mount "$loop" "$tmp/inner" && cleanup "umount $tmp/inner"
run "$record" -o "$tmp/inner/t.tape" --for 1s --file "$mnt/inner"
like "$status $err" "^1 .*would lie on" "a tape inside the recorded file"
done_testing
