#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# compare gives the percentages of figures that were published in four posts; none is more than too few runs. Each wanted value
# is arithmetic on two figures: 54.85 / 64.86 = 0.8457, -15.43 %; 64.86 / 54.85 = 1.1825.
. "$(dirname "$0")/lib.sh"
cd "$top/tests/results" || exit 1
# cells WORKLOAD METRIC COLUMN... of $out
cells() {
    "$python" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if row["workload"] == sys.argv[2] and row["metric"] == sys.argv[3]:
        print(*[row[column] for column in sys.argv[4:]])' "$tmp/.out" "$@"
}
disk="hdparm buffered disk reads"
run "$analyze" compare --system Dom0 hdparm-dom0.txt --system DomU hdparm-domu.txt --system NFS hdparm-nfs.txt --base Dom0
is "$(cells "$disk" read_bandwidth candidate unit median_base median_cand change_pct overhead_pct verdict)" \
    "DomU MiB/s 64.86 54.85 -15.43 18.25 too few runs
NFS MiB/s 64.86 20.59 -68.25 215.01 too few runs" "a disk, by itself and behind two kinds of walls"
is "$(cells "hdparm cached reads" read_bandwidth candidate change_pct)" "DomU 2.56
NFS 1.58" "cached reads are another workload"
run "$analyze" compare netperf-dom0.txt netperf-same-host.txt netperf-other-host.txt
is "$(cells "netperf TCP_STREAM" bandwidth change_pct verdict)" "-40.63 too few runs
-71.22 too few runs" "a LAN, against the first"
run "$analyze" compare --base netperf-same-host netperf-dom0.txt netperf-same-host.txt netperf-other-host.txt
is "$(cells "netperf TCP_STREAM" bandwidth candidate change_pct)" "netperf-dom0 68.44
netperf-other-host -51.52" "a LAN, against the second"
run "$analyze" compare --system NFS crystaldiskmark-nfs.txt --system iSCSI crystaldiskmark-iscsi.txt
is "$(cells "CrystalDiskMark Random 4KB (QD=1)" write_bandwidth unit change_pct verdict)" "MB/s -79.17 too few runs" "4 KiB writes at depth 1"
is "$(cells "CrystalDiskMark Random 4KB (QD=32)" write_bandwidth unit change_pct verdict)" "MB/s -95.28 too few runs" "and at depth 32"
is "$(cells "CrystalDiskMark Random 4KB (QD=32)" write_iops change_pct)" "-95.28" "the same by IOPS"
# Reads: 110.808 / 109.011 = 1.01648, 107.386 / 105.567 = 1.01723, 11.890 / 12.020 = 0.98918, 115.946 / 113.495 = 1.02160: the product is
# 1.0449, its fourth root 1.0110. Writes: 108.526 / 108.661 = 0.99876, 69.678 / 104.022 = 0.66984, 2.476 / 11.888 = 0.20828,
# 2.522 / 53.425 = 0.04721: the product is 0.0065777, its fourth root 0.28479, and 1 / 0.28479 = 3.5114.
columns=(candidate unit change_pct overhead_pct verdict flags)
is "$(cells "(geometric mean)" read_bandwidth "${columns[@]}")" "iSCSI MB/s 1.10 -1.09 too few runs workloads=4/4" "the geometric mean of reads"
is "$(cells "(geometric mean)" write_bandwidth "${columns[@]}")" "iSCSI MB/s -71.52 251.14 too few runs workloads=4/4" "and of writes"
run "$analyze" compare fio-ssd335.txt fio-ssd750.txt
is "$(cells "fio file1" write_iops ratio_hl overhead_pct verdict)" "16.371 -93.89 too few runs" "an SSD that does 16.37 times as much"
is "$(cells "fio file1" write_lat_mean change_pct overhead_pct)" "-93.88 -93.88" "times: both percentages are the same"
run "$analyze" compare bonnie-dom0-before.txt bonnie-nfs-before.txt
is "$(cells "bonnie++ seq_stat" rate n_base n_cand median_base verdict flags)" "0 1  too few runs not_measured" "+++++ is missing, and no zero"
is "$(cells "bonnie++ put_block" latency_max median_base median_cand)" "1664000 2730000" "milliseconds beside microseconds"
is "$(grep -vc 'too few runs' "$tmp/.out")" 1 "all rows but the head are too few runs"

# Files and outputs of a side are repetitions; a unit that differs is converted: 114.79 MiB/s are 962.93 10^6 bit/s.
cd "$tmp" || exit 1
for n in 0 1 2 3 4; do sed "s/64.86/6$n.86/" "$top/tests/results/hdparm-dom0.txt" >"a$n.txt"; done
for n in 0 1 2 3 4; do sed "s/54.85/5$n.85/" "$top/tests/results/hdparm-domu.txt"; done >b.txt
run "$analyze" compare --system a a?.txt --system b b.txt
is "$(cells "$disk" read_bandwidth n_base n_cand median_base median_cand verdict)" "5 5 62.86 52.85 slower" "five files against five outputs in one"
sed 's/MBytes\/sec/10^6bits\/sec/; s/114.79/962.93/' "$top/tests/results/netperf-dom0.txt" >bits.txt
run "$analyze" compare "$top/tests/results/netperf-dom0.txt" bits.txt
is "$(cells "netperf TCP_STREAM" bandwidth unit median_cand change_pct)" "MiB/s 114.79 0.00" "another unit"
run "$analyze" compare a0.txt "$top/tests/results/netperf-dom0.txt"
like "$status $err" "^1 .*no workload is in both" "nothing in common"
run "$analyze" compare a0.txt "$top/tests/lib.sh"
like "$status $err" "^1 .*lib.sh' is neither a tape nor a run, nor does it hold a result" "no result"
done_testing
