# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running the built glove as an operator does, as root and as an ordinary user, and reporting in TAP.

A test program makes a Report, walks over modes (), and calls Operator.run (). Standard library only.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

USER_ID = 1000


class Report:
    """TAP on standard output. A skip names what is missing; with GLOVE_TESTS_MUST_RUN=1 it is a failure."""

    def __init__(self):
        self.number = 0
        self.failed = 0

    def check(self, name, passed, detail=""):
        self.number += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.number} - {name}")
        if detail and not passed:
            for line in str(detail).splitlines()[:40]:
                print(f"# {line}")
        sys.stdout.flush()
        return passed

    def skip(self, name, missing):
        if os.environ.get("GLOVE_TESTS_MUST_RUN") == "1":
            self.check(name, False, f"may not be skipped here: {missing}")
            return
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {missing}", flush=True)

    def finish(self):
        print(f"1..{self.number}", flush=True)
        return 1 if self.failed else 0


class Result:
    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.text_out()[-2000:]}\n--- stderr\n{self.text_err()[-3000:]}"

    def text_out(self):
        return self.out.decode("utf-8", "backslashreplace")

    def text_err(self):
        return self.err.decode("utf-8", "backslashreplace")


class Operator:
    """Somebody who runs glove: with a folder, a home and a state folder of its own."""

    def __init__(self, mode, build):
        self.mode = mode
        self.build = os.path.abspath(build)
        self.uid = USER_ID if mode == "user" and os.geteuid() == 0 else os.geteuid()
        # not /tmp: the agent has a /tmp of its own, and a grant there would hide the difference
        self.folder = tempfile.mkdtemp(prefix=f"glove-test-{mode}-", dir="/var/tmp")
        self.home = self.make_folder("home")
        self.state = self.make_folder("state")
        self.give(self.folder)

    def make_folder(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(path, exist_ok=True)
        self.give(path)
        return path

    def write(self, name, content=b"", mode=0o644):
        path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        self.give(self.folder)
        return os.fsdecode(path)

    def give(self, path):
        """Hands a tree to the operator."""
        if self.uid == os.geteuid():
            return
        for folder, folders, files in os.walk(os.fsencode(path)):
            for name in [b""] + folders + files:
                os.lchown(os.path.join(folder, name) if name else folder, self.uid, self.uid)

    def environment(self, extra=None):
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "XDG_STATE_HOME": self.state,
            "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "G_DEBUG": "fatal-criticals",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        environment.update(extra or {})
        return environment

    def prefix(self):
        if self.uid == os.geteuid():
            return []
        return ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups", "--"]

    def glove(self):
        return os.path.join(self.build, "core", "cli", "glove")

    def catalog(self):
        return os.path.join(self.build, "plugins", "catalog")

    def command(self, verb, *arguments):
        return self.prefix() + [self.glove(), verb, "--catalog", self.catalog(), *arguments]

    def start(self, verb, *arguments, env=None, cwd=None, **keywords):
        keywords.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(verb, *arguments), env=self.environment(env), cwd=cwd or self.folder,
                                **keywords)

    def run(self, verb, *arguments, env=None, cwd=None, timeout=60, **keywords):
        data = keywords.pop("input", None)
        keywords.setdefault("stdin", subprocess.PIPE if data is not None else subprocess.DEVNULL)
        process = self.start(verb, *arguments, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                # a pipe belongs to who made it, and an operator makes its own
                os.fchown(stream.fileno(), self.uid, self.uid)
        try:
            out, err = process.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Result("timed out", out, err)
        return Result(process.returncode, out, err)

    def clean(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def missing_prerequisite(operator):
    """What this host lacks for any sandbox at all, or ""."""
    result = operator.run("doctor", "--json", timeout=120)
    if result.status == 0:
        return ""
    lines = [line for line in result.text_out().splitlines() if '"missing"' in line]
    return (lines[0] if lines else result.text_err().strip() or f"glove doctor ended with {result.status}")[:300]


def modes(report, build):
    """An Operator for each way of running that this machine has; what it lacks is reported."""
    names = ["root", "user"] if os.geteuid() == 0 else ["user"]
    if os.geteuid() != 0:
        report.skip("as root", "the tests don't run as root")
    for name in names:
        if name == "user" and os.geteuid() == 0 and not user_can_reach(build):
            report.skip("as an ordinary user", f"uid {USER_ID} can't reach the build folder {build}")
            continue
        operator = Operator(name, build)
        try:
            missing = missing_prerequisite(operator)
            if missing:
                report.skip(f"as {name}", missing)
            else:
                yield operator
        finally:
            operator.clean()


def user_can_reach(build):
    program = os.path.join(build, "core", "cli", "glove")
    done = subprocess.run(["setpriv", "--reuid", str(USER_ID), "--regid", str(USER_ID), "--clear-groups", "--", "test",
                           "-x", program], check=False)
    return done.returncode == 0


def sandbox_processes(build):
    """Every glove-launch of this build that runs now: for 'nothing is left'. Others on the machine are not ours."""
    launcher = os.path.join(os.path.abspath(build), "plugins", "backends", "linux", "glove-launch")
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.path.realpath(os.readlink(f"/proc/{name}/exe")) == os.path.realpath(launcher):
                found.append(int(name))
        except OSError:
            continue
    return found


def home_of_root():
    return pwd.getpwuid(0).pw_dir


def ignore_hangup():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
