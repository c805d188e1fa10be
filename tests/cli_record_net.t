#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Conversations recorded live on a guest's interface are what the programs say they said: bytes of each direction, number of
# exchanges, nothing dropped.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/net_lab.sh"
net_lab

# ---- iperf3 both ways, and 37 bytes of a cookie at the begin of each stream (iperf3's COOKIE_SIZE). A server of iperf3 3.12
# closes before it has read all of what was sent: the tape has no less than one end counted and no more than the other.
$in_hv iperf3 -s -p 5201 >/dev/null & cleanup "kill $!"
wait_for 10 listens 5201 $in_hv
bulk() { "$python" -c "import json; print(json.load(open('$tmp/iperf.json'))['end']['$1']['bytes'])"; }
largest() { sort -n -k "$1" | tail -1; }
record_start "$tmp/up.tape" --net vif0
$in_dom iperf3 -c 10.77.0.2 -n 256M -J >"$tmp/iperf.json"; ok $? "iperf3 sends"
record_stop
is "$status" 0 "the recording ends well"
read -r sent back _ _ <<<"$(talks "$tmp/up.tape" 5201 | largest 1)"
[ "$sent" -ge $(($(bulk sum_received) + 37)) ] && [ "$sent" -le $(($(bulk sum_sent) + 37)) ] && [ "$back" -eq 0 ]
ok $? "what the client sent is in the tape: $(bulk sum_received) <= $((sent - 37)) <= $(bulk sum_sent)"
is "$(field "$tmp/up.tape" '["lost"]')" 0 "no packet was dropped"
is "$(field "$tmp/up.tape" '["net"]["conversations"]')" 2 "its two conversations, and no other"

record_start "$tmp/down.tape" --net vif0:'tcp port 5201'
$in_dom iperf3 -6 -c fd77::2 -n 256M -R -J >"$tmp/iperf.json"; ok $? "iperf3 receives, by IPv6"
record_stop
read -r sent back _ _ <<<"$(talks "$tmp/down.tape" 5201 | largest 2)"
[ "$back" -ge "$(bulk sum_received)" ] && [ "$back" -le "$(bulk sum_sent)" ] && [ "$sent" -eq 37 ]
ok $? "what the server sent is in the tape: $(bulk sum_received) <= $back <= $(bulk sum_sent)"
is "$(field "$tmp/down.tape" '["lost"]')" 0 "no packet was dropped"

# ---- the ring holds headers only: 256 MB pass while the recorder has no CPU
record_start "$tmp/late.tape" --net vif0
kill -STOP $recorder
$in_dom iperf3 -c 10.77.0.2 -n 256M -J >"$tmp/iperf.json"
kill -CONT $recorder
record_stop
read -r sent back _ _ <<<"$(talks "$tmp/late.tape" 5201 | largest 1)"
[ "$sent" -ge $(($(bulk sum_received) + 37)) ] && [ "$sent" -le $(($(bulk sum_sent) + 37)) ]
ok $? "all is in the tape of a recorder that was not run: $(bulk sum_received) <= $((sent - 37)) <= $(bulk sum_sent)"
is "$(field "$tmp/late.tape" '["lost"]')" 0 "no packet was dropped"

# ---- keep-alive HTTP: 25 files in one connection
mkdir "$tmp/www"
for i in $(seq 25); do head -c $((i * 7919)) /dev/zero >"$tmp/www/$i"; done
cat >"$tmp/server.py" <<'PY'
import http.server
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
http.server.ThreadingHTTPServer(("10.77.0.2", 8080), Handler).serve_forever()
PY
(cd "$tmp/www" && exec $in_hv "$python" "$tmp/server.py" >/dev/null 2>&1) & cleanup "kill $!"
wait_for 10 listens 8080 $in_hv
record_start "$tmp/http.tape" --net vif0
urls=$(seq 25 | sed 's,^,http://10.77.0.2:8080/,; s,$, -o /dev/null,')
$in_dom curl -s $urls -w '%{size_request} %{size_header} %{size_download}\n' >"$tmp/curl"; ok $? "curl fetches"
record_stop
wanted=$(awk '{ up += $1; down += $2 + $3 } END { print up, down, NR, "close" }' "$tmp/curl")
is "$(talks "$tmp/http.tape" 8080)" "$wanted" "HTTP: one connection, its requests, its answers, 25 exchanges"

