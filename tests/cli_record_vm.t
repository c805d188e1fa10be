#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real guest, recorded by its name through libvirt: on a loop device and on a raw image the tape is what QEMU's trace and
# the guest's kernel say; on a qcow2 image it is at least that. Several at once; what comes and goes.
# The taps are in a network of the test's own.
[ "$(id -u)" -ne 0 ] || [ "${1:-}" = inside ] || exec unshare -n "$0" inside
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
. "$here/guest.sh"
. "$here/net_lab.sh"
need_bpf; need_guest; need ip
ip link set lo up

guest_initrd '
dd if=/dev/vda of=/dev/null bs=4k count=200 skip=1000 iflag=direct status=none
dd if=/dev/zero of=/dev/vda bs=4k count=150 seek=3000 oflag=direct conv=notrunc,fsync status=none
dd if=/dev/vda of=/dev/null bs=64k count=40 skip=77 iflag=direct status=none
for at in 9 3 11 250 100 17 255 0; do
    dd if=/dev/zero of=/dev/vda bs=20k count=3 seek=$at oflag=direct conv=notrunc,fsync status=none
done'

guest_store
qemu-img create -q -f qcow2 "$tmp/store/qcow2" 64M
libvirtd_start || skip_all "libvirtd does not start"

sums() { # of lines "OP OFFSET LENGTH": reads, bytes read, writes, bytes written
    awk '{ n[$1]++; b[$1] += $3 } END { printf "%.0f %.0f %.0f %.0f\n", n["read"], b["read"], n["write"], b["write"] }' "$1"
}
truth() { guest_trace "$guest_dir/$1.trace" | awk '{ print $1, $2, $3 }' | sort; }
kernel_counts() { read -r reads read_bytes writes written_bytes flushes < <(guest_stat "$guest_dir/$1.console"); }

# Three at once, in one tape.
domain_start loop "$(guest_disk block "dev='$device'" raw)" && domain_start raw "$(guest_disk file "file='$tmp/store/raw'" raw)" &&
    domain_start qcow2 "$(guest_disk file "file='$tmp/store/qcow2'" qcow2)" && guests_recorded all loop raw qcow2
is "$? $status" "0 0" "three guests run and are recorded"
like "$err" ', 0 lost,' "nothing lost"
vm=0
for kind in loop raw; do
    vm=$((vm + 1))
    truth $kind >"$tmp/qemu"
    STREAM=vm$vm.vda tape_ios "$tmp/all.tape" >"$tmp/tape"
    same_ios "$tmp/qemu" "$tmp/tape" "$kind: the records are those of QEMU's trace"
    [ $kind = loop ] && turns_red "$tmp/qemu" "$tmp/tape"
    # Before the kernel, the firmware reads the boot sector; and the kernel counts each flush as a write of nothing, too.
    grep -v '^read 0 512$' "$tmp/tape" >"$tmp/kernel"
    kernel_counts $kind
    is "$(sums "$tmp/kernel")" "$reads $read_bytes $((writes - flushes)) $written_bytes" \
        "$kind: and what the guest's kernel counted"
    is "$(STREAM=vm$vm.vda tape_ios "$tmp/all.tape" flush | wc -l)" "$flushes" "$kind: as many flushes as the guest's ($flushes)"
done
like "$err" "domain 'qcow2': vda is a qcow2 image: offsets are those in the image" "qcow2: says what its offsets are"
STREAM=vm3.vda tape_ios "$tmp/all.tape" >"$tmp/tape"
got=($(sums "$tmp/tape"))
kernel_counts qcow2
ok $((got[3] >= written_bytes ? 0 : 1)) "qcow2: at least what the guest wrote (${got[3]} >= $written_bytes)"
ok $((written_bytes > 0 ? 0 : 1)) "qcow2: which is something"
run "$analyze" show "$tmp/all.tape"
like "$out" 'guest_cache: none' "the disk's cache mode is in the tape"
like "$out" 'guest_aio: native' "and how QEMU submits"
like "$out" 'guest_bus: virtio' "and the bus"
like "$out" 'guest_format: raw' "and the format"

