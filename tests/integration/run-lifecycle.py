#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-lifecycle.py BUILD: signals, limits, terminals, the trail, and what is left when glove is killed at any moment."""

import ctypes
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402
from gloveterminal import Terminal  # noqa: E402

KILLS = int(os.environ.get("GLOVE_TEST_KILLS", "200"))
CONSTRUCTOR = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__ ((constructor)) static void leave_a_mark (void) {
  char path[64]; int fd;
  snprintf (path, sizeof path, "/proc/self/task/%d/comm", getpid ());
  fd = open (MARK, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (fd >= 0) { write (fd, "loaded\\n", 7); close (fd); }
}
"""


# A shell can lose an interrupt that comes just before it starts a program, and can't stop while it does; this has no such moment.
SLEEP = ("python3", "-S", "-c", "import signal, sys, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nopen(sys.argv[1], 'w').close()\n"
         "print('ready', flush=True)\ntime.sleep(60)")


def ended(process, seconds=20):
    """Its exit status, or None when it does not end."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def wait_until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def processes_of(marker):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if marker.encode() in file.read():
                        found.append(int(name))
            except OSError:
                continue
    return found


def leave_others_mounts():
    """Root gets a mount namespace as shared as the system's, in which only this test mounts; an ordinary user can't mount at all."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        return
    for done in (libc.unshare(0x20000), libc.mount(None, b"/", None, 0x4000 | 0x40000, None),
                 libc.mount(None, b"/", None, 0x4000 | 0x100000, None)):
        if done != 0:
            raise OSError(ctypes.get_errno(), "no mount namespace")


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return [line.split()[4] for line in file]

TWICE_REFUSED = """
import urllib.request
for attempt in range(2):
    try:
        urllib.request.urlopen("http://elsewhere.example/")
    except OSError:
        pass
"""


class Suite:
    def __init__(self, report, operator):
        self.report = report
        self.operator = operator
        self.workspace = operator.make_folder("workspace")
        self.audit_number = 0

    def check(self, name, passed, detail=""):
        return self.report.check(f"{self.operator.mode}: {name}", passed, detail)

    def run(self, *arguments, **keywords):
        return self.operator.run("exec", "--quiet", "--no-tty", "--workspace", self.workspace, *arguments, **keywords)

    def audit(self):
        self.audit_number += 1
        return os.path.join(self.operator.folder, f"audit-{self.audit_number}.jsonl")

    def events(self, path):
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def signals(self):
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            started = os.path.join(self.workspace, f"started-{number}")
            process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--", *SLEEP, started, stdout=subprocess.DEVNULL)
            fine = wait_until(lambda path=started: os.path.exists(path))
            process.send_signal(number)
            self.check(f"signal {number} reaches the agent", fine and ended(process) == status, process.returncode)
        started = os.path.join(self.workspace, "stubborn")
        process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--", "sh", "-c",
                                      f"trap '' TERM; touch {started}; while :; do sleep 0.05; done")
        wait_until(lambda: os.path.exists(started))
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        alive = process.poll() is None
        process.send_signal(signal.SIGTERM)
        self.check("the second request to end is obeyed for an agent that ignores the first",
                   alive and ended(process) == 137, process.returncode)

    def limits(self):
        audit = self.audit()
        begun = time.monotonic()
        result = self.run("--limit", "wall-time=300ms", "--audit", audit, "--", "sleep", "60")
        took = time.monotonic() - begun
        self.check("wall time ends a sleeper", result.status == 137 and took < 20 and b"the limit wall-time, 300 ms" in result.err, result)
        last = self.events(audit)[-1]
        self.check("and the trail says why", "wall_time_limit" in last["arguments"], last)
        why = subprocess.run(self.operator.prefix() + [self.operator.glove(), "why", "--audit", audit, "--json"],
                             env=self.operator.environment(), capture_output=True, check=False)
        denials = json.loads(why.stdout or "[]")
        self.check("why names the limit and what would allow more",
                   any("wall-time" in item["rule"] and "--limit wall-time=" in item["allow"] for item in denials), why)
        result = self.run("--limit", "output=1000", "--", "sh", "-c", "yes | head -c 60000; sleep 60")
        self.check("output past its limit ends the agent",
                   result.status == 137 and len(result.out) == 1000 and b"the limit output, " in result.err, result)
        result = self.run("--limit", "output=1000", "--", "sh", "-c", "head -c 1000 /dev/zero")
        self.check("output up to its limit does not", result.status == 0 and len(result.out) == 1000, result)
        result = self.run("--limit", "file-size=4096", "--", "sh", "-c",
                          "head -c 4096 /dev/zero > f && echo fits; head -c 4097 /dev/zero > f; echo $?; stat -c %s f; rm f")
        words = result.text_out().split()
        self.check("file size", len(words) == 3 and words[0] == "fits" and words[1] in ("1", "153") and words[2] == "4096", result)
        result = self.run("--limit", "tmp-size=1M", "--", "sh", "-c",
                          "head -c 900K /dev/zero > /tmp/a && echo fits; head -c 300K /dev/zero > /var/tmp/b || echo full")
        self.check("the size of /tmp and /var/tmp together", result.text_out().split() == ["fits", "full"], result)
        result = self.run("--limit", "home-size=1M", "--", "sh", "-c", "head -c 2M /dev/zero > ~/a || echo full")
        self.check("the size of the home", result.text_out().strip() == "full", result)
        result = self.run("--limit", "open-files=64", "--", "python3", "-c",
                          "import os\nn = 0\ntry:\n    while True: os.dup(0); n += 1\nexcept OSError: print(n + 3)")
        self.check("open files", result.text_out().strip() == "64", result)
        result = self.run("--limit", "pids=20", "--", "python3", "-c",
                          "import os, time\nn = 0\ntry:\n    while n < 100:\n        if os.fork() == 0: time.sleep(30)\n        n += 1\n"
                          "except OSError: pass\nprint(n)")
        count = result.text_out().strip()
        self.check("processes", count.isdigit() and 10 <= int(count) < 20, result)

    def trail(self):
        audit = self.audit()
        result = self.run("--audit", audit, "--allow-host", "127.0.0.1:1", "--", "sh", "-c",
                          "curl -sS -o /dev/null -w '%{http_code}' --noproxy '' http://elsewhere.example/ || true")
        events = self.events(audit)
        self.check("launch and exit are recorded", [event["action"] for event in events if event["action"] != "egress"]
                   == ["agent_launch", "agent_exit"], events)
        keys = ["action", "tool", "arguments", "status", "error", "timestamp_ns", "latency_ns"]
        self.check("the seven keys come first, in order", all(list(event)[:7] == keys for event in events), events)
        self.check("sequence numbers", [event["seq"] for event in events] == list(range(events[0]["seq"],
                                                                                         events[0]["seq"] + len(events))), events)
        if result.text_out().strip() == "403":
            denied = [event for event in events if event["action"] == "egress"]
            self.check("a denied host is recorded with its rule and the option that would allow it",
                       len(denied) == 1 and denied[0]["status"] == "invalid_arguments"
                       and "--allow-host elsewhere.example:80" in denied[0]["allow"], denied)
        before = os.stat(audit).st_size
        again = self.run("--audit", audit, "--", "true")
        self.check("a second run goes on in the same file", again.status == 0 and os.stat(audit).st_size > before, again)
        with open(audit, "r+b") as file:
            content = bytearray(file.read())
            content[40] ^= 1
            file.seek(0)
            file.write(content)
        refused = self.run("--audit", audit, "--", "true")
        self.check("a file that was tampered with is refused", refused.status == 125, refused)
        mode = os.stat(audit).st_mode & 0o777
        self.check("the file is the owner's only", mode == 0o600, oct(mode))
        self.run("--", "sh", "-c", "exit 0")
        last = self.why()
        self.check("why without a file explains the last run",
                   last.returncode == 0 and b"nothing was denied" in last.stdout and b"--allow-host" in last.stdout, last)
        self.run("--", "no-such-program")
        last = self.why()
        self.check("why says that the agent was not started",
                   b"was not started: " in last.stdout and b"no-such-program" in last.stdout, last)
        self.run("--allow-host", "127.0.0.1:1", "--", "python3", "-c", TWICE_REFUSED)
        last = self.why()
        rows = [line.split() for line in last.stdout.decode().splitlines()]
        self.check("why shows what is denied twice in one row, without the session",
                   len(rows) == 2 and rows[1][:2] == ["network", "elsewhere.example:80"] and rows[1][-1] == "2", last)

    def why(self):
        return subprocess.run(self.operator.prefix() + [self.operator.glove(), "why"], env=self.operator.environment(),
                              capture_output=True, check=False)

    def no_file_descriptor_leaks_in(self):
        secret = self.operator.write("secret.txt", "a secret\n", 0o600)
        with open(secret, "rb") as file:
            fd = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD, 50)
            os.set_inheritable(fd, True)
            result = self.run("--", "sh", "-c", f"cat <&{fd}", pass_fds=[fd])
            os.close(fd)
        self.check("a descriptor that glove inherited does not reach the agent", b"a secret" not in result.out
                   and result.status != 0, result)

    def standard_streams(self):
        result = self.run("--", "sh", "-c", "cat; echo end", stdin=subprocess.DEVNULL)
        self.check("no input", result.text_out() == "end\n", result)
        read_end, write_end = os.pipe()
        os.fchown(read_end, self.operator.uid, self.operator.uid)
        process = self.operator.start("exec", "-q", "-T", "--", "true", stdin=read_end)
        self.check("an input that never ends keeps nobody waiting", ended(process) == 0)
        os.close(read_end)
        os.close(write_end)
        with open(os.path.join(self.operator.folder, "out.txt"), "wb") as file:
            process = self.operator.start("exec", "-q", "-T", "--", "sh", "-c",
                                          "printf kept; test -p /proc/self/fd/1 || echo a file", stdout=file)
            ended(process)
        with open(os.path.join(self.operator.folder, "out.txt"), "rb") as file:
            self.check("output to a file arrives, and the agent never has the file", file.read() == b"kept")
        process = self.operator.start("exec", "-q", "-T", "--", "echo", "closed",
                                      preexec_fn=lambda: (os.close(0), os.close(2)), stdin=None, stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=20)
        self.check("glove started with standard streams closed", out == b"closed\n" and process.returncode == 0, out)

    def operators_pipes(self):
        """What an operator's pipe is to others, the agent can't change; and whoever does not read keeps nobody waiting for long."""
        ends = [os.pipe() for _ in range(2)]
        for pair in ends:
            for fd in pair:
                os.fchown(fd, self.operator.uid, self.operator.uid)
        (input_read, input_write), (output_read, output_write) = ends
        code = ("import fcntl, os\n"
                "for fd in 0, 1, 2: fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)\n"
                "os.write(1, b'one\\n'); os.write(2, b'two\\n'); os.write(1, b'three\\n'); os.write(2, b'four\\n')\n"
                "held = os.stat(0).st_ino, os.stat(1).st_ino\nos.write(1, b'%d %d\\n' % held)")
        status = self.operator.start("exec", "-q", "-T", "--", "python3", "-S", "-c", code, stdin=input_read, stdout=output_write,
                                     stderr=output_write).wait(20)
        lines = os.read(output_read, 4096).decode().split("\n")
        inodes = [os.fstat(fd).st_ino for fd in (input_read, output_write)]
        self.check("one pipe for both outputs keeps their order", status == 0 and lines[:4] == ["one", "two", "three", "four"], lines)
        self.check("the agent has pipes of its own", not set(map(int, lines[4].split())) & set(inodes), lines)
        self.check("no pipe of the operator's stops blocking", all(os.get_blocking(fd) for fd in (input_read, output_write)))
        for command, expected in (("yes", 143), ("head -c 60000 /dev/zero; sleep 0.1; touch written", 0)):
            workspace = self.operator.make_folder("unread")
            process = self.operator.start("exec", "-q", "-T", "--workspace", workspace, "--", "sh", "-c", command,
                                          stdout=output_write, stderr=subprocess.DEVNULL)
            if expected == 0:
                wait_until(lambda: os.path.exists(os.path.join(workspace, "written")))
            time.sleep(0.5)
            waited = process.poll() is None
            process.send_signal(signal.SIGTERM)
            try:
                status = process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                status = "it still waits"
            self.check(f"a reader that does not read, then a signal: {command}", waited and status == expected, status)
        for pair in ends:
            for fd in pair:
                os.close(fd)

    def swapped_path(self):
        """A workspace that is swapped for a link to another folder, again and again, is never followed."""
        good, bad = self.operator.make_folder("swap", "good"), self.operator.make_folder("swap", "bad")
        self.operator.write("swap/bad/stolen", "stolen\n")
        path = os.path.join(self.operator.folder, "swap", "now")
        os.symlink("bad", path + ".link")
        os.mkdir(path)
        self.operator.give(os.path.join(self.operator.folder, "swap"))
        stop = threading.Event()

        def swap():
            aside = path + ".aside"
            while not stop.is_set():
                try:
                    os.rename(path, aside)
                    os.rename(path + ".link", path)
                    os.rename(path, path + ".link")
                    os.rename(aside, path)
                except OSError:
                    continue
        thread = threading.Thread(target=swap)
        thread.start()
        outcomes = []
        for _ in range(40):
            # a folder inside at the typed path is the folder that was pinned there, or there is none
            result = self.operator.run("exec", "-q", "-T", "-w", good, "--write", path, "--", "sh", "-c",
                                       f"cat {path}/stolen 2> /dev/null; exit 0")
            outcomes.append(result.status in (0, 125) and "stolen" not in result.text_out())
        stop.set()
        thread.join()
        self.check("a path swapped in a loop", all(outcomes), outcomes)
        self.check("the folder beside it is untouched", os.listdir(good) == [], os.listdir(good))

    def replaced_configuration(self):
        """git on the host replaces its configuration by a rename, which takes the sandbox's mount away: told and recorded."""
        folder = self.operator.make_folder("repository")
        for name in ("hooks", "objects", "refs"):
            self.operator.make_folder("repository", ".git", name)
        self.operator.write("repository/.git/HEAD", "ref: refs/heads/main\n")
        config = self.operator.write("repository/.git/config", "[core]\n")
        started, audit = os.path.join(folder, "started"), self.audit()
        process = self.operator.start("exec", "-q", "-T", "-w", folder, "--audit", audit, "--", "sh", "-c",
                                      f"touch {started}; while [ ! -e {folder}/go-on ]; do sleep 0.02; done",
                                      stderr=subprocess.PIPE)
        wait_until(lambda: os.path.exists(started))
        self.operator.write("repository/.git/config.lock", "[core]\n\tbare = false\n")
        os.rename(config + ".lock", config)
        self.operator.write("repository/go-on")
        _, err = process.communicate(timeout=30)
        denied = [event for event in self.events(audit) if event.get("plane") == "file"]
        self.check("git's configuration that is replaced meanwhile is told and recorded",
                   process.returncode == 0 and b"refused" in err and b".git/config" in err and len(denied) == 1, (err, denied))

    def killed_at_any_moment(self):
        marker = f"glove-kill-marker-{os.getpid()}-{self.operator.mode}"
        before = mounts()
        rng = random.Random(20261130)
        left = []
        for number in range(KILLS):
            process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--forward", "8000=127.0.0.1:1", "--", "sh",
                                          "-c", f"sleep 1000 & sleep 1000 # {marker}", stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 0.12))
            process.kill()
            process.wait()
            if number % 10 == 9 and not wait_until(lambda: not processes_of(marker)
                                                   and not gloveharness.sandbox_processes(sys.argv[1]), 20):
                left.append((number, processes_of(marker), gloveharness.sandbox_processes(sys.argv[1])))
        self.check(f"killed at {KILLS} random moments, the agent's tree is gone each time", not left, left)
        after = mounts()
        self.check("no mount is left", after == before, f"{before} before, {after} after")
        tree = [name for name in os.listdir(self.operator.folder) if name.startswith("glove")]
        self.check("no file is left", not tree and not [name for name in os.listdir(self.workspace) if "glove" in name], tree)

    def environment_chooses_no_code(self):
        compiler = next((path for path in ("/usr/bin/cc", "/usr/bin/gcc") if os.path.exists(path)), None)
        if compiler is None:
            self.report.skip(f"{self.operator.mode}: code named by the environment", "there is no C compiler")
            return
        source = self.operator.write("mark.c", CONSTRUCTOR)
        mark = os.path.join(self.operator.folder, "mark")
        modules = self.operator.make_folder("modules")
        library = os.path.join(modules, "libgiomark.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-w", f'-DMARK="{mark}"', "-o", library, source], check=True)
        self.operator.give(self.operator.folder)
        for name, value in (("GIO_EXTRA_MODULES", modules), ("GIO_MODULE_DIR", modules), ("GIO_USE_VFS", "mark"),
                            ("GIO_USE_TLS", "mark"), ("GIO_USE_PROXY_RESOLVER", "mark"), ("GCONV_PATH", modules)):
            environment = {name: value}
            if name == "GIO_USE_TLS":
                environment["GIO_EXTRA_MODULES"] = modules
            self.run("--allow-host", "127.0.0.1:1", "--", "true", env=environment)
            self.check(f"{name} loads nothing", not os.path.exists(mark))
        # the loader runs a constructor before main () can know: once, in the process that is given up at once
        # a sanitizer's runtime wants to be the first library, and nothing but that is in its way
        asan = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        for name in ("LD_PRELOAD", "LD_AUDIT"):
            result = self.run("--", "true", env={name: library, **asan})
            loaded = open(mark, encoding="utf-8").read().count("loaded") if os.path.exists(mark) else 0
            self.check(f"{name} is gone after the second execution", result.status == 0 and loaded <= 1, loaded)
            if os.path.exists(mark):
                os.unlink(mark)
        inside = self.run("--", "env", env={"LD_PRELOAD": library, "SECRET": "x", **asan})
        self.check("nothing of the environment reaches the agent unasked", inside.status == 0 and b"SECRET" not in inside.out
                   and b"LD_" not in inside.out, inside)


