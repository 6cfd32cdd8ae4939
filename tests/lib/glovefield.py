# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the field reports need around glove: a server, a filter, a look at processes. Standard library only."""

import ctypes
import http.server
import os
import struct
import threading
import time


def install_filter(number, error):
    """In a child before it executes: system call @number fails with @error."""
    program = struct.pack("HBBI" * 4,
                          0x20, 0, 0, 0,                        # load the number
                          0x15, 0, 1, number,                   # the one?
                          0x06, 0, 0, 0x00050000 | error,       # fail
                          0x06, 0, 0, 0x7fff0000)               # allow
    buffer = ctypes.create_string_buffer(program)
    fprog = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.create_string_buffer(fprog), 0, 0) != 0:
        os._exit(99)


class Site:
    """A server of the host that some rule allows."""

    def __init__(self):
        site = self
        self.streaming = 0
        self.strangers = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.headers.get("Host") not in (f"127.0.0.1:{site.port}", f"localhost:{site.port}", "x"):
                    site.strangers.append(self.headers.get("Host"))
                if self.path == "/endless":
                    self.endless()
                    return
                if self.path == "/long-header":
                    self.long_header()
                    return
                self.send_response({"/401": 401, "/403": 403}.get(self.path, 200))
                self.send_header("Content-Length", "5")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(b"hello")

            def endless(self):
                site.streaming += 1
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(1 << 40))
                    self.end_headers()
                    while True:
                        self.wfile.write(b"x" * 65536)
                except OSError:
                    self.close_connection = True
                finally:
                    site.streaming -= 1

            def long_header(self):
                try:
                    self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nX-Long: ")
                    for _ in range(1024):
                        self.wfile.write(b"x" * 65536)
                except OSError:
                    pass
                self.close_connection = True

            def log_message(self, *arguments):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def resident(pid):
    """Bytes of the glove that @pid is, or that it started through setpriv."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def processes_of(marker):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if file.read().startswith(marker.encode()):
                        found.append(int(name))
            except OSError:
                continue
    return found


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False
