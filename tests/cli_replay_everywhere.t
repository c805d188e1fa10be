#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One tape to a local file, NFS, iSCSI over one and over two portals, and NBD: five repetitions each, interleaved, in one
# command; the same bytes on all of them; one table that compares them.
. "$(dirname "$0")/replay.sh"
need_root
need ganesha.nfsd rpcbind unshare tgtd tgtadm nbdkit

# Bursts of reads, writes each at a place of its own, flushes and FUA, with latencies, so that `closed` applies.
awk 'BEGIN { srand(3); n = 0; mib = 1048576
    for (i = 0; i < 800; i++) {
        t = int(i / 8) * 2000 + i % 8 * 10; k = i % 16
        if (k == 15) printf "%d flush 0 0 preflush 900\n", t
        else if (k < 7) printf "%d read %.0f %d - 200\n", t, int(rand() * 8 * 256) * 4096, 4096 * (1 + int(rand() * 8))
        else printf "%d write %.0f %d %s 300\n", t, 8 * mib + n++ * 16384, 512 * (1 + int(rand() * 32)),
            k == 13 ? "fua" : k == 14 ? "preflush|fua" : "-"
    }
    printf "%d write %.0f 4096 - 300\n", t + 100, 16 * mib - 4096 }' >work.txt
tape work <work.txt

mkdir -p export
nfs_server "$tmp/export" || skip_all "nfs-ganesha does not start"
truncate -s 16M one.img two.img nbd.img
iscsi_server || exit 1
iscsi_target 1 disk
iscsi_lun 1 1 "$tmp/one.img"
iscsi_lun 1 2 "$tmp/two.img"
nbd_server nbd.sock file nbd.img || exit 1
iqn=iqn.2026-01.test:disk
names=(local nfs iscsi iscsi-two nbd)
to=(local.img "nfs://127.0.0.1$tmp/export/nfs.img?$nfs_query" "iscsi://127.0.0.1:$iscsi_port/$iqn/1"
    "iscsi://127.0.0.1:$iscsi_port,127.0.0.2:$iscsi_port/$iqn/2" "nbd+unix:///?socket=$tmp/nbd.sock")
images=(local.img export/nfs.img one.img two.img nbd.img)
arguments=()
for i in 0 1 2 3 4; do arguments+=(--to "${to[i]}" -o "${names[i]}.run"); done
run $replay work.tape "${arguments[@]}" --runs 5 --size 16Mi
is $status 0 "five targets, five repetitions each"
[ $status = 0 ] || note "$err"
like "$(tail -5 <<<"$err")" "repetition 5: " "said as they end"

# All was done, everywhere, and interleaved: each round has each target once.
$python - "${names[@]/%/.run}" "$analyze" >facts 2>&1 <<'END'
import json, subprocess, sys
*runs, analyze = sys.argv[1:]
shown = [json.loads(subprocess.check_output([analyze, 'show', '--json', r])) for r in runs]
for j in shown:
    print(len(j['repetitions']), *('%d,%d,%d,%d' % (r['records'], r['errors'], r['unsupported'], r['complete']) for r in j['repetitions']))
orders = sorted((r['order'], i) for i, j in enumerate(shown) for r in j['repetitions'])
print([o for o, _ in orders] == list(range(1, 26)), all({i for _, i in orders[k:k + 5]} == set(range(5)) for k in range(0, 25, 5)),
      len({j['identity'] for j in shown}), len({tuple(i for _, i in orders[k:k + 5]) for k in range(0, 25, 5)}) > 1)
END
is "$(head -5 facts | sort -u)" "5 801,0,0,1 801,0,0,1 801,0,0,1 801,0,0,1 801,0,0,1" "every record, everywhere, without an error"
is "$(tail -1 facts)" "True True 1 True" "in rounds of all five, not always in the same order; of one tape"

# The bytes.
nbd_stop $nbd_pid; nfs_stop; tgt --op delete --mode target --force --tid 1; tgt --op delete --mode system
wanted=$(sha256sum <local.img)
for i in 1 2 3 4; do is "$(sha256sum <"${images[i]}")" "$wanted" "${names[i]}: the bytes are those of the local file"; done
$replay work.tape --to other.img -o other.run --runs 5 --size 16Mi --seed 2 --timing asap 2>/dev/null
is "$(cmp -s local.img other.img; echo $?),$(stat -c %s other.img)" 1,16777216 "control: another seed leaves other bytes"

# The table.
run $analyze compare "${names[@]/%/.run}"
is $status 0 "one table compares all of them"
[ $status = 0 ] || note "$err"
printf '%s\n' "$out" >all.csv
$python - all.csv "${names[@]}" >facts 2>&1 <<'END'
import csv, math, sys
rows = [r for r in csv.DictReader(open(sys.argv[1]))]
names = sys.argv[2:]
primary = [r for r in rows if r['metric'] == 'io_time']
print({r['base'] for r in rows} == {names[0]}, sorted(r['candidate'] for r in primary) == sorted(names[1:]))
print({(r['n_base'], r['n_cand']) for r in primary} == {('5', '5')}, all(r['verdict'] in ('slower', 'faster', 'same', 'unsure') for r in primary))
# A p from 5 against 5 is a multiple of 1 / 252 (all splits of ten); fully separated 2 / 252.
print(all(abs(float(r['p']) * 252 - round(float(r['p']) * 252)) < 0.02 for r in primary if r['p']))
for r in primary: print('#', *(r[k] for k in ('candidate', 'median_base', 'median_cand', 'overhead_pct', 'overhead_lo', 'overhead_hi', 'verdict')))
END
is "$(grep -v '^#' facts | tr '\n' ' ')" "True True True True True " "base, candidates, five against five"
grep '^#' facts
done_testing
