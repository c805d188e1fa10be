#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iSCSI over two portals: one is lost, by reset or by silence, and comes back.
. "$(dirname "$0")/iscsi_paths.sh"

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
is "$(rep a.run path_changes),$(($(rep a.run reissued) > 0))" 1,1 "it is dropped, and its I/O is issued again"
is $(($(longest a.run) >= 750 && $(longest a.run) < 4500)) 1 "the stall is bounded, and shows: $(longest a.run) ms"
intact "a path falls silent"
kill -CONT $second_pid

pause_both() { kill -STOP $first_pid $second_pid; sleep 0.5; kill -CONT $first_pid $second_pid; }
replay_during pause_both
is "$status,$(rep a.run errors),$(rep a.run path_changes)" 0,0,0 "a pause of half a second ends nothing"
done_testing
