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
    wait_for 10 listens "$port" || { note "nbdkit did not start: $*"; return 1; }
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
    # The server registers with a portmapper and does not start without one; with a network and a /run of its own nobody else
    # sees it.
    [ -n "${nfs_rpcbind:-}" ] || {
        mkdir -p "$tmp/run"
        unshare -n -m sh -c "mount --bind '$tmp/run' /run && exec rpcbind -f" 2>>"$tmp/rpcbind.err" & nfs_rpcbind=$!
        cleanup "kill $nfs_rpcbind; wait $nfs_rpcbind"
        wait_for 5 test -S "$tmp/run/rpcbind.sock"
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
        unshare -m sh -c "mount --bind '$tmp/run' /run &&
            exec ganesha.nfsd -F -L '$tmp/ganesha.log' -f '$conf' -p '$tmp/ganesha.pid' -N NIV_EVENT" >/dev/null 2>&1 & nfs_pid=$!
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
# iscsi_server: tgtd on 127.0.0.1 and 127.0.0.2, port $iscsi_port; sets $iscsi_pid. A second call starts it again, empty.
iscsi_port=$((31000 + $$ % 1700))
iscsi_server() {
    tgtd -f -C $iscsi_port --iscsi portal=127.0.0.1:$iscsi_port,portal=127.0.0.2:$iscsi_port 2>>"$tmp/tgtd.err" & iscsi_pid=$!
    cleanup "kill -9 $iscsi_pid; wait $iscsi_pid; rm -f /var/run/tgtd/socket.$iscsi_port*"
    wait_for 10 tgt --op show --mode target || { note "tgtd did not start: $(tail -3 "$tmp/tgtd.err")"; return 1; }
}
# tgt ARGUMENT...: tgtadm on that server.
tgt() { tgtadm -C $iscsi_port --lld iscsi "$@"; }
# iscsi_target TID NAME: a target for everybody, iqn.2026-01.test:NAME.
iscsi_target() { tgt --op new --mode target --tid "$1" -T "iqn.2026-01.test:$2" && tgt --op bind --mode target --tid "$1" -I ALL; }
# iscsi_lun TID LUN FILE [PARAMETERS [ARGUMENT...]]: a LUN over a file, such as thin_provisioning=1, readonly=1.
iscsi_lun() {
    tgt --op new --mode logicalunit --tid "$1" --lun "$2" -b "$3" --bstype rdwr "${@:5}" &&
        tgt --op update --mode logicalunit --tid "$1" --lun "$2" --params "${4:-thin_provisioning=1}"
}
# iscsi_stop: ends it as a crash would.
iscsi_stop() { kill -9 $iscsi_pid 2>/dev/null; wait $iscsi_pid 2>/dev/null; rm -f /var/run/tgtd/socket.$iscsi_port*; }
# relay PORT TO-PORT: a path to a server that can be killed (reset) or stopped (silence); sets $relay_pid.
relay() {
    rm -f "$tmp/relay.ready"
    $python "$top/tests/relay.py" "$1" "$2" >"$tmp/relay.ready" 2>/dev/null & relay_pid=$!
    cleanup "kill -9 $relay_pid; wait $relay_pid"
    wait_for 20 test -s "$tmp/relay.ready" || { note "the relay did not start"; return 1; }
}
