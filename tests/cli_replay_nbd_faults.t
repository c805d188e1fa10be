#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NBD servers that are slow, fail, stop, come back, never were there, or are something else: counted, or one clear error.
. "$(dirname "$0")/replay.sh"
need nbdkit

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# 1,000 I/Os, 1 ms apart: reads and writes of 4 KiB, each at a place of its own.
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%d %s %d 4096\n", i * 1000, i % 2 ? "write" : "read", i * 8192 }' | tape second

# Errors: one in ten. nbdkit's log has its own count; a first replay fills.
nbd_server error.sock --filter=log --filter=error memory 16M logfile="$tmp/log" error-rate=10% error-file="$tmp/fail" || exit 1
$replay second.tape --to "$(at error.sock)" -o a.run --timing asap 2>/dev/null
is "$(rep a.run errors)" 0 "as long as nothing fails"
rm -f a.run
begin second.tape --to "$(at error.sock)" -o a.run --timing recorded --max-errors 100000
wait_for 20 test -e a.run.partial; touch fail
finish
nbd_stop $nbd_pid
failed=$(grep -c 'return=-1 error=EIO' log)
is "$status,$(rep a.run records)" 0,1000 "errors end nothing with --max-errors"
is "$(rep a.run errors)" "$failed" "as many errors as nbdkit made: $failed"
ok $((failed < 20)) "and it made some"
is "$(csv a.run | awk -F, '$11 == 5 { n++ } END { print n + 0 }')" "$failed" "each record has its errno"

# A slow one: no latency is below what the server waits.
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%d %s %d 4096\n", i * 10, i % 2 ? "write" : "read", i * 8192 }' | tape quick
nbd_server slow.sock --filter=delay memory 16M rdelay=5ms wdelay=10ms || exit 1
run $replay quick.tape --to "$(at slow.sock)" -o a.run --timing asap --depth 16
is "$status,$(rep a.run depth_max),$(csv a.run | awk -F, '$10 < ($4 == "read" ? 5000000 : 10000000) { n++ } END { print n + 0 }')" 0,16,0 \
    "5 ms a read, 10 ms a write: no latency is below"
nbd_stop $nbd_pid

# A pause of 1.5 s, by the filter's control socket, as soon as the run has begun; says how long it was, in ms.
nbd_server pause.sock --filter=pause memory 16M pause-control="$tmp/control" || exit 1
pause() { # pause RUN SECONDS
    $python -c "
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.connect('$tmp/control'); open('ready', 'w')
def tell(c):
    s.send(c); assert s.recv(1) == c.upper()
while not os.path.exists('$1.partial'): time.sleep(0.01)
time.sleep(0.3); tell(b'p'); began = time.monotonic(); time.sleep($2)
print(int((time.monotonic() - began) * 1000)); tell(b'r')" >paused & pause_pid=$!
    wait_for 20 test -e ready; rm -f ready
}
$replay second.tape --to "$(at pause.sock)" -o a.run --timing asap 2>/dev/null
rm -f a.run
pause a.run 1.5
begin second.tape --to "$(at pause.sock)" -o a.run --timing recorded --speed 0.25
finish; wait $pause_pid
paused=$(cat paused)
# Response times, from when an I/O was due: one is due each 4 ms.
longest=$(csv a.run | awk -F, '$9 + $10 > m { m = $9 + $10 } END { printf "%d", m / 1000000 }')
is "$status,$(rep a.run errors),$(rep a.run records)" 0,0,1000 "a stall ends nothing"
ok $((longest < paused - 50)) "the stall of $paused ms shows: the longest response is $longest ms"
is "$(rep a.run path_changes),$(rep a.run reissued)" 0,0 "no connection was dropped"

