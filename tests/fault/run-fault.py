#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-fault.py BUILD FAULT-LAUNCHER: each system call of a launch fails once, in glove and in the launcher, one after the other.

Whatever fails: one error line with its repair, or the call could be spared; never a crash, a hang, an agent that ran although a wall
was refused, or something left. strace makes the fault; it counts the calls of each process by itself, so a fault in the launcher is made
by a launcher that starts the real one under strace. GLOVE_TEST_FAULTS=all takes every call instead of a spread of them, and
GLOVE_TEST_FAULT_SECONDS is how long each mode may take otherwise.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402

EVERY = os.environ.get("GLOVE_TEST_FAULTS") == "all"
SECONDS = float(os.environ.get("GLOVE_TEST_FAULT_SECONDS", "40"))
DEADLINE = 30
FAILED = (125, 126, 127)

GLOVE, LAUNCHER = "glove", "the launcher"
# (whose, call, error, is it a wall). A wall that fails must keep the agent from running.
FAULTS = [
    (LAUNCHER, "open_tree", "EPERM", True),
    (LAUNCHER, "mount_setattr", "EPERM", True),
    (LAUNCHER, "move_mount", "EPERM", True),
    (LAUNCHER, "mount", "EPERM", True),
    (LAUNCHER, "pivot_root", "EPERM", True),
    (LAUNCHER, "umount2", "EPERM", True),
    (LAUNCHER, "prctl", "EPERM", True),
    (LAUNCHER, "capset", "EPERM", True),
    (LAUNCHER, "setresuid", "EPERM", True),
    (LAUNCHER, "setresgid", "EPERM", True),
    (LAUNCHER, "setgroups", "EPERM", True),
    (LAUNCHER, "landlock_add_rule", "ENOMEM", True),
    (LAUNCHER, "landlock_restrict_self", "E2BIG", True),
    (LAUNCHER, "prlimit64", "EPERM", True),
    (LAUNCHER, "close_range", "ENOMEM", True),
    (LAUNCHER, "rt_sigprocmask", "EINVAL", False),
    (LAUNCHER, "sethostname", "EPERM", True),
    (LAUNCHER, "clone3", "EAGAIN", True),
    (LAUNCHER, "clone", "EAGAIN", True),
    (LAUNCHER, "socketpair", "EMFILE", False),
    (LAUNCHER, "socket", "EMFILE", False),
    (LAUNCHER, "sendmsg", "ENOBUFS", False),
    (LAUNCHER, "recvmsg", "ENOMEM", False),
    (LAUNCHER, "openat", "EMFILE", False),
    (LAUNCHER, "openat2", "EMFILE", False),
    (LAUNCHER, "newfstatat", "ENOMEM", False),
    (LAUNCHER, "write", "ENOSPC", False),
    (LAUNCHER, "mkdir", "ENOSPC", False),
    (LAUNCHER, "symlink", "ENOSPC", False),
    (LAUNCHER, "dup2", "EMFILE", False),
    (LAUNCHER, "dup3", "EMFILE", False),
    (LAUNCHER, "fcntl", "EMFILE", False),
    (LAUNCHER, "chdir", "ENOMEM", False),
    (LAUNCHER, "setsid", "EPERM", False),
    (LAUNCHER, "signalfd4", "EMFILE", False),
    (LAUNCHER, "poll", "ENOMEM", False),
    (LAUNCHER, "mmap", "ENOMEM", False),
    (LAUNCHER, "execve", "EACCES", False),
    (GLOVE, "clone3", "EAGAIN", False),
    (GLOVE, "clone", "EAGAIN", False),
    (GLOVE, "vfork", "EAGAIN", False),
    (GLOVE, "memfd_create", "ENOMEM", False),
    (GLOVE, "pipe2", "EMFILE", False),
    (GLOVE, "socketpair", "EMFILE", False),
    (GLOVE, "pidfd_open", "EMFILE", False),
    (GLOVE, "eventfd2", "EMFILE", False),
    (GLOVE, "signalfd4", "EMFILE", False),
    (GLOVE, "timerfd_create", "EMFILE", False),
    (GLOVE, "epoll_create1", "EMFILE", False),
    (GLOVE, "fdatasync", "EIO", False),
    (GLOVE, "fsync", "EIO", False),
    (GLOVE, "pwrite64", "ENOSPC", False),
    (GLOVE, "ftruncate", "EIO", False),
    (GLOVE, "flock", "ENOLCK", False),
    (GLOVE, "mkdirat", "ENOSPC", False),
    (GLOVE, "mkdir", "ENOSPC", False),
    (GLOVE, "getrandom", "EAGAIN", False),
    (GLOVE, "sendmsg", "ENOBUFS", False),
    (GLOVE, "recvmsg", "ENOMEM", False),
    (GLOVE, "open_tree", "EPERM", False),
    (GLOVE, "mount_setattr", "EPERM", False),
    (GLOVE, "openat2", "EMFILE", False),
    (GLOVE, "openat", "EMFILE", False),
    (GLOVE, "fstat", "EIO", False),
    (GLOVE, "newfstatat", "EIO", False),
    (GLOVE, "fcntl", "EMFILE", False),
    (GLOVE, "write", "ENOSPC", False),
    (GLOVE, "poll", "ENOMEM", False),
    (GLOVE, "mmap", "ENOMEM", False),
    (GLOVE, "execve", "EACCES", False),
]
# What only looks, and what a wall's own verification reads: a refusal there removes no wall.
# A capability past the kernel's last is where the loop over all of them ends.
LOOKS_ONLY = re.compile(r"prctl\(PR_(CAPBSET_READ|CAPBSET_DROP, 0x|GET_|CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET)"
                        r"|prlimit64\(\d+, \w+, NULL")
