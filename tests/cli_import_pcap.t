#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Captures of packets become conversations: each case of pcap_cases.py with its events, think times and counts, which stand
# there as worked out by hand.
. "$(dirname "$0")/lib.sh"

cases=$tmp/cases; mkdir "$cases"
"$python" "$top/tests/pcap_cases.py" "$cases"; ok $? "the captures are written"

# events TAPE: as in the .events files. Marks of a connect stand where the flags of others do.
events() {
    "$analyze" export "$1" --format net_csv | awk -F, '
        function us(ns) { return ns % 1000 ? sprintf("%.3f", ns / 1000) : sprintf("%d", ns / 1000) }
        NR > 1 { print us($1), $2, $3, $4, $5, $6, us($7) ($8 $15 ? " " $8 $15 : "") }'
}
counts() { "$analyze" show --json "$1" | "$python" -c 'import json, sys
for k, v in sorted(json.load(sys.stdin)["counts"].items()): print(f"{k}={v}")'; }

for wanted in "$cases"/*.events; do
    base=${wanted%.events} name=$(basename "$wanted" .events)
    capture=$(ls "$base".pcap "$base".pcapng 2>/dev/null)
    run "$record" -o "$tmp/x.tape" --import "$capture"
    [ "$status" -eq 0 ] && events "$tmp/x.tape" >"$tmp/got" && cmp -s "$tmp/got" "$wanted"; s=$?
    ok $s "$name: events"
    [ $s -eq 0 ] || note "$err"; [ $s -eq 0 ] || note "$(diff "$wanted" "$tmp/got")"
    is "$(counts "$tmp/x.tape")" "$(cat "$base.counts")" "$name: counts"
done
[ "$(ls "$cases"/*.events | wc -l)" -ge 45 ]; ok $? "no case is missing"
# ---- options
run "$record" -o "$tmp/x.tape" --import "$cases/pauses.pcap" --pause 5ms
is "$(events "$tmp/x.tape" | grep -c data)" 15 "--pause: a shorter one splits more"
like "$("$analyze" show "$tmp/x.tape")" 'pause_ns: 5000000' "and is in the tape"
run "$record" -o "$tmp/x.tape" --import "$cases/pauses.pcap"
like "$("$analyze" show "$tmp/x.tape")" 'pause_ns: 20000000' "as 20 ms are"
run "$record" -o "$tmp/x.tape" --import "$cases/link-raw.pcap" --size-bucket 1k
is "$(events "$tmp/x.tape" | awk '/data|half|close/ { print $4, $5, $6 }' | tr '\n' ' ')" \
    "data 1000 0 data 3000 1000 half_close 0 3000 close 0 1001 " "--size-bucket: sizes and what waits for them"

# ---- parts of one capture, in any order
"$python" - "$cases/wrap.pcap" "$tmp" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
head, at, frames = data[:24], 24, []
while at < len(data):
    n = 16 + struct.unpack("<I", data[at + 8:at + 12])[0]
    frames.append(data[at:at + n])
    at += n
for name, part in ("part1", frames[:4]), ("part2", frames[4:]):
    open(f"{sys.argv[2]}/{name}.pcap", "wb").write(head + b"".join(part))
open(f"{sys.argv[2]}/cut.pcap", "wb").write(data[:-5])
open(f"{sys.argv[2]}/empty.pcap", "wb").write(head)
open(f"{sys.argv[2]}/wifi.pcap", "wb").write(head[:20] + struct.pack("<I", 105) + data[24:])
PY
run "$record" -o "$tmp/x.tape" --import "$tmp/part2.pcap" "$tmp/part1.pcap"
events "$tmp/x.tape" | cmp -s - "$cases/wrap.events"; ok $? "two parts of a capture are one"

# ---- what cannot be read
rm -f "$tmp/x.tape"
refused() { # refused FILE TEXT [OPTION...]
    run "$record" -o "$tmp/x.tape" --import "$tmp/$1"
    is "$status" 1 "$1 is refused"; like "$err" "$2" "and the error says why"
    [ ! -e "$tmp/x.tape" ] && [ ! -e "$tmp/x.tape.partial" ]; ok $? "nothing is left"
}
refused cut.pcap "cut.pcap'?: truncated dump file"
refused empty.pcap "no conversation of TCP or UDP"
refused wifi.pcap "link type 105 .* is not known"
run "$record" -o "$tmp/x.tape" --import "$tmp/cut.pcap" --skip-bad
is "$status $(counts "$tmp/x.tape")" "0 bad=1
packets=8" "--skip-bad takes what is there"
done_testing
