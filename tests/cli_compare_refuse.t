#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `compare` refuses what did different work, saying what differs; what may differ, it lists.
. "$(dirname "$0")/lib.sh"
make=$BUILD/tests/tool_make
cd "$tmp"
base="option.speed=1 option.depth=8 option.group=stream option.seed=1 option.runs=5 host.kernel=6.1 target.scheduler=none"
$make run a.run $base || exit 1
refused() { # KEY VALUE SAID
    $make run b.run $base "$1=$2" || exit 1
    run $analyze compare a.run b.run
    like "$status $err" "^1 iotape-analyze compare: error: 'a.run' and 'b.run' .*$3" "refused: $1=$2"
    is "$out$(wc -l <.err)" 1 "one line, no result"
}
# Later words win in tool_make only where the first is the same key: give the others anew.
base_without() { printf '%s\n' $base | grep -v "^$1=" | tr '\n' ' '; }
refused_option() { local all=$base; base=$(base_without "option.$1"); refused "option.$1" "$2" "option $1 is $3 and $2"; base=$all; }
refused seed 2 "different tapes: identity 0{31}1|different tapes: identity "
refused option.timing recorded "option timing is closed and recorded"
refused_option speed 2 1
refused_option depth 32 8
refused_option group issuer stream
refused_option seed 7 1
refused option.read_only yes "option read_only is not stated and yes"
refused option.never-heard-of x "option never-heard-of"

# The controls: the same again, and what is harmless.
$make run b.run $base && run $analyze compare a.run b.run
is "$status $(tail -1 .out | awk -F, '{ print $NF }')" "0 " "equal work is compared, without flags"
base=$(base_without option.runs) && $make run b.run $base option.runs=10 && run $analyze compare a.run b.run
is $status 0 "the number of runs may differ"
base=$(printf '%s\n' $base | grep -v kernel)
$make run b.run $base host.kernel=6.18 target.driver=nbd option.runs=5 && run $analyze compare a.run b.run
is "$status $(sed -n 2p .out | awk -F, '{ print $NF }')" "0 differs:host.kernel|differs:target.driver" "host and target are listed"

# A tape against replays of a part, at another speed, without waiting.
$make tape p.tape || exit 1
beside_tape() { # KEY=VALUE SAID
    $make run b.run from_tape=p.tape $1 || exit 1
    run $analyze compare p.tape b.run
    like "$status $err" "^$2" "beside a tape: $1"
}
beside_tape option.speed=1 0
beside_tape option.speed=2 "1 .*option speed of the replay is 2"
beside_tape option.timing=asap "1 .*timing is asap"
beside_tape option.read_only=yes "1 .*option read_only"
beside_tape option.from_ns=0 0
beside_tape option.from_ns=5 "1 .*option from_ns"
beside_tape option.for_ns=5 "1 .*option for_ns"
beside_tape option.timing=recorded 0
$make tape q.tape latency_us=101 || exit 1
$make run b.run from_tape=q.tape || exit 1
run $analyze compare p.tape b.run
like "$status $err" "^1 .*different tapes" "a tape whose latencies differ is another tape"
done_testing
