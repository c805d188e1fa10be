#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The profile of socket conversations. Right values: tests/profile_net_witness.py works them out from the exported events;
# small ones by arithmetic on what tool_net says it makes.
. "$(dirname "$0")/lib.sh"
net=$BUILD/tests/tool_net witness=$top/tests/profile_net_witness.py
cd "$tmp"

witnessed() { # witnessed TAPE NAME
    $analyze profile --json "$1" >p.json && $analyze export --format net_csv "$1" >n.csv && $analyze show --json "$1" >s.json || rm -f p.json
    is "$($python "$witness" n.csv s.json p.json 2>&1)" ok "$2"
}

# Captures with what conversations may do.
mkdir cases && $python "$top/tests/pcap_cases.py" cases || exit 1
for name in udp reset clients port-reuse missing-syn; do
    $record -o c.tape --import cases/$name.pcap 2>/dev/null || exit 1
    witnessed c.tape "captured ($name): each figure is the witness's"
done
$net reset.tape conversations=70 exchanges=50 gap_us=700 request=700 answer=90000 end=reset began=9 interfaces=3 || exit 1
witnessed reset.tape "three interfaces, resets, some began before"
$net udp.tape protocol=udp conversations=30 exchanges=40 end=cut request=0 || exit 1
witnessed udp.tape "empty datagrams, cut"
$net none.tape conversations=500 exchanges=3 gap_us=1 end=none || exit 1
witnessed none.tape.partial "500 open, and no end"
$net many.tape conversations=3000 exchanges=2 server_us=150000 || exit 1
witnessed many.tape "thousands, and think times beyond 2^27 ns"
# The control: each of these changes must show.
awk -F, -v OFS=, '$4 == "data" && !n++ { $5 += 1 } 1' n.csv >bytes.csv
awk -F, -v OFS=, '$4 == "data" && ++n == 6000 { $7 += 1 } 1' n.csv >think.csv
awk -F, -v OFS=, '$4 != "close" || n++' n.csv >open.csv
for changed in bytes think open; do
    like "$($python "$witness" $changed.csv s.json p.json)" "wanted" "the witness sees one event that differs ($changed)"
done

# By hand: 40 conversations 3 ms apart; each: accepted after 20 us, 20 us, then 100 times 100 + 20 + 100 + 20 us, then
# closed 20 us later: 24.06 ms open, so nine at once at the most, in 39 * 3 + 24.06 ms: 6.823 on average.
$net n.tape conversations=40 exchanges=100 gap_us=3000 answer=5000 || exit 1
run $analyze profile n.tape
is $status 0 "a profile as text"
like "$out" "^  open at once: mean over time 6.82, greatest 9$" "text: how many are open"
like "$out" "^  initiators +4000 +50.0 % +250.00 KiB +1.3 %$" "text: 4,000 requests of 64 bytes"
like "$out" "^  responders +4000 +50.0 % +19.07 MiB +98.7 %$" "text: 4,000 answers of 5,000 bytes"
like "$out" "^  tap0: 40 conversations, open at once 6.82 on average, 9 at most; 4000 messages" "text: by interface"
like "$out" "^  all +24.1 ms +24.1 ms" "text: how long they last"
like "$out" "^n.tape: 40 conversations in 141.1 ms, on tap0$" "text: what it is of, without block I/O"
is "$(printf "%s\n" "$out" | grep -cE "I/O|Operations")" 0 "nothing is said of disks"
$net one.tape conversations=1 exchanges=1 || exit 1
like "$($analyze profile one.tape)" "^  1 conversation, 6 events; 1 answer to requests; 0 conversations without" "one of each"
done_testing
