#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What other benchmarks printed is read with the right figures: real outputs of many versions (../shared/results-corpus), and
# outputs with figures that were published (results/). The expected values were written down from the files.
. "$(dirname "$0")/lib.sh"
check() { # check EXPECTED FOLDER
    local verdict name
    while read -r verdict name; do
        if [ "$verdict" = not ]; then ok 1 "${name#ok }"; else ok 0 "$name"; fi
    done < <("$python" "$top/tests/results_check.py" "$analyze" "$top/tests/$1" "$2")
}
check results_published.expected "$top/tests/results"
if [ -d "$shared/results-corpus" ]; then check results_corpus.expected "$shared/results-corpus"; else
    skip 1 "no ../shared/results-corpus"
fi
# The check itself can fail.
mkdir "$tmp/c" && sed 's/ 64.86 MB/ 64.87 MB/' "$top/tests/results/hdparm-dom0.txt" >"$tmp/c/hdparm-dom0.txt"
like "$("$python" "$top/tests/results_check.py" "$analyze" "$top/tests/results_published.expected" "$tmp/c" | grep dom0.txt)" \
    "^not ok hdparm-dom0.txt: .*64.87, wanted 64.86" "a wrong figure is seen"
done_testing
