#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A flight recorder: whole parts, nothing lost between them, bounded disk, SIGUSR1 saves, crashes and full disks.
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/record.sh"
need_bpf; need_loop; need fio dd "$python"

loop_new 64M; disk=$loop
place=$(mktemp -d "$ram/iotape-rotate.XXXXXX"); cleanup "rm -rf $place"
begin() { # begin OPTION...
    "$record" -o "$place/x.tape" --disk "$disk" "$@" 2>"$tmp/said" & recorder=$!
    wait_for 20 eval "ls $place/x-*.partial"
}
end() { kill "$recorder" && wait "$recorder"; }
load() { # load IOS OPTION...
    local ios=$1; shift
    rm -f "$tmp/log"
    fio_on "$disk" "$tmp/log" --rw=randread --bs=4k --size=64M --io_size=$((ios * 4096)) --norandommap "$@" >/dev/null
}
whole() { local t; for t; do "$analyze" show "$t" >/dev/null 2>>"$tmp/broken" || return 1; done; } # show verifies
numbers() { ls "$place" | sed -n "s/^x-$1\([0-9]*\)\.tape$/\1/p" | sed 's/^0*//' | xargs; }

for bad in "--rotate 3" "--rotate 3 --max-size 1k" "--save 1m" "--rotate 1000000 --max-size 1M"; do
    run "$record" -o "$place/x.tape" --disk "$disk" $bad --for 50ms
    is "$status" 2 "refused: $bad"
done

# All parts kept: together they are what fio did.
flight() {
    rm -f "$place"/*
    begin --rotate 1000 --max-size 128k
    load 220000
    end
    recorded=$place/all.csv
    for t in "$place"/x-0*.tape; do "$analyze" export --format csv "$t"; done >"$recorded"
    without=$(awk -F, '$3 == "read" && $8 == ""' "$recorded" | wc -l)
}
for try in 1 2 3; do flight; [ "$without" -eq 0 ] && break; done # see `ended` in record.sh
is "$without" 0 "all I/Os have a latency, at the ends of parts, too"
parts=("$place"/x-0*.tape)
[ ${#parts[@]} -ge 3 ]; ok $? "several parts (${#parts[@]})"
whole "${parts[@]}"; ok $? "each is a whole tape"
iolog_ios "$tmp/log" >"$tmp/witness"
for t in "${parts[@]}"; do tape_ios "$t"; done | sort >"$tmp/taped"
same_ios "$tmp/witness" "$tmp/taped" "together they have what fio did, nothing twice"
turns_red "$tmp/witness" "$tmp/taped"
is "$(for t in "${parts[@]}"; do "$analyze" show --json "$t" | json 'd["identity"]'; done | sort -u | wc -l)" ${#parts[@]} \
    "each has an identity of its own"
"$analyze" show --json "${parts[1]:-none}" | json 'd["elapsed_ns"] / 1e9, d["label"], d["options"]["part"]' >"$tmp/second"
like "$(cat "$tmp/second")" "'x', '2'" "label and number ($(cat "$tmp/second"))"
first=$("$analyze" export --format csv "${parts[1]:-none}" | sed -n 2p | cut -d, -f1)
[ "$first" -lt 1000000000 ]; ok $? "a part's times begin at its own begin ($first ns)"

# The last ones kept, and saved.
rm -f "$place"/*
begin --rotate 2 --max-size 128k
load 300000
most=$(ls "$place" | wc -l)
kill -USR1 "$recorder"
wait_for 20 grep -q '^saved' "$tmp/said"; ok $? "SIGUSR1: said ($(cat "$tmp/said"))"
saved=$(numbers saved-)
load 300000
is "$(numbers saved-)" "$saved" "what is saved is not removed"
end; is $? 0 "ends well"
[ "$most" -le 4 ]; ok $? "no more than the parts that are kept, and the one that is written ($most)"
is "$(numbers "" | wc -w)" 2 "two are kept at the end"
whole "$place"/*.tape; ok $? "all are whole"
[ "$(echo "$saved" | wc -w)" -ge 2 ]; ok $? "several are saved ($saved)"
last=$(tail -1 "$tmp/log" >/dev/null; numbers "" | awk '{ print $2 }')

# Only the last moments: parts that ended before are left.
begin --rotate 50 --max-size 128k --save 1s
is "$(ls "$place" | sed -n 's/^x-0*\([0-9]*\)\.tape\.partial/\1/p')" $((last + 1)) "numbers go on after a restart"
load 200000
sleep 2
kill -USR1 "$recorder"; wait_for 20 grep -q '^saved the last 1' "$tmp/said"; ok $? "--save: said"
end
[ "$(numbers saved- | wc -w)" -eq $(($(echo "$saved" | wc -w) + 1)) ]; ok $? "--save 1s saves the last part only"

# Killed: what was written stays readable, and counts as a part.
rm -f "$place"/*
echo keep >"$place/x-000001.tape"; echo keep >"$place/x-000002.txt"; echo keep >"$place/x-saved-000003.tape"
begin --rotate 1 --max-size 128k
run "$record" -o "$place/x.tape" --disk "$disk" --rotate 1 --max-size 128k --for 50ms
is "$status" 1 "a second recorder of the same parts"
like "$err" "another recorder is writing '.*x-000004.tape.partial'" "... is refused"
load 150000
kill -9 "$recorder"; wait "$recorder" 2>/dev/null
partial=$(ls "$place"/x-*.partial)
run "$analyze" show "$partial"
like "$out" "unfinished" "killed: the last part is readable and says that it is unfinished"
begin --rotate 1 --max-size 128k
load 200000
end
[ ! -e "$partial" ]; ok $? "... and is removed when its turn comes"
is "$(cat "$place/x-000001.tape" "$place/x-000002.txt" "$place/x-saved-000003.tape" | xargs)" "keep keep keep" \
    "what is no tape, or saved, is never removed"
rm -f "$place"/*

# A full disk.
small=$tmp/small; mkdir "$small"; mount -t tmpfs -o size=600k none "$small"; cleanup "umount $small"
place=$small
begin --rotate 20 --max-size 128k
load 500000
wait "$recorder"; is $? 1 "a full disk: exit status 1"
is "$(grep -c . "$tmp/said")" 1 "... and one line of error"
like "$(cat "$tmp/said")" "^iotape-record: error: .*No space left on device" "... which says why"
whole "$small"/*.tape; ok $? "... the parts before are whole ($(numbers ""))"
is "$(ls "$small"/*.partial 2>/dev/null | wc -l)" 1 "... the last one is unfinished"
run "$analyze" show "$small"/*.partial
is "$status" 0 "... and readable"
done_testing
