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
# interval FILE: of numbers: median, and the k-th smallest and largest, an exact interval for the median by the sign test:
# of ten the second ones, confidence 1 - 22/1024 = 97.9 %; of five the outermost, 93.8 %.
interval() { sort -g "$1" | awk '{ v[NR] = $1 } END { k = NR >= 10 ? 2 : 1; m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
    printf "%.3f %.3f %.3f\n", m, v[k], v[NR + 1 - k] }'; }
# ratio A B
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", a / b }'; }
steal() { awk '/^cpu / { print $9 }' /proc/stat; }
