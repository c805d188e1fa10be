# Shared by the benches; on top of the tests' library.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
bench=$(basename "$0")
ROWS=${ROWS:-/dev/stdout}
skip_all() { echo "$bench: cannot run: $*"; exit 1; }
[ -x "$record" ] || skip_all "nothing is built in $BUILD"
# row FIGURE IOTAPE WITNESS BAR [CONDITION]: one line of the table; CONDITION is an awk expression, true where the bar is met; one that
# cannot be read, for want of a figure, is not.
row() {
    local met=-
    [ $# -lt 5 ] || met=$(awk "BEGIN { print ($5) ? \"yes\" : \"NO\" }" 2>/dev/null) || met=NO
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$bench" "$1" "$2" "$3" "$4" "$met" >>"$ROWS"
    printf '%s: %s: %s (beside it: %s; bar: %s; met: %s)\n' "$bench" "$1" "$2" "$3" "$4" "$met"
}
# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# fio_terse FIELD ARGUMENTS...: one field of fio's terse output, counted from 1.
fio_terse() { local f=$1; shift; fio --output-format=terse --terse-version=3 "$@" | cut -d';' -f"$f"; }
# ns a run of each eBPF program that is attached, by kernel.bpf_stats_enabled: lines NAME RUNS NS.
program_costs() {
    bpftool --json prog show | "$python" -c '
import json, sys
for p in json.load(sys.stdin):
    if p.get("run_cnt"):
        print(p["name"], p["run_cnt"], p["run_time_ns"] / p["run_cnt"])'
}
