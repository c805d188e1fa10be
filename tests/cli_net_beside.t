#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks and conversations of one tape in one command, and parts of a tape's conversations.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/net.sh"
need_net
make_net() { rm -f "$tmp/t.tape" "$tmp/t.tape.partial"; "$BUILD/tests/tool_net" "$tmp/t.tape" "$@"; }
play() { rm -f "$tmp/t.run"; run "$replay" "$tmp/t.tape" --peer "$net_b" "${net_rsh[@]}" -o "$tmp/t.run" "$@"; }

# 100 writes, 1 ms apart, and 4 conversations of 20 exchanges: 4 * 20 * (64, 100) bytes.
make_net disk=100 conversations=4 exchanges=20 answer=100
for timing in closed recorded asap; do
    play --to "$tmp/disk-$timing" --timing $timing --runs 2
    is "$status" 0 "--to and --peer at once, $timing"
    [ "$status" -eq 0 ] || note "$err"
    is "$(net_field "$tmp/t.run" records) $(net_field "$tmp/t.run" written_bytes) $(net_field "$tmp/t.run" net_conversations) $(net_field \
        "$tmp/t.run" net_there_bytes) $(net_field "$tmp/t.run" net_here_bytes) $(net_field "$tmp/t.run" errors)" "100 409600 4 5120 8000 0" \
        "all I/Os and all bytes, $timing"
    is "$(net_exchanges "$tmp/t.run" | wc -l)" $((2 * (4 + 80))) "its connects and exchanges are in the same run"
done
[ "$(net_field "$tmp/t.run" net_elapsed_ns)" -gt 0 ] && [ "$(net_field "$tmp/t.run" elapsed_ns)" -gt 0 ]
ok $? "each has its time"
cp "$tmp/t.run" "$tmp/u.run"; run "$analyze" compare "$tmp/u.run" "$tmp/t.run"
like "$out" "net_elapsed" "compare knows the conversations' time"
like "$out" "iops|io_time|,elapsed" "and the disks'"
run "$replay" "$tmp/t.tape" --peer "$net_b" "${net_rsh[@]}" --to "$tmp/nothing" --dry-run
like "$out" "t.tape: 4 conversations, 176 events" "--dry-run tells of both"
[ ! -e "$tmp/nothing" ]; ok $? "and makes nothing"
run "$replay" "$tmp/t.tape" --to null: -o "$tmp/only.run"
like "$status $err" "^0 .*conversations .* are left out \(--peer" "--to alone says what is left out"

# Where one half fails, both end, with one error; what was measured is kept.
make_net disk=20000 conversations=1 exchanges=4000 client_us=20000
kill_other_end() { kill -9 "$(ip netns pids "$net_ns_b" | head -1)"; }
connected() { ip netns exec "$net_ns_a" ss -Htn state established dst $net_b | grep -q .; }
timeout 60 "$replay" "$tmp/t.tape" --peer $net_b "${net_rsh[@]}" --to null: --stall-timeout 2s -o "$tmp/d.run" 2>"$tmp/d.err" & pid=$!
wait_for 20 connected
sleep 1
kill_other_end
wait $pid
is "$? $(net_field "$tmp/d.run" complete)" "1 0" "the other end dies: both end"
like "$(tail -1 "$tmp/d.err")" "'$net_b'" "the error says where"
[ "$(net_field "$tmp/d.run" records)" -gt 100 ] && [ "$(net_field "$tmp/d.run" records)" -lt 20000 ]
ok $? "the disks' part of it is kept"

# ---- parts: conversation k connects at k * 1 s; each sends 64 bytes every 100.24 ms (100 + 100 us of thought, 2 * 20 us of path), 30 times.
make_net conversations=4 gap_us=1000000 exchanges=30 client_us=100000
play --from 1500ms --for 1s
is "$status" 0 "--from and --for"
[ "$status" -eq 0 ] || note "$err"
# Of the tape: conversations 1 and 2 are open at 1.5 s, 3 begins at 2 s; 4 begins at 3 s, after the end. What is sent in the part:
wanted=$("$analyze" export "$tmp/t.tape" --format net_csv | awk -F, '$4 == "data" && $1 >= 1500000000 && $1 < 2500000000 { n[$3] += $5 } END { print n["initiator"], n["responder"] }')
is "$(net_field "$tmp/t.run" net_conversations) $(net_field "$tmp/t.run" net_there_bytes) $(net_field "$tmp/t.run" net_here_bytes)" "3 $wanted" \
    "what was open goes on, what begins later is left out, and what is open at the end is cut"
