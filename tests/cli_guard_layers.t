#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same bytes under another name: layers of an overlay, swap files, a file that is named twice, a name that is a scheme.
. "$(dirname "$0")/replay.sh"
need_loop
export PATH=$PATH:/usr/sbin:/sbin
need mkfs.ext4 mkswap swapon losetup
printf '%s\n' '0 read 8388608 65536' '1000 write 9437184 4096' | tape work

# refused TARGET FILE REGEX NAME: one line, exit 1, and no byte of FILE changes, whatever is allowed. 2 checks.
refused() {
    local before=$(sha256sum <"$2")
    run $replay work.tape --to "$1" -o out.run --overwrite-data
    is "$status,$(wc -l <.err),$(sha256sum <"$2"),$(ls out.run* 2>/dev/null)" "1,1,$before," "$4: refused in one line, nothing changed"
    like "$err" "$3" "$4: says why"
}

# An overlay in a file system of its own; the disk image is in its upper layer, and in its lower one.
loop_new 256M; ext=$loop
mkfs.ext4 -q "$ext" 2>/dev/null; mkdir ext m
mount "$ext" ext; cleanup "umount $tmp/ext"
mkdir ext/lower "ext/up per" ext/work ext/lower/sub
truncate -s 32M ext/lower/sub/low.img; mkfs.ext4 -q ext/lower/sub/low.img 2>/dev/null
if mount -t overlay none -o "lowerdir=$tmp/ext/lower,upperdir=$tmp/ext/up per,workdir=$tmp/ext/work" m 2>/dev/null; then
    cleanup "umount $tmp/m"
    truncate -s 32M m/disk.img; mkfs.ext4 -q m/disk.img 2>/dev/null
    mkdir mnt low other
    loop_attach m/disk.img; inner=$loop
    mount "$inner" mnt; cleanup "umount $tmp/mnt"
    refused "ext/up per/disk.img" "ext/up per/disk.img" "$inner.* holds the same bytes .*, is mounted at '$tmp/mnt'" \
        "the upper layer's file of a mounted image"
    refused m/disk.img "ext/up per/disk.img" "is mounted at '$tmp/mnt'" "the image itself"
    umount mnt
    losetup -d "$inner"
    loop_attach m/sub/low.img -r; inner=$loop
    mount -o ro,noload "$inner" low; cleanup "umount $tmp/low"
    refused ext/lower/sub/low.img ext/lower/sub/low.img "is mounted at '$tmp/low'" "the lower layer's file of a mounted image"
    umount low
    losetup -d "$inner"
    run $replay work.tape --to "ext/up per/disk.img" -o out.run --overwrite-data
    is $status 0 "control: the same file when nobody uses it"
    rm -f out.run
    loop_attach m/disk.img
    run $replay work.tape --to "$loop" -o out.run --to m/disk.img -o b.run
    like "$status,$err" "1,.*in use" "an overlay's file and a loop device over it are one place"
else
    skip 8 "no overlay file systems"
fi

# A swap file, also through a loop device over it.
truncate -s 0 swap.img; chmod 600 swap.img; head -c 16M /dev/zero >"swap file.img"; chmod 600 "swap file.img"
mkswap "swap file.img" >/dev/null 2>&1
if swapon "swap file.img" 2>/dev/null; then
    cleanup "swapoff '$tmp/swap file.img'"
    refused "swap file.img" "swap file.img" "in use as swap" "a swap file"
    swapoff "swap file.img"
    run $replay work.tape --to "swap file.img" -o out.run --overwrite-data
    is $status 0 "control: the same file when it is swapped off"
    rm -f out.run
else
    skip 3 "swap cannot be switched on here"
fi

# Nothing is created.
before=$(ls)
run $replay work.tape --to a.img -o a.run --to ./a.img -o b.run
is "$status,$(wc -l <.err),$(ls)" "1,1,$before" "a file under two names: nothing is made"
like "$err" "targets 'a.img' and './a.img' are the same file" "and it is said"
ln -s "$tmp" here
run $replay work.tape --to a.img -o a.run --to aio:here/a.img -o b.run
like "$status,$err" "1,.*are the same file" "also through a link"
rm here
for url in bogus: bogus:a.img http://host/a.img isci://host/iqn/1; do
    run $replay work.tape --to $url -o a.run
    is "$status,$(wc -l <.err),$(ls)" "1,1,$before" "'$url': nothing is made"
    like "$err" "'$url' has an unknown scheme: known are null:, aio:, nbd://" "and what is known is said"
done
run $replay work.tape --to aio:bogus:a.img -o a.run; is "$status,$(ls bogus*)" "0,bogus:a.img" "aio: takes any name"
run $replay work.tape --to bogus:a.img -o a.run; is $status 0 "and a file that is there is no URL"
run $replay work.tape --to ./other:b.img -o a.run; is $status 0 "nor is a path"
done_testing
