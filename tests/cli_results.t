#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How outputs of other benchmarks are found and told apart: several in one text with prose around, cut off, damaged, of one run
# in several forms, with white space lost. Nothing is misread in silence.
. "$(dirname "$0")/lib.sh"
inputs=$top/tests/results corpus=$top/tests/fuzz/corpus/results
cd "$tmp" || exit 1
# figures FILE: "OUTPUT TOOL WORKLOAD METRIC VALUE UNIT" of what is compared, one a line
figures() {
    "$analyze" show --json "$1" 2>"$tmp/.err" | "$python" -c 'import json, sys
for i, o in enumerate(json.load(sys.stdin)["outputs"], 1):
    for f in o["figures"]:
        if f["compared"]:
            print(i, o["tool"], f["workload"] or "-", f["metric"], "missing" if f["missing"] else "%.6g" % f["value"], f["unit"])'
}
bad() { # bad FILE PATTERN NAME: refused with that text, and nothing shown
    run "$analyze" show "$1"
    like "$status $out$err" "^1 iotape-analyze show: error: .*$2" "$3"
}

cat >post.txt <<'E'
Today I measured my new server. First the disk, twice, since the first time is always odd:

root@dom0:~# hdparm -t /dev/sda; hdparm -t /dev/sda

/dev/sda:
 Timing buffered disk reads: 196 MB in  3.02 seconds =  64.86 MB/sec

/dev/sda:
 Timing buffered disk reads: 200 MB in  3.00 seconds =  66.67 MB/sec
root@dom0:~# dd if=/dev/zero of=test bs=1M count=256
256+0 records in
256+0 records out
268435456 bytes (268 MB) copied, 0.5 s, 537 MB/s
root@dom0:~# dd if=test of=/dev/null bs=1M
256+0 records in
256+0 records out
268435456 bytes (268 MB) copied, 0.25 s, 1.1 GB/s
Then it told me Timing buffered disk reads: none, but that I only made up.
See the slow one: Timing buffered disk reads:   2 MB in  4.00 seconds = 512.00 kB/sec
and the network:
TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.1 port 0 AF_INET
bytes bytes bytes secs. 10^6bits/sec
87380 16384 16384 10.01 940.12
E
bad post.txt "line 18: a timing of hdparm that cannot be understood" "what only looks like a timing is an error"
sed -i 18d post.txt
is "$(figures post.txt)" "1 hdparm buffered disk reads read_bandwidth 64.86 MiB/s
2 hdparm buffered disk reads read_bandwidth 66.67 MiB/s
3 dd write bandwidth 536.871 MB/s
4 dd read bandwidth 1073.74 MB/s
5 hdparm buffered disk reads read_bandwidth 0.5 MiB/s
6 netperf TCP_STREAM bandwidth 940.12 Mbit/s" "a post with outputs of three tools"
tr -s ' \n' ' ' <"$inputs/hdparm-dom0.txt" >joined.txt
is "$(figures joined.txt)" "1 hdparm cached reads read_bandwidth 1556.04 MiB/s
1 hdparm buffered disk reads read_bandwidth 64.86 MiB/s" "line ends lost, too"
sed 's/$/\r/' "$inputs/crystaldiskmark-iscsi.txt" | iconv -t UTF-16 >utf16.txt
is "$(figures utf16.txt | sed -n 6p)" "1 CrystalDiskMark Random 4KB (QD=1) read_iops 2902.8 1/s" "UTF-16, as Windows saves it"
LC_ALL=de_DE.UTF-8 "$analyze" show "$inputs/fio-ssd335.txt" >de; "$analyze" show "$inputs/fio-ssd335.txt" >c
is "$(cat de)" "$(cat c)" "whatever the locale"

