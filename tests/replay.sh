# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of iotape-replay: libraries, a folder to work in, tapes from text, what is in a run.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
[ -x "$BUILD/tests/tool_tape" ] || skip_all "needs tests/tool_tape (make tests)"
cd "$tmp" || exit 1
unset "${!IOTAPE_@}"

# tape NAME: NAME.tape of the lines on standard input: time in us, operation, offset, length, flags, latency in us.
tape() { rm -f "$1.tape"; "$BUILD/tests/tool_tape" "$1.tape" || note "cannot make $1"; }
# rep RUN FIELD [REPETITION]: of a repetition's summary.
rep() { $analyze show --json "$1" | $python -c "import json,sys; print(json.load(sys.stdin)['repetitions'][${3:-1}-1]['$2'])"; }
# fact RUN KEY: of what the target is.
fact() { $analyze show --json "$1" | $python -c "import json,sys; print(json.load(sys.stdin)['target'].get('$2'))"; }
# csv FILE: its records.
csv() { $analyze export "$1" --format csv | tail -n +2; }
# begin ARGUMENT...: a replay in the background; finish: its $status and $err.
begin() { $replay "$@" >replay.out 2>replay.err & replay_pid=$!; }
finish() { wait $replay_pid; status=$?; err=$(cat replay.err); }
# every_operation RECORDS: the text of a tape with every kind of operation, each write at a place of its own, sizes from 512
# bytes to 1 MiB, some only 1 us apart; 64 MiB suffice for 2,000.
every_operation() {
    awk -v records="$1" 'BEGIN { srand(7); t = 0; n = 0; mib = 1048576
        for (i = 0; i < records; i++) {
            t += i % 10 ? 1 : 300
            k = i % 20; at = int(rand() * 8 * 2048) * 512
            if (k < 9) printf "%d read %.0f %d\n", t, at, 512 * (1 + int(rand() * 64))
            else if (k < 16) { len = 512 * (1 + int(rand() * 15)); printf "%d write %.0f %d %s\n", t, 16 * mib + n++ * 8192, len,
                k == 13 ? "fua|sync" : k == 14 ? "preflush|sync" : k == 15 ? "preflush|fua|sync" : "-" }
            else if (k == 16) printf "%d flush 0 0 preflush\n", t
            else if (k == 17) printf "%d discard %.0f %d\n", t, 24 * mib + i * 4096, 8192
            else if (k == 18) printf "%d write_zeroes %.0f %d\n", t, 40 * mib + 8192 * i, 4096
            else if (i < 160) printf "%d write %.0f %d\n", t, (8 + int(i / 20)) * mib, mib - 512 * (i % 16)
        } }'
}
# at SOCKET [PARAMETERS]: the URL of an NBD server on a Unix socket here.
at() { echo "nbd+unix:///?socket=$tmp/$1${2:+&$2}"; }
# other_server PYTHON: a server that does this with each connection c; sets $other_port.
other_server() {
    rm -f other.port
    $python -c "
import os, socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(8)
open('other.port.new', 'w').write(str(s.getsockname()[1])); os.rename('other.port.new', 'other.port')
while True:
    c = s.accept()[0]
    try: $1
    except OSError: pass" & cleanup "kill -9 $!; wait $!"
    wait_for 5 test -s other.port
    other_port=$(cat other.port)
}
# separate_writes: the text of a tape of 1,500 records: writes each at a place of its own, 512 bytes to 192 KiB, reads, flushes,
# FUA: the same bytes wherever it is replayed to.
separate_writes() {
    awk 'BEGIN { srand(5); t = 0; at = 0; for (i = 0; i < 1500; i++) { t += 200; k = i % 10
        len = 512 * (1 + int(rand() * (i % 50 ? 15 : 384)))
        if (k == 9) { printf "%d flush 0 0 preflush\n", t; continue }
        if (k > 5) { printf "%d read %d %d\n", t, int(rand() * 1000) * 4096, len; continue }
        printf "%d write %d %d %s\n", t, at, len, k == 3 ? "fua" : k == 4 ? "preflush" : k == 5 && i % 3 == 0 ? "preflush|fua" : "-"
        at += len } }'
}
