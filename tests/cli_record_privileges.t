#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Three capabilities are enough, each is asked for by its name, and none is kept once the recording has begun.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio setpriv dd

loop_new 64M; disk=$loop
echo 64 >"/sys/block/${disk#/dev/}/queue/max_sectors_kb" # 512 KiB are split
chmod 755 "$tmp"
cp "$record" "$tmp/record"; chmod 755 "$tmp/record"
place=$tmp/place; mkdir "$place"; chown 65534:65534 "$place"
tape=$place/x.tape
as_ordinary() { # as_ordinary CAPABILITIES: sets $ordinary, what makes a command an ordinary user's with these
    ordinary=(setpriv --reuid 65534 --regid 65534 --clear-groups "--inh-caps=-all${1:+,$1}" "--ambient-caps=-all${1:+,$1}")
}
fields() { awk -F'[:\t]+' -v want=" $1 " 'index(want, " " $1 " ") { printf "%s=%s ", $1, $2 }' "/proc/$2/status"; }
all_dropped="CapInh=0000000000000000 CapPrm=0000000000000000 CapEff=0000000000000000 CapAmb=0000000000000000 "
all_dropped+="NoNewPrivs=1 Seccomp=2 "
dropped() { [ "$(fields "CapInh CapPrm CapEff CapAmb NoNewPrivs Seccomp" "$1")" = "$all_dropped" ]; }

# An ordinary user with the three, and the truth of what is recorded.
as_ordinary +bpf,+perfmon,+net_raw
"${ordinary[@]}" "$tmp/record" -o "$tape" --disk "$disk" --net lo 2>"$tmp/said" & pid=$!
wait_for 20 dropped "$pid"
ok $? "an ordinary user: /proc shows that all is dropped ($(fields "Uid CapEff NoNewPrivs Seccomp" "$pid"))"
wait_for 10 test -e "$tape.partial" || note "$(cat "$tmp/said")"
fio_on "$disk" "$tmp/log" --rw=randrw --bsrange=4k-512k --size=32M --number_ios=400 --bsrange=4k-512k >/dev/null
kill "$pid"; wait "$pid"
is $? 0 "... and its recording ends well"
like "$(cat "$tmp/said")" ', 0 lost,' "... with nothing lost"
iolog_ios "$tmp/log" >"$tmp/witness"; tape_ios "$tape" >"$tmp/taped"
same_ios "$tmp/witness" "$tmp/taped" "... and it has all I/Os, split ones too"
turns_red "$tmp/witness" "$tmp/taped"

# Each is missed by its name.
missing() { # missing CAPABILITIES NAMES OPTION...
    local caps=$1 names=$2; shift 2
    as_ordinary "$caps"
    run "${ordinary[@]}" "$tmp/record" -o "$place/y.tape" "$@" --for 50ms
    is "$status" 1 "without $names: exit status 1"
    like "$err" "^iotape-record: error: .*missing capabilit(y|ies) $names; .*setcap" "... and it is named"
}
missing +perfmon,+net_raw CAP_BPF --disk "$disk"
missing +bpf,+net_raw CAP_PERFMON --disk "$disk"
missing +bpf,+perfmon CAP_NET_RAW --disk "$disk" --net lo
missing "" "CAP_BPF and CAP_PERFMON" --disk "$disk"
missing "" "CAP_NET_RAW" --net lo
as_ordinary +bpf,+perfmon
run "${ordinary[@]}" "$tmp/record" -o "$place/y.tape" --disk "$disk" --for 50ms
is "$status" 0 "disks alone need no CAP_NET_RAW"
as_ordinary +net_raw
run "${ordinary[@]}" "$tmp/record" -o "$place/y.tape" --net lo --for 50ms
is "$status" 0 "interfaces alone need nothing else"
if cp "$record" "$tmp/capable" && setcap cap_bpf,cap_perfmon,cap_net_raw+ep "$tmp/capable" 2>/dev/null; then
    run setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/capable" -o "$place/y.tape" --disk "$disk" --for 50ms
    is "$status" 0 "capabilities of the file"
else skip 1 "no capabilities of files here"; fi

# Root: gives up as much, may write where it could, and its COMMAND keeps all.
root_tape=$tmp/root.tape
"$record" -o "$root_tape" --disk "$disk" 2>/dev/null & pid=$!
wait_for 20 dropped "$pid"; ok $? "root: /proc shows that all is dropped"
like "$(fields "Uid CapBnd Groups" "$pid")" '^Uid=0 .*Groups=0? *CapBnd=0000000000000000|^Uid=0 Groups= +CapBnd=0000000000000000' \
    "... the bounding set, too"
kill "$pid"; wait "$pid"; is $? 0 "... and the recording ends well"
"$record" -o "$root_tape" --disk "$disk" --keep-privileges 2>/dev/null & pid=$!
wait_for 10 test -e "$root_tape.partial"
dropped "$pid"; is $? 1 "--keep-privileges does what it says"
kill "$pid"; wait "$pid"
run "$record" -o "$root_tape" --disk "$disk" -- sh -c \
    'awk "/^(CapEff|NoNewPrivs|Seccomp):/ { print \$2 }" /proc/self/status >"$0/command"; id -u >>"$0/command"; exit 7' "$tmp"
is "$status" 7 "COMMAND's exit status"
is "$(tail -n +2 "$tmp/command" | tr '\n' ' ')" "0 0 0 " "COMMAND is not restricted"
[ "$(head -1 "$tmp/command")" = "$(awk '/^CapEff:/ { print $2 }' /proc/self/status)" ]; ok $? "... and has its capabilities"
rm -f "$tape"
run "$record" -o "$tape" --disk "$disk" --for 50ms
is "$status $(stat -c %u "$tape")" "0 65534" "a folder of somebody else's: the tape is theirs"
[ "$status" -eq 0 ] || note "$err"
# With a COMMAND the real user id stays, so that it can be signalled: then nobody may trace us, nor a leak checker.
run env ASAN_OPTIONS=detect_leaks=0 "$record" -o "$tape" --disk "$disk" -- sh -c 'exit 3'
is "$status" 3 "... with a COMMAND"
env ASAN_OPTIONS=detect_leaks=0 "$record" -o "$tape" --disk "$disk" -- sleep 20 2>/dev/null & pid=$!
wait_for 10 test -e "$tape.partial"; sleep 0.3
kill "$pid"; wait "$pid"; is $? 143 "... which can still be signalled"
run "$record" -o "$tape" --disk "$disk" --user nobody --for 50ms
is "$status" 0 "--user"
run "$record" -o "$tape" --disk "$disk" --user no-such-user --for 50ms
like "$err" "--user: there is no user 'no-such-user'" "--user: who is not there"
mkdir "$tmp/roots"
run "$record" -o "$tmp/roots/x.tape" --disk "$disk" --user nobody --for 50ms
is "$status" 1 "--user who may not write there"
like "$err" "user 65534, who writes the tape once privileges are given up, cannot write to '$tmp/roots'" "... why"
is "$(ls "$tmp/roots")" "" "... leaves nothing"
done_testing
