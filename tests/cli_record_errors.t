#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What cannot be recorded is refused, in one line that says what is missing.
here=$(dirname "$0")
. "$here/lib.sh"
need_bpf; need_loop; need mkfs.ext4 setpriv

refused() { # refused STATUS REGEX NAME COMMAND...: and nothing is left
    local wanted=$1 regex=$2 name=$3; shift 3
    run "$@"
    is "$status" "$wanted" "$name: exit status $wanted"
    like "$err" "^iotape-record: error: $regex" "$name: why"
    is "$(printf '%s\n' "$err" | wc -l)" 1 "$name: in one line"
}
loop_new 64M; disk=$loop
tape=$ram/iotape-errors-$$.tape
cleanup "rm -f $tape $tape.partial"

refused 2 "no -o FILE" "no output" "$record" --disk "$disk"
refused 2 "nothing to record" "no disk" "$record" -o "$tape"
refused 2 "unexpected word 'x'" "a word" "$record" -o "$tape" --disk "$disk" x
refused 2 "--for: .*'soon'" "no duration" "$record" -o "$tape" --disk "$disk" --for soon
refused 2 "--import makes" "--import with --disk" "$record" -o "$tape" --disk "$disk" --import x
refused 2 "--format goes with --import" "--format alone" "$record" -o "$tape" --disk "$disk" --format x
refused 1 "cannot record '/nonexistent': No such file" "no such device" "$record" -o "$tape" --disk /nonexistent
refused 1 "cannot record '/etc/passwd': not a block device" "a file" "$record" -o "$tape" --disk /etc/passwd
ln -s "$disk" "$tmp/by-name"
refused 1 "'$disk' and '$tmp/by-name' are the same device" "one device twice" \
    "$record" -o "$tape" --disk "$disk" --disk "$tmp/by-name"
refused 1 "cannot import|.*No such file" "no such trace" "$record" -o "$tape" --import "$tmp/none"

# Missing rights and a kernel without type information.
cp "$record" "$tmp/record"; chmod 755 "$tmp" "$tmp/record"
refused 1 "no permission to record: missing capabilities CAP_BPF and CAP_PERFMON" "an ordinary user" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/record" -o "$ram/iotape-$$.tape" --disk "$disk"
refused 1 "this kernel has no type information \(/sys/kernel/btf/vmlinux\)" "no BTF" \
    unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' - "$record" -o "$tape" --disk "$disk"
is "$(ls "$tape"* "$ram/iotape-$$.tape"* 2>/dev/null)" "" "no refusal leaves a file"

# A tape on the disk that it would record.
mkfs.ext4 -q "$disk"
mkdir "$tmp/on" "$tmp/inner"
mount "$disk" "$tmp/on"; cleanup "umount $tmp/on"
lies="'.*' would lie on '.*', which is recorded"
refused 1 "$lies" "a tape on its disk" "$record" -o "$tmp/on/x.tape" --disk "$disk"
mkdir "$tmp/on/deeper"
refused 1 "$lies" "a tape deeper on its disk" "$record" -o "$tmp/on/deeper/x.tape" --disk "$tmp/by-name"
(cd "$tmp/on" && refused 1 "$lies" "a tape in the current directory" "$record" -o x.tape --disk "$disk"
 exit $tests_failed); s=$?
tests_run=$((tests_run + 3)) tests_failed=$((tests_failed + (s > 0 ? 1 : 0)))
loop_new 16M "$tmp/on"; inner=$loop # a disk in a file on the disk
mkfs.ext4 -q "$inner"
mount "$inner" "$tmp/inner"; cleanup "umount $tmp/inner"
refused 1 "$lies" "a tape on a disk in a file on its disk" "$record" -o "$tmp/inner/x.tape" --disk "$disk"
run "$record" -o "$tmp/on/x.tape" --disk "$inner" --for 100ms
is "$status" 0 "the other way round it is no refusal: writing the tape does no I/O on the inner disk"
if addpart "$inner" 1 2048 2048 && addpart "$inner" 2 8192 16384; then
    cleanup "delpart $inner 1"; cleanup "delpart $inner 2"
    run "$record" -o "$tmp/inner/x.tape" --disk "${inner}p1" --for 100ms
    is "$status" 0 "a partition that the tape is not on"
else skip 1 "no partitions on loop devices"; fi
umount "$tmp/inner"
if [ -b "${inner}p2" ] && mkfs.ext4 -q "${inner}p2" && mount "${inner}p2" "$tmp/inner"; then
    refused 1 "$lies" "a partition that the tape is on" "$record" -o "$tmp/inner/x.tape" --disk "${inner}p2"
    refused 1 "$lies" "the disk of the partition that the tape is on" "$record" -o "$tmp/inner/x.tape" --disk "$inner"
    run "$record" -o "$tmp/inner/x.tape" --disk "${inner}p1" --for 100ms
    is "$status" 0 "the partition beside it"
else skip 7 "no partitions on loop devices"; fi
# An overlay's files are on its upper directory's disk.
mkdir "$tmp/on/upper" "$tmp/on/work" "$tmp/lower" "$tmp/over"
if mount -t overlay none -o "lowerdir=$tmp/lower,upperdir=$tmp/on/upper,workdir=$tmp/on/work" "$tmp/over" 2>/dev/null; then
    cleanup "umount $tmp/over"
    refused 1 "$lies" "a tape on an overlay" "$record" -o "$tmp/over/x.tape" --disk "$disk"
else skip 3 "no overlay file systems"; fi
done_testing