elapsed=$(net_field "$tmp/t.run" net_elapsed_ns)
[ "$elapsed" -gt 800000000 ] && [ "$elapsed" -lt 5000000000 ]; ok $? "it takes the part's time: $elapsed ns of 1 s"
play --from 1h
like "$status $err" "^1 .*no conversations in this part" "a part with nothing in it is refused"
make_net serial=1 conversations=40 exchanges=1 client_us=10000
play --from 100ms
is "$status" 0 "a serial client, from its midst"
[ "$(net_field "$tmp/t.run" net_open_max)" -le 4 ]; ok $? "stays one"
make_net protocol=udp end=cut conversations=3 gap_us=100000 exchanges=20 client_us=20000
play --from 200ms --for 100ms
wanted=$("$analyze" export "$tmp/t.tape" --format net_csv | awk -F, '$4 == "data" && $1 >= 200000000 && $1 < 300000000 { n[$3] += $5 } END { print n["initiator"], n["responder"] }')
is "$(net_field "$tmp/t.run" net_there_bytes) $(net_field "$tmp/t.run" net_here_bytes)" "$wanted" "datagrams of a part"
make_net end=none conversations=200 exchanges=2 gap_us=100000
run "$replay" "$tmp/t.tape.partial" --peer "$net_b" "${net_rsh[@]}" -o "$tmp/t.run" --timing asap
wanted=$("$analyze" export "$tmp/t.tape.partial" --format net_csv 2>/dev/null | grep -c ,connect,)
[ "$wanted" -gt 50 ] && is "$status $(net_field "$tmp/t.run" net_conversations)" "0 $wanted" "conversations of an unfinished tape are cut"

# ---- the same parts as tapes of their own
net_csv() { "$analyze" export "$1" --format net_csv; }
make_net disk=50 interfaces=2 conversations=6 gap_us=1000000 exchanges=30 client_us=100000 clients=2
import() { rm -f "$tmp/c.tape"; run "$record" -o "$tmp/c.tape" --import "$tmp/t.tape" "$@"; }
import
is "$status" 0 "a tape of disks and conversations is copied"
[ "$status" -eq 0 ] || note "$err"
cmp -s <(net_csv "$tmp/t.tape") <(net_csv "$tmp/c.tape"); ok $? "its conversations are the same"
is "$("$analyze" export "$tmp/c.tape" --format csv | wc -l)" 51 "and its block I/O"
import --from 1500ms --for 1s
is "$status $(net_csv "$tmp/c.tape" | grep -c ,connect,)" "0 3" "--from and --for: those that are open, and one that begins"
is "$(net_csv "$tmp/c.tape" | grep -c 'connect.*began_before')" 2 "marked"
is "$(net_csv "$tmp/c.tape" | awk -F, '$4 == "data" { n += $5 } END { print n }')" \
    "$(net_csv "$tmp/t.tape" | awk -F, '$4 == "data" && $1 >= 1500000000 && $1 < 2500000000 { n += $5 } END { print n }')" "what they said in it"
rm -f "$tmp/t.run"
run "$replay" "$tmp/c.tape" --peer "$net_b" "${net_rsh[@]}" -o "$tmp/t.run"
is "$status $(net_field "$tmp/t.run" net_conversations)" "0 3" "a replay of that"
import --only tap1
is "$status $(net_csv "$tmp/c.tape" | grep -c ,connect,)" "0 3" "--only an interface"
import --scrub
is "$(net_csv "$tmp/c.tape" | tail -n +2 | grep -cE "client0|client1|server,|tap0")" 0 "--scrub: hosts' names are gone"
import --only disk
is "$status $(net_csv "$tmp/c.tape" 2>/dev/null | grep -c ,connect,)" "0 0" "--only a disk"
import --only nothing
is "$status" 1 "--only what is not there"
make_net serial=1 conversations=20 exchanges=1 interfaces=2
import --only tap0
is "$(net_csv "$tmp/c.tape" | awk -F, '$4 == "connect" { w = w $6 " " } END { print w }')" "0 1 2 3 4 5 6 7 8 9 " \
    "a serial client waits for its conversations that are left"
done_testing