# Repetitions and jobs of fio.
sed -n '/groupid/,/issued/p' "$inputs/fio-ssd335.txt" >job.txt
cat job.txt job.txt >two.txt
is "$(figures two.txt | grep -c 'file1 write_iops 10281')" 2 "a group's job that comes again is another run"
is "$(figures two.txt | cut -d' ' -f1 | sort -u | tr '\n' ' ')" "1 2 " "so there are two outputs"
sed 's/jobs=50/jobs=1/' two.txt >single.txt
is "$(figures single.txt | grep iops)" "1 fio file1 write_iops 10281 1/s
1 fio file1 (2) write_iops 10281 1/s" "single jobs of one name are one run's"
cat "$inputs/fio-ssd335.txt" "$inputs/fio-ssd335.txt" | sed 's/jobs=50/jobs=1/' >runs.txt
is "$(figures runs.txt | grep iops | cut -d' ' -f1-3)" "1 fio file1
2 fio file1" "a run ends with its summary"
cat "$corpus/fio-terse" "$corpus/fio-terse" >terse.txt
is "$(figures terse.txt | grep read_iops)" "1 fio t1 read_iops 58521 1/s
1 fio t1 (2) read_iops 58521 1/s" "terse lines that follow each other are one run's jobs"
sed 's/bw=41128KB/bw=1.5MB/' job.txt >old.txt
is "$(figures old.txt | grep write_bandwidth)" "1 fio file1 write_bandwidth 1536 KiB/s" "MB of fio 2.1 is 2^20"
sed 's/write: .*/write: IOPS=10.3k, BW=1.5MB\/s (1465KiB\/s)(5000MiB\/124490msec)/' job.txt >new.txt
is "$(figures new.txt | grep -E 'write_(bandwidth|iops)')" "1 fio file1 write_bandwidth 1464.84 KiB/s
1 fio file1 write_iops 10300 1/s" "MB of fio 3 is 10^6"
sed 's/err= 0/err= 5/' job.txt >failed.txt
run "$analyze" compare job.txt failed.txt
like "$out" "^fio file1,,write_iops,.*,1,0,.*cand:left_out_errors=1" "a job that failed counts in no n"
sed 's/w=1280000/w=100/' job.txt >few.txt; cp few.txt few2.txt
run "$analyze" compare few.txt few2.txt
like "$out" "^fio file1,,write_clat_p99,.*,0,0,.*too_few_ios" "no p99 of 100 I/Os"
like "$out" "^fio file1,,write_clat_p50,.*,1,1,274,274" "but a median"
run "$analyze" compare --system a "$inputs/fio-ssd750.txt" --system b <(:) "$inputs/fio-ssd335.txt"
like "$status $err" "^1 .*no regular file" "no pipe is read"
sed 's/iodepth=1/iodepth=4/' "$inputs/fio-ssd335.txt" >deep.txt
run "$analyze" compare deep.txt "$inputs/fio-ssd335.txt"
like "$out" "^fio file1,,write_iops,.*differs:target.iodepth" "what differs is said"

# +++++ in one of several runs: no value is made up, and the others do not pass for all.
for n in 1 2 3 4 5; do cp "$corpus/bonnie-csv" b$n.txt; done
sed 's/,196173,32,/,+++++,+++,/' b1.txt >b6.txt
run "$analyze" compare --system a b1.txt b2.txt b3.txt b4.txt b5.txt --system b b6.txt b2.txt b3.txt b4.txt b5.txt
like "$out" "^bonnie\+\+ put_block,,write_bandwidth,KiB/s,higher,no,a,b,5,4,196173,196173,.*,not_measured=1" "+++++ in one of five"
like "$out" "^bonnie\+\+ rewrite,,bandwidth,KiB/s,higher,no,a,b,5,5,244876,244876,1,0.00,.*,same," "and a test without any"

