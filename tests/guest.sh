# SPDX-License-Identifier: GPL-2.0-or-later
# Real guests: QEMU without KVM, a Debian kernel, busybox; and a libvirtd of the test's own. Source after lib.sh.
guest_kernel=${GUEST_KERNEL:-/var/cache/iotape-tests/guest-kernel}
need_guest() {
    need_root
    need qemu-system-x86_64 qemu-img cpio gzip
    [ -s "$guest_kernel/vmlinuz" ] || skip_all "needs the guests' kernel (make deps-servers)"
    guest_dir=$tmp/guest; mkdir -p "$guest_dir"
}
# guest_initrd: what the guest does on its disk is the first argument, and with its network the second: shell commands.
guest_initrd() {
    local root=$guest_dir/root
    mkdir -p "$root"/{bin,proc,sys,dev,lib}
    cp /bin/busybox "$root/bin/"; cp "$guest_kernel"/*.ko "$root/lib/"
    cp "$top/tests/guest/init" "$root/init"; chmod +x "$root/init"
    printf '%s\n' "$1" >"$root/disk"
    [ -n "${2:-}" ] && printf '%s\n' "$2" >"$root/net"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$guest_dir/initrd"
}
guest_append="console=ttyS0 panic=-1 quiet"
# What QEMU was asked for by its guest: lines "OP OFFSET LENGTH LATENCY-IN-US", from its trace.
guest_trace() { # guest_trace LOG
    awk 'match($0, /[0-9]+@[0-9.]+:/) {
            split(substr($0, RSTART, RLENGTH - 1), at, "@"); time = at[2]
            rest = substr($0, RSTART + RLENGTH); split(rest, f, " ")
            if (f[1] == "virtio_blk_handle_read" || f[1] == "virtio_blk_handle_write") {
                began[f[5]] = time; op[f[5]] = substr(f[1], 19); sector[f[5]] = f[7]; count[f[5]] = f[9] }
            if (f[1] == "virtio_blk_req_complete" && f[5] in began) {
                printf "%s %.0f %.0f %.0f\n", op[f[5]], sector[f[5]] * 512, count[f[5]] * 512, (time - began[f[5]]) * 1e6
                delete began[f[5]] } }' "$1"
}
# The guest's own counts: reads, bytes read, writes, bytes written, flushes (Documentation/block/stat.rst).
guest_stat() { # guest_stat CONSOLE-LOG
    tr -d '\r' <"$1" | awk '$1 == "GUEST-STAT" { printf "%.0f %.0f %.0f %.0f %.0f\n", $2, $4 * 512, $6, $8 * 512, $17 }'
}
guest_done() { grep -q GUEST-DONE "$1"; }

# libvirtd_start: one of the test's own, in a mount namespace of its own, sets $uri and $virsh.
libvirtd_start() {
    need libvirtd virsh unshare
    local dir=$guest_dir/virt; mkdir -p "$dir"/{etc,run,lib,cache,log,sock}
    cat >"$dir/etc/libvirtd.conf" <<END
auth_unix_rw = "none"
auth_unix_ro = "none"
unix_sock_group = "root"
unix_sock_dir = "$dir/sock"
END
    cat >"$dir/etc/qemu.conf" <<END
user = "root"
group = "root"
security_driver = "none"
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
remember_owner = 0
dynamic_ownership = 0
END
    # Users that the package which starts libvirtd at boot would make.
    { cat /etc/passwd; getent passwd libvirt-qemu >/dev/null || echo "libvirt-qemu:x:64055:64055::/nonexistent:/bin/false"; } \
        >"$dir/passwd"
    { cat /etc/group; getent group kvm >/dev/null || echo "kvm:x:64056:"
      getent group libvirt-qemu >/dev/null || echo "libvirt-qemu:x:64055:"; } >"$dir/group"
    mkdir -p /etc/libvirt /var/lib/libvirt /var/cache/libvirt /run/libvirt /var/log/libvirt
    unshare -m bash -c '
        d=$1
        mount --bind "$d/passwd" /etc/passwd && mount --bind "$d/group" /etc/group &&
            mount --bind "$d/etc" /etc/libvirt && mount --bind "$d/lib" /var/lib/libvirt &&
            mount --bind "$d/cache" /var/cache/libvirt && mount --bind "$d/run" /run/libvirt &&
            mount --bind "$d/log" /var/log/libvirt && exec libvirtd -f /etc/libvirt/libvirtd.conf' - "$dir" \
        >"$dir/out" 2>&1 &
    libvirtd=$!
    cleanup "kill $libvirtd; wait $libvirtd"
    uri="qemu+unix:///system?socket=$dir/sock/libvirt-sock"
    virsh="virsh -q -c $uri"
    wait_for 30 libvirtd_answers || { note "$(tail -3 "$dir/out")"; return 1; }
    kill -0 "$libvirtd"
}
libvirtd_answers() { ! kill -0 "$libvirtd" || { [ -S "$guest_dir/virt/sock/libvirt-sock" ] && $virsh list; }; }
# domain_start NAME DISK-XML...: defined and started, but not running yet: `$virsh resume NAME` does that. Its console is
# in $guest_dir/NAME.console, QEMU's trace in $guest_dir/NAME.trace.
domain_start() {
    local name=$1; shift
    cat >"$guest_dir/$name.xml" <<END
<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>$name</name><memory unit='MiB'>128</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type>
    <kernel>$guest_kernel/vmlinuz</kernel><initrd>$guest_dir/initrd</initrd><cmdline>$guest_append</cmdline></os>
  <features><acpi/></features>
  <on_poweroff>destroy</on_poweroff>
  <devices>
    <emulator>$(command -v qemu-system-x86_64)</emulator>
    $*
    <serial type='file'><source path='$guest_dir/$name.console'/><target port='0'/></serial>
  </devices>
  <qemu:commandline>
    <qemu:arg value='-trace'/><qemu:arg value='virtio_blk_handle_*'/>
    <qemu:arg value='-trace'/><qemu:arg value='virtio_blk_req_complete'/>
    <qemu:arg value='-D'/><qemu:arg value='$guest_dir/$name.trace'/>
    <qemu:arg value='-msg'/><qemu:arg value='timestamp=on'/>
  </qemu:commandline>
  <qemu:override><qemu:device alias='virtio-disk0'><qemu:frontend>
    <qemu:property name='request-merging' type='bool' value='false'/>
  </qemu:frontend></qemu:device></qemu:override>
</domain>
END
    $virsh create --paused "$guest_dir/$name.xml" 2>"$tmp/virsh" || { note "$(cat "$tmp/virsh")"; return 1; }
    # By itself, too: a libvirtd that was ended leaves its guests running.
    cleanup "$virsh destroy $name; kill -9 \$(cat $guest_dir/virt/run/qemu/$name.pid)"
}
# guest_disk TYPE SOURCE FORMAT: the XML of vda.
guest_disk() {
    echo "<disk type='$1' device='disk'><driver name='qemu' type='$3' cache='none' io='native'/><source $2/>" \
        "<target dev='vda' bus='virtio'/><alias name='virtio-disk0'/></disk>"
}
# guests_recorded TAPE NAME...: the whole life of guests that domain_start made, recorded by --vm: $tmp/TAPE.tape; $status and
# $err are the recorder's.
guests_recorded() {
    local tape=$1 name vms=(); shift
    for name; do vms+=(--vm "$name"); done
    "$record" -o "$tmp/$tape.tape" "${vms[@]}" --connect "$uri" 2>"$tmp/$tape.err" &
    recorder=$!
    cleanup "kill $recorder"
    wait_for 20 test -e "$tmp/$tape.tape.partial" || { note "$(cat "$tmp/$tape.err")"; return 1; }
    for name; do $virsh resume "$name"; done
    for name; do wait_for 60 guest_done "$guest_dir/$name.console" || note "$(tail -3 "$guest_dir/$name.console")"; done
    sleep 0.3
    kill $recorder; wait $recorder; status=$?
    for name; do kill -9 "$(cat "$guest_dir/virt/run/qemu/$name.pid")"; done # libvirt's way takes seconds
    err=$(cat "$tmp/$tape.err")
}
# guest_recorded NAME DISK-XML: the same of one guest.
guest_recorded() { domain_start "$@" && guests_recorded "$1" "$1"; }
# guest_store: an ext4 of the test's own at $tmp/store, with the image `raw` (64 MiB, all written), and the device $device.
guest_store() {
    need_loop; need mkfs.ext4
    loop_new 512M; store=$loop
    mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$store"; mkdir "$tmp/store"
    mount "$store" "$tmp/store" && cleanup "umount $tmp/store" || skip_all "cannot mount ext4"
    loop_new 64M; device=$loop
    dd if=/dev/zero of="$tmp/store/raw" bs=1M count=64 oflag=direct conv=fsync status=none
}
