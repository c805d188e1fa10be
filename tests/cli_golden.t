#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Outputs as they were when somebody looked at them: tests/golden/TESTLIST. `tests/cli_golden.t --write` makes them anew.
. "$(dirname "$0")/lib.sh"
golden=$top/tests/golden
mkdir "$tmp/in" && cd "$tmp/in" || exit 1
. "$golden/inputs"
while read -r file command; do
    case $file in '' | '#'*) continue ;; esac
    ( eval "$command" ) >"$tmp/got" 2>"$tmp/err" </dev/null
    status=$?
    if [ "${1-}" = --write ] && [ $status -eq 0 ]; then cp "$tmp/got" "$golden/$file"; fi
    [ $status -eq 0 ] && diff -u "$golden/$file" "$tmp/got" >"$tmp/diff" 2>&1
    ok $? "$file"
    [ $status -eq 0 ] || { note "$(cat "$tmp/err")"; continue; }
    [ ! -s "$tmp/diff" ] || note "$(head -20 "$tmp/diff")"
done <"$golden/TESTLIST"
done_testing
