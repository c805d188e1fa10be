#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iSCSI with nobody left to talk to: both portals lost, the server killed, started again, gone for good, or another one.
. "$(dirname "$0")/iscsi_paths.sh"

options=(--stall-timeout 3s)
kill_both() { gone $first_pid $second_pid; }
replay_during kill_both
is $status 1 "both paths are lost: an error"
like "$err" "error: .* I/Os? failed on .* Connection timed out" "which says so"
is $((seconds < 60)) 1 "in bounded time: $seconds s"
like "$($analyze show --json a.run)" '"finished": true' "the run is whole"
is $(($(csv a.run | wc -l) > 200)) 1 "what was measured is kept: $(csv a.run | wc -l) records"
first_up
second_up

stop_both() { kill -STOP $first_pid $second_pid; }
replay_during stop_both
is $status 1 "both paths fall silent: an error"
is $((seconds < 60)) 1 "in bounded time: $seconds s"
kill -CONT $first_pid $second_pid

# A single portal, whose server crashes.
to=iscsi://127.0.0.1:$iscsi_port/iqn.2026-01.test:disk/1
options=()
restart() { iscsi_stop; sleep 0.5; up >/dev/null; }
replay_during restart
is "$status,$(rep a.run errors),$(rep a.run path_changes)" 0,0,2 "the server is killed and started again: no I/O fails"
intact "the server was killed"
options=(--stall-timeout 3s)
replay_during iscsi_stop
is $status 1 "the server is gone for good: an error"
is $((seconds < 60)) 1 "in bounded time: $seconds s"
options=(--stall-timeout 3s --max-errors 100000)
up || exit 1
replay_during iscsi_stop
is "$status,$(rep a.run records)" 0,1500 "however many errors are allowed"
is $((seconds < 60)) 1 "in bounded time: $seconds s"
run $replay work.tape --to "$to" -o a.run; is $status 1 "a server that is not there at the beginning"
like "$err" "Connection refused" "is an error at once"

# A server that comes back as another LUN is not written to.
up || exit 1
options=()
impostor() { iscsi_stop; truncate -s 32M other.img; sleep 0.3; iscsi_server && iscsi_target 1 else && iscsi_target 2 disk && iscsi_lun 2 1 other.img; }
replay_during impostor
is $status 1 "another LUN under the same name is no path to ours"
is "$(tr -d '\0' <other.img | wc -c)" 0 "no byte of it changed"
done_testing
