#!/bin/bash
# Ends of a replay of conversations that break the rules, strangers at its ports, and ends that die.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/net.sh"
need_net
ulimit -n 8192 2>/dev/null
# Memory is bounded, and a sanitizer keeps hold of what was freed: not of much here.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=8

# A hostile client: every rule of message.h and events.h, broken; strangers without a token, with a used one.
while read -r verdict name; do
    [ "$verdict" = ok ]; ok $? "client: $name"
done < <(timeout 120 $python "$top/tests/net_hostile.py" client "$BUILD/iotape-replay" 2>&1)

# A hostile server: one clear error, exit 1, no run.
"$BUILD/tests/tool_net" "$tmp/t.tape" conversations=3
# refused MODE TEXT: --rsh starts it in place of a remote shell.
refused() {
    run timeout 30 "$BUILD/iotape-replay" "$tmp/t.tape" --peer 127.0.0.1 --stall-timeout 1s -o "$tmp/h.run" \
        --rsh "$python $top/tests/net_hostile.py server $1 %h"
    is "$status $(grep -c . <<<"$err") $(ls "$tmp" | grep -c h.run)" "1 1 0" "server: $1: one error, no run"
    like "$err" "error: .*$2" "server: $1: $2"
}
refused banner "does not speak iotape's protocol: 'Welcome to this machine!"
refused version "speaks version 9 of the protocol, this one 1"
refused refuse "refuses: not today"
refused oversize "a control message of 4294967295 bytes"
refused cut "exited with status 3: the disk is on fire"
refused results "sent 'results' out of turn"
refused ports "offers what there is not"
refused window "offers what there is not"
refused taken "has taken what it was not given"
refused events "sent 'events' out of turn"
run timeout 10 "$replay" "$tmp/t.tape" --peer nowhere --listen 127.0.0.1 --rsh /does/not/exist -o "$tmp/h.run"
like "$status $err" "^1 .*cannot run '/does/not/exist': No such file" "no remote shell"
run timeout 10 "$replay" "$tmp/t.tape" --peer x --listen 127.0.0.1 --rsh "sh -c 'echo no such host >&2; exit 255' %h" -o "$tmp/h.run"
like "$status $err" "^1 .*'x'.* exited with status 255: no such host" "a remote shell that fails"
for peer in -oProxyCommand=x root@-x @x "a b" ""; do
    run timeout 10 "$replay" "$tmp/t.tape" --peer "$peer" -o "$tmp/h.run"
    [ "$status" -ne 0 ] && [ ! -e "$tmp/h.run" ]; ok $? "--peer '$peer' is refused"
done
run timeout 10 "$replay" "$tmp/t.tape" --peer x --listen 127.0.0.1 --peer-program 'x; touch /tmp/y' -o "$tmp/h.run"
like "$status $err" "^1 .*is no plain path" "--peer-program is no shell command"

# A run that is beset by strangers: the rightful client loses nothing.
rm -f "$tmp/t.tape"; "$BUILD/tests/tool_net" "$tmp/t.tape" conversations=60 gap_us=50000 exchanges=5 request=20000 answer=20000
ip netns exec "$net_ns_a" $python "$top/tests/net_hostile.py" strangers $net_b 5201 6 & beset=$!
cleanup "kill $beset"
run timeout 60 "$replay" "$tmp/t.tape" --peer $net_b --rsh "ip netns exec $net_ns_b" --peer-program "$BUILD/iotape-replay" \
    --listen $net_b:5201 -o "$tmp/t.run"
is "$status $(net_field "$tmp/t.run" net_conversations) $(net_field "$tmp/t.run" net_there_bytes)" "0 60 6000000" \
    "a run among a thousand strangers"
[ "$(net_field "$tmp/t.run" net_strangers)" -gt 500 ]; ok $? "which are counted"
kill $beset; wait $beset 2>/dev/null

# The other end dies, or the network does: an error in bounded time, and what was measured is kept.
rm -f "$tmp/t.tape"; "$BUILD/tests/tool_net" "$tmp/t.tape" conversations=1 exchanges=200 client_us=20000
dies() { # dies NAME TEXT COMMAND...
    local name=$1 text=$2; shift 2
    rm -f "$tmp/d.run"
    timeout 60 "$replay" "$tmp/t.tape" --peer $net_b --rsh "ip netns exec $net_ns_b" --peer-program "$BUILD/iotape-replay" \
        --listen $net_b --stall-timeout 2s -o "$tmp/d.run" 2>"$tmp/d.err" & local pid=$!
    wait_for 20 connected
    sleep 1
    "$@"
    wait $pid
    is $? 1 "$name: exit status"
    like "$(tail -1 "$tmp/d.err")" "$text" "$name: says why"
    [ "$(net_field "$tmp/d.run" complete)" = 0 ] && [ "$(net_exchanges "$tmp/d.run" | wc -l)" -gt 5 ]
    ok $? "$name: what was measured is kept"
}
connected() { ip netns exec "$net_ns_a" ss -Htn state established dst $net_b | grep -q .; }
kill_other_end() { kill -9 "$(ip netns pids "$net_ns_b" | head -1)"; }
dies "the other end is killed" "'$net_b'.* was ended by signal 9|broke" kill_other_end
cut_cable() { ip -n "$net_ns_b" link set veth0 down; }
dies "the cable is cut" "stalled: conversation 1 \(tcp, event 1\) waits for byte" cut_cable
ip -n "$net_ns_b" link set veth0 up
is "$(ip netns pids "$net_ns_b" | wc -l)" 0 "nothing is left running"
done_testing
