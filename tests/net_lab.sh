# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the tests of live conversations: two namespaces joined by a cable, and what talks over it. Sourced after lib.sh.
net_lab() { # sets $dom (10.77.0.1, fd77::1) and $hv (10.77.0.2, fd77::2; the cable's end there is vif0)
    need_root; need ip iperf3 curl redis-server redis-cli tcpdump tshark
    dom=it-dom-$$ hv=it-hv-$$
    ip netns add $dom && cleanup "ip netns del $dom"
    ip netns add $hv && cleanup "ip netns del $hv"
    ip link add vif0 netns $hv type veth peer name eth0 netns $dom || skip_all "needs veth"
    ip -n $dom addr add 10.77.0.1/24 dev eth0; ip -n $dom addr add fd77::1/64 dev eth0 nodad
    ip -n $hv addr add 10.77.0.2/24 dev vif0; ip -n $hv addr add fd77::2/64 dev vif0 nodad
    local n
    for n in $dom $hv; do ip -n $n link set lo up; done
    ip -n $dom link set eth0 up; ip -n $hv link set vif0 up
    in_dom="ip netns exec $dom" in_hv="ip netns exec $hv"
}
# record_start TAPE [OPTION...]: sets $recorder. record_stop waits for its end; what it said is in $tmp/recorder.
record_start() {
    local tape=$1; shift
    rm -f "$tape" "$tape.partial"
    $in_hv "$record" -o "$tape" "$@" >"$tmp/recorder" 2>&1 &
    recorder=$!
    cleanup "kill $recorder"
    wait_for 10 test -e "$tape.partial"
}
record_stop() { sleep 0.3; kill $recorder; wait $recorder; status=$?; }
# talks TAPE PORT: of each conversation with that server port: bytes of initiator, bytes of responder, exchanges, how it ended.
talks() {
    "$analyze" export "$1" --format net_csv | awk -F, -v port="$2" '
        NR == 1 { next }
        $4 == "connect" { number[$2] = $14 }
        $4 == "data" { sent[$2, $3] += $5; if ($3 == "responder" && $6 > seen[$2]) { seen[$2] = $6; answers[$2]++ } }
        { last[$2] = $4; if ($2 > n) n = $2 }
        END { for (i = 1; i <= n; i++) if (number[i] == port)
            printf "%d %d %d %s\n", sent[i, "initiator"], sent[i, "responder"], answers[i], last[i] }'
}
field() { "$analyze" show --json "$1" | "$python" -c "import json, sys; print(json.load(sys.stdin)$2)"; }
