#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# LUNs with limits and moods, played by a small target of our own that writes down every command: no root needed.
. "$(dirname "$0")/replay.sh"

codes() { $analyze export a.run --format csv | awk -F, 'NR > 1 && $11 { print $11 }' | sort | uniq -c | xargs; }
errno() { $python -c "import errno; print(errno.$1)"; }
# fake KEY=VALUE...: such a target; sets $to.
fake() {
    [ -z "${fake_pid:-}" ] || { kill $fake_pid; wait $fake_pid; }
    rm -f port
    $python "$top/tests/iscsi_fake.py" port log "$@" 2>fake.err & fake_pid=$!
    cleanup "kill $fake_pid; wait $fake_pid"
    wait_for 5 test -s port || note "the target did not start: $(cat fake.err)"
    to=iscsi://127.0.0.1:$(cat port)/iqn.2026-01.test:fake/0
}
# replayed: the commands after the flush that ends filling, sorted.
replayed() { awk 'flushed { print } /^flush/ { flushed = 1 }' log | sort; }

# 100 KiB of each: more than the LUN takes in one command (64 KiB; 4096 blocks of UNMAP, 64 of WRITE SAME).
cat >work.txt <<'END'
0 write 0 102400 fua
1000 read 131072 102400
2000 flush 0 0
3000 write 262144 512 preflush|fua
4000 discard 1048576 3145728
5000 write_zeroes 524288 102400
END
tape work <work.txt
cat >wanted <<'END'
flush 0 0 0
flush 0 0 0
read 256 128 0
read 384 72 0
same 1024 64 0
same 1088 64 0
same 1152 64 0
same 1216 8 0
unmap 2048 4096 0
unmap 6144 2048 0
write 0 128 1
write 128 72 1
write 512 1 1
END
fake
run $replay work.tape --to $to -o a.run
is "$status,$(rep a.run errors),$(rep a.run unsupported),$(rep a.run two_step)" 0,0,0,1 "replay to a LUN with limits"
is "$(replayed)" "$(cat wanted)" "commands are cut to its limits, and FUA is where it was"
is "$(fact a.run commands),$(fact a.run max_transfer)" "READ (16), WRITE (16),64.00 KiB" "the limits are in the run"
cp wanted wanted16

fake fua=0
run $replay work.tape --to $to -o a.run
is "$status,$(rep a.run errors),$(rep a.run two_step)" 0,0,2 "a LUN without FUA"
is "$(replayed)" "$(sed 's/^\(write .*\) 1$/\1 0/; 1i flush 0 0 0\nflush 0 0 0' wanted16)" "gets a flush after the write"

fake cdb16=0 same=0 unmap=0
run $replay work.tape --to $to -o a.run
is "$status,$(rep a.run errors),$(rep a.run unsupported)" 0,0,2 "a LUN that knows 10-byte commands only: what it cannot do is counted"
is "$(replayed)" "$(grep -v 'same\|unmap' wanted16)" "the rest is done"
is "$(fact a.run commands),$(fact a.run discard)" "READ (10), WRITE (10),no" "which the run says"

# 400 reads and writes, each with something to be endured.
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d %s %d 4096\n", 100 * i, i % 2 ? "read" : "write", 4096 * i }' | tape many
for mood in busy=5 attention=7 aborted=9 "busy=3 attention=4"; do
    # shellcheck disable=SC2086 # several keys
    fake $mood
    run $replay many.tape --to $to -o a.run --timing asap --depth 64
    is "$status,$(rep a.run errors)" 0,0 "$mood: no I/O fails"
    is "$(replayed | sort -u | wc -l),$(replayed | wc -l)" 400,400 "$mood: each is done once"
done
fake busy=1
run $replay many.tape --to $to -o a.run --stall-timeout 1s; is $status 1 "a LUN that is always busy is an error in bounded time"

fake medium=50
run $replay many.tape --to $to -o a.run --max-errors 1000
is "$status,$(codes)" "0,4 $(errno EIO)" "4 of 200 reads fail: each an error of its own"
fake short=50
run $replay many.tape --to $to -o a.run --max-errors 1000
is "$(rep a.run short_io),$(rep a.run errors)" 4,4 "4 of 200 reads are short: they are errors, and counted"
fake conflict=1
run $replay many.tape --to $to -o a.run; is $status 1 "a reservation that only writes meet"
like "$err" "Device or resource busy" "is an error that says so"

# A portal that sends us to another one, and one that sends us to itself.
fake; other_pid=$fake_pid other=$(cat port) fake_pid=
fake redirect=$other
run $replay many.tape --to $to -o a.run --timing asap; is "$status,$(rep a.run errors)" 0,0 "a portal that sends us to another one"
kill $other_pid; wait $other_pid
run $replay many.tape --to $to -o a.run --timing asap; is $status 1 "which is not there"
like "$err" "Connection refused" "is an error"
done_testing
