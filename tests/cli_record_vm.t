#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real guest, recorded by its name through libvirt: on a loop device and on a raw image the tape is what QEMU's trace and
# the guest's kernel say; on a qcow2 image it is at least that.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
. "$here/guest.sh"
need_bpf; need_guest

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

boot() { # boot NAME DISK-XML: I/Os land in $tmp/qemu and $tmp/tape
    guest_recorded "$@" || return 1
    guest_trace "$guest_dir/$1.trace" | awk '{ print $1, $2, $3 }' | sort >"$tmp/qemu"
    STREAM=vda tape_ios "$tmp/$1.tape" >"$tmp/tape"
}
sums() { # of lines "OP OFFSET LENGTH": reads, bytes read, writes, bytes written
    awk '{ n[$1]++; b[$1] += $3 } END { printf "%.0f %.0f %.0f %.0f\n", n["read"], b["read"], n["write"], b["write"] }' "$1"
}
for kind in loop raw qcow2; do
    case $kind in
    loop) boot $kind "$(guest_disk block "dev='$device'" raw)" ;;
    raw) boot $kind "$(guest_disk file "file='$tmp/store/raw'" raw)" ;;
    qcow2) boot $kind "$(guest_disk file "file='$tmp/store/qcow2'" qcow2)" ;;
    esac || { ok 1 "$kind: the guest runs and is recorded"; continue; }
    is "$status" 0 "$kind: recorded"
    like "$err" ', 0 lost,' "$kind: nothing lost"
    read -r reads read_bytes writes written_bytes flushes < <(guest_stat "$guest_dir/$kind.console")
    if [ $kind = qcow2 ]; then
        like "$err" 'vda is a qcow2 image: offsets are those in the image' "$kind: says what its offsets are"
        got=($(sums "$tmp/tape"))
        ok $((got[3] >= written_bytes ? 0 : 1)) "$kind: at least what the guest wrote (${got[3]} >= $written_bytes)"
        ok $((written_bytes > 0 ? 0 : 1)) "$kind: which is something"
        continue
    fi
    same_ios "$tmp/qemu" "$tmp/tape" "$kind: the records are those of QEMU's trace"
    [ $kind = loop ] && turns_red "$tmp/qemu" "$tmp/tape"
    # Before the kernel, the firmware reads the boot sector; and the kernel counts each flush as a write of nothing, too.
    grep -v '^read 0 512$' "$tmp/tape" >"$tmp/kernel"
    is "$(sums "$tmp/kernel")" "$reads $read_bytes $((writes - flushes)) $written_bytes" \
        "$kind: and what the guest's kernel counted"
    is "$(STREAM=vda tape_ios "$tmp/$kind.tape" flush | wc -l)" "$flushes" "$kind: as many flushes as the guest's ($flushes)"
done
run "$analyze" show "$tmp/raw.tape"
like "$out" 'guest_cache: none' "the disk's cache mode is in the tape"
like "$out" 'guest_aio: native' "and how QEMU submits"
like "$out" 'guest_bus: virtio' "and the bus"
like "$out" 'guest_format: raw' "and the format"

# What is plugged in is followed, what is pulled out is marked, and the recording ends with the guest.
guest_initrd '
dd if=/dev/vda of=/dev/null bs=4k count=50 skip=1000 iflag=direct status=none
echo GUEST-READY
while [ ! -e /dev/vdb ]; do sleep 0.1; done
sleep 3
dd if=/dev/zero of=/dev/vdb bs=8k count=70 seek=11 oflag=direct conv=notrunc status=none
echo GUEST-WROTE'
domain_start plug "$(guest_disk block "dev='$device'" raw)"
"$record" --keep-privileges -o "$tmp/plug.tape" --vm plug --connect "$uri" 2>"$tmp/plug.err" &
recorder=$!
cleanup "kill $recorder"
wait_for 20 test -e "$tmp/plug.tape.partial" || note "$(cat "$tmp/plug.err")"
$virsh resume plug
wait_for 30 grep -q GUEST-READY "$guest_dir/plug.console"
cat >"$tmp/vdb.xml" <<END
<disk type='file' device='disk'><driver name='qemu' type='raw' cache='none' io='native'/>
<source file='$tmp/store/raw'/><target dev='vdb' bus='virtio'/></disk>
END
$virsh attach-device plug "$tmp/vdb.xml" || note "cannot attach"
wait_for 30 grep -q GUEST-WROTE "$guest_dir/plug.console" || note "$(tail -3 "$guest_dir/plug.console")"
$virsh detach-device plug "$tmp/vdb.xml"
wait_for 20 grep -q 'vdb left' "$tmp/plug.err"
ok $? "says that a disk left"
$virsh destroy plug
wait_for 20 test -e "$tmp/plug.tape"
ok $? "the recording ends with its guest"
kill $recorder; wait $recorder
is "$?" 0 "and well"
err=$(cat "$tmp/plug.err")
like "$err" 'vdb was plugged in after [0-9]' "says that a disk was plugged in"
for ((i = 11; i < 81; i++)); do echo "write $((i * 8192)) 8192"; done | sort >"$tmp/dd"
STREAM=vdb tape_ios "$tmp/plug.tape" write >"$tmp/tape"
same_ios "$tmp/dd" "$tmp/tape" "what was plugged in is recorded"
run "$analyze" show "$tmp/plug.tape"
like "$out" 'joined_ns: [0-9]' "with its time"
like "$out" 'left_ns.vdb: *[0-9]' "what left is marked with its time"
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
