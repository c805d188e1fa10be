#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --verify finds a write that never happened, one at a wrong place, one torn, one stale; --verify-only what a power cut may
# leave and what it must not. The server is tests/nbd_faulty.py.
. "$(dirname "$0")/replay.sh"
need sha256sum

# server ARGUMENT...: of 4 MiB; sets $pid. cut: the power cut.
url="nbd+unix:///?socket=$tmp/sock"
server() {
    rm -f sock disk.overlaps
    $python "$top/tests/nbd_faulty.py" sock disk "$@" 2>>server.err & pid=$!
    cleanup "kill -9 $pid; wait $pid"
    wait_for 10 test -S sock || note "the server does not start"
}
cut() { kill $pid 2>/dev/null; wait $pid 2>/dev/null; }
empty() { rm -f disk; truncate -s 4M disk; }

# Reads and writes of 512 bytes to 16 KiB in the first 3 MiB that overlap now and then, flushes, FUA, discards, zeroing. In
# between, a write of 24,576 bytes at 1 MiB that is the only one of its length, and a read of it; nothing else goes there, and
# what lies before it is only read.
awk 'BEGIN { srand(5); for (i = 0; i < 600; i++) { t = i * 50; k = i % 20; at = int(rand() * 1500) * 512; n = 512 * (1 + int(rand() * 32))
    if (at >= 524288) at += 1048576
    if (i == 290) printf "%d read 1015808 32768\n", t # so that the filling has another length
    else if (i == 300) printf "%d write 1048576 24576\n", t
    else if (i == 330) printf "%d read 1048576 24576\n", t
    else if (k == 9) printf "%d flush 0 0 preflush\n", t
    else if (k == 3) printf "%d discard %d 32768\n", t, int(rand() * 15) * 32768
    else if (k == 4) printf "%d write_zeroes %d 8192\n", t, int(rand() * 60) * 8192
    else printf "%d %s %d %d %s\n", t, rand() < 0.5 ? "read" : "write", at, n, k == 12 ? "fua" : k == 13 ? "preflush" : "-" } }' |
    sed -E 's/^([0-9]+ read .*) (fua|preflush)$/\1 -/' | tape work
# check [OPTION...]: a verified replay.
last() { tail -1 <<<"$err"; }
check() { run $replay work.tape --to "$url" -o a.run --timing asap --depth 16 --verify "$@"; }

# The control: a server without fault.
empty; server none
check --runs 2 --warmup 1
is $status 0 "no fault: nothing is found"
[ $status = 0 ] || note "$err"
is "$(rep a.run wrong_data 2),$(rep a.run errors 2),$(rep a.run complete 3)" 0,0,1 "and counted"
ok $(($(rep a.run verified) < 300)) "blocks were checked: $(rep a.run verified)"
kill -USR1 $pid; wait_for 5 test -e disk.overlaps
is "$(cat disk.overlaps)" 0 "no I/O overlapped one in flight, as the server saw it"
ok $(($(rep a.run serialised) < 1)) "some had to wait for that: $(rep a.run serialised)"
like "$err" "$(rep a.run serialised) waited for I/O that they overlap, 0 of $(rep a.run verified) checks of blocks failed" "both are said"
$replay work.tape --to "$url" -o plain.run --timing asap --depth 16 2>/dev/null
rm -f disk.overlaps; kill -USR1 $pid; wait_for 5 test -s disk.overlaps
ok $(($(cat disk.overlaps) < 1)) "control: without --verify there were $(cat disk.overlaps)"
is "$(rep plain.run serialised),$(rep plain.run verified)" 0,0 "and nothing was checked"
run $analyze compare plain.run a.run
like "$status,$(last)" "1,.*did different work: option verify is" "a verified run is not compared with one that is not"
run $analyze compare work.tape a.run
like "$status,$(last)" "1,.*did different work" "nor with a recording"
run $replay work.tape --to "$url" -o b.run --verify --timing asap --compressible 50
is "$status,$(rep b.run wrong_data)" 0,0 "compressible data can be verified"
run $replay work.tape --to "$url" -o b.run --verify --dedupe 10; is $status 2 "--dedupe cannot: usage"
run $replay work.tape --to null: -o b.run --verify
like "$status,$(last)" "1,.*'null:' keeps nothing that could be verified" "nor can a target that keeps nothing"
cut

# finds FAULT REGEX NAME [ELSEWHERE]
finds() {
    empty; server "$1" 1048576 24576 ${4:-}
    check
    is $status 1 "$3: exit 1"
    like "$(grep -v error: <<<"$err")" "^nbd.*: wrong data at byte $2" "$3: offset, expected and found"
    like "$(tail -1 <<<"$err")" "^iotape-replay: error: [0-9]+ of [0-9]+ checks of blocks of 'nbd.*found wrong data, the first at byte " "$3: one error"
    ok $(($(rep a.run wrong_data) < 1)) "$3: counted: $(rep a.run wrong_data) blocks"
    like "$($analyze show --json a.run | tr -d '\n')" '"ended": *"error: ' "$3: the run says so"
    cut
}
finds lost "1048576: expected record 301 of repetition 1, found the fill before repetition 1 \(lost or stale\)" "a write that never happened"
finds misplaced "1048576: expected record 301 of repetition 1, found the fill .*lost or stale" "a write at a wrong place"
finds misplaced "[0-9]+: expected .*, found record 301 of repetition 1, which belongs at byte 1048576 \(misplaced\)" \
    "and where it went" 1015808
