# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the benches of iotape-replay; on top of the benches' library.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$tmp" || exit 1

# random_iolog FILE COUNT GAP_US SPAN_BLOCKS: random 4 KiB reads as fio's iolog, version 3 (times in us).
random_iolog() {
    awk -v n="$2" -v gap="$3" -v span="$4" 'BEGIN {
        srand(1); print "fio version 3 iolog\n0 @DEV@ add\n0 @DEV@ open"
        for (i = 0; i < n; i++) printf "%d @DEV@ read %.0f 4096\n", i * gap, int(rand() * span) * 4096
        print n * gap " @DEV@ close" }' >"$1"
}
# make_tape NAME: NAME.tape of NAME.iolog.
make_tape() { rm -f "$1.tape"; $record -o "$1.tape" --import "$1.iolog" 2>/dev/null || skip_all "cannot import $1"; }
# rep RUN PYTHON: an expression over j (all of show --json) and r (the last repetition).
rep() { $analyze show --json "$1" | $python -c "import json,sys; j=json.load(sys.stdin); r=j['repetitions'][-1]; print($2)"; }
# replay_rate TAPE TARGET OPTION...: records a second of one repetition, elapsed from start to last completion.
replay_rate() { $replay "$1" --to "$2" -o rate.run "${@:3}" 2>replay.err || { cat replay.err >&2; return 1; }
    rep rate.run "r['records'] / (r['elapsed_ns'] / 1e9)"; }
# interval FILE: of numbers: median, and the k-th smallest and largest, the exact interval for the median by the sign test whose
# confidence is at least 95 %: of ten the second ones, 1 - 22/1024 = 97.9 %; of 20 the sixth ones, 95.9 %. Of five the outermost,
# 93.8 %.
interval() { sort -g "$1" | awk '{ v[NR] = $1 } END {
    n = NR; p = 0.5 ^ n; sum = p; k = 1
    for (i = 1; i < n / 2; i++) { p *= (n - i + 1) / i; sum += p; if (2 * sum > 0.05) break; k = i + 1 }
    m = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    printf "%.3f %.3f %.3f\n", m, v[k], v[n + 1 - k] }'; }
# ratio A B
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", a / b }'; }
steal() { awk '/^cpu / { print $9 }' /proc/stat; }
# pin PID: the server and all its threads to the first CPU; ours and theirs go to the second one: whoever is put where by the
# scheduler makes more of a difference than what is compared.
pin() { [ "$(nproc)" -lt 2 ] || { taskset -a -p -c 0 "$1" >/dev/null && on_cpu="taskset -c 1" && replay="$on_cpu $replay"; }; }
on_cpu=
# foreign_s SERVER-PID: seconds of CPU time so far that went to others than us, our children and the server, interrupts and theft by the
# hypervisor included: a word that only the difference of two means something.
foreign_s() {
    times >times.now
    awk -v hz="$(getconf CLK_TCK)" -v server="$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f12,13)" '
        FILENAME == "times.now" { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); ours += 60 * t[1] + t[2] } }
        FILENAME != "times.now" && /^cpu / { split(server, v, " ")
            printf "%.3f\n", ($2 + $3 + $4 + $7 + $8 + $9 - v[1] - v[2]) / hz - ours }' times.now /proc/stat
}
# rate_pairs FIGURE WITNESS SERVER-PID: 20 interleaved pairs of `ours` and `theirs` (functions that print I/Os a second), now the
# one first, now the other. A pair during which other processes had more than 10 % of a CPU is repeated, whatever it brought. Rows
# with both medians and with the ratio's median and exact interval.
rate_pairs() {
    local i=0 a b m lo hi foreign began repeated=0
    rm -f ours.rates theirs.rates ratios
    while ((i < 20)); do
        began=$EPOCHREALTIME
        foreign_s "$3" >foreign.before
        if ((i % 2)); then b=$(theirs) && a=$(ours) || exit 1; else a=$(ours) && b=$(theirs) || exit 1; fi
        foreign_s "$3" >foreign.after
        foreign=$(awk -v t="$EPOCHREALTIME" -v t0="$began" '{ v[NR] = $1 } END { printf "%.3f", (v[2] - v[1]) / (t - t0) }' foreign.before foreign.after)
        [ -z "${SHOW:-}" ] || echo "$a $b $(ratio "$a" "$b") foreign $foreign" >&2
        if awk "BEGIN { exit !($foreign > 0.1) }" && ((repeated < 60)); then repeated=$((repeated + 1)); continue; fi
        i=$((i + 1))
        echo "$a" >>ours.rates
        echo "$b" >>theirs.rates
        ratio "$a" "$b" >>ratios
    done
    read -r m lo hi < <(interval ratios)
    # shellcheck disable=SC2046 # numbers
    row "$1, IOPS, median" "$(median $(cat ours.rates))" "$2 $(median $(cat theirs.rates))" "-"
    row "$1, ratio to $2, exact interval ($repeated pairs disturbed, repeated)" "$m [$lo, $hi]" "1" "lower bound >= 0.95" "$lo >= 0.95"
}
# exact_delays: nbdkit's delay filter sleeps in ppoll, whose timers are late by the process's timer slack (50 us as a rule)
# and by what a sleeping CPU takes to wake up (0.2 ms in a virtual machine). From here on servers have a slack of 1 ns
# (PR_SET_TIMERSLACK is 29, linux/prctl.h, and outlasts exec), and something to do at idle priority keeps the CPUs awake.
exact_delays() {
    nbdkit() {
        exec $python -c 'import ctypes, os, sys; ctypes.CDLL(None).prctl(29, ctypes.c_ulong(1), 0, 0, 0); os.execvp("nbdkit", ["nbdkit"] + sys.argv[1:])' "$@"
    }
    local cpu
    for ((cpu = 0; cpu < $(nproc); cpu++)); do
        taskset -c $cpu chrt -i 0 $python -c 'while True: pass' & cleanup "kill $!; wait $!"
    done
}
# server_times LOG [SKIP]: what the log of nbdkit's log filter says, SKIP lines of it left out: "OP MS" of each request, from its
# beginning to its end.
server_times() { $python - "$1" "${2:-0}" <<'END'
import re, sys
from datetime import datetime
begun = {}
for line in open(sys.argv[1]).readlines()[int(sys.argv[2]):]:
    m = re.match(r'(\S+ \S+) connection=(\d+) (\.\.\.)?(\w+) id=(\d+)', line)
    if not m: continue
    t, key = datetime.fromisoformat(m[1]), (m[2], m[5])
    if not m[3]: begun[key] = t, m[4].lower()
    elif key in begun:
        at, op = begun.pop(key)
        print(op, '%.6f' % ((t - at).total_seconds() * 1e3))
END
}
