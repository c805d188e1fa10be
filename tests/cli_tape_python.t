#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A tape is read by another language with nothing but tar, zstd and a generic msgpack decoder, from TAPE.md alone: what the
# writers were given, what that reader finds and what iotape-analyze exports are the same.
. "$(dirname "$0")/lib.sh"
need tar zstd
"$python" -c 'import msgpack' 2>/dev/null || skip_all "needs python3-msgpack"
export IOTAPE_SAMPLES=$tmp

CMOCKA_MESSAGE_OUTPUT=STDOUT "$BUILD/tests/test_tape_foreign" >"$tmp/log" 2>&1
ok $? "a tape and a run are written"

for kind in tape run; do
    run "$python" "$top/tests/read_tape.py" "$tmp/x.$kind"
    is "$status" 0 "read_tape.py reads and verifies the $kind"
    [ -z "$err" ] || note "$err"
    printf '%s\n' "$out" | cmp - "$tmp/$kind.csv"; ok $? "and finds what was written"
    run "$analyze" export "$tmp/x.$kind" --format csv
    is "$status" 0 "iotape-analyze exports the $kind"
    printf '%s\n' "$out" | cmp - "$tmp/$kind.csv"; ok $? "and finds the same"
done
run "$python" "$top/tests/read_tape.py" "$tmp/x.tape" net
printf '%s\n' "$out" | cmp - "$tmp/net.csv"; ok $? "read_tape.py finds the conversations that were written"
[ -z "$err" ] || note "$err"
run "$analyze" export "$tmp/x.tape" --format net_csv
printf '%s\n' "$out" | cmp - "$tmp/net.csv"; ok $? "iotape-analyze exports the same"
is "$(wc -l <"$tmp/net.csv")" 1201 "each line is an event"
is "$(wc -l <"$tmp/tape.csv") $(wc -l <"$tmp/run.csv")" "3001 1401" "nothing is left out"
is "$(grep -c , "$tmp/tape.csv")" 3001 "each line is a record"
like "$(tar tf "$tmp/x.tape" | tr '\n' ' ')" '^iotape.msgpack dict/000000.msgpack block/00000000.msgpack.zst .*late/000000.msgpack.zst .*index.msgpack end.msgpack $' \
    "the tape has the members that it should"

# The control: a reader that would accept anything shows nothing.
cp "$tmp/x.tape" "$tmp/bad.tape"
printf 'X' | dd of="$tmp/bad.tape" bs=1 seek=3000 conv=notrunc status=none
run "$python" "$top/tests/read_tape.py" "$tmp/bad.tape"
[ "$status" -ne 0 ]; ok $? "read_tape.py refuses a tape with a changed byte"
done_testing
