#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A replay that cannot go on ends at once, with exit status 1 and no run that looks whole: a target that is full while it is
# filled, results that cannot be written, a signal while it plans.
. "$(dirname "$0")/replay.sh"
need_root

mkdir small
mount -t tmpfs -o size=40k none small || skip_all "no tmpfs"
cleanup "umount $tmp/small"

# The target is full.
loop_new 16M; mkdir disk
PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -O ^has_journal "$loop" 2>/dev/null && mount "$loop" disk || skip_all "no ext4"
cleanup "umount $tmp/disk"
awk 'BEGIN { for (i = 0; i < 64; i++) printf "%d write %d 524288\n", i * 100, i * 524288 }' | tape large
run $replay large.tape --to disk/a.img -o a.run
like "$status,$(tail -1 <<<"$err")" "1,iotape-replay: error: filling 'disk/a.img' before it is measured: .*No space left" "a full target: an error"
is "$(ls a.run* 2>/dev/null)" "" "and no run, since nothing was measured"
run $replay large.tape --to null: -o a.run; before=$(sha256sum <a.run)
run $replay large.tape --to disk/a.img -o a.run
is "$status,$(sha256sum <a.run)" "1,$before" "an earlier run stays"
run $replay large.tape --to null: -o b.run --to disk/a.img -o c.run
is "$status,$(ls b.run* c.run* 2>/dev/null)" 1, "nor another side's that had not begun"

# The run's disk is full. 200,000 records in a moment, then one a second for 1,000 s.
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "%d read %.0f 4096\n", i, 4096 * int(i * 7919 % 100003)
    for (i = 0; i < 1000; i++) printf "%.0f read 0 4096\n", (i + 1) * 1000000 }' | tape long
run timeout 60 $replay long.tape --to null: -o small/a.run --timing recorded
like "$status,$(tail -1 <<<"$err")" "1,iotape-replay: error: .*small/a.run.*No space left" "results that cannot be written: an error"
like "$err" "repetition 1 \(cut short\)" "at once: the repetition is cut short"
is "$([ -e small/a.run ] && echo whole)" "" "no run that looks whole"
rm -f small/*
run timeout 60 $replay long.tape --to null: -o small/a.run --timing recorded --runs 3 --for 150ms --to null: -o small/b.run
for f in small/?.run; do
    [ ! -e "$f" ] || like "$($analyze show --json "$f")" '"ended": "error: .*No space left' "with several: $f says how it ended"
done
is $status 1 "with several: an error"

# A discard of 1 PiB is planned like any other; 240 TiB in small ones take seconds, which a signal ends.
echo "0 discard 4096 1125899906842624" | tape huge
run timeout 60 $replay huge.tape --to null: -o h.run
is $status 0 "a discard of 1 PiB"
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%d discard %.0f 4294967296\n", i, i * 4294967296 }' | tape wide
$replay wide.tape --to null: -o w.run 2>w.err & pid=$!
cleanup "kill -9 $pid; wait $pid"
wait_for 20 grep -q '^SigCgt:.*[2367abef]$' /proc/$pid/status # SIGINT is caught from now on: bit 1
sleep 0.1; kill -INT $pid; wait $pid
is "$?,$(tail -1 w.err),$(ls w.run* 2>/dev/null)" "1,iotape-replay: error: cut short by a signal," "a signal: an end, and no run"

# What means nothing is a usage error.
for timing in recorded closed ""; do
    run $replay large.tape --to null: -o x.run ${timing:+--timing $timing} --depth 4
    like "$status,$err" "2,iotape-replay: error: --depth means nothing without --timing asap" "--depth with ${timing:-no} timing: usage"
done
run $replay large.tape --to null: -o x.run --timing asap --depth 4; is $status 0 "control: with asap"
done_testing
