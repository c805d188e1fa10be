#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How a recording ends, and what is in the tape then.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio dd

shown() { "$analyze" show --json "$1" | json "d$2"; } # shown TAPE INDEX
ended() { "$analyze" show "$1" | sed -n '1s/.*(\(.*\))/\1/p'; }
cell() { "$analyze" export --format csv "$1" | awk -F, -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[c] }'; }

loop_new 64M; disk=$loop
loader() { # reads at full speed; sets $load
    fio --name=load --filename="$disk" --direct=1 --ioengine=libaio --iodepth=16 --rw=randread --bs=4k --size=64M \
        --time_based --runtime=60 --output="$tmp/load" & load=$!
    cleanup "kill $load; wait $load"
}

run "$record" -o "$tmp/for.tape" --disk "$disk" --for 300ms
is "$status" 0 "--for: exit status 0"
is "$(ended "$tmp/for.tape")" duration "--for: ended by duration"
[ "$(shown "$tmp/for.tape" '["elapsed_ns"]')" -ge 300000000 ]; ok $? "--for: not shorter"
is "$(shown "$tmp/for.tape" '["label"]')" for "the label is the file's name"
is "$(ls "$tmp"/for.tape*)" "$tmp/for.tape" "nothing else is left"

run "$record" -o "$tmp/command.tape" --disk "$disk" --label x --keep-names -- sh -c 'dd if=$0 of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null; exit 7' "$disk"
is "$status" 7 "a command's exit status is passed on"
is "$(ended "$tmp/command.tape")" command "ended by command"
is "$(cell "$tmp/command.tape" issuer | sort | uniq -c | xargs)" "3 dd" "--keep-names: the process has its name"
is "$(shown "$tmp/command.tape" '["label"]')" x "--label"
run "$record" -o "$tmp/command.tape" --disk "$disk" -- sh -c 'kill -9 $$'
is "$status" 137 "a command that a signal ended: 128 and its number"
run "$record" -o "$tmp/none.tape" --disk "$disk" -- /nonexistent/command
is "$status" 127 "no such command: 127"
like "$err" "^iotape-record: error: cannot run '/nonexistent/command': No such file" "no such command: said in one line"
is "$(ls "$tmp"/none.tape* 2>/dev/null)" "" "no such command: no tape"

for signal in INT TERM; do
    # A shell's background ignores SIGINT; env gives it back.
    env --default-signal=INT "$record" -o "$tmp/$signal.tape" --disk "$disk" 2>"$tmp/.err" & pid=$!
    wait_for 10 test -e "$tmp/$signal.tape.partial"
    sleep 0.2; kill -$signal $pid; wait $pid
    is $? 0 "SIG$signal: exit status 0"
    is "$(ended "$tmp/$signal.tape")" signal "SIG$signal: a finished tape"
done
"$record" -o "$tmp/both.tape" --disk "$disk" -- sh -c 'trap "exit 9" TERM; echo ready >"$0"; sleep 30 & wait' "$tmp/ready" 2>"$tmp/.err" & pid=$!
wait_for 10 test -s "$tmp/ready"; kill $pid; wait $pid
is $? 9 "a signal is passed on to the command, whose exit status is ours"
is "$(ended "$tmp/both.tape")" signal "... and ends the recording"

loader
run "$record" -o "$tmp/size.tape" --disk "$disk" --max-size 300k
is "$(ended "$tmp/size.tape")" size "--max-size: ended by size"
size=$(stat -c %s "$tmp/size.tape")
[ "$size" -gt 100000 ] && [ "$size" -lt 600000 ]; ok $? "--max-size: about that ($size of 300000 bytes)"

# A recorder that is killed: what it had written can be read.
"$record" -o "$tmp/killed.tape" --disk "$disk" 2>/dev/null & pid=$!
larger() { [ "$(stat -c %s "$1")" -gt "$2" ]; }
wait_for 60 larger "$tmp/killed.tape.partial" 100000
kill -9 $pid; wait $pid 2>/dev/null
like "$("$analyze" show "$tmp/killed.tape.partial")" "unfinished" "killed: the tape says that it is unfinished"
[ "$(shown "$tmp/killed.tape.partial" '["records"]')" -ge 65536 ]; ok $? "killed: whole chunks can be read"
[ ! -e "$tmp/killed.tape" ]; ok $? "killed: nothing under the tape's own name"

# A disk that fills up.
mkdir "$tmp/small"
mount -t tmpfs -o size=600k none "$tmp/small"; cleanup "umount $tmp/small"
run timeout 60 "$record" -o "$tmp/small/full.tape" --disk "$disk"
is "$status" 1 "a full disk: exit status 1"
like "$err" "^iotape-record: error: .*No space left on device" "a full disk: said in one line"
[ "$(shown "$tmp/small/full.tape.partial" '["records"]')" -ge 65536 ]; ok $? "a full disk: whole chunks can be read"
kill $load

# Slow and failing devices.
need nbdkit nbdfuse
nbd_loop 64M --filter=delay --filter=error memory 64M rdelay=2500ms error-pwrite=EIO \
    error-pwrite-rate=100% || skip_all "no nbdfuse device"
run "$record" -o "$tmp/late.tape" --disk "$loop" -- dd if="$loop" of=/dev/null bs=4k count=1 iflag=direct
latency=$(cell "$tmp/late.tape" latency_ns)
[ "$(cell "$tmp/late.tape" op)" = read ] && [ "${latency:-0}" -ge 2500000000 ]
ok $? "an I/O that was open for longer than 2 s has its latency (${latency:-none} ns)"
dd if="$loop" of=/dev/null bs=4k count=1 iflag=direct skip=1 2>/dev/null & reader=$!
run "$record" -o "$tmp/open.tape" --disk "$loop" --for 300ms # sees nothing: it was queued before
is "$(shown "$tmp/open.tape" '["records"]')" 0 "an I/O that was queued before the start is not recorded"
wait $reader
run "$record" -o "$tmp/open.tape" --disk "$loop" --for 1s -- dd if="$loop" of=/dev/null bs=4k count=1 iflag=direct skip=2
is "$(cell "$tmp/open.tape" op)=$(cell "$tmp/open.tape" latency_ns)" "read=" "an I/O that is open at the end is there, without a latency"
is "$(shown "$tmp/open.tape" '["streams"][0]["open"]')" 1 "... and counted"
run "$record" -o "$tmp/error.tape" --disk "$loop" -- dd if=/dev/zero of="$loop" bs=4k count=1 oflag=direct
is "$(cell "$tmp/error.tape" op) $(cell "$tmp/error.tape" error)" "write 5" "an I/O that failed has its error"
done_testing
