#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target runs over its corpus (tests/fuzz/corpus/NAME for fuzz_NAME): what once crashed a parser, and what it
# should understand.
. "$(dirname "$0")/lib.sh"
for source in "$top"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    corpus=$top/tests/fuzz/corpus/${name#fuzz_}
    [ -n "$(ls "$corpus" 2>/dev/null)" ]; ok $? "$name has a corpus"
    run timeout 300 "$BUILD/tests/fuzz/$name" "$corpus"
    is "$status" 0 "$name takes its corpus"
    [ "$status" -eq 0 ] || note "$(tail -n 20 "$tmp/.err")"
done
done_testing
