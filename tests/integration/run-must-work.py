#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-must-work.py BUILD: what agents and their tools do all day must work inside, as root and as an ordinary user."""

import http.server
import os
import shutil
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402

PYTHON = {
    "multiprocessing": (
        "import multiprocessing as m\n"
        "def f(x): return x * x\n"
        "if __name__ == '__main__':\n"
        "    with m.Pool(4) as p: print(sum(p.map(f, range(100))))\n", "328350"),
    "shared memory": (
        "from multiprocessing import shared_memory as s\n"
        "a = s.SharedMemory(create=True, size=1 << 20); a.buf[:5] = b'hello'\n"
        "b = s.SharedMemory(a.name); print(bytes(b.buf[:5]).decode()); b.close(); a.close(); a.unlink()\n", "hello"),
    "a stream socket in the workspace": (
        "import socket, threading, os\n"
        "l = socket.socket(socket.AF_UNIX); l.bind('s.sock'); l.listen(1)\n"
        "def serve():\n"
        "    c, _ = l.accept(); c.sendall(c.recv(10).upper())\n"
        "threading.Thread(target=serve).start()\n"
        "c = socket.socket(socket.AF_UNIX); c.connect('s.sock'); c.sendall(b'over'); print(c.recv(10).decode())\n"
        "os.unlink('s.sock')\n", "OVER"),
    "datagram sockets and a socket pair": (
        "import socket, os\n"
        "a = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); a.bind('/tmp/a.sock')\n"
        "b = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); b.sendto(b'datagram', '/tmp/a.sock')\n"
        "x, y = socket.socketpair(); x.sendall(a.recv(20)); print(y.recv(20).decode())\n", "datagram"),
    "an abstract socket of its own": (
        "import socket\n"
        "a = socket.socket(socket.AF_UNIX); a.bind('\\0own'); a.listen(1)\n"
        "b = socket.socket(socket.AF_UNIX); b.connect('\\0own'); print('connected')\n", "connected"),
    "inotify": (
        "import ctypes, os\n"
        "c = ctypes.CDLL(None); fd = c.inotify_init1(0); c.inotify_add_watch(fd, b'.', 0x100)\n"
        "open('seen', 'w').close(); print(b'seen' in os.read(fd, 4096)); os.unlink('seen')\n", "True"),
    "two hundred threads": (
        "import threading\n"
        "n = []\n"
        "t = [threading.Thread(target=lambda: n.append(1)) for _ in range(200)]\n"
        "[x.start() for x in t]; [x.join() for x in t]; print(len(n))\n", "200"),
    "a pseudo terminal": (
        "import pty, os, sys\n"
        "pid, fd = pty.fork()\n"
        "if pid == 0:\n"
        "    print(os.isatty(0) and os.isatty(1) and os.ttyname(0).startswith('/dev/pts/')); sys.stdout.flush(); os._exit(0)\n"
        "print(os.read(fd, 100).decode().strip()); os.waitpid(pid, 0)\n", "True"),
    "locks": (
        "import fcntl, os\n"
        "f = open('lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "print('locked'); os.unlink('lock')\n", "locked"),
    "a shared mapping of a file": (
        "import mmap, os\n"
        "f = open('map', 'w+b'); f.truncate(65536); m = mmap.mmap(f.fileno(), 65536); m[0:4] = b'good'; m.flush()\n"
        "print(open('map', 'rb').read(4).decode()); os.unlink('map')\n", "good"),
    "events, timers and epoll": (
        "import ctypes, select, os, signal\n"
        "c = ctypes.CDLL(None); e = c.eventfd(0, 0); t = c.timerfd_create(1, 0)\n"
        "p = select.epoll(); p.register(e, select.EPOLLIN); os.write(e, (1).to_bytes(8, 'little'))\n"
        "print(len(p.poll(1)) == 1 and t >= 0)\n", "True"),
    "a memory file": (
        "import os\n"
        "fd = os.memfd_create('x', os.MFD_ALLOW_SEALING); os.write(fd, b'mem'); print(os.pread(fd, 3, 0).decode())\n", "mem"),
    "a folder made and a file renamed into it": (
        "import os\n"
        "open('one', 'w').write('moved'); os.mkdir('two'); os.rename('one', 'two/one'); print(open('two/one').read())\n"
        "os.unlink('two/one'); os.rmdir('two')\n", "moved"),
    "names that are not UTF-8": (
        "import os\n"
        "n = b'caf\\xe9 \\n\\xff'; open(n, 'w').close(); print(n in os.listdir(b'.')); os.unlink(n)\n", "True"),
    "sparse files, copies and sendfile": (
        "import os\n"
        "a = os.open('a', os.O_RDWR | os.O_CREAT); os.ftruncate(a, 1 << 20); os.pwrite(a, b'end', (1 << 20) - 3)\n"
        "b = os.open('b', os.O_RDWR | os.O_CREAT); os.copy_file_range(a, b, 1 << 20, 0, 0)\n"
        "print(os.pread(b, 3, (1 << 20) - 3).decode()); os.unlink('a'); os.unlink('b')\n", "end"),
    "posix_spawn and its exit status": (
        "import os\n"
        "p = os.posix_spawn('/bin/sh', ['sh', '-c', 'exit 3'], {}); print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))\n",
        "3"),
    "a pidfd": (
        "import os, signal\n"
        "p = os.fork() or os.execv('/bin/sleep', ['sleep', '60'])\n"
        "f = os.pidfd_open(p); signal.pidfd_send_signal(f, 9); print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))\n",
        "-9"),
    "loopback inside": (
        "import socket\n"
        "l = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(l.getsockname()); s, _ = l.accept()\n"
        "c.sendall(b'lo'); print(s.recv(2).decode())\n", "lo"),
}

SHELL = {
    "its name and home": ("id -un; echo $HOME; cd && pwd", "agent\n/home/agent\n/home/agent"),
    "the host's name": ("hostname", "glove"),
    "the working directory": ('test "$PWD" = "$(pwd -P)" && echo same', "same"),
    "a job in the background": ("sleep 0.1 & wait; echo waited", "waited"),
    "a reader that stops early": ("yes | head -n 2", "y\ny"),
    "temporary files": ("a=$(mktemp) && b=$(mktemp -p /var/tmp) && test -w $a && test -w $b && echo both", "both"),
    "a script in the workspace": ("printf '#!/bin/sh\\necho ran' > s && chmod +x s && ./s; rm -f s", "ran"),
    "tar and gzip": ("mkdir d && echo x > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f; rm -rf d d.tgz", "x"),
    "ps and free": ("ps -e > /dev/null && grep -q MemTotal /proc/meminfo && nproc > /dev/null && echo fine", "fine"),
    "symbolic links": ("echo y > t && ln -s t l && cat l; rm t l", "y"),
    "standard output by name": ("echo named > /dev/stdout", "named"),
    "output without a last newline": ("printf end", "end"),
    "dd with fsync": ("dd if=/dev/zero of=z bs=1M count=4 conv=fsync status=none && stat -c %s z; rm z", "4194304"),
    "perl": ("perl -e 'print join(\",\", map { $_ * 2 } 1..3)'", "2,4,6"),
    "a shell without job control": ("bash -c 'set -m; sleep 0.05 & wait %1; echo $?'", "0"),
    "git: init, commit, clone, worktree": (
        "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && cd .. && "
        "git clone -q r c && git -C c worktree add -q ../w && git -C w log --format=%s; rm -rf r c w", "one"),
    "a C compiler": (
        "printf '#include <stdio.h>\\nint main (void) { puts (\"compiled\"); return 0; }\\n' > p.c && cc -O1 -o p p.c && ./p; "
        "rm -f p p.c", "compiled"),
    "make in parallel": (
        "printf 'all: a b\\na b:\\n\\t@sleep 0.05; echo $@\\n' > Makefile && make -s -j4 | sort | tr -d '\\n'; rm Makefile", "ab"),
}

NODE = {
    "worker threads": (
        "const { Worker } = require('worker_threads');"
        "new Worker(\"require('worker_threads').parentPort.postMessage(42)\", { eval: true })"
        ".on('message', m => console.log(m));", "42"),
    "child processes": (
        "console.log(require('child_process').execFileSync('/bin/echo', ['child']).toString().trim());", "child"),
    "watching a folder": (
        "const fs = require('fs'); const w = fs.watch('.', (e, n) => { console.log(n); w.close(); fs.unlinkSync('watched'); });"
        "setTimeout(() => fs.writeFileSync('watched', ''), 50);", "watched"),
    "a server on loopback": (
        "const h = require('http'); const s = h.createServer((q, r) => r.end('served')).listen(0, '127.0.0.1', () =>"
        " h.get({ port: s.address().port, host: '127.0.0.1' }, r => r.on('data', d => { console.log(d + ''); s.close(); })));",
        "served"),
}


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"served")

    def log_message(self, *arguments):
        pass


