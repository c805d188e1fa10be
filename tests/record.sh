# Shared by the tests of live capture: I/Os as lines "OP OFFSET LENGTH", from fio's own log and from a tape.

# What fio says it did (fio's HOWTO, "Trace file format v3": time, file, action, offset, length).
iolog_ios() {
    awk '$3 == "read" || $3 == "write" { print $3, $4, $5 }
         $3 == "trim" { print "discard", $4, $5 }' "$@" | sort
}
# What a tape holds of the kinds given (default: read write discard), of one stream where STREAM is set.
tape_ios() { # tape_ios TAPE [OP...]
    local tape=$1; shift
    "$analyze" export --format csv "$tape" | awk -F, -v ops=" ${*:-read write discard} " -v stream="${STREAM:-}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        index(ops, " " $at["op"] " ") && (stream == "" || $at["stream"] == stream) {
            print $at["op"], $at["offset_bytes"], $at["len_bytes"] }' | sort
}
# Every 4 KiB (UNIT bytes) of every I/O, for those that several bios make up.
ios_blocks() { awk -v unit="${UNIT:-4096}" '{ for (at = $2; at < $2 + $3; at += unit) print $1, at }' "$@" | sort; }

# same_ios WITNESS TAPE-IOS NAME: equal as multisets, and not empty. Says the first differences.
same_ios() {
    local s=0
    [ -s "$1" ] && diff "$1" "$2" >"$tmp/.diff" || s=1
    ok $s "$3 ($(wc -l <"$1") I/Os)"
    [ $s -eq 0 ] || head -5 "$tmp/.diff" | note "$(cat)"
}
# The control: the comparison has to see a lost I/O, one too many, and one that is elsewhere.
turns_red() { # turns_red WITNESS TAPE-IOS
    local seen=0
    sed 1d "$2" | diff -q "$1" - >/dev/null && seen=1
    sed 1p "$2" | sort | diff -q "$1" - >/dev/null && seen=1
    awk 'NR == 1 { $2 += 512 } { print }' "$2" | sort | diff -q "$1" - >/dev/null && seen=1
    ok $seen "a lost, a doubled and a moved I/O are seen"
}
# fio with its log; more options may follow.
fio_on() { # fio_on DEVICE LOG OPTION...
    local device=$1 log=$2; shift 2
    fio --name=job --filename="$device" --direct=1 --ioengine=libaio --iodepth=16 --randrepeat=1 \
        --write_iolog="$log" --output-format=json "$@"
}
json() { "$python" -c 'import json,sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

# ended NAME COMMAND...: all that COMMAND records in $recorded has a latency, at the third try at the latest. Some virtual
# machines exempt their host's agent from eBPF: what completes in an interrupt over that task ends unseen, and says so.
ended() {
    local name=$1 try open; shift
    for try in 1 2 3; do
        "$@"
        open=$("$analyze" export --format csv "$recorded" | awk -F, 'NR > 1 && $8 == ""' | wc -l)
        [ "$open" -eq 0 ] && break
    done
    is "$open" 0 "$name"
}

# record_fio NAME --disk|--file PATH FIO-OPTIONS...: fio on PATH, recorded, nothing lost: $tmp/t.tape; what fio did according to
# its log ($tmp/log) and what the tape has are in $tmp/fio and $tmp/tape.
record_fio() {
    local name=$1 how=$2 path=$3; shift 3
    rm -f "$tmp/log" "$tmp/t.tape"
    run "$record" -o "$tmp/t.tape" "$how" "$path" -- \
        bash -c '. "$0"; fio_on "$@"' "$top/tests/record.sh" "$path" "$tmp/log" "$@"
    [ $status -eq 0 ] || note "$err"
    like "$err" ', 0 lost,' "$name: nothing lost"
    iolog_ios "$tmp/log" >"$tmp/fio"
    tape_ios "$tmp/t.tape" >"$tmp/tape"
}
# same_blocks NAME: they cover the same blocks (of UNIT bytes), as often.
same_blocks() {
    ios_blocks "$tmp/fio" >"$tmp/fio_blocks"; ios_blocks "$tmp/tape" >"$tmp/tape_blocks"
    same_ios "$tmp/fio_blocks" "$tmp/tape_blocks" "$1"
}