# ---- requests and answers of 64 bytes, counted by the kernel (TCP_INFO: tcpi_bytes_acked is u64 at 120, with the SYN's one)
cat >"$tmp/pingpong.py" <<'PY'
import socket, struct, sys, threading
def whole(s, n):
    while n:
        got = len(s.recv(n))
        if not got: return False
        n -= got
    return True
if sys.argv[1] == "serve":
    l = socket.create_server(("10.77.0.2", 7000))
    s, _ = l.accept()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while whole(s, 64): s.sendall(bytes(64))
else:
    s = socket.create_connection(("10.77.0.2", 7000))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(2000):
        s.sendall(bytes(64)); whole(s, 64)
    if sys.argv[1] == "bulk": # both ways at once: 4 MiB blocks are answered while they come
        threading.Thread(target=lambda: s.sendall(bytes(64 << 20))).start()
        whole(s, 64 << 20)
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    acked, received = struct.unpack_from("QQ", info, 120)
    print(acked - 1, received)
PY
$in_hv "$python" "$tmp/pingpong.py" serve & cleanup "kill $!"
wait_for 10 listens 7000 $in_hv
record_start "$tmp/ping.tape" --net vif0
kernel=$($in_dom "$python" "$tmp/pingpong.py" ask)
record_stop
is "$(talks "$tmp/ping.tape" 7000)" "128000 128000 2000 close" "2,000 exchanges of 64 bytes"
is "$kernel" "128000 128000" "as the kernel counts them"
$in_hv "$python" "$tmp/pingpong.py" serve & cleanup "kill $!"
wait_for 10 listens 7000 $in_hv
record_start "$tmp/bulk.tape" --net vif0
read -r acked received <<<"$($in_dom "$python" "$tmp/pingpong.py" bulk)"
record_stop
is "$(talks "$tmp/bulk.tape" 7000 | cut -d' ' -f1,2)" "$((128000 + (64 << 20))) $((128000 + (64 << 20)))" \
    "64 MiB each way at once: to the byte"
is "$(talks "$tmp/bulk.tape" 7000 | cut -d' ' -f1,2) $(field "$tmp/bulk.tape" '["lost"]')" "$acked $received 0" "as the kernel counts them"

# ---- Redis: `incr x` 500 times: 21 bytes each; the answers are ":N\r\n": 3 + digits (9 of one, 90 of two, 401 of three)
$in_hv redis-server --bind 10.77.0.2 --port 6379 --protected-mode no --save '' --dir "$tmp" >/dev/null & cleanup "kill $!; wait $!"
wait_for 10 listens 6379 $in_hv
record_start "$tmp/redis.tape" --net vif0
$in_dom tcpdump -q --immediate-mode -i eth0 -s 96 --time-stamp-precision=nano -U -w "$tmp/redis.pcap" >/dev/null 2>&1 & dump=$!; cleanup "kill $dump"
$in_dom tshark -q -i eth0 -w "$tmp/redis.pcapng" >/dev/null 2>&1 & shark=$!; cleanup "kill $shark"
$in_hv tcpdump -q -i any -U -w "$tmp/redis.any.pcap" >/dev/null 2>&1 & any=$!; cleanup "kill $any"
captures_begin() { local f; for f in redis.pcap redis.pcapng redis.any.pcap; do [ -s "$tmp/$f" ] || return 1; done; }
wait_for 20 captures_begin
sleep 0.5
$in_dom redis-cli -h 10.77.0.2 -r 500 incr x | tail -1 >"$tmp/redis"
record_stop
is "$(cat "$tmp/redis")" 500 "Redis counts to 500"
wanted="$((500 * 21)) $((500 * 3 + 9 + 180 + 1203)) 500 close"
is "$(talks "$tmp/redis.tape" 6379)" "$wanted" "Redis: 500 exchanges, to the byte"

