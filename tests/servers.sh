# Real servers on loopback or on a Unix socket, for tests and benches; after lib.sh. One function a server, each ended by pid.

# nbd_server SOCKET ARGUMENT...: nbdkit on a Unix socket; sets $nbd_pid.
nbd_server() {
    local socket=$1; shift
    rm -f "$socket"
    nbdkit -f -U "$socket" -t 64 "$@" 2>>"$tmp/nbdkit.err" & nbd_pid=$!
    cleanup "kill $nbd_pid; wait $nbd_pid"
    wait_for 10 test -S "$socket" || { note "nbdkit did not start: $*"; return 1; }
}
# nbd_server_tcp PORT ARGUMENT...: the same on 127.0.0.1.
nbd_server_tcp() {
    local port=$1; shift
    nbdkit -f -i 127.0.0.1 -p "$port" -t 64 "$@" 2>>"$tmp/nbdkit.err" & nbd_pid=$!
    cleanup "kill $nbd_pid; wait $nbd_pid"
    wait_for 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" || { note "nbdkit did not start: $*"; return 1; }
}
# nbd_stop PID [SIGNAL]: ends a server, and waits for its end.
nbd_stop() { kill "-${2:-TERM}" "$1" 2>/dev/null; wait "$1" 2>/dev/null; }
# nbd_requests LOG: what nbdkit's log filter saw, one request a line: operation, offset, length, FUA.
nbd_requests() {
    $python - "$1" <<'END'
import re, sys
for line in open(sys.argv[1]):
    m = re.search(r' (Read|Write|Trim|Zero|Flush) id=\d+ (.*)\.\.\.$', line)
    if m:
        v = dict(p.split('=') for p in m[2].split())
        print(m[1], int(v.get('offset', '0'), 16), int(v.get('count', '0'), 16), v.get('fua', '0'))
END
}
# nfs_server DIR [EXPORT-OPTIONS [FSAL]]: nfs-ganesha on loopback, which exports DIR under its own name (version 3) and as
# /export (version 4); sets $nfs_pid and $nfs_query, what the URL ends with. A second call starts it again where it was.
nfs_port=$((23000 + $$ % 4000 * 2))
nfs_server() {
    local conf=$tmp/ganesha.conf try
    # The server registers with a portmapper and does not start without one; in a network of its own nobody else sees it.
    [ -n "${nfs_rpcbind:-}" ] || {
        unshare -n rpcbind -f 2>>"$tmp/rpcbind.err" & nfs_rpcbind=$!
        cleanup "kill $nfs_rpcbind; wait $nfs_rpcbind"
        wait_for 5 test -S /run/rpcbind.sock
    }
    cat >"$conf" <<END
NFS_CORE_PARAM { Bind_addr=127.0.0.1; NFS_Port=$nfs_port; MNT_Port=$((nfs_port + 1)); Enable_UDP=false; Enable_NLM=false;
    Enable_RQUOTA=false; Protocols=3,4; NFS_Protocols=3,4; }
NFSv4 { Graceless = true; }
MEM { Inode_Size=1114112; Async_Threads=16; }
EXPORT { Export_Id=1; Path=$1; Pseudo=/export; Squash=No_Root_Squash; SecType=sys; Protocols=3,4; Transports=TCP;
    ${2:-Access_Type=RW;} FSAL { ${3:-Name=VFS;} } }
END
    nfs_query="version=3&nfsport=$nfs_port&mountport=$((nfs_port + 1))"
    for ((try = 0; try < 5; try++)); do
        rm -f "$tmp/ganesha.pid"
        ganesha.nfsd -F -L "$tmp/ganesha.log" -f "$conf" -p "$tmp/ganesha.pid" -N NIV_EVENT >/dev/null 2>&1 & nfs_pid=$!
        # The port may be open before the server serves: it says when it does.
        wait_for 10 eval "grep -q 'nfs-ganesha-$nfs_pid.*NFS SERVER INITIALIZED' '$tmp/ganesha.log' || ! kill -0 $nfs_pid"
        kill -0 $nfs_pid 2>/dev/null && { cleanup "kill -9 $nfs_pid; wait $nfs_pid"; return 0; }
        sleep 0.2
    done
    note "nfs-ganesha did not start: $(tail -3 "$tmp/ganesha.log")"
    return 1
}
# nfs_stop [SIGNAL]: ends it, and waits for its end.
nfs_stop() { kill "-${1:-TERM}" "$nfs_pid" 2>/dev/null; wait "$nfs_pid" 2>/dev/null; }