# A pause that is longer than the stall timeout.
rm -f a.run
pause a.run 4
begin second.tape --to "$(at pause.sock)" -o a.run --timing recorded --speed 0.25 --stall-timeout 1s
finish
like "$status,$err" "iotape-replay: error: repetition 1 .* answered nothing for 1.000 s" "silence for the stall timeout: an error"
kill -0 $pause_pid 2>/dev/null; ok $? "while it was still silent"
is "$(rep a.run complete),$(($(rep a.run records) > 0))" 0,1 "what was measured is kept"
run timeout 60 $replay second.tape --to "$(at pause.sock)" -o b.run --stall-timeout 1s
like "$status,$err" "1,iotape-replay: error: .*(answered nothing|Connection timed out)" "silence before the replay, too"
wait $pause_pid
nbd_stop $nbd_pid

# The server is killed and comes back, while its disk stays: resumed. The bytes are those of a replay to a file.
# Twice: with one connection and with three.
$replay second.tape --to file.img --size 16Mi -o f.run --timing asap 2>/dev/null
for connections in 1 3; do
    truncate -s 0 nbd.img; truncate -s 16M nbd.img
    nbd_server file.sock --filter=delay file nbd.img wdelay=2ms || exit 1
    rm -f a.run
    begin second.tape --to "$(at file.sock connections=$connections)" -o a.run --timing recorded --speed 0.5 --stall-timeout 20s
    wait_for 20 test -e a.run.partial; sleep 0.5
    nbd_stop $nbd_pid KILL; sleep 0.5
    nbd_server file.sock --filter=delay file nbd.img wdelay=2ms || exit 1
    finish
    is "$status,$(rep a.run errors),$(rep a.run records)" 0,0,1000 "killed and restarted, $connections connections: resumed"
    [ $status = 0 ] || note "$err"
    is "$(rep a.run path_changes)" $((2 * connections)) "each connection ended and came back"
    ok $(($(rep a.run reissued) < 1)) "I/Os were sent again: $(rep a.run reissued)"
    is "$(sha256sum <nbd.img)" "$(sha256sum <file.img)" "no write is missing"
    nbd_stop $nbd_pid
done

# One connection of three falls silent: its I/Os go over the others, and it is made anew.
cat >forward.py <<'END'
import os, socket, threading, time
server = socket.socket(socket.AF_UNIX); server.bind('half.sock'); server.listen()
def pump(a, b, frozen):
    while data := a.recv(1 << 20):
        while frozen and os.path.exists('freeze'): time.sleep(0.1)
        b.sendall(data)
    b.shutdown(socket.SHUT_WR)
n = 0
while True:
    a, _ = server.accept(); b = socket.socket(socket.AF_UNIX); b.connect('memory.sock'); n += 1
    for x, y in (a, b), (b, a): threading.Thread(target=pump, args=(x, y, n == 2), daemon=True).start()
END
nbd_server memory.sock memory 16M || exit 1
$python forward.py 2>/dev/null & forward_pid=$!
cleanup "kill $forward_pid; wait $forward_pid"
wait_for 10 test -S half.sock
rm -f a.run
begin second.tape --to "$(at half.sock connections=3)" -o a.run --timing recorded --speed 0.25 --stall-timeout 3s
wait_for 20 test -e a.run.partial; sleep 0.3; touch freeze
finish
is "$status,$(rep a.run errors),$(rep a.run path_changes),$(($(rep a.run reissued) > 0))" 0,0,2,1 "one silent connection of three is made anew"
[ $status = 0 ] || note "$err"
kill $forward_pid
nbd_stop $nbd_pid