# ---- the same session as others captured it
sleep 2; kill $dump $shark $any; wait $dump $shark $any
for f in redis.pcap redis.pcapng redis.any.pcap; do
    run "$record" -o "$tmp/import.tape" --import "$tmp/$f"
    is "$(talks "$tmp/import.tape" 6379)" "$wanted" "$f: the same"
    [ "$status" -eq 0 ] || note "$err"
done

# ---- serially opened connections: each waits for the end of the one before it
record_start "$tmp/serial.tape" --net vif0
for i in 1 2 3 4 5; do $in_dom curl -s -o /dev/null "http://10.77.0.2:8080/$i"; done
record_stop
is "$("$analyze" export "$tmp/serial.tape" --format net_csv | awk -F, '$4 == "connect" && $14 == 8080 { printf "%s ", $6 }')" "0 1 2 3 4 " \
    "a serial client's connects wait for its ends"

# ---- privacy
run "$analyze" export "$tmp/serial.tape" --format net_csv
like "$out" ',tcp,host-1,[0-9]+,host-2,8080,$' "hosts are pseudonyms, ports are kept"
grep -aq '10\.77\.0' "$tmp/serial.tape"; is $? 1 "no address is in the tape"
run "$record" -o "$tmp/named.tape" --import "$tmp/redis.pcap" --keep-names --size-bucket 1000
like "$("$analyze" export "$tmp/named.tape" --format net_csv)" ',tcp,10\.77\.0\.1,[0-9]+,10\.77\.0\.2,6379,$' "--keep-names keeps them"
is "$(talks "$tmp/named.tape" 6379)" "500000 500000 500 close" "--size-bucket rounds each send up"

# ---- what cannot be recorded
run $in_hv "$record" -o "$tmp/no.tape" --net nosuch0 --for 1s
is "$status" 1 "an interface that is not there"; like "$err" "cannot record interface 'nosuch0': No such device exists$" "is named"
run $in_hv "$record" -o "$tmp/no.tape" --net vif0:'port nonsense!' --for 1s
is "$status" 1 "a filter that is none"; like "$err" "filter 'port nonsense!'" "is named"
run $in_hv "$record" -o "$tmp/no.tape" --net vif0 --net vif0 --for 1s
is "$status" 1 "an interface named twice is refused"
[ ! -e "$tmp/no.tape" ] && [ ! -e "$tmp/no.tape.partial" ]; ok $? "and nothing is left"

# ---- disk and network on one clock
loop_new 16M
record_start "$tmp/both.tape" --net vif0 --disk "$loop"
dd if=/dev/zero of="$loop" bs=4k count=1 oflag=direct status=none
$in_dom curl -s -o /dev/null http://10.77.0.2:8080/1
dd if=/dev/zero of="$loop" bs=4k count=1 seek=9 oflag=direct status=none
record_stop
order=$({ "$analyze" export "$tmp/both.tape" --format csv | awk -F, 'NR > 1 && $4 == "write" { print $1, "disk" }'
    "$analyze" export "$tmp/both.tape" --format net_csv | awk -F, 'NR > 1 { print $1, "net" }'; } | sort -n | cut -d' ' -f2 | uniq | tr '\n' ' ')
is "$order" "disk net disk " "a write, a conversation, a write: in this order on the tape's clock"
like "$(field "$tmp/both.tape" '["counts"]["net_clock_error_ns"]')" '^[0-9]{1,7}$' "the error of the clocks is told"

# ---- an interface that is down is waited for; one that the host removes leaves, and is all there was
record_start "$tmp/gone.tape" --net vif0
$in_dom curl -s -o /dev/null http://10.77.0.2:8080/1
ip -n $hv link set vif0 down; sleep 0.2; ip -n $hv link set vif0 up
$in_dom curl -s -o /dev/null --retry 5 --retry-connrefused http://10.77.0.2:8080/2; ok $? "down and up again"
sleep 0.3
ip -n $hv link del vif0
wait $recorder
is "$?" 0 "an interface that is removed: the recording ends, and well"
like "$(cat "$tmp/recorder")" 'interface vif0 left after [0-9]' "it is said"
is "$(talks "$tmp/gone.tape" 8080 | wc -l)" 2 "what was before and after is in the tape"
like "$("$analyze" show "$tmp/gone.tape")" 'left_ns.vif0: *[0-9]' "with the time at which it left"
done_testing