finds torn "1060864: expected record 301 of repetition 1, found the fill before repetition 1 \(torn\)" "a write torn between blocks"
finds stale "1048576: expected record 301 of repetition 1, found the fill before repetition 1 \(lost or stale\)" "a stale read"
# Within a block: a write of 24,576 bytes from 512 bytes on is torn after 12,288.
awk 'BEGIN { print "0 write 1049088 24576"; print "10 read 1048576 32768" }' | tape part
empty; server torn 1049088 24576
run $replay part.tape --to "$url" -o a.run --verify
like "$status,$(last)" "1,.*byte 1061376: expected record 1 of repetition 1, found the fill before repetition 1 \(torn\)" "a write torn within a block"
cut

# What an earlier replay of the same seed left behind is not taken for what this one wrote.
empty; server none; check; cut
server none; check
is $status 0 "a target that holds the same data from before"
cut; server lost 1048576 24576; check
like "$status,$(last)" "1,.*byte 1048576: expected record 301 of repetition 1, found the fill" "a lost write is seen there, too"
cut

# Failed writes: old and new are right.
for how in old new; do
    empty; server fail-$how 1048576 24576; check --max-errors 1
    is "$status,$(rep a.run errors),$(rep a.run wrong_data)" 0,1,0 "a failed write, $how data are there: right"
    run $replay work.tape --to "$url" --verify-only a.run
    is "$status" 0 "also later"
    cut
done

# --verify-only.
empty; server none; check --runs 2
before=$(sha256sum <disk)
cut; server none
run $replay work.tape --to "$url" --verify-only a.run
is $status 0 "--verify-only: a whole run survives a power cut"
[ $status = 0 ] || note "$err"
like "$out" "^nbd.*: [0-9]+ checks of blocks of 4 KiB, 0 failed" "it says how much it checked"
is "$(sha256sum <disk)" "$before" "nothing is changed"
printf 'xxxx' | dd of=disk bs=1 seek=1049000 conv=notrunc status=none; cut; server none
run $replay work.tape --to "$url" --verify-only a.run
like "$status,$(last)" "1,.*byte 1048576: expected record 301 of repetition 2, found the header of record 301 of repetition 2, CRC32C .*torn" \
    "a sector that was changed is found"
run $replay work.tape --to "$url" --verify-only plain.run
like "$status,$(last)" "1,.*'plain.run' was made without --verify" "a run that was not verified is refused"
run $replay part.tape --to "$url" --verify-only a.run
like "$status,$(last)" "1,.*'a.run' is not of 'part.tape'" "another tape is refused"
run $replay work.tape --to "$url" --verify-only a.run -o b.run; is $status 2 "with an output: usage"
cut

# Which writes must be there: those before a flush, those before a write with PREFLUSH, and FUA. Record 7 fails, which ends the
# replay; 8 was never issued. Blocks are then made old, one at a time.
at=0 n=0
for line in write flush write 'write preflush' 'write fua' write write write; do
    set -- $line
    [ "$1" = flush ] && offset=0 len=0 || { offset=$((4096 * at)) len=4096; at=$((at + 1)); }
    echo "$((20000 * n++)) $1 $offset $len ${2:--}"
done >seven.txt
tape seven <seven.txt
sed 's/write\(.*\) [a-z-]*$/read\1/' seven.txt | tape reads
empty; server none; $replay reads.tape --to "$url" -o b.run --verify 2>/dev/null; cut; mv disk old.img
empty; server none; $replay seven.tape --to "$url" -o b.run --verify 2>/dev/null; cut; mv disk new.img
empty; server fail-old $((4096 * 5)) 4096
run $replay seven.tape --to "$url" -o a.run --verify --timing recorded
like "$status,$(last)" "1,.*the first one record 7: Input/output error" "a replay that a failed write ends"
cut
# found RUN: the blocks that may not be old.
found() {
    local block
    for block in 0 1 2 3 4 5 6; do
        cp new.img disk
        dd if=old.img of=disk bs=4096 skip=$block seek=$block count=1 conv=notrunc status=none
        server none
        run $replay seven.tape --to "$url" --verify-only "$1"
        [ $status = 0 ] || printf '%s ' $block
        cut
    done
}
is "$(found a.run)" "0 1 3 " "flushed, before a preflush, FUA: must be there; others may be old"
is "$(found b.run)" "0 1 2 3 4 5 6 " "control: of a whole repetition all must be there"
cp old.img disk; for block in 0 1 3; do dd if=new.img of=disk bs=4096 skip=$block seek=$block count=1 conv=notrunc status=none; done
server none; run $replay seven.tape --to "$url" --verify-only a.run
is $status 0 "no more than these is right, too"
cut

# Power cuts in the midst: some of what was not flushed reaches the disk. With a server whose flushes do nothing, this is found.
midst() { # midst FAULT SECONDS: leaves a run that was cut short, and the server started again
    empty; server "$1"
    $replay work.tape --to "$url" -o a.run --verify --runs 50 --timing recorded --speed 0.1 --stall-timeout 1s 2>replay.err & replay_pid=$!
    wait_for 20 test -e a.run.partial
    sleep "$2"; cut; wait $replay_pid; status=$?
    server none
}
good=0
for delay in 0.25 0.4 0.55; do
    midst none $delay
    [ $status = 1 ] && run $replay work.tape --to "$url" --verify-only a.run && [ $status = 0 ] && good=$((good + 1)) || note "$err"
    cut
done
is $good 3 "three power cuts in the midst of a replay: what is left is right"
midst lie 0.5
like "$(cat replay.err)" "error: (repetition|filling) .*answered nothing" "the cut ends the replay"
run $replay work.tape --to "$url" --verify-only a.run
like "$status,$(last)" "1,.*found wrong data" "control: a server whose flushes do nothing is found out"
cut
done_testing
