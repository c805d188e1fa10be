#!/bin/bash
# Replay of conversations between two ends: what was recorded arrives, to the byte, and only that.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/net.sh"
need_net

# The tape says what must arrive: conversations * exchanges * (request, answer) bytes.
check() { # check NAME CONVERSATIONS BYTES-THERE BYTES-HERE RUN
    is "$(net_field "$5" net_conversations) $(net_field "$5" net_there_bytes) $(net_field "$5" net_here_bytes)" "$2 $3 $4" "$1"
}
make_net() { rm -f "$tmp/t.tape"; "$BUILD/tests/tool_net" "$tmp/t.tape" "$@"; }
play() { run "$replay" "$tmp/t.tape" --peer "$net_b" "${net_rsh[@]}" -o "$tmp/t.run" "$@"; }

make_net conversations=3 exchanges=10 request=100 answer=1000
play --runs 2
is "$status" 0 "a replay succeeds"
check "requests and answers" 3 3000 30000 "$tmp/t.run"
is "$(net_field "$tmp/t.run" net_messages) $(net_field "$tmp/t.run" net_errors)" "60 0" "every send is done, none failed"
is "$(net_exchanges "$tmp/t.run" 1 | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd' ')" "6 0 0 60 100 1000" \
    "an exchange is a send and its answer; each connect is there, too"
run "$analyze" plot latency "$tmp/t.run" -o "$tmp/t.svg"
like "$status$(grep -o '<desc.*' "$tmp/t.svg")" "^0.*Exchanges: t median [0-9]" "and is drawn"
for timing in recorded asap; do
    play --timing $timing
    check "--timing $timing" 3 3000 30000 "$tmp/t.run"
done
for end in reset reset_there cut; do
    make_net conversations=4 exchanges=5 request=3000000 answer=70000 end=$end
    play
    is "$status" 0 "conversations end with $end"
    check "$end loses nothing" 4 60000000 1400000 "$tmp/t.run"
done
make_net protocol=udp end=cut conversations=20 exchanges=5 request=30 answer=1200
play
check "datagrams" 20 3000 120000 "$tmp/t.run"
make_net protocol=udp end=cut exchanges=1 request=30 answer=100 server_us=3000000
play
check "an answer after 3 s is waited for" 1 30 100 "$tmp/t.run"
make_net began=3 conversations=5 greeting=7 answer=0 exchanges=2
play
check "the responder speaks first; conversations from before the recording" 5 640 35 "$tmp/t.run"
make_net conversations=300 exchanges=4 gap_us=10 clients=3
play --threads 3
check "several threads" 300 76800 76800 "$tmp/t.run"
make_net serial=1 conversations=50 exchanges=1 client_us=0 server_us=0 path_us=0
play
# The next one may connect when its client has half-closed: while FINs of the responder are on their way.
[ "$(net_field "$tmp/t.run" net_open_max)" -le 4 ]
ok $? "a client that opens one connection after the other goes on so"
make_net conversations=50 exchanges=1 gap_us=0 client_us=50000
play
is "$(net_field "$tmp/t.run" net_open_max)" 50 "and one that opens 50 at once has 50"
make_net exchanges=0 conversations=1 end=close
play
is "$status $(net_field "$tmp/t.run" net_conversations)" "0 1" "a conversation without data"
# No way for connections there, while the control channel stands.
make_net conversations=5
ip -n "$net_ns_a" route add prohibit "$net_b/32"
play --max-errors 5 --stall-timeout 60s
ip -n "$net_ns_a" route del prohibit "$net_b/32"
is "$status $(net_field "$tmp/t.run" net_conversations) $(net_field "$tmp/t.run" net_errors)" "0 0 5" \
    "the other end is told of conversations that cannot be opened"
[ "$(net_field "$tmp/t.run" net_elapsed_ns)" -lt 30000000000 ]
ok $? "and does not wait for them"
done_testing
