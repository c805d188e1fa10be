#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --cgroup and --pid: what these queue, and nothing of the others; what nobody is known for is counted.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio dd mkfs.ext4

loop_new 64M; disk=$loop
tape=$ram/iotape-filter-$$.tape
cleanup "rm -f $tape $tape.partial"
refused() { # refused REGEX NAME OPTION...
    local regex=$1 name=$2; shift 2
    run "$record" -o "$tape" "$@" --for 100ms
    [ "$status" -ne 0 ]; ok $? "$name: refused"
    like "$err" "^iotape-record: error: $regex" "$name: why"
}
refused "--cgroup: '/nonexistent' is no cgroup" "no cgroup" --disk "$disk" --cgroup /nonexistent
refused "--cgroup: '$tmp' is no cgroup" "a directory elsewhere" --disk "$disk" --cgroup "$tmp"
refused "--pid: there is no process 2147483647" "no process" --disk "$disk" --pid 2147483647
refused "--pid: .*'x'" "no number" --disk "$disk" --pid x
refused "--children goes with --pid" "--children alone" --disk "$disk" --children
refused "--cgroup and --pid go with --disk" "no disk" --net lo --pid 1
refused "--cgroup and --pid go with --source bpf" "another source" --disk "$disk" --source tracefs --pid 1

# Two loads at once, each job with its own log; one of the loads is recorded.
fio_jobs() { # fio_jobs NAME... [-- OPTION...]: sets $command
    local names=() name
    while [ $# -gt 0 ] && [ "$1" != -- ]; do names+=("$1"); shift; done
    command=(fio "${@:2}" --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=4k --size=32M --number_ios=1500
        --filename="$disk" --output="$tmp/${names[0]}.out")
    for name in "${names[@]}"; do command+=(--name="$name" --write_iolog="$tmp/$name.log"); done
}
begin() { # begin OPTION...: starts to record
    "$record" -o "$tape" --disk "$disk" "$@" 2>"$tmp/said" & recorder=$!
    wait_for 10 test -e "$tape.partial"
}
end() { kill "$recorder"; wait "$recorder"; }
waits() { # waits NAME... [-- OPTION...]: fio in a process that waits for the file go; sets $waiting
    rm -f "$tmp/go"
    fio_jobs "$@"
    sh -c 'while ! [ -e "$0" ]; do sleep 0.05; done; exec "$@"' "$tmp/go" "${command[@]}" & waiting=$!
    cleanup "kill $waiting"
}
compare() { # compare NAME LOG...: the tape has these logs' I/Os
    local name=$1; shift
    iolog_ios "$@" >"$tmp/witness"
    tape_ios "$tape" >"$tmp/taped"
    same_ios "$tmp/witness" "$tmp/taped" "$name"
}

# A process: fio's workers are threads of it.
waits mine1 mine2 -- --thread; mine=$waiting
waits theirs; theirs=$waiting
begin --pid "$mine"
touch "$tmp/go"; wait "$mine" "$theirs"
end
compare "--pid: its threads' I/Os, not the other process's" "$tmp"/mine?.log
turns_red "$tmp/witness" "$tmp/taped"
"$analyze" show --json "$tape" | grep -q unmatched_completions
is $? 1 "others' completions are no unmatched ones"

# Children only where they are asked for: fio's jobs without --thread are processes.
waits parent1 parent2; parent=$waiting
waits theirs; theirs=$waiting
begin --pid "$parent" --children
touch "$tmp/go"; wait "$parent" "$theirs"
end
compare "--children: what the jobs of fio queue, which are processes" "$tmp"/parent?.log
waits parent1; parent=$waiting
begin --pid "$parent"
touch "$tmp/go"; wait "$parent"
end
is "$(tape_ios "$tape" | wc -l)" 0 "without --children: nothing of them"
# A child that is there before the recording, and a grandchild that comes later.
bash -c 'sh -c "while ! [ -e $0.go ]; do sleep 0.05; done; dd if=$1 of=/dev/null bs=4k count=7 iflag=direct; :" & wait; :' \
    "$tmp/deep" "$disk" 2>/dev/null & top_pid=$!
sleep 0.3
begin --pid "$top_pid" --children
touch "$tmp/deep.go"; wait "$top_pid"
dd if="$disk" of=/dev/null bs=4k count=9 iflag=direct 2>/dev/null
end
is "$(tape_ios "$tape" | wc -l)" 7 "--children: one that was there, and its later child"

# Writeback is queued by a kernel thread: nobody's for --pid, said and counted.
mkfs.ext4 -q "$disk"; mkdir "$tmp/mnt"; mount "$disk" "$tmp/mnt"; cleanup "umount $tmp/mnt"
sync
begin --pid $$
dd if=/dev/zero of="$tmp/mnt/file" bs=64k count=16 2>/dev/null
sync -f "$tmp/mnt"; sleep 0.2
end
like "$(cat "$tmp/said")" '[1-9][0-9]* I/Os of kernel threads' "--pid: unattributed I/Os are said"
[ "$("$analyze" show --json "$tape" | json 'int(d["counts"]["unattributed"])')" -gt 0 ]; ok $? "... and stand in the tape"

# A cgroup of the controller that I/O is charged to, and a cgroup v2 without it.
charged=; task=
for at in /sys/fs/cgroup/blkio /sys/fs/cgroup; do
    { [ -e $at/blkio.reset_stats ] || grep -qw io $at/cgroup.subtree_control; } 2>/dev/null && charged=$at && break
done
for at in /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [ -e $at/cgroup.subtree_control ] && ! grep -qw io $at/cgroup.subtree_control && task=$at && break
done
in_group() { # in_group DIRECTORY COMMAND...
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"
}
for at in "$charged" "$task"; do
    [ -n "$at" ] || { skip 3 "no cgroup hierarchy of this kind"; continue; }
    group=$at/iotape-test-$$
    mkdir "$group" "$group/below" "$at/iotape-test-$$-not"
    cleanup "rmdir $group/below; rmdir $group; rmdir $at/iotape-test-$$-not"
    umount "$tmp/mnt" 2>/dev/null
    rm -f "$tmp/mine.log"
    begin --cgroup "$group"
    fio_jobs mine; in_group "$group/below" "${command[@]}" & a=$!
    fio_jobs theirs; in_group "$at/iotape-test-$$-not" "${command[@]}" & b=$!
    wait $a $b
    end
    compare "--cgroup: the I/Os of a group below it" "$tmp/mine.log"
    [ "$at" = "$task" ]; said=$?
    grep -q 'io controller is not enabled' "$tmp/said"; is $? $said "a group without the io controller is said"
    run "$record" -o "$tape" --disk "$disk" --cgroup "/iotape-test-$$" --for 50ms
    is "$status" 0 "a path as /proc/PID/cgroup has it"
done
done_testing