def check_terminal(suite):
    operator = suite.operator
    terminal = Terminal(operator, "--", "sh", "-c", "tty; stty size; read line; echo got:$line; stty size; exit 5")
    first = terminal.read_until(b"40 100")
    suite.check("a terminal of its own, with the operator's size", first and b"/dev/pts/" in terminal.output, terminal.output)
    terminal.resize(50, 120)
    time.sleep(0.3)
    terminal.type(b"typed\r")
    suite.check("what is typed arrives, and a resize", terminal.read_until(b"got:typed") and terminal.read_until(b"50 120"),
                terminal.output)
    suite.check("the exit status is the agent's", ended(terminal.process) == 5, terminal.process.returncode)
    suite.check("the terminal is as it was", terminal.restored())
    terminal.close()

    terminal = Terminal(operator, "--", *SLEEP, "/tmp/started")
    terminal.read_until(b"ready")
    terminal.type(b"\x03")
    suite.check("Ctrl-C interrupts the agent", ended(terminal.process) == 130, terminal.process.returncode)
    suite.check("and the terminal is as it was", terminal.restored())
    terminal.close()

    terminal = Terminal(operator, "--", "python3", "-S", "-c",
                        "import time\nprint('ready', flush=True)\nfor _ in range(3): time.sleep(1)\nprint('finished', flush=True)")
    terminal.read_until(b"ready")
    terminal.type(b"\x1a")
    suite.check("Ctrl-Z suspends glove", wait_until(lambda: terminal.state() == "T"), terminal.state())
    suite.check("with the terminal as it was", terminal.restored())
    os.kill(terminal.process.pid, signal.SIGCONT)
    suite.check("and both go on", terminal.read_until(b"finished") and ended(terminal.process) == 0, terminal.output)
    terminal.close()

    terminal = Terminal(operator, "--", *SLEEP, "/tmp/started")
    terminal.read_until(b"ready")
    terminal.process.send_signal(signal.SIGTERM)
    suite.check("ended by a signal, the terminal is as it was", ended(terminal.process) == 143 and terminal.restored(),
                terminal.process.returncode)
    terminal.close()

    terminal = Terminal(operator, "--no-tty", "--", "sh", "-c", "test -t 0 || test -t 1 || echo pipes")
    suite.check("--no-tty gives pipes", terminal.read_until(b"pipes"), terminal.output)
    ended(terminal.process)
    terminal.close()


def main():
    report = gloveharness.Report()
    leave_others_mounts()
    for operator in gloveharness.modes(report, sys.argv[1]):
        suite = Suite(report, operator)
        suite.signals()
        suite.limits()
        suite.trail()
        suite.standard_streams()
        suite.operators_pipes()
        suite.no_file_descriptor_leaks_in()
        suite.swapped_path()
        suite.replaced_configuration()
        suite.environment_chooses_no_code()
        check_terminal(suite)
        suite.killed_at_any_moment()
    return report.finish()


sys.exit(main())
