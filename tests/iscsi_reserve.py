#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An initiator that takes a persistent reservation: iscsi_reserve.py PORT TARGET LUN TYPE (1 write exclusive, 3 exclusive
access). RFC 7143 for the PDUs, SPC-4 6.16 for PERSISTENT RESERVE OUT. The reservation outlives its session."""
import socket, struct, sys

port, target, lun, kind = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
s = socket.create_connection(('127.0.0.1', port))

def read(n):
    data = b''
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            sys.exit('the server closed the connection')
        data += more
    return data

def answer():
    header = read(48)
    length = int.from_bytes(header[5:8], 'big')
    return header, read((length + 3) & ~3)

keys = (f'InitiatorName=iqn.2026-01.test:other\0TargetName={target}\0SessionType=Normal\0HeaderDigest=None\0DataDigest=None\0'
        'InitialR2T=Yes\0ImmediateData=Yes\0').encode()
s.sendall(bytes([0x43, 0x87, 0, 0, 0]) + len(keys).to_bytes(3, 'big') + bytes([0x80, 0, 0, 7, 0, 0]) + bytes(2) +
          struct.pack('>IHHII', 1, 0, 0, 1, 0) + bytes(16) + keys + bytes(-len(keys) % 4))
header, _ = answer()
if header[0] & 0x3f != 0x23 or header[36:38] != b'\0\0':
    sys.exit(f'login failed: {header[36:38].hex()}')
exp_stat = int.from_bytes(header[24:28], 'big') + 1
command = 1

def scsi(cdb, data):
    global command, exp_stat
    flags = 0x81 | (0x20 if data else 0)
    s.sendall(bytes([0x01, flags, 0, 0, 0]) + len(data).to_bytes(3, 'big') + struct.pack('>H6x', lun) +
              struct.pack('>IIII', 100 + command, len(data), command, exp_stat) + cdb.ljust(16, b'\0') + data)
    command += 1
    header, _ = answer()
    exp_stat = int.from_bytes(header[24:28], 'big') + 1
    return header[3]

def reserve_out(action, key, new_key, kind=0):
    return scsi(struct.pack('>BBB2xIB', 0x5f, action, kind, 24, 0), struct.pack('>QQ8x', key, new_key))

status = [scsi(bytes(6), b''), scsi(bytes(6), b'')]  # unit attentions
status = [reserve_out(6, 0, 0x1234), reserve_out(1, 0x1234, 0, kind)]
print('reserved' if status == [0, 0] else f'refused: {status}')
sys.exit(status != [0, 0])
