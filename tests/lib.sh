# Shared by the command-line tests: TAP, cleanup in reverse order also when a test dies, devices, servers.
# A test sources this file, runs checks and ends with `done_testing`. Each is runnable alone:
#   BUILD=build tests/cli_show.t
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${BUILD:-$top/build}
record=$BUILD/iotape-record replay=$BUILD/iotape-replay analyze=$BUILD/iotape-analyze
python=/usr/bin/python3 # the distribution's, which has python3-msgpack
shared=$top/../shared
export LC_ALL=C
tests_run=0 tests_failed=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/iotape-test.XXXXXX")
cleanups=()
cleanup() { cleanups+=("$*"); } # a command line, run at the end
run_cleanups() {
    local status=$? i
    trap - EXIT
    for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do eval "${cleanups[i]}" >/dev/null 2>&1; done
    rm -rf "$tmp"
    exit $status
}
trap run_cleanups EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

ok() { # ok STATUS NAME: 0 passes
    tests_run=$((tests_run + 1))
    if [ "$1" -eq 0 ]; then echo "ok $tests_run - $2"; else
        echo "not ok $tests_run - $2"
        tests_failed=$((tests_failed + 1))
    fi
}
note() { printf '%s\n' "$*" | sed 's/^/# /' >&2; } # to where a runner shows it
is() { # is GOT WANTED NAME
    [ "$1" = "$2" ]; ok $? "$3"
    [ "$1" = "$2" ] || { note "got:    $1"; note "wanted: $2"; }
}
like() { # like GOT EXTENDED-REGEX NAME
    printf '%s\n' "$1" | grep -qE -- "$2"; local s=$?
    ok $s "$3"
    [ $s -eq 0 ] || { note "got:    $1"; note "wanted: $2"; }
}
# Runs a command; its standard output, standard error and exit status land in $out, $err and $status.
run() {
    "$@" >"$tmp/.out" 2>"$tmp/.err"
    status=$?
    out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
}
skip_all() { echo "1..0 # SKIP $*"; exit 0; }
skip() { # skip COUNT REASON: in place of COUNT checks
    local i
    for ((i = 0; i < $1; i++)); do tests_run=$((tests_run + 1)); echo "ok $tests_run # SKIP $2"; done
}
done_testing() { echo "1..$tests_run"; exit $((tests_failed > 0)); }

need_root() { [ "$(id -u)" -eq 0 ] || skip_all "needs root"; }
need() { local c; for c; do command -v "$c" >/dev/null || skip_all "needs $c"; done; }
need_loop() { need_root; [ -e /dev/loop-control ] || skip_all "needs loop devices"; }
need_bpf() { need_root; [ -e /sys/kernel/btf/vmlinux ] || skip_all "needs a kernel with BTF"; }
ram=/dev/shm; [ -w $ram ] || ram=$tmp

# loop_attach FILE [OPTION...]: sets $loop. Partitions that were added (partx, addpart) outlive losetup -d and would meet
# the next user of the device: they are removed before and after.
loop_attach() {
    local file=$1; shift
    loop=$(losetup --find --show "$@" "$file" 2>/dev/null) || return 1
    partx -d "$loop" 2>/dev/null
    cleanup "partx -d $loop; losetup -d $loop"
}
# loop_new SIZE [DIR]: a sparse file of SIZE and a loop device over it; sets $loop and $loop_file.
loop_new() {
    loop_file=$(mktemp "${2:-$ram}/iotape-loop.XXXXXX")
    cleanup "rm -f $loop_file"
    truncate -s "$1" "$loop_file"
    loop_attach "$loop_file" --direct-io=on || loop_attach "$loop_file" || skip_all "no loop device is free"
}
# zram_new SIZE: sets $zram. Never device 0, which the host may use.
zram_new() {
    local n
    zram=
    [ -e /sys/class/zram-control/hot_add ] || return 1
    n=$(cat /sys/class/zram-control/hot_add) && [ "$n" -gt 0 ] || return 1
    cleanup "echo 1 >/sys/block/zram$n/reset; echo $n >/sys/class/zram-control/hot_remove"
    echo "$1" >/sys/block/zram$n/disksize || return 1
    zram=/dev/zram$n
}
# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local n=$(($1 * 20)); shift
    while ((n-- > 0)); do "$@" >/dev/null 2>&1 && return 0; sleep 0.05; done
    return 1
}
# listens PORT [ENTER...]: whether somebody does, by TCP, where ENTER leads (as ip netns exec NAME). Looks without connecting: some
# servers take it badly when a client goes at once.
listens() { "${@:2}" ss -Hltn "sport = :$1" | grep -q .; }
# nbd_loop SIZE FILTER-ARGUMENTS...: nbdkit memory disk behind nbdfuse and a loop device; sets $loop, $nbd_sock.
nbd_serial=0
nbd_loop() {
    local size=$1 dir; shift
    nbd_serial=$((nbd_serial + 1))
    dir=$tmp/nbd$nbd_serial; mkdir -p "$dir/mnt"
    nbd_sock=$dir/sock
    nbdkit -f -U "$nbd_sock" -t 64 "$@" & cleanup "kill $!; wait $!"
    wait_for 10 test -S "$nbd_sock" || return 1
    nbdfuse "$dir/mnt" "nbd+unix:///?socket=$nbd_sock" & cleanup "kill $!; wait $!"
    wait_for 10 test -f "$dir/mnt/nbd" || return 1
    cleanup "umount $dir/mnt"
    loop_attach "$dir/mnt/nbd" --direct-io=on
}
