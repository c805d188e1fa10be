#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NFS version 4, read: a file of nfs-ganesha that was written with version 3 is read whole and verified; a restart is survived;
# what cannot be read is one error, and nothing is ever written.
. "$(dirname "$0")/replay.sh"
need_root
need ganesha.nfsd rpcbind unshare

mkdir -p export/sub
dir=$tmp/export
nfs_server "$dir" || skip_all "nfs-ganesha does not start"
three() { echo "nfs://127.0.0.1$dir/$1?$nfs_query"; }
four() { echo "nfs://127.0.0.1/export/$1?version=4&nfsport=$nfs_port${2:+&$2}"; }
separate_writes >work.txt
{ cat work.txt; echo "400000 read 0 2097152"; } | tape work
run $replay work.tape --to "$(three sub/a.img)" -o v.run --verify
is $status 0 "written with version 3, to be verified"
[ $status = 0 ] || note "$err"
before=$(sha256sum <export/sub/a.img)

run $replay work.tape --to "$(four sub/a.img)" -o a.run --read-only --timing asap
is "$status,$(rep a.run errors),$(rep a.run records)" "0,0,$(($(grep -c read work.txt) + 1))" "reads with version 4, 512 bytes to 2 MiB"
[ $status = 0 ] || note "$err"
like "$($analyze show a.run)" "protocol: NFS version 4 over TCP" "the run says so"
run $replay work.tape --to "$(four sub/a.img connections=3)" --verify-only v.run
like "$status,$out" "0,.*: [0-9]{3,} checks of blocks of 4 KiB, 0 failed" "what was read is what was written, over three connections"
[ $status = 0 ] || note "$err"
printf 'x' | dd of=export/sub/a.img bs=1 seek=5000 conv=notrunc 2>/dev/null
run $replay work.tape --to "$(four sub/a.img)" --verify-only v.run
like "$status,$err" "1,.*byte 4608: expected" "control: a byte that differs is noticed"
before=$(sha256sum <export/sub/a.img)

# Killed and started again.
awk '{ $1 *= 8; print }' work.txt | tape slow # 2.4 s
begin slow.tape --to "$(four sub/a.img)" -o r.run --read-only --timing recorded
wait_for 20 test -e r.run.partial; sleep 1; nfs_stop KILL; sleep 0.3; nfs_server "$dir"
finish
is "$status,$(rep r.run errors),$(rep r.run path_changes)" 0,0,2 "the server was killed and started again: no read failed"
[ $status = 0 ] || note "$err"
begin slow.tape --to "$(four sub/a.img)" -o g.run --read-only --timing recorded --stall-timeout 2s
wait_for 20 test -e g.run.partial; sleep 0.5; kill -STOP $nfs_pid
finish
like "$status,$(tail -1 <<<"$err")" "1,.*Connection timed out" "one that hangs: an end"
kill -CONT $nfs_pid

refuse() { # refuse URL REGEX NAME [OPTION...]
    run timeout 60 $replay work.tape --to "$1" -o no.run --stall-timeout 3s "${@:4}"
    is "$status,$(wc -l <.err),$(ls no.run* 2>/dev/null)" 1,1, "$3"
    like "$err" "$2" "$3: says why"
}
ln -s sub export/link; ln -s a.img export/sub/link; : >export/secret; chmod 0 export/secret
refuse "$(four sub/a.img)" "with NFS version 4 files are only read .--read-only.*libnfs 4.0.0.*version=3" "writing"
refuse "$(four new.img)" "only read" "a file that is absent"
refuse "$(four new.img)" "cannot find 'new.img' of 'nfs://.*No such file" "absent, to be read" --read-only
refuse "$(four none/a.img)" "cannot find 'none' of .*No such file" "no such directory" --read-only
refuse "nfs://127.0.0.1$dir/sub/a.img?version=4&nfsport=$nfs_port" "root of exports" "a path as version 3 has it" --read-only
refuse "$(four sub)" "no regular file" "a directory" --read-only
refuse "$(four sub/link)" "no regular file" "a link" --read-only
refuse "$(four link/a.img)" "cannot find 'a.img' of .*(Too many levels|Not a directory)" "a link on the way" --read-only
refuse "$(four secret "uid=12345&gid=12345")" "grants no right to read" "no right" --read-only
refuse "$(four "$(printf 'a/%.0s' {1..99})x")" "too long for NFS version 4" "a path of 100 names" --read-only
refuse "nfs://127.0.0.1/export/a.img?version=4&nfsport=1" "cannot reach the NFS server.*Connection refused" "nobody listens" --read-only
other_server "c.recv(9999); c.sendall(os.urandom(65536)); time.sleep(30)"
refuse "nfs://127.0.0.1/export/a.img?version=4&nfsport=$other_port" "NFS server" "noise" --read-only
other_server "c.recv(9999); c.sendall(bytes([128, 0, 0, 24]) + bytes(24)); time.sleep(30)"
refuse "nfs://127.0.0.1/export/a.img?version=4&nfsport=$other_port" "NFS server" "answers to nothing" --read-only
is "$(sha256sum <export/sub/a.img)" "$before" "no byte changed"

# A server whose compounds (RFC 7530, 15.2) succeed and make no sense: results as words in hexadecimal, by what they lack.
cat >evil.py <<'END'
import socket, struct
while len(head := c.recv(4, socket.MSG_WAITALL)) == 4:
    call = c.recv(struct.unpack('>I', head)[0] & 0x7fffffff, socket.MSG_WAITALL)
    words = [] if call[20:24] == bytes(4) else [int(w, 16) for w in open('evil.words').read().split()]
    reply = call[:4] + struct.pack('>%dI' % (5 + len(words)), 1, 0, 0, 0, 0, *words)
    c.sendall(struct.pack('>I', len(reply) | 0x80000000) + reply)
END
other_server "exec(open('evil.py').read())"
fh="a 0 4 1234" access="3 0 1 1" attributes="9 0 1 12 c 1 0 400000"
while read -r what words; do
    echo "0 0 $words" >evil.words # status, tag
    refuse "nfs://127.0.0.1/export/a.img?version=4&nfsport=$other_port" "NFS server.*(makes no sense|what it should not)" "results: $what" --read-only
done <<END
none 0
failed 3 a 2711 9 2711 3 2711
no-handle 3 a 0 0 $attributes $access
long-handle 3 a 0 90 $(printf '0 %.0s' {1..36}) $attributes $access
no-attributes 3 $fh 9 0 0 0 $access
short-attributes 3 $fh 9 0 1 12 4 1 $access
other-attributes 3 $fh 9 0 1 ffffffff 4 1 $access
other-operations 3 $access $fh $attributes
cut-off 3 $fh 9
END
# One file that is found; what reads of it bring is what finding it brings, which is no read.
echo "0 0 3 $fh $attributes $access" >evil.words
run timeout 60 $replay work.tape --to "nfs://127.0.0.1/export/a.img?version=4&nfsport=$other_port" -o e.run --read-only --stall-timeout 3s
like "$status,$(tail -1 <<<"$err")" "1,iotape-replay: error: .*Input/output error" "reads that bring something else: an error"
done_testing
