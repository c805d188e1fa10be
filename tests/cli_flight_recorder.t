#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd unit in samples/ is one, asks for what it needs, and its command line is one of ours.
here=$(dirname "$0")
. "$here/lib.sh"
need systemd-analyze sed

unit=$top/samples/iotape-flight-recorder.service
verify() { # verify [SED-COMMAND]: what systemd says of the unit, with our program in its place
    sed -e "s|/usr/local/bin/iotape-record|$(realpath "$record")|" ${1:+-e "$1"} "$unit" >"$tmp/iotape-flight-recorder.service"
    run systemd-analyze verify --man=no "$tmp/iotape-flight-recorder.service"
}
chmod 755 "$tmp"
verify
is "$status" 0 "systemd-analyze verify"
is "$(printf '%s' "$err" | grep -v "$record: \|Failed to\|is not executable" | grep iotape-flight)" "" "... has nothing to say"
verify 's/^StateDirectory=.*/StateDirectory=..\/..\/etc/'
like "$err" "StateDirectory" "the control: it says what is wrong"
verify 's/^ExecStart=/NoExecStart=/'
is "$status" 1 "... and fails for a unit that runs nothing"
for set in DynamicUser=yes "AmbientCapabilities=CAP_BPF CAP_PERFMON CAP_NET_RAW" NoNewPrivileges=yes ProtectSystem=strict; do
    grep -qx "$set" "$unit"; ok $? "$set"
done

# Its command line, as that user would run it: on another disk and in another place.
if [ "$(id -u)" -eq 0 ] && [ -e /sys/kernel/btf/vmlinux ] && [ -e /dev/loop-control ]; then
    loop_new 16M
    cp "$record" "$tmp/iotape-record"; mkdir "$tmp/iotape"; chown 65534:65534 "$tmp/iotape"
    command=$(sed -n "s|^ExecStart=/usr/local/bin/|$tmp/|p" "$unit" | sed "s|%S|$tmp|; s|\${DISK}|$loop|")
    setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all,+bpf,+perfmon,+net_raw \
        --ambient-caps=-all,+bpf,+perfmon,+net_raw --bounding-set=-all,+bpf,+perfmon,+net_raw $command 2>"$tmp/said" & pid=$!
    wait_for 20 test -e "$tmp/iotape/web01-000001.tape.partial"; ok $? "its command runs with what the unit gives it"
    kill -USR1 $pid
    wait_for 20 test -e "$tmp/iotape/web01-saved-000001.tape"; ok $? "SIGUSR1 saves"
    kill $pid; wait $pid; is $? 0 "ends well"
    run "$analyze" show "$tmp/iotape/web01-saved-000001.tape"; is "$status" 0 "what was saved is whole"
else skip 4 "needs root, eBPF and loop devices"; fi
done_testing
