# Two hosts for tests of conversations: network namespaces with a veth between them. Source after lib.sh.
need_net() {
    need_root
    ip netns add "iotape-$$-x" 2>/dev/null && ip netns del "iotape-$$-x" || skip_all "needs network namespaces"
    net_pair a b
    net_a=10.77.0.1 net_b=10.77.0.2
    replay=$tmp/replay # runs in the first host
    printf '#!/bin/bash\nexec ip netns exec %s %s "$@"\n' "$net_ns_a" "$BUILD/iotape-replay" >"$replay"
    chmod +x "$replay"
    net_rsh=(--rsh "ip netns exec $net_ns_b" --peer-program "$BUILD/iotape-replay" --listen $net_b)
}
# net_ns NAME: a namespace of this test with its loopback up; prints nothing, sets $ns.
net_ns() {
    ns=iotape-$$-$1
    ip netns add "$ns" || return 1
    cleanup "ip netns del $ns"
    ip -n "$ns" link set lo up
}
# net_pair A B: two namespaces, joined; sets $net_ns_a and $net_ns_b.
net_pair() {
    net_ns "$1"; net_ns_a=$ns
    net_ns "$2"; net_ns_b=$ns
    ip link add veth0 netns "$net_ns_a" type veth peer name veth0 netns "$net_ns_b"
    ip -n "$net_ns_a" addr add 10.77.0.1/24 dev veth0
    ip -n "$net_ns_b" addr add 10.77.0.2/24 dev veth0
    ip -n "$net_ns_a" link set veth0 up
    ip -n "$net_ns_b" link set veth0 up
}
# net_field RUN FIELD: of the last repetition's summary, read with tar and msgpack alone.
net_field() {
    $python - "$1" "$2" <<'END'
import msgpack, sys, tarfile
t = tarfile.open(sys.argv[1])
name = sorted(n for n in t.getnames() if n.startswith("repetition/"))[-1]
print(msgpack.unpackb(t.extractfile(name).read())[sys.argv[2]])
END
}
# net_exchanges RUN KIND...: lines of `kind sent received`, all repetitions.
net_exchanges() {
    $python - "$1" <<'END'
import msgpack, subprocess, sys, tarfile
def column(c, n):
    coding, base, shift, start, planes = c[:5]
    w = len(planes) // n if n else 0
    return [(base + (sum(planes[b * n + i] << 8 * b for b in range(w)) << shift)) % 2**64 for i in range(n)]
t = tarfile.open(sys.argv[1])
for name in sorted(n for n in t.getnames() if n.startswith("exchange/")):
    m = msgpack.unpackb(subprocess.run(["zstd", "-dcq"], input=t.extractfile(name).read(), stdout=subprocess.PIPE).stdout)
    n, c = m["count"], m["columns"]
    for k, s, r in zip(column(c["kind"], n), column(c["sent_bytes"], n), column(c["received_bytes"], n)):
        print(s, r)
END
}
