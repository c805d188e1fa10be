# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of iSCSI paths: tgtd behind two relays, and a tape that takes long enough to lose them meanwhile.
. "$(dirname "${BASH_SOURCE[0]}")/replay.sh"
need_root
need tgtd tgtadm

# The longest latency of a run in ms.
longest() { csv "$1" | awk -F, '$10 > m { m = $10 } END { printf "%d", m / 1e6 }'; }
up() { iscsi_server && iscsi_target 1 disk && iscsi_lun 1 1 disk.img; }
truncate -s 32M disk.img local.img
up || exit 1
first=$((iscsi_port - 1)) second=$((iscsi_port - 2))
two=iscsi://127.0.0.1:$first,127.0.0.1:$second/iqn.2026-01.test:disk/1
first_up() { relay $first $iscsi_port && first_pid=$relay_pid; }
second_up() { relay $second $iscsi_port && second_pid=$relay_pid; }
gone() { kill -9 "$@"; wait "$@" 2>/dev/null; } # PID...
first_up && second_up || exit 1

# 3 s of I/O, every 2 ms one, of them a third writes, each at a place of its own.
awk 'BEGIN { srand(3); for (i = 0; i < 1500; i++) {
    if (i % 3 == 2) printf "%d write %d 4096 %s\n", 2000 * i, 16777216 + 4096 * i, i % 30 == 2 ? "fua" : "-"
    else if (i % 100 == 0) printf "%d flush 0 0\n", 2000 * i
    else printf "%d read %d 4096\n", 2000 * i, int(rand() * 4096) * 4096 } }' >work.text
tape work <work.text
run $replay work.tape --to local.img -o local.run --timing asap; is $status 0 "replay to a file"

# replay_during COMMAND...: replays while the command is run 1 s after the first write arrived; sets $status, $seconds.
written() { [ "$(stat -c %Y disk.img)" -gt 0 ]; }
replay_during() {
    local begin=$SECONDS pid
    touch -d @0 disk.img
    $replay work.tape --to "$to" -o a.run --timing recorded --stall-timeout 4500ms "${options[@]}" 2>.err & pid=$!
    wait_for 20 written || note "the replay does not begin"
    sleep 1; "$@"
    wait $pid; status=$? seconds=$((SECONDS - begin))
    err=$(cat .err)
}
intact() { cmp -s local.img disk.img; is $? 0 "$1: all bytes arrived"; }
to=$two options=()
