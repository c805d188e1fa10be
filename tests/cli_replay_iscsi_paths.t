#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iSCSI over two portals: both are used; one is lost, by reset or by silence, and comes back.
. "$(dirname "$0")/iscsi_paths.sh"
need ss

# What each relay has got on its connection by then, in bytes: the kernel's count (ss).
received() { ss -Htni "sport = :$1" | sed -n 's/.*bytes_received:\([0-9]*\).*/\1/p'; }
look() { ours=$(received $first) theirs=$(received $second); }
replay_during look
[ "$ours" -gt $((theirs / 2)) ] && [ "$theirs" -gt $((ours / 2)) ]
ok $? "both paths carry the I/O, each about half: $ours and $theirs bytes"

kill_second() { gone $second_pid; }
replay_during kill_second
is "$status,$(rep a.run errors),$(rep a.run records)" 0,0,1500 "a path is reset: no I/O fails"
is "$(rep a.run path_changes)" 1 "a path was lost, and that is counted"
intact "a path is reset"
second_up
options=(--runs 2 --for 1500ms)
replay_during kill_second
is "$status,$(rep a.run path_changes),$(rep a.run path_changes 2)" 0,1,1 "a repetition that begins with a path less says so"
options=()
second_up

bounce_second() { gone $second_pid; second_up; }
replay_during bounce_second
is "$status,$(rep a.run errors)" 0,0 "a path is reset and comes back: no I/O fails"
is "$(rep a.run path_changes)" 2 "both are counted"
intact "a path is reset and comes back"

stop_second() { kill -STOP $second_pid; }
replay_during stop_second
is "$status,$(rep a.run errors)" 0,0 "a path falls silent: no I/O fails"
is "$(($(rep a.run path_changes) > 0)),$(($(rep a.run reissued) > 0))" 1,1 "it is dropped, and its I/O is issued again"
is $(($(longest a.run) >= 750 && $(longest a.run) < 4500)) 1 "the stall is bounded, and shows: $(longest a.run) ms"
intact "a path falls silent"
kill -CONT $second_pid

# With --verify: what was sent again arrived once, at its place, and is what is read back; the stall is bounded and reported.
options=(--verify)
for how in kill_second stop_second; do
    replay_during $how
    is "$status,$(rep a.run errors),$(rep a.run wrong_data),$(($(rep a.run path_changes) > 0))" 0,0,0,1 "$how, verified: no I/O fails, no data are wrong"
    is $(($(rep a.run verified) > 1500)) 1 "$how: it was checked: $(rep a.run verified) blocks"
    is $(($(longest a.run) < 4500)) 1 "$how: the stall is bounded, and in the run: $(longest a.run) ms"
    like "$err" "$(rep a.run path_changes) path changes?, $(rep a.run reissued) I/Os sent again" "$how: which is said, too"
    run $replay work.tape --to "iscsi://127.0.0.1:$first/iqn.2026-01.test:disk/1" --verify-only a.run
    is $status 0 "$how: over the other portal later, too"
    [ $how = kill_second ] && second_up || kill -CONT $second_pid
done
# Control: the same, and a write that is lost.
dd if=/dev/zero of=disk.img bs=4096 seek=4098 count=1 conv=notrunc status=none
run $replay work.tape --to "iscsi://127.0.0.1:$first/iqn.2026-01.test:disk/1" --verify-only a.run
like "$status,$err" "1,.*at byte 16785408: expected record 3 of repetition 1, found zeros" "control: a lost write is found"
options=()

pause_both() { kill -STOP $first_pid $second_pid; sleep 0.5; kill -CONT $first_pid $second_pid; }
replay_during pause_both
is "$status,$(rep a.run errors),$(rep a.run path_changes)" 0,0,0 "a pause of half a second ends nothing"
done_testing