# Cut off, damaged, none.
sed -n 1,6p "$inputs/fio-ssd335.txt" >cut.txt; echo "file1: (groupid=0, jobs=50): err= 0: pid=3098" >>cut.txt
bad cut.txt "'cut.txt', line 7: fio's job 'file1' has no figures here: the output is cut off" "fio, after a job's head"
sed -n 1,8p "$inputs/fio-ssd335.txt" | sed '$s/ iops=.*//' >cut.txt
bad cut.txt "'cut.txt', line 8: a line of fio that cannot be understood" "fio, within its totals"
head -c 300 "$corpus/fio-json" >cut.txt
bad cut.txt "'cut.txt', line 1: JSON, line [0-9]+ of it" "JSON"
cut -d';' -f1-60 "$corpus/fio-terse" >cut.txt
bad cut.txt "'cut.txt', line 1: field 61 of fio's terse output is no percentile" "terse"
sed -n 1,4p "$inputs/bonnie-dom0-before.txt" | sed '4s/ 332.*//' >cut.txt
bad cut.txt "line 4: bonnie\+\+'s table ends without its values, or its columns cannot be told" "bonnie++"
cut -d, -f1-30 "$corpus/bonnie-csv" >cut.txt
bad cut.txt "line 1: a line of bonnie\+\+'s CSV with 30 cells" "bonnie++'s CSV"
sed -n 1,6p "$inputs/netperf-dom0.txt" >cut.txt
bad cut.txt "line 1: netperf's output has no throughput" "netperf"
head -n 1 "$inputs/crystaldiskmark-iscsi.txt" >cut.txt
bad cut.txt "CrystalDiskMark's head without results" "CrystalDiskMark"
printf '[ ID] Interval Transfer Bandwidth\n[ 3] 0.0-10.0 sec 1.10 GBytes 941 Mbits/sec\n' >cut.txt
bad cut.txt "iperf3's intervals without a sender's or receiver's sum" "iperf 2"
printf '268435456 bytes (268 MB) copied, 0.5 s, 53 MB/s\n' >cut.txt
bad cut.txt "dd's rate does not follow from its bytes and seconds" "dd, damaged"
printf 'x\0y' >zero.txt; bad zero.txt "no text: it holds zero bytes" "zero bytes"
: >empty.txt; bad empty.txt "is empty" "nothing at all"
truncate -s 17M big.txt; bad big.txt "larger than 16 MiB" "a large file"
mkdir folder; bad folder "neither a tape nor a run|directory" "a folder"
bad nowhere "No such file" "no file"

# dd's other forms: BSD's, BusyBox's MB of 2^20, progress.
printf '1073741824 bytes transferred in 10.0 secs (107374182 bytes/sec)\n' >bsd.txt
is "$(figures bsd.txt)" "1 dd - bandwidth 107.374 MB/s" "BSD's dd"
printf '268435456 bytes (256.0MB) copied, 0.519844 seconds, 492.4MB/s\n' >busy.txt
is "$(figures busy.txt)" "1 dd - bandwidth 516.377 MB/s" "BusyBox's dd"
printf '%s\r%s\n2+0 records in\n2+0 records out\n%s\n' '104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s' \
    '209715200 bytes (210 MB, 200 MiB) copied, 2 s, 105 MB/s' '268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s' >progress.txt
is "$(figures progress.txt)" "1 dd - bandwidth 134.218 MB/s" "progress of dd is no result"

# iperf3's text.
cat >udp.txt <<'E'
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.000 ms  0/906 (0%)  sender
[  5]   0.00-10.04  sec  1.20 MBytes  1.00 Mbits/sec  0.032 ms  36/906 (4%)  receiver
E
is "$(figures udp.txt)" "1 iperf3 UDP sent_bandwidth 1.05 Mbit/s
1 iperf3 UDP received_bandwidth 1 Mbit/s
1 iperf3 UDP jitter 0.032 ms" "UDP"
cat >sum.txt <<'E'
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  1.00 GBytes  4.29 Gbits/sec    0             sender
[  5]   0.00-2.00   sec  1.00 GBytes  4.29 Gbits/sec                  receiver
[  7]   0.00-2.00   sec  1.00 GBytes  4.29 Gbits/sec    0             sender
[  7]   0.00-2.00   sec  1.00 GBytes  4.29 Gbits/sec                  receiver
[SUM]   0.00-2.00   sec  2.00 GBytes  1.00 GBytes/sec    0             sender
[SUM]   0.00-2.00   sec  2.00 GBytes  8.58 Gbits/sec                  receiver
E
is "$(figures sum.txt)" "1 iperf3 TCP sent_bandwidth 8589.93 Mbit/s
1 iperf3 TCP received_bandwidth 8580 Mbit/s" "several streams: their sum; a GByte is 2^30 bytes"
sed -i '/SUM/d' sum.txt
bad sum.txt "iperf3's sum of 2 streams is not there" "without their sum"
is "$(figures "$corpus/crystaldiskmark-8" | grep mix_bandwidth)" \
    "1 CrystalDiskMark RND 4KiB (Q=1, T=1) mix_bandwidth missing MB/s" "0.000 is a test that was not run"
sed "s/file1/fi$(printf '\033')[31mle/" "$inputs/fio-ssd335.txt" >escape.txt
run "$analyze" show escape.txt
like "$out" 'fi\?\[31mle write_iops: 10281' "no escape sequences to a terminal"
done_testing