# The loader and libc before main (): their death is the kernel's and libc's word, not ours.
BEFORE_MAIN = ("mmap", "openat", "fstat", "newfstatat", "execve", "prctl")
LINE = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)")


class Log:
    """What strace saw of the one call and of execve, by process."""

    def __init__(self, path, call):
        self.injected = []      # (pid, line, had the agent begun there)
        self.most = 0           # calls of the busiest process
        self.pids = set()
        counts = {}
        began = set()
        unfinished = {}
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                match = LINE.match(line)
                if match is None:
                    continue
                pid, name = match.groups()
                self.pids.add(int(pid))
                if name == "execve" and line.rstrip().endswith("= 0") and "glove" not in line:
                    began.add(pid)
                if name == call and "<... " not in line:
                    if pid not in began:
                        counts[pid] = counts.get(pid, 0) + 1
                if line.rstrip().endswith("<unfinished ...>"):
                    unfinished[pid] = line.rstrip()[:-len("<unfinished ...>")]
                elif "resumed>" in line:
                    line = unfinished.pop(pid, "") + line.split("resumed>", 1)[1]
                if "(INJECTED)" in line:
                    self.injected.append((pid, line.strip(), pid in began))
        self.most = max(counts.values(), default=0)


class Suite:
    def __init__(self, report, operator, launcher):
        self.report = report
        self.operator = operator
        self.workspace = operator.make_folder("workspace")
        self.granted = operator.make_folder("granted")
        operator.write("granted/file", "granted\n")
        self.marker = os.path.join(self.workspace, "ran")
        self.log = os.path.join(operator.make_folder("log"), "strace")
        self.audit = os.path.join(operator.make_folder("audit"), "audit.jsonl")
        self.make_catalog(launcher)
        self.problems = []
        self.runs = 0

    def make_catalog(self, launcher):
        """The build's own modules, with a launcher that injects."""
        self.catalog = self.operator.make_folder("catalog")
        folder = self.operator.make_folder("launcher")
        for name in os.listdir(self.operator.catalog()):
            path = os.path.join(self.operator.catalog(), name)
            if name.startswith(("linux.", "jsonl.")) or name.startswith(("libglove-linux", "libglove-jsonl")):
                shutil.copy(path, os.path.join(self.catalog, name))
        shutil.copy(launcher, os.path.join(folder, "launcher"))
        entry = os.path.join(self.catalog, "linux.conf")
        with open(entry, encoding="utf-8") as file:
            text = file.read()
        self.real_launcher = re.search(r"^launcher=(.*)$", text, re.M).group(1)
        self.inject_file = os.path.join(folder, "inject")
        with open(entry, "w", encoding="utf-8") as file:
            file.write(text.replace(self.real_launcher, os.path.join(folder, "launcher")))
        self.operator.give(self.operator.folder)

    def glove(self, catalog):
        return [self.operator.glove(), "exec", "--catalog", catalog, "--quiet", "--no-tty", "--audit", self.audit, "--workspace",
                self.workspace, "--read", self.granted, "--forward", "8000=127.0.0.1:1", "--", "/bin/sh", "-c",
                "echo ran; : > ran"]

    def strace(self, call, error, when):
        words = ["/usr/bin/strace", "-f", "-qq", "-o", self.log, "-e", f"trace={call},execve", "-e", "signal=none"]
        if when is not None:
            words += ["-e", f"inject={call}:error={error}:when={when}"]
        return words

    def run(self, whose, call, error, when):
        for path in (self.marker, self.log, self.audit):
            if os.path.exists(path):
                os.unlink(path)
        strace = self.strace(call, error, when)
        if whose == LAUNCHER:
            with open(self.inject_file, "w", encoding="utf-8") as file:
                file.write("\n".join(strace + [self.real_launcher]) + "\n")
            command = self.operator.prefix() + self.glove(self.catalog)
        else:
            command = self.operator.prefix() + strace + self.glove(self.operator.catalog())
        environment = self.operator.environment()
        process = subprocess.Popen(command, env=environment, cwd=self.operator.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        for stream in (process.stdout, process.stderr):
            os.fchown(stream.fileno(), self.operator.uid, self.operator.uid)
        self.runs += 1
        try:
            out, err = process.communicate(timeout=DEADLINE)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = "timed out"
        return gloveharness.Result(status, out, err), Log(self.log, call)

    def judge(self, call, wall, result, log):
        """What is wrong with it, or ""."""
        ran = os.path.exists(self.marker)
        ours = [line for _, line, began in log.injected if not began]
        errors = [line for line in result.text_err().splitlines() if line.startswith("error[")]
        tried = [line for line in result.text_err().splitlines() if line.startswith("Try: ")]
        if result.status == "timed out":
            return "it hangs"
        if result.status == -signal.SIGTRAP and "GLib-ERROR **" in result.text_err() and "creating thread" in result.text_err() \
                and not ran:
            return ""  # GLib ends a program that gets no thread: nothing has been started by then
        if not isinstance(result.status, int) or result.status < 0 or result.status > 127:
            return "it crashes"
        if wall and ran and any(not LOOKS_ONLY.search(line) for line in ours):
            return "the agent ran although a wall was refused"
        if "Sanitizer" in result.text_err() or "CRITICAL" in result.text_err():
            return "a message of a fault in the program"
        if not ours:
            return ""  # only the agent itself was hit
        if all("F_GETFD" in line for line in ours):
            return ""  # whether a standard stream is open can't be asked otherwise
        if result.status == 0:
            return "" if ran and result.out == b"ran\n" else "success without the agent's work"
        if result.status == 127 and not errors and call in BEFORE_MAIN:
            return ""  # the loader of glove or of the agent
        if result.status not in FAILED:
            return "" if self.agent_could_not(result) else "a status that is neither the agent's nor glove's failure"
        if "glove: the agent was stopped: supervisor_error" in result.text_err():
            return ""  # the launcher was hit while the agent ran, and took it along
        if len(errors) != 1 or len(tried) != 1:
            told_by_the_hit = any("write(2" in line for line in ours)
            return "" if told_by_the_hit else "not exactly one error line and one repair"
        return ""

    @staticmethod
    def agent_could_not(result):
        return result.status == 2 and b"/bin/sh:" in result.err or result.status == 1 and result.text_err().startswith("strace:")

    def left(self, log):
        """Launchers of this run that still live; somebody else may test the same build."""
        deadline = time.monotonic() + 10
        while log.pids.intersection(gloveharness.sandbox_processes(self.operator.build)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return log.pids.intersection(gloveharness.sandbox_processes(self.operator.build))

    def before_main(self, whose, call):
        """Memory that the loader gets: where it has none, it is the loader that crashes."""
        if call != "mmap" or whose != GLOVE:
            return 0
        command = self.operator.prefix() + self.strace(call, None, None) + [self.operator.glove(), "--version"]
        subprocess.run(command, env=self.operator.environment(), capture_output=True, check=True, timeout=DEADLINE)
        count = Log(self.log, call).most
        os.unlink(self.log)
        return count

    def walk(self, whose, call, error, wall, seconds):
        """One row of the table: every call that fails, or a spread of them in the time there is."""
        name = f"{self.operator.mode}: {call} fails in {whose} with {error}"
        result, log = self.run(whose, call, error, None)
        if result.status != 0 or result.out != b"ran\n":
            self.report.check(name, False, result)
            return
        if log.most == 0:
            self.report.check(f"{name}: it makes no such call", True)
            return
        numbers = list(range(self.before_main(whose, call) + 1, log.most + 1))
        problems, hit, tried = [], 0, 0
        deadline = time.monotonic() + seconds
        for number in numbers if EVERY else spread(numbers):
            if not EVERY and tried >= 2 and time.monotonic() > deadline:
                break
            result, log = self.run(whose, call, error, number)
            tried += 1
            hit += bool(log.injected)
            problem = self.judge(call, wall, result, log)
            left = self.left(log)
            if left:
                problem = problem or f"{left} are left"
            if problem:
                lines = "\n".join(line for _, line, _ in log.injected)
                problems.append(f"call {number}: {problem}\n{lines}\n{result}")
        self.report.check(f"{name}: {tried} of {len(numbers)} calls", not problems and hit > 0, "\n".join(problems))


def spread(numbers):
    """First the ends, then the middle of every gap, so that wherever it is cut off the rest was covered evenly."""
    order = [numbers[-1], numbers[0]]
    step = len(numbers)
    while step > 1:
        step = (step + 1) // 2
        order += numbers[::step]
        if step == 1:
            break
    return list(dict.fromkeys(order))


def tracer_is_missing(operator):
    if not os.path.exists("/usr/bin/strace"):
        return "there is no strace"
    done = subprocess.run(operator.prefix() + ["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                               "inject=getpriority:error=EPERM:when=1", "true"],
                          capture_output=True, check=False)
    return "" if done.returncode == 0 else f"strace can't trace here: {done.stderr.decode(errors='replace').strip()[:200]}"


def entries(folder):
    return sorted(os.path.join(parent, name) for parent, folders, names in os.walk(folder) for name in folders + names)


def mounts(folder):
    """Mounts of or on anything of the test's: others on the machine may mount meanwhile."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return [line for line in file if folder in line]


def main():
    report = gloveharness.Report()
    only = sys.argv[3:]
    for operator in gloveharness.modes(report, sys.argv[1]):
        missing = tracer_is_missing(operator)
        if missing:
            report.skip(f"{operator.mode}: faults", missing)
            continue
        suite = Suite(report, operator, sys.argv[2])
        faults = [fault for fault in FAULTS if not only or fault[1] in only]
        begun = time.monotonic()
        for number, (whose, call, error, wall) in enumerate(faults):
            remaining = SECONDS - (time.monotonic() - begun)
            suite.walk(whose, call, error, wall, remaining / (len(faults) - number))
        for path in (suite.marker, suite.log, suite.audit):
            if os.path.exists(path):
                os.unlink(path)
        kept = (suite.operator.state, suite.catalog, os.path.dirname(suite.inject_file))
        left = [path for path in entries(operator.folder) if not path.startswith(kept) and os.path.isfile(path)
                and not path.endswith("granted/file")]
        there = mounts(operator.folder)
        report.check(f"{operator.mode}: no mount is left after {suite.runs} runs", not there, there)
        report.check(f"{operator.mode}: no file is left", not left, left)
    return report.finish()


sys.exit(main())
