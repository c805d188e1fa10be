#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of real clients and servers, replayed: the same bytes in the same order; a faster path makes a serial client faster
# and leaves a parallel one its width. Times are bounded generously only: tests/bench/45-net measures them.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/net.sh"
need_net
need curl
# A second, slow cable beside the first one: 40 ms each way.
"$BUILD/tests/tool_delay" "$net_ns_a" slow0 "$net_ns_b" slow0 40000 >"$tmp/link" & cleanup "kill $!; wait $!"
wait_for 10 grep -q ready "$tmp/link"
ip -n "$net_ns_a" addr add 10.79.0.1/24 dev slow0; ip -n "$net_ns_b" addr add 10.79.0.2/24 dev slow0
ip -n "$net_ns_a" link set slow0 up; ip -n "$net_ns_b" link set slow0 up
in_a="ip netns exec $net_ns_a" in_b="ip netns exec $net_ns_b"
record_start() { # record_start INTERFACE: sets $recorder
    rm -f "$tmp/t.tape"
    $in_b "$record" -o "$tmp/t.tape" --net "$1:tcp" >"$tmp/recorder" 2>&1 & recorder=$!
    cleanup "kill $recorder"
    wait_for 10 test -e "$tmp/t.tape.partial"
}
record_stop() { sleep 0.3; kill $recorder; wait $recorder; "$analyze" export "$tmp/t.tape" --format net_csv >"$tmp/t.csv"; }
play() { rm -f "$tmp/t.run"; run "$replay" "$tmp/t.tape" --peer "$net_b" "${net_rsh[@]}" -o "$tmp/t.run" "$@"; }
sent() { awk -F, '$4 == "data" { n[$3] += $5 } END { print n["initiator"] + 0, n["responder"] + 0 }' "$tmp/t.csv"; }
got() { echo "$(net_field "$tmp/t.run" net_there_bytes) $(net_field "$tmp/t.run" net_here_bytes)"; }
# From the first connect to the last event, ns; and what a replay took for that.
recorded_ns() { awk -F, '$4 == "connect" && !n++ { f = $1 } NR > 1 { l = $1 } END { printf "%.0f", l - f }' "$tmp/t.csv"; }
replayed_ns() { echo $(($(net_field "$tmp/t.run" net_elapsed_ns) - $(awk -F, '$4 == "connect" { print $1; exit }' "$tmp/t.csv"))); }
# Most conversations that were open at once.
width() { awk -F, '$4 == "connect" { n++ } $4 == "close" || $4 == "reset" || $4 == "cut" { n-- } n > m { m = n } END { print m + 0 }' "$tmp/t.csv"; }
# within NS OF PERCENT-LEAST PERCENT-MOST
within() { [ "$1" -ge $(($2 * $3 / 100)) ] && [ "$1" -le $(($2 * $4 / 100)) ]; }

cat >"$tmp/talk.py" <<'PY'
import socket, sys, threading, time
def whole(s, n):
    while n:
        got = len(s.recv(n))
        if not got: return False
        n -= got
    return True
def serve(s):
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    n = 1
    while whole(s, 200):
        time.sleep(0.002)
        s.sendall(bytes(1000 + n)) # each answer is another one: their order shows
        n += 1
    s.close()
def ask(address, count, pause):
    s = socket.create_connection((address, 7000))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for n in range(1, count + 1):
        s.sendall(bytes(200))
        whole(s, 1000 + n)
        time.sleep(pause)
    s.close()
if sys.argv[1] == "serve":
    l = socket.create_server(("0.0.0.0", 7000), backlog=64)
    while True:
        threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
threads = [threading.Thread(target=ask, args=(sys.argv[2], int(sys.argv[4]), 0.003)) for _ in range(int(sys.argv[3]))]
for t in threads: t.start()
for t in threads: t.join()
PY
$in_b "$python" "$tmp/talk.py" serve & cleanup "kill $!"
wait_for 10 listens 7000 $in_b

# ---- requests and answers with think times, over the same path
record_start veth0
$in_a "$python" "$tmp/talk.py" ask $net_b 1 100
record_stop
is "$(sent)" "20000 $((100 * 1000 + 5050))" "what was said is in the tape"
play
is "$status $(got)" "0 $(sent)" "the same bytes, each way"
is "$(net_exchanges "$tmp/t.run" | grep -v '^0 0$' | paste -sd,)" "$(for n in $(seq 100); do echo "200 $((1000 + n))"; done | paste -sd,)" \
    "the same exchanges in the same order"
within "$(replayed_ns)" "$(recorded_ns)" 50 1000; ok $? "in about the same time: $(replayed_ns) ns of $(recorded_ns)"

# ---- one connection after the other, over the slow path: 25 ends of connect and 25 answers of 80 ms each are the path's
mkdir "$tmp/www"; head -c 5000 /dev/zero >"$tmp/www/f"
(cd "$tmp/www" && exec $in_b "$python" -m http.server -b 0.0.0.0 8080 >/dev/null 2>&1) & cleanup "kill $!"
wait_for 10 listens 8080 $in_b
record_start slow0
$in_a bash -c 'for i in $(seq 25); do curl -s -o /dev/null http://10.79.0.2:8080/f; done'
record_stop
is "$(grep -c ,connect, "$tmp/t.csv") $(width)" "25 1" "curl opens one connection after the other"
play
is "$status $(got)" "0 $(sent)" "the same bytes over the fast path"
[ "$(replayed_ns)" -lt $(($(recorded_ns) - 1000000000)) ]
ok $? "which takes a second less of the 4 s of the path: $(replayed_ns) ns of $(recorded_ns)"
[ "$(net_field "$tmp/t.run" net_open_max)" -le 2 ]; ok $? "one after the other still"

# ---- a batch of parallel ones
record_start slow0
$in_a "$python" "$tmp/talk.py" ask 10.79.0.2 12 20
record_stop
is "$(width)" 12 "12 at once"
play
is "$status $(got)" "0 $(sent)" "the same bytes over the fast path"
is "$(net_field "$tmp/t.run" net_open_max)" 12 "12 at once still"
[ "$(replayed_ns)" -lt "$(recorded_ns)" ]; ok $? "in less time: $(replayed_ns) ns of $(recorded_ns)"
done_testing