# It comes back as another disk; it never comes back.
nbd_server memory.sock memory 16M || exit 1
rm -f a.run
begin second.tape --to "$(at memory.sock)" -o a.run --timing recorded --speed 0.25 --max-errors 100000 --stall-timeout 20s
wait_for 20 test -e a.run.partial; sleep 0.3
nbd_stop $nbd_pid KILL
nbd_server memory.sock memory 17M || exit 1
finish
like "$status,$(tail -1 <<<"$err")" "1,.*came back as something else" "back with another size: an error, whatever --max-errors"
nbd_stop $nbd_pid
for max in 0 100000; do
    nbd_server memory.sock memory 16M || exit 1
    rm -f a.run
    begin second.tape --to "$(at memory.sock)" -o a.run --timing recorded --speed 0.25 --max-errors $max --stall-timeout 1s
    wait_for 20 test -e a.run.partial; sleep 0.3
    nbd_stop $nbd_pid KILL; since=$(now_ms)
    finish
    took=$(($(now_ms) - since))
    ok $((status != 1 || took > 60000)) "gone for good, --max-errors $max: an error after $took ms"
    like "$err" "error: .*answered nothing for 1.000 s; last: .*" "says so"
    is "$(rep a.run complete),$(($(rep a.run records) > 0))" 0,1 "what was measured is kept"
done

# What is not there, or is something else. Nothing is written.
nbd_server named.sock --filter=exportname memory 16M exportname-strict=true exportname=good || exit 1
run $replay second.tape --to "nbd+unix:///bad?socket=$tmp/named.sock" -o b.run
like "$status,$err" "1,iotape-replay: error: cannot connect to 'nbd.*bad.*': .*No such file or directory" "no such export"
run $replay second.tape --to "nbd+unix:///good?socket=$tmp/named.sock" -o b.run --timing asap
is $status 0 "control: the export that is there"
nbd_stop $nbd_pid
run $replay second.tape --to "$(at named.sock)" -o b.run
like "$status,$err" "1,iotape-replay: error: cannot connect to '.*': connect: (Connection refused|No such file)" "nobody listens"
truncate -s 16M ro.img; before=$(sha256sum <ro.img)
nbd_server ro.sock -r file ro.img || exit 1
run $replay second.tape --to "$(at ro.sock)" -o b.run
like "$status,$err" "1,iotape-replay: error: '.*' is read-only" "a read-only export"
run $replay second.tape --to "$(at ro.sock)" -o b.run --read-only
is "$status,$(sha256sum <ro.img)" "0,$before" "--read-only replays reads from it"
nbd_stop $nbd_pid
nbd_server single.sock --filter=multi-conn memory 16M multi-conn-mode=disable || exit 1
run $replay second.tape --to "$(at single.sock connections=2)" -o b.run
like "$status,$err" "1,iotape-replay: error: .*does not say that several connections are safe" "several connections where that is not safe"
nbd_stop $nbd_pid
for url in "$(at x.sock conections=2)" "$(at x.sock connections=0)" "$(at x.sock connections=65)" "nbd://joe:secret@127.0.0.1/" \
    "nbd+unix:///x"; do
    run $replay second.tape --to "$url" -o b.run
    like "$status,$(grep -c . <<<"$err"),$err" "1,1,iotape-replay: error: .*(unknown parameter|number from 1 to 64|no password|socket)" "bad URL"
done
is "$(grep -c secret <<<"$err$(cat .err)")" 0 "no secret is repeated"

# Garbage, and a server that says nothing.
talk() { # talk SOCKET PYTHON: a server that does this to each connection c
    $python -c "
import os, socket, time
s = socket.socket(socket.AF_UNIX); s.bind('$1'); s.listen()
while True:
    c, _ = s.accept()
    try: $2
    except OSError: pass" 2>/dev/null & talk_pid=$!
    cleanup "kill $talk_pid; wait $talk_pid"
    wait_for 10 test -S "$1"
}
talk noise.sock "c.sendall(os.urandom(65536))"
run timeout 60 $replay second.tape --to "$(at noise.sock)" -o b.run --stall-timeout 5s
like "$status,$(grep -c . <<<"$err"),$err" "1,1,iotape-replay: error: cannot connect to '.*': .*" "garbage"
talk mute.sock "time.sleep(60)"
run timeout 60 $replay second.tape --to "$(at mute.sock)" -o b.run --stall-timeout 1s
like "$status,$err" "1,iotape-replay: error: cannot connect to '.*': the server did not answer" "silence"
done_testing