class Suite:
    def __init__(self, report, operator):
        self.report = report
        self.operator = operator
        self.workspace = operator.make_folder("workspace")

    def run(self, *arguments, **keywords):
        return self.operator.run("exec", "--quiet", "--no-tty", "--workspace", self.workspace, *arguments, **keywords)

    def expect(self, name, result, text, status=0):
        passed = result.status == status and result.text_out().strip() == text
        self.report.check(f"{self.operator.mode}: {name}", passed, result)

    def table(self, label, table, command):
        if shutil.which(command[0], path="/usr/local/bin:/usr/bin:/bin") is None:
            self.report.skip(f"{self.operator.mode}: {label}", f"there is no {command[0]} in /usr")
            return
        for name, (code, text) in table.items():
            self.expect(f"{label}: {name}", self.run("--", *command, code), text)

    def streams(self):
        self.expect("40 MB of output", self.run("--", "sh", "-c", "head -c 40000000 /dev/zero | tr '\\0' x | wc -c"), "40000000")
        result = self.run("--", "sh", "-c", "head -c 20000000 /dev/zero")
        self.report.check(f"{self.operator.mode}: 20 MB through glove's own output", len(result.out) == 20000000, result.status)
        self.expect("standard input", self.run("--", "cat", input=b"typed"), "typed")
        self.expect("a daemon left behind keeps nobody waiting",
                    self.run("--", "sh", "-c", "(sleep 1000 &) ; echo done", timeout=20), "done")
        self.expect("binary bytes pass", self.run("--", "printf", "\\377\\000\\001"), "\\xff\x00\x01")
        result = self.run("--", "sh", "-c", "echo out; echo err >&2")
        self.report.check(f"{self.operator.mode}: the streams stay apart",
                          result.out == b"out\n" and result.err == b"err\n", result)

    def arguments(self):
        self.expect("an argument with a newline and one that is not UTF-8",
                    self.operator.run("exec", "--quiet", "--no-tty", "--", b"printf", b"%s|", b"a\nb", b"\xff"), "a\nb|\\xff|")
        self.expect("argv[0] reaches the program", self.run("--", "sh", "-c", "exec -a other sh -c 'echo $0'"), "other") \
            if os.path.realpath("/bin/sh").endswith("bash") else \
            self.expect("argv[0] reaches the program", self.run("--", "bash", "-c", "exec -a other bash -c 'echo $0'"), "other")
        for status in (0, 1, 7, 255):
            self.expect(f"exit status {status}", self.run("--", "sh", "-c", f"exit {status}"), "", status)
        self.expect("killed by SIGKILL", self.run("--", "sh", "-c", "kill -9 $$"), "", 137)
        self.expect("aborted", self.run("--", "sh", "-c", "kill -ABRT $$"), "", 134)
        self.expect("no such program", self.run("--", "no-such-program"), "", 127)
        self.operator.write("workspace/not-executable", "text", 0o644)
        self.expect("not executable", self.run("--", "./not-executable"), "", 126)

    def package_tree(self):
        """A command line program as npm leaves it: a link in .bin to a script that env starts."""
        if not os.path.exists("/usr/bin/node") and not os.path.exists("/usr/local/bin/node"):
            self.report.skip(f"{self.operator.mode}: a program in node_modules/.bin", "there is no node in /usr")
            return
        self.operator.write("tree/node_modules/tool/cli.js",
                            "#!/usr/bin/env node\nconsole.log(require('./lib').word);\n", 0o755)
        self.operator.write("tree/node_modules/tool/lib.js", "exports.word = 'from the package';\n")
        self.operator.make_folder("tree/node_modules/.bin")
        link = os.path.join(self.operator.folder, "tree/node_modules/.bin/tool")
        os.symlink("../tool/cli.js", link)
        self.expect("a program in node_modules/.bin",
                    self.run("--read", os.path.join(self.operator.folder, "tree"), "--", link), "from the package")

    def network(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_address[1]}"
        url = f"http://{host}/"
        clients = {
            "curl": ["curl", "-sS", "--noproxy", "", url],
            "python3": ["python3", "-c", "import os, urllib.request as u\nos.environ.pop('NO_PROXY'); os.environ.pop('no_proxy')\n"
                        f"print(u.urlopen('{url}').read().decode())"],
        }
        for name, command in clients.items():
            if shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") is None:
                self.report.skip(f"{self.operator.mode}: {name} through the proxy", f"there is no {name} in /usr")
                continue
            self.expect(f"{name} through the proxy", self.run("--allow-host", host, "--", *command), "served")
        forwarded = ("import urllib.request as u\n"
                     "print(u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:8123/').read().decode())")
        self.expect("a forwarded port", self.run("--forward", f"8123={host}", "--", "python3", "-c", forwarded), "served")
        self.expect("localhost means a forwarded port too",
                    self.run("--forward", f"8123={host}", "--", "python3", "-c", forwarded.replace("127.0.0.1", "localhost")),
                    "served")
        server.shutdown()

    def grants(self):
        self.operator.write("deep/read/file", "read only\n")
        self.operator.write("deep/read/inner/file", "changes\n")
        deep = os.path.join(self.operator.folder, "deep/read")
        script = f"cat {deep}/file; echo x > {deep}/inner/file && cat {deep}/inner/file; echo y 2> /dev/null > {deep}/file || echo refused"
        for order in (("--read", deep, "--write", deep + "/inner"), ("--write", deep + "/inner", "--read", deep)):
            self.expect("a write grant below a read grant", self.run(*order, "--", "sh", "-c", script), "read only\nx\nrefused")
        odd = self.operator.write(b"odd \n name\xff/file", "odd\n")
        result = self.run("--read", os.path.dirname(os.fsencode(odd)), "--", "cat", os.fsencode(odd))
        self.expect("a grant whose name has a space, a newline and a byte that is not UTF-8", result, "odd")
        single = self.operator.write("single.txt", "alone\n")
        self.expect("a single file", self.run("--read", single, "--", "cat", single), "alone")
        self.expect("a single file to write", self.run("--write", single, "--", "sh", "-c", f"echo changed > {single}; cat {single}"),
                    "changed")


def main():
    report = gloveharness.Report()
    for operator in gloveharness.modes(report, sys.argv[1]):
        suite = Suite(report, operator)
        suite.table("python", PYTHON, ["python3", "-c"])
        suite.table("shell", SHELL, ["sh", "-c"])
        suite.table("node", NODE, ["node", "-e"])
        suite.streams()
        suite.arguments()
        suite.package_tree()
        suite.network()
        suite.grants()
        left = gloveharness.sandbox_processes(sys.argv[1])
        report.check(f"{operator.mode}: nothing is left running", not left, left)
    return report.finish()


sys.exit(main())
