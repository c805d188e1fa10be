#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Replay to nbdkit: what it was asked is what is in the tape, the bytes that arrive are right, what fails and stalls is counted.
. "$(dirname "$0")/replay.sh"
need nbdkit

# What a tape should look like in nbdkit's log, from its CSV: FUA in one request where the server has it, a flush before and
# (without FUA) one behind as requests of their own.
expected() { # expected TAPE HAS-FUA
    $analyze export "$1" --format csv | $python -c "
import csv, sys
name = {'read': 'Read', 'write': 'Write', 'discard': 'Trim', 'write_zeroes': 'Zero'}
for r in csv.DictReader(sys.stdin):
    flags = r['flags'].split('|')
    if r['op'] == 'flush' or 'preflush' in flags: print('Flush 0 0 0')
    if r['op'] == 'flush': continue
    print(name[r['op']], r['offset_bytes'], r['len_bytes'], int('fua' in flags and $2))
    if 'fua' in flags and not $2: print('Flush 0 0 0')" | sort
}
# The requests after the flush that ends filling.
replayed() { nbd_requests "$1" | awk 'flushed { print } /^Flush/ { flushed = 1 }' | sort; }

every_operation 2000 | tape work

# What was asked is what is in the tape, whatever the timing and the number of connections.
for how in "asap --depth 32:1" "recorded:1" "asap --depth 8:4"; do
    nbd_server log.sock --filter=log memory 64M logfile="$tmp/log" || exit 1
    # shellcheck disable=SC2086 # several options
    run $replay work.tape --to "$(at log.sock connections=${how#*:})" -o a.run --timing ${how%:*}
    nbd_stop $nbd_pid
    is "$status,$(rep a.run errors),$(rep a.run unsupported)" 0,0,0 "replay, ${how%:*}, ${how#*:} connections"
    replayed log >got; expected work.tape 1 >wanted
    is "$(sort got | md5sum)" "$(sort wanted | md5sum)" "nbdkit's log agrees with the tape: $(wc -l <wanted) requests"
    cmp -s got wanted || note "$(diff got wanted | head -5)"
done
is "$(rep a.run two_step)" "$(csv work.tape | awk -F, '$4 == "write" && $5 ~ /preflush/ { n++ } END { print n }')" \
    "writes behind a flush are two steps"
tail -n +2 wanted | cmp -s - got; is $? 1 "control: one request less is noticed"
like "$($analyze show a.run)" "offers: flush fua trim zero multi-conn" "the run says what the server offers"
like "$($analyze show a.run)" "connections: 4" "and over how many connections"

# A server without FUA; one that can do nothing but read and write.
nbd_server log.sock --filter=log --filter=fua memory 64M logfile="$tmp/log" || exit 1
run $replay work.tape --to "$(at log.sock)" -o a.run --timing asap
nbd_stop $nbd_pid
replayed log >got; expected work.tape 0 >wanted
is "$status,$(md5sum <got)" "0,$(md5sum <wanted)" "without FUA: a flush behind the write"
truncate -s 1M eval.img
dd_to() { echo "dd $1=$tmp/eval.img $2=\$4 count=\$3 conv=notrunc iflag=count_bytes,fullblock${3:-} oflag=seek_bytes status=none"; }
nbd_server eval.sock --filter=nozero eval zeromode=none get_size='echo 1048576' \
    pread="$(dd_to if skip ,skip_bytes)" pwrite="$(dd_to of seek)" || exit 1
printf '%s\n' '0 read 0 4096' '1 write 8192 4096' '2 flush 0 0' '3 discard 65536 4096' '4 write_zeroes 131072 4096' \
    '5 write 12288 4096 fua' '6 write 16384 4096 preflush' | tape few
run $replay few.tape --to "$(at eval.sock)" -o a.run --timing asap
is "$status,$(rep a.run unsupported),$(rep a.run records)" 0,5,2 "what a server does not offer is counted, not done"
[ $status = 0 ] || note "$err"

# The bytes are those of a replay to a file.
run $replay work.tape --to file.img --size 64Mi -o a.run --timing asap
truncate -s 64M nbd.img
nbd_server file.sock file nbd.img || exit 1
run $replay work.tape --to "$(at file.sock)" -o b.run --timing asap
is $status 0 "replay to a file behind nbdkit"
nbd_stop $nbd_pid
is "$(sha256sum <nbd.img)" "$(sha256sum <file.img)" "its bytes are those of a local file"
is "$(head -c 67108864 /dev/zero | cmp -s - nbd.img; echo $?)" 1 "control: they are not zeros"

# Requests have limits: split, and sectors of 4 KiB.
awk 'BEGIN { for (i = 0; i < 64; i++) printf "%d %s %d %d\n", i * 10, i % 2 ? "write" : "read", i * 1048576, 4096 * (1 + i * 2) }' | tape big
nbd_server limit.sock --filter=log --filter=blocksize-policy memory 64M blocksize-minimum=4096 blocksize-preferred=4096 \
    blocksize-maximum=65536 blocksize-error-policy=error logfile="$tmp/log" || exit 1
run $replay big.tape --to "$(at limit.sock)" -o a.run --timing asap
is "$status,$(rep a.run errors),$(rep a.run two_step)" 0,0,0 "requests of 4 KiB to 64 KiB"
is "$(nbd_requests log | awk '$3 > 65536 || $3 % 4096' | wc -l)" 0 "no request is larger"
like "$($analyze show a.run)" "sector_bytes: 4096" "the sector is the least request"
run $replay work.tape --to "$(at limit.sock)" -o a.run
like "$status,$err" "1,.*not aligned to the sectors of 4096 bytes" "what is not aligned is refused"
nbd_stop $nbd_pid

# Whatever is there and is not ours stays.
echo '0 write 67108864 4096' | tape far
head -c 64M /dev/urandom >foreign.img; before=$(sha256sum <foreign.img)
nbd_server foreign.sock file foreign.img || exit 1
run $replay big.tape --to "$(at foreign.sock)" -o a.run
like "$status,$err" "1,iotape-replay: error: 'nbd.*holds data that iotape did not write" "foreign data: refused"
run $replay far.tape --to "$(at foreign.sock)" -o a.run
like "$status,$err" "1,iotape-replay: error: .*lies beyond the end" "too small: refused"
nbd_stop $nbd_pid
is "$(sha256sum <foreign.img)" "$before" "no byte has changed"

# TLS with a key of its own.
echo "joe:$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')" >psk
if nbd_server tls.sock --tls=require --tls-psk=psk memory 64M 2>/dev/null; then
    run $replay big.tape --to "nbds+unix://joe@/?socket=$tmp/tls.sock&tls-psk-file=$tmp/psk" -o a.run --timing asap
    is "$status" 0 "TLS"
    [ $status = 0 ] || note "$err"
    like "$($analyze show a.run)" "protocol: .*TLS" "the run says so"
    run $replay big.tape --to "$(at tls.sock)" -o a.run
    is $status 1 "without TLS where the server wants it"
    nbd_stop $nbd_pid
else
    skip 3 "no TLS here"
fi
done_testing
