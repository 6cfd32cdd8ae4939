#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-escape.py BUILD PROBE: every probe inside a sandbox, as root and as an ordinary user."""

import ctypes
import os
import re
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402

MARKER = "marker-of-the-supervisor-5e1c"
SHM_KEY = 0x676C6F76
CONTENT = {"HEAD": "ref: refs/heads/main\n", "commondir": "../..\n", "gitdir": "/elsewhere/.git\n"}


def make_repository(operator):
    """A repository with what a submodule and a worktree leave in .git."""
    workspace = operator.make_folder("workspace")
    for folder in ("hooks", "objects", "refs/heads", "modules/sub/hooks", "modules/sub/objects", "modules/sub/refs",
                   "worktrees/wt"):
        operator.make_folder("workspace", ".git", folder)
    for name in ("config", "HEAD", "modules/sub/config", "modules/sub/HEAD", "worktrees/wt/config.worktree",
                 "worktrees/wt/HEAD",
                 "worktrees/wt/commondir", "worktrees/wt/gitdir"):
        operator.write(f"workspace/.git/{name}", CONTENT.get(os.path.basename(name), "[core]\n"))
    return workspace


class Host:
    """What an agent would like to reach: listeners of every kind."""

    def __init__(self, operator, workspace, granted):
        self.sockets = []
        self.tcp = self.keep(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        self.tcp.bind(("127.0.0.1", 0))
        self.tcp.listen(8)
        self.abstract = f"glove-test-{os.getpid()}-{operator.mode}"
        self.bind("\0" + self.abstract, socket.SOCK_STREAM)
        self.before = self.bind(os.path.join(workspace, "before.sock"), socket.SOCK_STREAM)
        self.datagram = self.bind(os.path.join(workspace, "datagram.sock"), socket.SOCK_DGRAM)
        self.granted = self.bind(os.path.join(granted, "read.sock"), socket.SOCK_STREAM)
        self.after = os.path.join(workspace, "after.sock")
        operator.give(workspace)
        operator.give(granted)
        libc = ctypes.CDLL(None, use_errno=True)
        self.shm = libc.shmget(SHM_KEY, 4096, 0o1666)
        self.libc = libc

    def keep(self, made):
        self.sockets.append(made)
        return made

    def bind(self, path, kind):
        made = self.keep(socket.socket(socket.AF_UNIX, kind))
        made.bind(path)
        if not path.startswith("\0"):
            os.chmod(path, 0o777)
        if kind == socket.SOCK_STREAM:
            made.listen(8)
        return path

    def bind_late(self, started):
        """Once the agent runs: it says so by a file."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not os.path.exists(started):
            time.sleep(0.005)
        self.bind(self.after, socket.SOCK_STREAM)

    def close(self):
        for made in self.sockets:
            made.close()
        if self.shm >= 0:
            self.libc.shmctl(self.shm, 0, None)


def count_inotify(operator):
    """How many inotify instances the operator can still make: the agent's own number must not count against it."""
    code = ("import ctypes; c = ctypes.CDLL(None); n = 0\n"
            "while n < 64 and c.inotify_init1(0) >= 0: n += 1\nprint(n)")
    return int(subprocess.run(operator.prefix() + ["python3", "-S", "-c", code], env=operator.environment(),
                              stdout=subprocess.PIPE, check=False, cwd="/").stdout or b"-1")


def attack(report, operator, probe):
    workspace = make_repository(operator)
    granted = operator.make_folder("granted")
    operator.write("granted/secret", "a secret\n")
    outside = operator.write("outside.txt", "not for the agent\n")
    operator.write("home/.ssh/id", "a key\n", 0o600)
    stdin = operator.write("input.txt", "operator's file\n", 0o666)
    with open(probe, "rb") as file:
        program = operator.write("bin/probe", file.read(), 0o755)
    host = Host(operator, workspace, granted)
    late = threading.Thread(target=host.bind_late, args=(os.path.join(workspace, "started"),), daemon=True)
    late.start()
    before = count_inotify(operator)
    facts = {
        "workspace": workspace, "read-grant": granted, "outside": outside, "ssh": os.path.join(operator.home, ".ssh"),
        "host-pid": os.getpid(), "marker": MARKER, "host-port": host.tcp.getsockname()[1], "abstract": host.abstract,
        "socket-before": host.before, "socket-datagram": host.datagram, "socket-read": host.granted,
        "socket-after": host.after, "shm-key": SHM_KEY,
    }
    with open(stdin, "r+b") as file:
        result = operator.run("exec", "--quiet", "--no-tty", "--workspace", workspace, "--read", granted, "--read",
                              program, "--mask-sockets", "--audit", os.path.join(operator.folder, "audit.jsonl"), "--",
                              program, *[f"{key}={value}" for key, value in facts.items()],
                              env={"SUPERVISOR_MARKER": MARKER}, stdin=file, timeout=120)
    late.join(timeout=31)
    relay(report, operator, result)
    report.check(f"{operator.mode}: the operator still has inotify instances", count_inotify(operator) == before)
    with open(stdin, "rb") as file:
        report.check(f"{operator.mode}: the operator's input file is unchanged", file.read() == b"operator's file\n")
    special = [os.path.join(folder, name) for folder, _, names in os.walk(workspace) for name in names
               if os.lstat(os.path.join(folder, name)).st_mode & 0o6000]
    report.check(f"{operator.mode}: no file with a setuid bit is left on the host", not special, special)
    host.close()


def relay(report, operator, result):
    lines = result.text_out().splitlines()
    count = 0
    for index, line in enumerate(lines):
        match = re.match(r"(ok|not ok) \d+ - (.*)", line)
        if not match:
            continue
        count += 1
        detail = lines[index + 1] if index + 1 < len(lines) and lines[index + 1].startswith("#") else ""
        name = f"{operator.mode}: {match.group(2).split(' # ')[0]}"
        if " # SKIP " in line:
            # what the running kernel lacks is the kernel's: also where nothing else may be skipped
            report.number += 1
            print(f"ok {report.number} - {name} # SKIP {line.split(' # SKIP ')[1]}")
        else:
            report.check(name, match.group(1) == "ok", detail)
    report.check(f"{operator.mode}: every probe ran", count >= 150 and f"1..{count}" in lines, result)


def main():
    report = gloveharness.Report()
    for operator in gloveharness.modes(report, sys.argv[1]):
        attack(report, operator, sys.argv[2])
    return report.finish()


sys.exit(main())
