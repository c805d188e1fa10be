#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A TCP relay: relay.py PORT TO-PORT. One of several paths to a server, for tests: kill it and its connections are reset,
stop it (SIGSTOP) and they fall silent."""
import socket, struct, sys, threading

def pump(a, b):
    try:
        while True:
            data = a.recv(1 << 18)
            if not data:
                break
            b.sendall(data)
    except OSError:
        pass
    for s in (a, b):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', int(sys.argv[1])))
listener.listen(16)
print('ready', flush=True)
while True:
    a = listener.accept()[0]
    try:
        b = socket.create_connection(('127.0.0.1', int(sys.argv[2])))
    except OSError:
        a.close()
        continue
    for s in (a, b):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    threading.Thread(target=pump, args=(a, b), daemon=True).start()
    threading.Thread(target=pump, args=(b, a), daemon=True).start()