# What is plugged in is followed, a volume of a pool and an interface, what is pulled out is marked, and the recording ends with
# the guest, whose interfaces libvirt then removes.
guest_initrd '
dd if=/dev/vda of=/dev/null bs=4k count=50 skip=1000 iflag=direct status=none
echo GUEST-READY
while [ ! -e /dev/vdb ] || [ ! -e /sys/class/net/eth1 ]; do sleep 0.1; done
sleep 2
dd if=/dev/zero of=/dev/vdb bs=8k count=70 seek=11 oflag=direct conv=notrunc status=none
ip link set eth1 up; ip addr add 10.99.8.2/24 dev eth1
echo GUEST-WROTE $(dd if=/dev/zero bs=1000 count=7 2>/dev/null | nc 10.99.8.1 9999 | wc -c)'
interface() { echo "<interface type='ethernet'><target dev='$1'/><model type='virtio'/><rom enabled='no'/></interface>"; }
$virsh pool-create-as images dir --target "$tmp/store" >"$tmp/virsh" 2>&1 || note "$(cat "$tmp/virsh")"
domain_start plug "$(guest_disk block "dev='$device'" raw)" "$(interface tapa)"
"$record" --keep-privileges -o "$tmp/plug.tape" --vm plug --connect "$uri" 2>"$tmp/plug.err" &
recorder=$!
cleanup "kill $recorder"
wait_for 20 test -e "$tmp/plug.tape.partial" || note "$(cat "$tmp/plug.err")"
$virsh resume plug
wait_for 30 grep -q GUEST-READY "$guest_dir/plug.console"
cat >"$tmp/vdb.xml" <<END
<disk type='volume' device='disk'><driver name='qemu' type='raw' cache='none' io='native'/>
<source pool='images' volume='raw'/><target dev='vdb' bus='virtio'/></disk>
END
interface tapb >"$tmp/net1.xml"
$virsh attach-device plug "$tmp/net1.xml" 2>"$tmp/virsh" || note "cannot attach: $(cat "$tmp/virsh")"
ip addr add 10.99.8.1/24 dev tapb; ip link set tapb up
"$python" -c '
import socket
s = socket.socket(); s.bind(("10.99.8.1", 9999)); s.listen()
c, _ = s.accept()
got = 0
while got < 7000: got += len(c.recv(65536))
c.sendall(b"x" * 333)' & cleanup "kill $!; wait $!"
$virsh attach-device plug "$tmp/vdb.xml" 2>"$tmp/virsh" || note "cannot attach: $(cat "$tmp/virsh")"
wait_for 30 grep -q GUEST-WROTE "$guest_dir/plug.console" || note "$(tail -3 "$guest_dir/plug.console")"
like "$(tr -d '\r' <"$guest_dir/plug.console")" '^GUEST-WROTE 333$' "the guest's conversation on what was plugged in"
sleep 0.3
$virsh detach-device plug "$tmp/vdb.xml"
wait_for 20 grep -q 'vdb left' "$tmp/plug.err"
ok $? "says that a disk left"
$virsh attach-device plug "$tmp/vdb.xml"
plugged_in() { [ "$(grep -c 'vdb was plugged in' "$tmp/plug.err")" -ge "$1" ]; }
wait_for 20 plugged_in 2
ok $? "and that it is there again"
$virsh destroy plug
wait_for 20 test -e "$tmp/plug.tape"
ok $? "the recording ends with its guest"
kill $recorder 2>/dev/null; wait $recorder
is "$?" 0 "and well"
err=$(cat "$tmp/plug.err")
like "$err" 'vdb was plugged in after [0-9]' "says that a disk was plugged in"
like "$err" 'net1 was plugged in after [0-9.]+ m?s$' "and an interface"
for ((i = 11; i < 81; i++)); do echo "write $((i * 8192)) 8192"; done | sort >"$tmp/dd"
STREAM=vdb tape_ios "$tmp/plug.tape" write >"$tmp/tape"
same_ios "$tmp/dd" "$tmp/tape" "what was plugged in is recorded"
is "$(talks "$tmp/plug.tape" 9999 | cut -d' ' -f1,2)" "7000 333" "the conversation, too"
run "$analyze" show "$tmp/plug.tape"
like "$out" 'joined_ns: [0-9]' "with its time"
like "$out" 'guest_volume: yes' "a volume is known as one"
like "$out" 'left_ns.vdb: *[0-9]' "what left is marked with its time"
like "$out" 'left_ns.vdb2: *[0-9]' "the second time as another stream"
like "$out" 'left_ns.net0: *[0-9]' "an interface, too"
like "$out" 'finished \(guest left\)' "why it ended is in the tape"

refuse() { # refuse REGEX NAME RECORD-OPTION...
    local regex=$1 name=$2; shift 2
    run "$record" -o "$tmp/no.tape" --for 1s "$@"
    like "$status $err" "^1 iotape-record: error: $regex" "$name"
}
refuse "libvirt knows no domain 'none'" "no such domain" --vm none --connect "$uri"
refuse "cannot connect to libvirt at 'qemu.unix" "no libvirtd" --vm none --connect "qemu+unix:///system?socket=$tmp/none"
refuse "domain 'test': vda: cannot record '/guest/diskimage1': No such file" "a disk that is not there" \
    --vm test --connect test:///default
done_testing
