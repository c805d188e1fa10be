#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real guest of a plain QEMU, recorded by its process: its images and taps are found, disk and TCP are in one tape.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
. "$here/guest.sh"
. "$here/net_lab.sh"
need_bpf; need_guest; need ip

guest_initrd '
dd if=/dev/vda of=/dev/null bs=4k count=100 skip=500 iflag=direct status=none
dd if=/dev/zero of=/dev/vda bs=16k count=50 seek=30 oflag=direct conv=notrunc,fsync status=none
dd if=/dev/zero of=/dev/vdb bs=8k count=60 oflag=direct conv=notrunc status=none
dd if=/dev/vdc of=/dev/null bs=4k count=30 iflag=direct status=none' '
dd if=/dev/zero bs=1000 count=50 2>/dev/null | nc 10.99.9.1 9999 | wc -c'

guest_store
dd if=/dev/zero of="$tmp/store/base.raw" bs=1M count=16 oflag=direct conv=fsync status=none
qemu-img create -q -f qcow2 -b "$tmp/store/base.raw" -F raw "$tmp/store/top"

hv=it-hv-$$ in_hv="ip netns exec it-hv-$$"
ip netns add $hv && cleanup "ip netns del $hv" || skip_all "needs network namespaces"
ip -n $hv tuntap add dev tap0 mode tap; ip -n $hv addr add 10.99.9.1/24 dev tap0; ip -n $hv link set tap0 up; ip -n $hv link set lo up
$in_hv "$python" - <<'PY' &
import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("10.99.9.1", 9999)); s.listen()
c, _ = s.accept()
got = 0
while got < 50000:
    got += len(c.recv(65536))
c.sendall(b"x" * 777)
c.close()
PY
cleanup "kill $!; wait $!"

drive() { echo "file=$1,format=$2,if=none,id=$3,cache=none,aio=native"; }
$in_hv qemu-system-x86_64 -S -accel tcg -m 128 -smp 1 -display none -no-reboot -kernel "$guest_kernel/vmlinuz" \
    -initrd "$guest_dir/initrd" -append "$guest_append" -serial "file:$tmp/console" -monitor "unix:$tmp/monitor,server,nowait" \
    -drive "$(drive "$device" raw d0)" -device virtio-blk-pci,drive=d0,request-merging=off \
    -drive "$(drive "$tmp/store/raw" raw d1)" -device virtio-blk-pci,drive=d1,request-merging=off \
    -drive "$(drive "$tmp/store/top" qcow2 d2)" -device virtio-blk-pci,drive=d2 \
    -netdev tap,id=n0,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=n0,romfile= \
    -trace 'virtio_blk_handle_*' -trace virtio_blk_req_complete -D "$tmp/trace" -msg timestamp=on </dev/null >"$tmp/qemu.out" 2>&1 &
qemu=$!
cleanup "kill -9 $qemu; wait $qemu"
wait_for 20 test -S "$tmp/monitor"

run "$record" -o "$tmp/no.tape" --qemu-pid $qemu --for 1s
like "$status $err" '^1 .*another network namespace: run iotape-record there' "taps of another network namespace: says what to do"

$in_hv "$record" -o "$tmp/q.tape" --qemu-pid $qemu 2>"$tmp/err" &
recorder=$!
cleanup "kill $recorder"
wait_for 20 test -e "$tmp/q.tape.partial" || note "$(cat "$tmp/err")"
"$python" -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(4096); s.sendall(b"cont\n"); time.sleep(0.3)' "$tmp/monitor"
wait_for 60 guest_done "$tmp/console" || note "$(tail -3 "$tmp/console")"
sleep 0.3
kill -9 $qemu; wait $qemu 2>/dev/null
wait_for 20 test -e "$tmp/q.tape"
ok $? "the recording ends with the process"
kill $recorder 2>/dev/null; wait $recorder; status=$?
err=$(cat "$tmp/err")
is "$status" 0 "recorded"
like "$err" ', 0 lost,' "nothing lost"
like "$err" "process $qemu: net0 left after [0-9]" "says what left"
like "$("$analyze" show "$tmp/q.tape")" 'finished \(guest left\)' "why it ended is in the tape"

# Streams are in the order of descriptors, which is QEMU's affair: sizes and drivers tell them apart.
"$analyze" show "$tmp/q.tape" >"$tmp/show"
streams=$(awk '$1 == "stream" { printf "%s ", $3 }' "$tmp/show" | tr -d ,)
is "$streams" "disk0 disk1 disk2 disk3 net0 " "two disks, an image and the one below it, a tap"
guest_trace "$tmp/trace" | awk '{ print $1, $2, $3 }' | sort >"$tmp/qemu"
stream_of() { # stream_of DRIVER: the one of 64 MiB
    awk -v driver="$1" '$1 == "stream" { name = $4 == "64.00" ? $3 : "" } $1 == "driver:" && $2 == driver && name { print name }' \
        "$tmp/show" | tr -d ,
}
STREAM=$(stream_of loop) tape_ios "$tmp/q.tape" >"$tmp/disk0"
STREAM=$(stream_of file) tape_ios "$tmp/q.tape" >"$tmp/disk1"
STREAM=$(awk '$1 == "stream" && $4 == "16.00" { print $3 }' "$tmp/show" | tr -d ,) tape_ios "$tmp/q.tape" >"$tmp/base"
# QEMU's trace has all disks in one: what is at one of them only tells them apart.
grep -E '^write [0-9]+ 16384$' "$tmp/qemu" >"$tmp/q0"; grep ' 16384$' "$tmp/disk0" | grep ^write >"$tmp/t0"
same_ios "$tmp/q0" "$tmp/t0" "the block device: its writes"
grep -E '^write [0-9]+ 8192$' "$tmp/qemu" >"$tmp/q1"; grep ' 8192$' "$tmp/disk1" | grep ^write >"$tmp/t1"
same_ios "$tmp/q1" "$tmp/t1" "the raw image: its writes"
reads=$(ios_blocks "$tmp/base" | awk '$1 == "read" && $2 < 30 * 4096' | sort -u | wc -l)
is "$reads" 30 "reads of what the top image lacks go to the one below it"
like "$(cat "$tmp/show")" 'guest_format: qcow2' "the image's format is in the tape"
like "$(cat "$tmp/show")" 'guest_page_cache: no' "and that it bypasses the page cache"
talks "$tmp/q.tape" 9999 >"$tmp/talks"
like "$(cat "$tmp/talks")" '^50000 777 ' "the guest's TCP: bytes both ways"

run "$record" -o "$tmp/no.tape" --qemu-pid $$ --for 1s
like "$status $err" '^1 .*has no image, block device or tap open' "a process that is none"
run "$record" -o "$tmp/no.tape" --qemu-pid 4194304 --for 1s
like "$status $err" '^1 .*cannot see what process' "no such process"
run "$record" -o "$tmp/no.tape" --qemu-pid 1/../2 --for 1s
like "$status $err" '^1 .*is no process id' "not a number"
done_testing
