#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-field-reports.py BUILD [ROW…]: what broke for people who run agents in sandboxes, each by the id of docs/field-reports.md.

Rows that another test proves are named in that table, not repeated here.
"""

import errno
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402
from glovefield import Site, install_filter, processes_of, resident, wait_until  # noqa: E402
from gloveterminal import Terminal  # noqa: E402

FAILED, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127
CLONE3 = 435
SOCKETS = 1000
GRANTS_MAX = 512


def refused(result, status, pattern):
    """One error line that names the thing, one repair."""
    errors = [line for line in result.text_err().splitlines() if line.startswith("error[")]
    tried = [line for line in result.text_err().splitlines() if line.startswith("Try: ")]
    return (result.status == status and len(errors) == 1 and len(tried) == 1
            and re.search(pattern, errors[0] + "\n" + tried[0]) is not None)


class Suite:
    def __init__(self, report, operator):
        self.report = report
        self.operator = operator
        self.workspace = operator.make_folder("workspace")
        self.numbers = iter(range(1000000))

    def check(self, name, passed, detail=""):
        return self.report.check(f"{self.operator.mode}: {name}", bool(passed), detail)

    def skip(self, name, missing):
        self.report.skip(f"{self.operator.mode}: {name}", missing)

    def run(self, *arguments, **keywords):
        return self.operator.run("exec", "--quiet", "--no-tty", *arguments, **keywords)

    def work(self, *arguments, **keywords):
        return self.run("--workspace", self.workspace, *arguments, **keywords)

    def shell(self, script, *options, **keywords):
        return self.work(*options, "--", "sh", "-c", script, **keywords)

    def python(self, script, *options, **keywords):
        return self.work(*options, "--", "python3", "-c", script, **keywords)

    def path(self, *names):
        return os.path.join(self.operator.folder, *names)

    def fresh(self, *names):
        return self.operator.make_folder(*names[:-1], f"{names[-1]}-{next(self.numbers)}")

    def prefixed(self, prefix, *arguments, **keywords):
        """glove behind @prefix, which still runs as whoever runs the tests."""
        command = prefix + self.operator.command("exec", "--quiet", "--no-tty", *arguments)
        done = subprocess.run(command, env=self.operator.environment(), cwd=self.operator.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=60, **keywords)
        return gloveharness.Result(done.returncode, done.stdout, done.stderr)

    # --- files, mounts, links ---

    def fs_01(self):
        path = self.path("no", "such", "parent", "thing")
        for option in ("--read", "--write"):
            self.check(f"FS-01: {option} of a path whose parent is missing names it",
                       refused(self.work(option, path, "--", "true"), FAILED, re.escape("parent")))

    def fs_02(self):
        single = self.operator.write("single/.git-like", "one\n")
        result = self.run("--write", single, "--", "sh", "-c", f"echo two >> {single} && ls -A {os.path.dirname(single)}")
        with open(single, encoding="utf-8") as file:
            text = file.read()
        self.check("FS-02: a file grant is a file, with nothing made beside or below it",
                   result.status == 0 and result.out == b".git-like\n" and text == "one\ntwo\n"
                   and os.listdir(os.path.dirname(single)) == [".git-like"], result)

    def fs_04(self):
        top = self.operator.make_folder("t")
        middle, deep = self.operator.make_folder("t", "ws"), self.operator.make_folder("t", "ws", "p")
        options = [("--write", top), ("--read", middle), ("--write", deep)]
        script = f"touch {deep}/x && touch {top}/y && ! touch {middle}/z 2>/dev/null && echo fine"
        for order in (options, options[::-1], [options[1], options[2], options[0]]):
            result = self.run(*[word for option in order for word in option], "--", "sh", "-c", script)
            self.check("FS-04: write in read in write, the deepest wins: " + " ".join(option[0][2:] for option in order),
                       result.out == b"fine\n", result)

    def fs_05(self):
        if shutil.which("git") is None:
            self.skip("FS-05: .git/hooks as a link", "there is no git")
            return
        folder = self.fresh("hooks")
        subprocess.run(["git", "init", "-q", folder], check=True)
        shutil.rmtree(os.path.join(folder, ".git", "hooks"), ignore_errors=True)
        os.mkdir(os.path.join(folder, "own-hooks"))
        os.symlink("../own-hooks", os.path.join(folder, ".git", "hooks"))
        self.operator.give(folder)
        result = self.operator.run("exec", "--no-tty", "--workspace", folder, "--", "sh", "-c",
                                   "echo started; echo x 2>/dev/null > .git/hooks/post-commit; echo x 2>/dev/null > own-hooks/x; true")
        self.check("FS-05: .git/hooks as a link to a folder: it starts", result.out == b"started\n", result)
        self.check("FS-05: what it leads to is read-only, and that the link itself can be replaced is said before the start",
                   os.listdir(os.path.join(folder, "own-hooks")) == []
                   and re.search(r"hooks.*is a symbolic link.*can replace the link", result.text_err()), result)

    def fs_07(self):
        result = self.shell("ls /run 2>/dev/null; cat /etc/resolv.conf 2>&1 >/dev/null | grep -v 'No such'; "
                            "getent hosts localhost >/dev/null && echo resolves")
        self.check("FS-07: no resolver of the host is shown, and localhost resolves", result.out == b"resolves\n", result)

    def fs_08(self):
        for runtime, name in (("codex", ".codex"), ("claude-code", ".claude"), ("pi", ".pi")):
            folder = self.fresh("linked")
            os.mkdir(os.path.join(folder, "real"))
            os.symlink("real", os.path.join(folder, name))
            os.symlink("/etc/passwd", os.path.join(folder, "real", "config.toml"))
            program = self.operator.write(f"programs/{runtime}/program", "#!/bin/sh\necho started; test -L " + name + " && echo kept\n", 0o755)
            self.operator.give(folder)
            result = self.operator.run("run", runtime, "--quiet", "--no-tty", "--workspace", folder, "--executable", program)
            self.check(f"FS-08: {name} of the workspace is a link: {runtime} starts and the link is left alone",
                       result.out == b"started\nkept\n" and os.listdir(os.path.join(folder, "real")) == ["config.toml"], result)

    def fs_10(self):
        folder = self.fresh("sockets")
        sockets = []
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        for number in range(SOCKETS):
            bound = socket.socket(socket.AF_UNIX)
            bound.bind(os.path.join(folder, f"s{number}"))
            bound.listen(1)
            sockets.append(bound)
        self.operator.give(folder)
        begun = time.monotonic()
        plain = self.work("--", "true")
        alone = time.monotonic() - begun
        begun = time.monotonic()
        result = self.run("--write", folder, "--mask-sockets", "--", "sh", "-c",
                          f"stat -c '%F' {folder}/* | sort | uniq -c; cat {folder}/s7 && echo read")
        took = time.monotonic() - begun
        self.check(f"FS-10 FS-34: {SOCKETS} sockets are masked by empty regular files",
                   result.out.split() == [str(SOCKETS).encode(), b"regular", b"empty", b"file", b"read"], result)
        self.check("FS-10: and that costs milliseconds for each at most, not an argument list",
                   plain.status == 0 and took < alone + 8, f"{alone:.2f} s without, {took:.2f} s with")
        result = self.run("--write", folder, "--", "true")
        self.check("FS-10: without --mask-sockets it is one error", refused(result, FAILED, "socket"), result)
        for bound in sockets:
            bound.close()
        self.check("FS-10: and the files of dead sockets are no obstacle", self.run("--write", folder, "--", "true").status == 0)

    def fs_11(self):
        top = self.fresh("many")
        for number in range(GRANTS_MAX + 1):
            with open(os.path.join(top, f"g{number}"), "w", encoding="utf-8") as file:
                file.write("x")
        self.operator.give(top)

        def launch(count):
            options = [word for number in range(count) for word in ("--read", os.path.join(top, f"g{number}"))]
            return self.run(*options, "--", "sh", "-c", f"cat {top}/* | wc -c")
        begun = time.monotonic()
        result = launch(GRANTS_MAX)
        took = time.monotonic() - begun
        self.check(f"FS-11: {GRANTS_MAX} grants", result.out.strip() == str(GRANTS_MAX).encode() and took < 15,
                   f"{took:.2f} s\n{result}")
        result = launch(GRANTS_MAX + 1)
        self.check("FS-11: one more is a typed error", refused(result, FAILED, f"error\\[limit.*{GRANTS_MAX}"), result)
        # what the operator has open is a limit too, and is named as such
        low = self.prefixed(["prlimit", "--nofile=64:64", "--"], *[word for number in range(100)
                                                                   for word in ("--read", os.path.join(top, f"g{number}"))],
                            "--", "true")
        self.check("FS-11: too few descriptors for the grants is one error", refused(low, FAILED, "[Oo]pen files|ulimit"), low)

    def fs_13(self):
        top = self.fresh("large")
        for outer in range(80):
            for inner in range(60):
                os.makedirs(os.path.join(top, f"a{outer}", f"b{inner}", "c"))
        self.operator.give(top)
        begun = time.monotonic()
        result = self.run("--workspace", top, "--", "true")
        took = time.monotonic() - begun
        self.check("FS-13: a workspace of ten thousand folders starts in bounded time", result.status == 0 and took < 10,
                   f"{took:.1f} s\n{result}")

    def fs_14(self):
        self.operator.write("keys/a.key", "k")
        result = self.work("--read", self.path("keys", "*.key"), "--", "true")
        self.check("FS-14: a pattern is a path that does not exist, and never ignored", refused(result, FAILED, r"\*\.key"), result)

    def fs_19(self):
        result = self.shell("exec 3>/dev/random && echo open")
        doctor = self.operator.run("doctor", "--json")
        landlock = [item for item in json.loads(doctor.out) if item["code"] == "landlock"]
        if landlock and landlock[0]["status"] == "ok":
            self.check("FS-19: the second wall is in force where doctor says so", b"open" not in result.out, result)
        else:
            self.check("FS-19: doctor says that the second wall is missing", landlock and landlock[0]["recovery"], doctor)

    def fs_20(self):
        secret = self.operator.write("both/ro/secret", "before\n")
        read_only, writable = os.path.dirname(secret), self.operator.make_folder("both", "rw")
        result = self.run("--read", read_only, "--write", writable, "--", "sh", "-c",
                          f"ln {secret} {writable}/x 2>/dev/null; echo after > {writable}/x; "
                          f"mv {secret} {writable}/y 2>/dev/null; cp -l {secret} {writable}/z 2>/dev/null; true")
        with open(secret, encoding="utf-8") as file:
            self.check("FS-20: no second name makes a read grant writable", file.read() == "before\n", result)

    def fs_22(self):
        single = self.operator.write("replaced/file", "old\n")
        folder = os.path.dirname(single)
        for name, grant, expected in (("the file granted: the same object all the while", single, b"old\nold\n"),
                                      ("its folder granted: the new file", folder, b"old\nnew\n")):
            self.operator.write("replaced/file", "old\n")
            mark = self.path("workspace", f"read-{next(self.numbers)}")
            process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--read", grant, "--", "sh", "-c",
                                          f"cat {single}; : > {mark}; read x; cat {single}", stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda path=mark: os.path.exists(path))
            self.operator.write("replaced/file.new", "new\n")
            os.rename(self.path("replaced", "file.new"), single)
            out, err = process.communicate(b"go\n", timeout=30)
            self.check(f"FS-22: replaced outside by rename, {name}", out == expected and process.returncode == 0, (out, err))

    def fs_25(self):
        script = ("cat /proc/self/root/proc/1/cmdline | tr '\\0' ' '; echo; ln -s /proc/self/root/proc/1/cmdline l; "
                  "cat l | tr '\\0' ' '; rm l; echo; cat /proc/self/root/proc/1/environ 2>&1; ls /proc/self/root/")
        result = self.shell(script)
        lines = result.text_out().splitlines()
        self.check("FS-25: /proc by another way shows the sandbox's own", len(lines) > 2 and all("glove-launch" in line
                   for line in lines[:2]) and self.operator.folder not in "".join(lines[:2]), result)

    def fs_26(self):
        result = self.shell("tr '\\0' '\\n' < /proc/self/environ", env={"SUPERVISORS_OWN": "1"})
        self.check("FS-26: /proc/self/environ is the agent's own", b"SUPERVISORS_OWN" not in result.out
                   and b"HOME=/home/agent" in result.out, result)

    def fs_29(self):
        folder = self.fresh("planted")
        secret = self.operator.write("private/secret", "the secret\n")
        first = self.run("--workspace", folder, "--", "sh", "-c",
                         f"ln -s {secret} link; ln -s {os.path.dirname(secret)} folder; mkdir .git; ln -s {os.path.dirname(secret)} .git/hooks;"
                         f" printf 'gitdir: {os.path.dirname(secret)}\\n' > x; mkdir sub; mv x sub/.git")
        second = self.run("--workspace", folder, "--", "sh", "-c", "cat link folder/secret .git/hooks/secret 2>/dev/null; true")
        self.check("FS-28 FS-29: what a guest plants is followed by nobody: no mount comes from it",
                   first.status == 0 and second.status == 0 and b"the secret" not in second.out, second)

    def fs_32(self):
        if shutil.which("git") is None:
            self.skip("FS-32: a linked worktree", "there is no git")
            return
        folder = self.fresh("linked-worktree")
        main, tree = os.path.join(folder, "main"), os.path.join(folder, "tree")
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["git", "init", "-q", main],
                        ["git", *identity, "-C", main, "commit", "-q", "--allow-empty", "-m", "one"],
                        ["git", "-C", main, "worktree", "add", "-q", tree]):
            subprocess.run(command, check=True, capture_output=True)
        self.operator.give(folder)
        commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two 2>&1; git log --format=%s 2>&1 | head -1"
        result = self.operator.run("exec", "--no-tty", "--workspace", tree, "--", "sh", "-c", commit)
        self.check("FS-32: a worktree whose repository is not granted says so, and nothing is mounted for it",
                   b"main/.git" in result.err and b"two" not in result.out, result)
        granted = self.run("--workspace", tree, "--write", os.path.join(main, ".git"), "--", "sh", "-c", commit)
        self.check("FS-32: with its repository granted for writing a commit works", granted.out == b"two\n", granted)
        reading = self.run("--workspace", tree, "--read", os.path.join(main, ".git"), "--", "sh", "-c",
                           commit.replace("-m two", "-m three"))
        self.check("FS-32: granted for reading, the log works and a commit does not",
                   reading.out.endswith(b"two\n") and b"Read-only" in reading.out, reading)

    def fs_35(self):
        self.operator.write("workspace/no-interpreter", "#!/no/such/interpreter\n", 0o755)
        result = self.work("--", "./no-interpreter")
        self.check("FS-35: a script whose interpreter is missing: the error says so",
                   refused(result, NOT_FOUND, "interpreter|loader") or refused(result, NOT_EXECUTABLE, "interpreter|loader"), result)
        result = self.work("--", "./absent")
        self.check("FS-35: a program that is missing", refused(result, NOT_FOUND, "absent"), result)
        elsewhere = self.operator.write("elsewhere/tool", "#!/bin/sh\necho ran\n", 0o755)
        result = self.work("--", elsewhere)
        self.check("FS-35: a program of the host that is not granted: grant it", refused(result, NOT_FOUND, "grant"), result)
        self.check("FS-35: granted, it runs", self.work("--read", elsewhere, "--", elsewhere).out == b"ran\n")

    def fs_37(self):
        single = self.operator.write("roots/file", "root's\n", 0o644)
        if os.geteuid() == 0:
            os.chown(single, 0, 0)
        result = self.run("--read", single, "--", "sh", "-c", f"cat {single}; echo x 2>/dev/null >> {single} || echo refused")
        self.check("FS-37: a readable file of root's", result.out == b"root's\nrefused\n", result)

    def fs_38(self):
        folder = self.operator.make_folder("with space\tand\rreturn\nnewline")
        audit = self.path(f"audit-{next(self.numbers)}.jsonl")
        result = self.run("--write", folder, "--audit", audit, "--", "sh", "-c", 'printf %s "$1" | od -An -c; printf x > "$2"/made',
                          "sh", b"a\nb\r\xff \x1b[2J", folder)
        self.check("FS-38 FS-40: names and arguments with blanks, newlines and bytes that are no UTF-8 round-trip",
                   result.status == 0 and result.out.split() == [b"a", b"\\n", b"b", b"\\r", b"377", b"033", b"[", b"2", b"J"]
                   and os.path.exists(os.path.join(folder, "made")), result)
        with open(audit, "rb") as file:
            lines = file.read().split(b"\n")
        events = [json.loads(line.decode("utf-8")) for line in lines if line]
        self.check("FS-38 FS-40: and are escaped in the trail, a line an event",
                   len(events) == 2 and not any(byte < 32 or byte > 126 for line in lines for byte in line), lines)

    def fs_41(self):
        for name in ("--bind", "-q", "--", "--help"):
            result = self.work("--", "--", name) if name == "--" else self.work("--", name)
            self.check(f"FS-41: a command named {name} is a command", refused(result, NOT_FOUND, re.escape(name)), result)
        self.operator.write("workspace/--bind", "#!/bin/sh\necho ran $1\n", 0o755)
        self.check("FS-41: and its arguments are its own", self.work("--", "./--bind", "--read").out == b"ran --read\n")
        self.check("FS-41: without the separator too", self.work("echo", "--read", "--", "x").out == b"--read -- x\n")

    def fs_43(self):
        link = self.path("workspace", "git-upload-thing")
        if not os.path.lexists(link):
            os.symlink("/bin/bash", link)
        result = self.work("--", "./git-upload-thing", "-c", "echo $0; cat /proc/$$/cmdline | tr '\\0' ' '")
        self.check("FS-43: argv[0] stays what was typed", result.text_out().startswith("./git-upload-thing\n./git-upload-thing "),
                   result)

    def fs_44(self):
        os.makedirs(self.path("workspace", "deep"), exist_ok=True)
        link = self.path("link-to-workspace")
        if not os.path.lexists(link):
            os.symlink("workspace", link)
        result = self.run("--workspace", link, "--", "sh", "-c", 'echo "$PWD"; pwd -P', env={"PWD": "/nowhere"})
        where = result.out.split()
        self.check("FS-44: PWD is the working directory, whatever it was outside", len(where) == 2 and where[0] == where[1], result)

    def fs_46(self):
        doctor = json.loads(self.operator.run("doctor", "--json").out)
        cgroup = [item for item in doctor if item["code"] == "cgroup"][0]
        result = self.work("--limit", "memory=64M", "--", "sh", "-c", "echo ran")
        if cgroup["status"] == "ok":
            self.check("FS-46: a limit that was asked for is enforced", result.out == b"ran\n", result)
        else:
            self.check("FS-46: a limit that can't be enforced and was asked for is an error",
                       refused(result, FAILED, "memory") and b"ran" not in result.out, result)

    def fs_47(self):
        folder = self.fresh("agent-socket")
        path = os.path.join(folder, "docker.sock")
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path)
            bound.listen(1)
            self.operator.give(folder)
            result = self.operator.run("exec", "--no-tty", "--read", folder, "--allow-socket", path, "--", "true")
            self.check("FS-47: an allowed socket is shown before the start as a way out",
                       result.status == 0 and re.search(r"escape-grade.*docker\.sock", result.text_err()), result)

    # --- hosts that cannot sandbox ---

    def ho_01(self):
        if self.operator.uid == 0:
            prefix = ["unshare", "-U", "-r", "-m"]
            drop = "exec"
        else:
            prefix = self.operator.prefix() + ["unshare", "-U", "-c", "--keep-caps"]
            drop = "exec setpriv --ambient-caps -all --inh-caps -all"
        # root's files belong to nobody there, and a module that does is not trusted
        catalog = self.fresh("own-catalog")
        for entry in os.listdir(self.operator.catalog()):
            if "linux" in entry or "jsonl" in entry:
                shutil.copy(os.path.join(self.operator.catalog(), entry), catalog)
        entry = os.path.join(catalog, "linux.conf")
        with open(entry, encoding="utf-8") as file:
            text = file.read()
        launcher = re.search(r"^launcher=(.*)$", text, re.M).group(1)
        shutil.copy(launcher, os.path.join(catalog, "launcher"))
        with open(entry, "w", encoding="utf-8") as file:
            file.write(text.replace(launcher, os.path.join(catalog, "launcher")))
        self.operator.give(catalog)
        marker = self.path("workspace", f"ran-{next(self.numbers)}")
        words = [self.operator.glove(), "exec", "--catalog", catalog, "-q", "-T", "-w", self.workspace, "--", "sh",
                 "-c", f": > {marker}"]
        command = prefix + ["sh", "-c", f'echo 0 > /proc/sys/user/max_user_namespaces || exit 77; {drop} "$@"', "sh", *words]
        done = subprocess.run(command, env=self.operator.environment(), cwd=self.operator.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=60)
        result = gloveharness.Result(done.returncode, done.stdout, done.stderr)
        if result.status == 77 or b"unshare" in result.err:
            self.skip("HO-01: user namespaces switched off", result.text_err().strip())
            return
        self.check("HO-01 HO-02: user namespaces are off: one verdict that names the switch and its repair",
                   refused(result, FAILED, "max_user_namespaces.*\n.*sysctl"), result)
        self.check("HO-02 HO-11: and nothing ran bare", not os.path.exists(marker))

    def ho_04(self):
        if os.geteuid() != 0:
            self.skip("HO-04: a /proc with a part masked", "making one needs root")
            return
        marker = self.path("workspace", f"ran-{next(self.numbers)}")
        for part in (next(path for path in ("/proc/kcore", "/proc/keys", "/proc/uptime") if os.path.exists(path)), "/proc/sys"):
            mask = (f"mount -t tmpfs none {part}" if os.path.isdir(part) else f"mount --bind /dev/null {part}")
            prefix = ["unshare", "-m", "--propagation", "private", "sh", "-c", f'{mask} || exit 77; exec "$@"', "sh"]
            result = self.prefixed(prefix, "--workspace", self.workspace, "--", "sh", "-c", f": > {marker}")
            if result.status == 77:
                self.skip(f"HO-04: {part} masked", result.text_err().strip())
                continue
            self.check(f"HO-04: {part} is masked: the error names it and the repair, and nothing ran",
                       refused(result, FAILED, r"proc.*\n.*(unmask|outer container)") and not os.path.exists(marker), result)
            command = prefix + self.operator.prefix() + [self.operator.glove(), "doctor", "--json", "--catalog",
                                                         self.operator.catalog()]
            done = subprocess.run(command, env=self.operator.environment(), capture_output=True, check=False, timeout=60)
            found = {item["code"]: item for item in json.loads(done.stdout or b"[]")}
            self.check(f"HO-04: {part} is masked: doctor says so",
                       done.returncode == FAILED and found.get("mount_proc", {}).get("status") == "missing"
                       and part in found["mount_proc"]["message"], (done.stdout, done.stderr))

    def ho_07(self):
        for options in ((), ("--forward", "8000=127.0.0.1:1", "--limit", "output=1M")):
            result = self.shell("echo ran", *options, preexec_fn=lambda: install_filter(CLONE3, errno.ENOSYS))
            self.check(f"HO-07: a filter around glove hides clone3, {'more' if options else 'few'} threads", result.out == b"ran\n", result)

    def ho_08(self):
        """Every part that can be missing, and each launcher that does nothing."""
        marker = self.path("workspace", f"ran-{next(self.numbers)}")

        def attempt(name, prepare, pattern):
            catalog = self.fresh("catalog")
            for entry in os.listdir(self.operator.catalog()):
                if "linux" in entry or "jsonl" in entry:
                    shutil.copy(os.path.join(self.operator.catalog(), entry), catalog)
            prepare(catalog)
            self.operator.give(catalog)
            command = self.operator.prefix() + [self.operator.glove(), "exec", "--catalog", catalog, "-q", "-T", "-w", self.workspace,
                                                "--", "sh", "-c", f": > {marker}"]
            done = subprocess.run(command, env=self.operator.environment(), cwd=self.operator.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False, timeout=60)
            result = gloveharness.Result(done.returncode, done.stdout, done.stderr)
            self.check(f"HO-08 HO-11: {name}: refused by name, and nothing runs bare",
                       refused(result, FAILED, pattern) and not os.path.exists(marker), result)

        def launcher(value):
            def change(catalog):
                entry = os.path.join(catalog, "linux.conf")
                with open(entry, encoding="utf-8") as file:
                    text = file.read()
                with open(entry, "w", encoding="utf-8") as file:
                    file.write(re.sub(r"^launcher=.*$", f"launcher={value}", text, flags=re.M))
            return change
        plain = self.operator.write("launchers/plain", "x", 0o644)
        open_to_all = self.operator.write("launchers/open", "#!/bin/sh\n", 0o777)
        own_true = self.path("launchers", "true")
        shutil.copy("/bin/true", own_true)
        own_sleep = self.path("launchers", "sleep")
        shutil.copy("/bin/sleep", own_sleep)
        self.operator.give(self.path("launchers"))
        attempt("no launcher", launcher("/no/such/launcher"), "/no/such/launcher")
        attempt("a launcher that is not executable", launcher(plain), "plain")
        attempt("a launcher that others can write", launcher(open_to_all), "open")
        attempt("a launcher that ends at once", launcher(own_true), "launcher")
        attempt("a launcher that is another program", launcher(own_sleep), "launcher")
        attempt("no module", lambda catalog: os.unlink(os.path.join(catalog, "libglove-linux.so")), "libglove-linux")
        attempt("a module that is no module", lambda catalog: open(os.path.join(catalog, "libglove-linux.so"), "wb").close(),
                "libglove-linux")
        attempt("no entry for it", lambda catalog: os.unlink(os.path.join(catalog, "linux.conf")), "linux")
        attempt("no audit sink", lambda catalog: os.unlink(os.path.join(catalog, "jsonl.conf")), "jsonl")

    # --- processes, exit status, stdio ---

    def pr_01(self):
        for number, status in ((signal.SIGABRT, 134), (signal.SIGKILL, 137), (signal.SIGSEGV, 139)):
            audit = self.path(f"audit-{next(self.numbers)}.jsonl")
            result = self.work("--audit", audit, "--", "sh", "-c", f"kill -{int(number)} $$")
            with open(audit, encoding="utf-8") as file:
                last = [json.loads(line) for line in file][-1]
            arguments = last["arguments"]
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
            self.check(f"PR-01 PR-02: killed by {number.name}: {status}, and the trail has the number",
                       result.status == status and arguments.get("signal") == number, (result.status, last))

    def pr_04(self):
        begun = time.monotonic()
        result = self.work("--limit", "wall-time=700ms", "--", "bash", "-lc",
                           "mkfifo /tmp/f; (setsid sh -c 'exec sleep 1000 > /tmp/f' &); cat /tmp/f")
        self.check("PR-04: a limit ends the whole tree, whatever holds a pipe", result.status == 137
                   and time.monotonic() - begun < 15 and b"the limit wall-time" in result.err, result)

    def pr_05(self):
        begun = time.monotonic()
        result = self.work("--", "bash", "-c", "exec > >(tee /tmp/log); setsid sleep 1000 & disown; echo said; exit 3")
        self.check("PR-05: a daemon that holds the output keeps nobody waiting", result.status == 3
                   and time.monotonic() - begun < 15, result)

    def pr_11(self):
        name = f"glove-pr-11-{os.getpid()}-{self.operator.mode}"
        read_end, write_end = os.pipe()
        os.fchown(write_end, self.operator.uid, self.operator.uid)
        process = self.operator.start("exec", "-q", "-T", "--", "bash", "-c",
                                      f"(setsid bash -c 'exec -a {name} sleep 1000' &) ; (trap '' HUP TERM; exec -a {name} sleep 1000) & "
                                      "echo up; wait", stdout=write_end)
        os.close(write_end)
        up = os.read(read_end, 3) == b"up\n"
        process.kill()
        process.wait()
        ready, _, _ = select.select([read_end], [], [], 10)
        ended = bool(ready) and os.read(read_end, 1) == b""
        os.close(read_end)
        self.check("PR-07 PR-11: glove killed by SIGKILL: the caller's pipe ends and no grandchild lives", up and ended
                   and wait_until(lambda: not processes_of(name)), processes_of(name))

    def pr_12(self):
        """A request to end that comes while the sandbox is made."""
        outcomes = []
        for step in range(24):
            process = self.operator.start("exec", "-q", "-T", "--", "sleep", "60", stderr=subprocess.DEVNULL)
            time.sleep(0.004 * step)
            process.send_signal(signal.SIGTERM)
            try:
                outcomes.append(process.wait(10))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                outcomes.append(f"ignored after {4 * step} ms")
        self.check("PR-08: a request to end is not lost while the sandbox is made", all(outcome in (143, -15) for outcome in outcomes),
                   outcomes)

    def pr_13(self):
        def ignore():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD})
        result = self.shell("yes | head -n 1; grep -E 'Sig(Blk|Ign)' /proc/self/status", restore_signals=False, preexec_fn=ignore)
        self.check("PR-13: ignored and blocked signals don't reach the agent",
                   result.out == b"y\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", result)
        for option in ((), ("--limit", "output=1G")):
            process = self.operator.start("exec", "-q", "-T", *option, "--", "yes", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            process.stdout.read(4)
            process.stdout.close()
            try:
                status = process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait() or "never ended"
            self.check(f"PR-13: a reader that goes away ends the agent {' '.join(option)}".rstrip(), status == 141, status)

    def pr_16(self):
        text = "é€😀" * 40000
        result = self.python(f"import sys; sys.stdout.buffer.write(('é€😀' * 40000).encode())", "--limit", "output=10M")
        self.check("PR-16 PR-17: bytes pass as they are, however they are cut", result.out == text.encode(), len(result.out))

    def pr_19(self):
        script = ("import os, sys, time\n"
                  "for n in range(200):\n"
                  "    p = os.fork()\n"
                  "    if p == 0:\n"
                  "        if os.fork() == 0: os._exit(n % 256)\n"
                  "        os._exit(0)\n"
                  "    assert os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) == 0\n"
                  "time.sleep(0.3)\n"
                  "z = [p for p in os.listdir('/proc') if p.isdigit() and ') Z ' in open(f'/proc/{p}/stat').read()]\n"
                  "print(len(z)); sys.exit(7)\n")
        result = self.python(script)
        self.check("PR-19: orphans are reaped, and the agent's own status is its own", result.status == 7 and result.out == b"0\n",
                   result)

    def pr_20(self):
        read_end, write_end = os.pipe()
        os.fchown(read_end, self.operator.uid, self.operator.uid)
        process = self.operator.start("exec", "-q", "-T", "--limit", "output=1M", "--", "echo", "done", stdin=read_end,
                                      stdout=subprocess.PIPE)
        try:
            out, _ = process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
        os.close(read_end)
        os.close(write_end)
        self.check("PR-20: an input that never ends keeps nobody waiting", out == b"done\n" and process.returncode == 0, out)

    def pr_22(self):
        with open("/dev/full", "wb") as full:
            process = self.operator.start("exec", "-q", "-T", "--", "sh", "-c", "echo lost; exit 0", stdout=full, stderr=subprocess.PIPE)
            _, err = process.communicate(timeout=15)
        result = gloveharness.Result(process.returncode, b"", err)
        self.check("PR-22: output that can't be written is an error", refused(result, FAILED, "standard output"), result)
        # a caller's event loop makes its pipes non-blocking, and they are one with ours
        read_end, write_end = os.pipe2(os.O_NONBLOCK)
        os.set_blocking(read_end, True)
        os.fchown(write_end, self.operator.uid, self.operator.uid)
        process = self.operator.start("exec", "-q", "-T", "--limit", "output=10M", "--", "head", "-c", "2000000", "/dev/zero",
                                      stdout=write_end)
        os.close(write_end)
        time.sleep(0.5)
        total = 0
        while (data := os.read(read_end, 1 << 16)):
            total += len(data)
        os.close(read_end)
        self.check("PR-14 PR-22: a caller's non-blocking pipe gets everything", process.wait(15) == 0 and total == 2000000, total)

    def pr_23(self):
        for closed in range(1, 8):
            which = [fd for fd in range(3) if closed & 1 << fd]
            mark = self.path("workspace", f"closed-{next(self.numbers)}")

            def close(which=which):
                for fd in which:
                    os.close(fd)
            process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--", "sh", "-c",
                                          f"cat; echo out; echo err >&2; readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 > {mark}",
                                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=close)
            out, err = process.communicate(timeout=20)
            with open(mark, encoding="utf-8") as file:
                inside = file.read().splitlines()
            self.check(f"PR-23: glove started with {which} closed", process.returncode == 0
                       and (out == b"out\n" or 1 in which) and (err == b"err\n" or 2 in which)
                       and all(inside[fd] == "/dev/null" for fd in which if fd != 1), (process.returncode, out, err, inside))

    def pr_28(self):
        self.operator.write("workspace/text", "just text\n", 0o755)
        self.operator.write("workspace/broken-elf", b"\x7fELF" + b"\0" * 60, 0o755)
        self.operator.write("workspace/plain", "x", 0o644)
        self.operator.write("workspace/loop", "#!./loop\n", 0o755)
        self.operator.make_folder("workspace", "directory")
        for name, status in (("text", NOT_EXECUTABLE), ("broken-elf", NOT_EXECUTABLE), ("plain", NOT_EXECUTABLE),
                             ("directory", NOT_EXECUTABLE), ("loop", NOT_EXECUTABLE), ("nothing", NOT_FOUND), ("plain/below", NOT_FOUND)):
            result = self.work("--", f"./{name}")
            self.check(f"PR-28: what can't be executed is an error: {name}", refused(result, status, re.escape(name)), result)
        result = self.work("--", "")
        self.check("PR-28: an empty command is an error", refused(result, 2, "empty"), result)

    # --- terminals ---

    def tt_01(self):
        script = ("import fcntl, struct\n"
                  "for request in (0x5412, 0x5412 + (1 << 32), 0x541C):\n"
                  "    for c in b'touch /tmp/typed\\n':\n"
                  "        try: fcntl.ioctl(0, request & 0xffffffffffffffff if request < 1 << 32 else request - (1 << 64) if request >> 63 "
                  "else request, bytes([c])); print('TYPED')\n"
                  "        except OSError as e: pass\n"
                  "        except OverflowError: pass\n"
                  "print('tried')\n")
        terminal = Terminal(self.operator, "--", "python3", "-c", script)
        tried = terminal.read_until(b"tried")
        status = terminal.process.wait(20)
        ready, _, _ = select.select([terminal.slave], [], [], 0.2)
        self.check("TT-01 TT-02: nothing is typed into the caller's terminal", tried and status == 0 and b"TYPED" not in terminal.output
                   and not ready, terminal.output)
        terminal.close()

    def tt_05(self):
        for size in ((1, 1), (60, 200)):
            terminal = Terminal(self.operator, "--", "stty", "size", size=size)
            expected = f"{size[0]} {size[1]}".encode()
            self.check(f"TT-05: the size is there from the first moment: {size}", terminal.read_until(expected), terminal.output)
            terminal.process.wait(20)
            terminal.close()

    def tt_07(self):
        script = ("stty -echo && stty raw && stty sane && echo attributes; python3 -c 'import os; a, b = os.openpty(); "
                  "os.write(b, b\"x\"); print(\"pty\", os.read(a, 1))'; test -c /dev/ptmx && test -w /dev/tty && echo nodes")
        terminal = Terminal(self.operator, "--", "sh", "-c", script)
        fine = terminal.read_until(b"nodes")
        terminal.process.wait(20)
        self.check("TT-07 TT-08: attributes of the terminal, and terminals of its own", fine and b"attributes" in terminal.output
                   and b"pty b'x'" in terminal.output, terminal.output)
        terminal.close()

    def tt_14(self):
        script = ("import os, sys, tty\ntty.setraw(0)\nos.write(1, b'ready')\nc = os.read(0, 16)\nos.write(1, b'got %d %d' % (len(c), c[0]))\n")
        terminal = Terminal(self.operator, "--", "python3", "-c", script)
        terminal.read_until(b"ready")
        begun = time.monotonic()
        terminal.type(b"\x1b")
        self.check("TT-14: a lone escape arrives at once", terminal.read_until(b"got 1 27", 5) and time.monotonic() - begun < 2,
                   terminal.output)
        terminal.process.wait(20)
        terminal.close()

    # --- system calls ---

    def se_08(self):
        script = ("import os, threading\n"
                  "bad = []\n"
                  "def work():\n"
                  "    for _ in range(40):\n"
                  "        p = os.posix_spawn('/bin/true', ['true'], {})\n"
                  "        if os.waitpid(p, 0)[1] != 0: bad.append(p)\n"
                  "t = [threading.Thread(target=work) for _ in range(8)]\n"
                  "[x.start() for x in t]; [x.join() for x in t]\n"
                  "print(len(bad), flush=True); os.execv('/bin/echo', ['echo', 'still executes'])\n")
        result = self.python(script)
        self.check("SE-08: many threads spawn at once", result.out == b"0\nstill executes\n", result)

    # --- network egress ---

    def network(self):
        site = Site()
        try:
            self.ne_verdicts(site)
            self.ne_13(site)
            self.ne_14(site)
            self.ne_16(site)
        finally:
            site.close()

    def client(self, site, body, *options):
        """Runs @body inside with ask (bytes) -> first bytes of the answer, over a connection of its own to the proxy."""
        script = ("import base64, os, socket, time, urllib.parse\n"
                  "url = urllib.parse.urlsplit(os.environ['http_proxy'])\n"
                  "auth = b'Proxy-Authorization: Basic ' + base64.b64encode(f'{url.username}:{url.password}'.encode()) + b'\\r\\n'\n"
                  "def connect(): return socket.create_connection((url.hostname, url.port), 20)\n"
                  "def answer(s):\n"
                  "    data = b''\n"
                  "    while True:\n"
                  "        try: more = s.recv(65536)\n"
                  "        except ConnectionError: break\n"
                  "        if not more or len(data) > 1 << 20: break\n"
                  "        data += more\n"
                  "    return data\n"
                  "def ask(request):\n"
                  "    with connect() as s:\n"
                  "        s.sendall(request); return answer(s)\n"
                  "def show(name, data):\n"
                  "    head = data.split(b'\\r\\n\\r\\n')[0].decode('latin-1').split('\\r\\n')\n"
                  "    reason = [h.split(': ')[1] for h in head if h.lower().startswith('x-glove-reason')]\n"
                  "    print(name, head[0].split(' ')[1] if ' ' in head[0] else 'none', *reason, flush=True)\n" + body)
        return self.python(script, "--allow-host", f"127.0.0.1:{site.port}", "--allow-host", f"localhost:{site.port}", *options)

    def ne_verdicts(self, site):
        port = site.port
        body = (
            f"P = {port}\n"
            "H = b'Connection: close\\r\\n\\r\\n'\n"
            "def get(url, host, a=auth): return ask(b'GET ' + url + b' HTTP/1.1\\r\\nHost: ' + host + b'\\r\\n' + a + H)\n"
            "def tunnel(host, a=auth, then=b''): return ask(b'CONNECT ' + host + b' HTTP/1.1\\r\\nHost: ' + host + b'\\r\\n' + a + b'\\r\\n' + then)\n"
            "own = b'127.0.0.1:%d' % P\n"
            "inner = b'GET /hello HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'\n"
            "show('plain', get(b'http://' + own + b'/hello', own))\n"
            "show('tunnel', tunnel(own, then=inner))\n"
            "show('denied-plain', get(b'http://elsewhere.example/', b'elsewhere.example'))\n"
            "show('denied-tunnel', tunnel(b'elsewhere.example:443'))\n"
            "show('nul', tunnel(b'127.0.0.1\\0.evil:%d' % P))\n"
            "show('nul-plain', get(b'http://127.0.0.1\\0.evil:%d/' % P, b'127.0.0.1'))\n"
            "show('case', tunnel(b'LocalHost:%d' % P, then=inner))\n"
            "show('dot', tunnel(b'localhost.:%d' % P, then=inner))\n"
            "show('dots', tunnel(b'127.0.0.1..:%d' % P, then=inner))\n"
            "show('octal', tunnel(b'0177.0.0.1:%d' % P, then=inner))\n"
            "show('number', tunnel(b'2130706433:%d' % P, then=inner))\n"
            "show('port', tunnel(b'127.0.0.1:1'))\n"
            "show('port-plain', get(b'http://127.0.0.1:1/', b'127.0.0.1:1'))\n"
            "show('other-host', get(b'http://' + own + b'/hello', b'elsewhere.example'))\n"
            "show('no-credential', get(b'http://' + own + b'/hello', own, b''))\n"
            "show('no-credential-tunnel', tunnel(own, b''))\n"
            "show('wrong-credential', get(b'http://' + own + b'/hello', own, b'Proxy-Authorization: Basic eDp5\\r\\n'))\n"
            "show('sites-401', get(b'http://' + own + b'/401', own))\n"
            "show('sites-403', get(b'http://' + own + b'/403', own))\n"
            "show('endless', ask(b'GET http://' + own + b'/ HTTP/1.1\\r\\nX: ' + b'x' * 20000))\n"
            "print('end')\n")
        result = self.client(site, body)
        got = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in result.text_out().splitlines() if " " in line}
        expected = [
            ("NE-01", "plain", "200"), ("NE-02", "tunnel", "200"), ("NE-01", "denied-plain", "403 host-not-allowed"),
            ("NE-01", "denied-tunnel", "403 host-not-allowed"), ("NE-04", "nul", "400 .*"), ("NE-04", "nul-plain", "400 .*"),
            ("NE-05", "case", "200"), ("NE-05", "dot", "200|400 bad-host|403 host-not-allowed"), ("NE-05", "dots", "400 .*|403 .*"),
            ("NE-05", "octal", "400 .*|403 .*"), ("NE-05", "number", "400 .*|403 .*"),
            ("NE-07", "port", "403 port-not-allowed"), ("NE-07", "port-plain", "403 port-not-allowed"),
            ("NE-11", "other-host", "400 host-mismatch"),
            ("NE-17", "no-credential", "407 credential-missing"), ("NE-17", "no-credential-tunnel", "407 credential-missing"),
            ("NE-17", "wrong-credential", "407 credential-wrong"),
            ("NE-19", "sites-401", "401"), ("NE-19", "sites-403", "403"), ("NE-16", "endless", "431 request-too-large"),
        ]
        for row, name, pattern in expected:
            self.check(f"{row}: {name}", re.fullmatch(pattern, got.get(name, "nothing")), f"{got.get(name)}\n{result}")
        self.check("NE-11: the server saw only what was judged", not site.strangers, site.strangers)
        lookup = self.python("import socket, time\nt = time.monotonic()\n"
                             "try: socket.getaddrinfo('secret-label.elsewhere.example', 80); print('resolved')\n"
                             "except OSError: print('no')\n"
                             "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                             "try: s.sendto(b'x', ('192.0.2.1', 53)); print('sent')\n"
                             "except OSError: print('no')\n"
                             "print(time.monotonic() - t < 5)\n")
        self.check("NE-08: no name leaves by the resolver, no datagram by itself", lookup.out == b"no\nno\nTrue\n", lookup)

    def ne_13(self, site):
        """A client is killed while it downloads; the next one is served, and glove does not spin."""
        body = (f"P = {site.port}\n"
                "import subprocess, sys\n"
                "own = b'127.0.0.1:%d' % P\n"
                "request = b'GET http://' + own + b'/endless HTTP/1.1\\r\\nHost: ' + own + b'\\r\\n' + auth + b'\\r\\n'\n"
                "for _ in range(5):\n"
                "    p = os.fork()\n"
                "    if p == 0:\n"
                "        s = connect(); s.sendall(request)\n"
                "        while s.recv(65536): pass\n"
                "        os._exit(0)\n"
                "    time.sleep(0.1); os.kill(p, 9); os.waitpid(p, 0)\n"
                "show('after', ask(b'GET http://' + own + b'/hello HTTP/1.1\\r\\nHost: ' + own + b'\\r\\n' + auth + b'Connection: close\\r\\n\\r\\n'))\n"
                "time.sleep(2)\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.client(site, body)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.check("NE-13: clients killed while they download", result.out == b"after 200\n", result)
        self.check("NE-13: and the server's side is dropped at once", wait_until(lambda: site.streaming == 0, 5), site.streaming)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.check("NE-13: without a busy loop", used < 2, f"{used:.2f} s of processor time")

    def ne_14(self, site):
        """More connections than glove has descriptors: they wait or are refused, and later ones are served."""
        body = (f"P = {site.port}\n"
                "own = b'127.0.0.1:%d' % P\n"
                "held = []\n"
                "for _ in range(300):\n"
                "    try: s = connect(); s.settimeout(1); held.append(s)\n"
                "    except OSError: break\n"
                "time.sleep(0.5)\n"
                "for s in held: s.close()\n"
                "time.sleep(0.5)\n"
                "show('after', ask(b'GET http://' + own + b'/hello HTTP/1.1\\r\\nHost: ' + own + b'\\r\\n' + auth + b'Connection: close\\r\\n\\r\\n'))\n")
        result = self.client(site, body)
        self.check("NE-14: 300 connections at once, then one more", result.out == b"after 200\n", result)
        script = [word for word in ("--allow-host", f"127.0.0.1:{site.port}")]
        for limit in (48, 64):
            low = self.prefixed(["prlimit", f"--nofile={limit}:{limit}", "--"], *script, "--", "python3", "-c", self.few(site.port))
            self.check(f"NE-14: with {limit} descriptors for glove", low.out.endswith(b"200\n"), low)

    @staticmethod
    def few(port):
        return ("import base64, os, socket, time, urllib.parse\n"
                "url = urllib.parse.urlsplit(os.environ['http_proxy'])\n"
                "auth = b'Proxy-Authorization: Basic ' + base64.b64encode(f'{url.username}:{url.password}'.encode()) + b'\\r\\n'\n"
                "held = [socket.create_connection((url.hostname, url.port), 20) for _ in range(25)]\n"
                "time.sleep(0.5)\n"
                "[s.close() for s in held]\n"
                "for attempt in range(50):\n"
                "    time.sleep(0.2)\n"
                "    try:\n"
                f"        s = socket.create_connection((url.hostname, url.port), 5); s.sendall(b'GET http://127.0.0.1:{port}/hello HTTP/1.1"
                f"\\r\\nHost: 127.0.0.1:{port}\\r\\n' + auth + b'Connection: close\\r\\n\\r\\n')\n"
                "        status = s.recv(12).decode().split(' ')[1]\n"
                "    except (OSError, IndexError): continue\n"
                "    if status == '200': print(status); break\n")

    def ne_16(self, site):
        """A header line of an answer that never ends costs glove no memory."""
        body = (f"P = {site.port}\n"
                "own = b'127.0.0.1:%d' % P\n"
                "s = connect(); s.sendall(b'GET http://' + own + b'/long-header HTTP/1.1\\r\\nHost: ' + own + b'\\r\\n' + auth + b'\\r\\n')\n"
                "n = 0\n"
                "while True:\n"
                "    try: d = s.recv(1 << 20)\n"
                "    except OSError: break\n"
                "    if not d: break\n"
                "    n += len(d)\n"
                "print('end')\n")
        audit = []
        process = self.operator.start("exec", "-q", "-T", "-w", self.workspace, "--allow-host", f"127.0.0.1:{site.port}", "--", "python3",
                                      "-c", "import base64, os, socket, urllib.parse\n"
                                      "url = urllib.parse.urlsplit(os.environ['http_proxy'])\n"
                                      "auth = b'Proxy-Authorization: Basic ' + base64.b64encode(f'{url.username}:{url.password}'.encode())"
                                      " + b'\\r\\n'\ndef connect(): return socket.create_connection((url.hostname, url.port), 20)\n" + body,
                                      stdout=subprocess.PIPE)
        peak = 0
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.02)
        out, _ = process.communicate()
        audit.append(out)
        self.check("NE-16: 64 MiB of one header line are relayed or refused in bounded memory", out == b"end\n" and 0 < peak < 64 << 20,
                   f"{peak >> 20} MiB, {out!r}")

    # --- configuration ---

    def cf_01(self):
        for option in ("--allow-hosts", "--read-only", "--maks-sockets", "--limits", "--workspaces"):
            result = self.run(option, "x", "--", "true")
            self.check(f"CF-01: {option} is an error, not ignored", refused(result, 2, option[2:6]), result)
        for limit in ("pid=5", "memroy=1G", "pids=5x", "Pids=5", "pids =5", "=5", ""):
            result = self.run("--limit", limit, "--", "true")
            self.check(f"CF-01 CF-02: --limit '{limit}' is an error, not ignored", refused(result, FAILED, "limit"), result)

    def cf_04(self):
        empty = self.fresh("empty-catalog")
        for catalog in (empty, self.path("no-such-catalog"), self.operator.glove()):
            command = self.operator.prefix() + [self.operator.glove(), "exec", "-q", "-T", "--catalog", catalog, "--", "echo", "ran"]
            done = subprocess.run(command, env=self.operator.environment(), cwd=self.operator.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False, timeout=30)
            result = gloveharness.Result(done.returncode, done.stdout, done.stderr)
            self.check(f"CF-04: {os.path.basename(catalog).split('-')[0]} as catalog: refused",
                       refused(result, FAILED, "") and b"ran" not in result.out, result)

    def cf_05(self):
        folder = self.fresh("switches-off")
        secret = self.operator.write("beside/secret", "the secret\n")
        for name in ("glove.conf", ".glove", ".glove.json", ".gloverc", "glove.json", ".config/glove/config", "catalog.d/linux.conf"):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"sandbox": false, "read": ["/"], "allow": ["*"]}\n')
        self.operator.give(folder)
        result = self.run("--workspace", folder, "--", "sh", "-c", f"cat {secret}; cat /proc/self/status | grep Seccomp:", cwd=folder)
        self.check("CF-05: nothing in a workspace changes the sandbox", b"the secret" not in result.out and b"Seccomp:\t2" in result.out,
                   result)

    def cf_07(self):
        for limit in ("wall-time=5ß", "wall-time=５s", "memory=1😀", "pids=٣", "wall-time=1\N{COMBINING ACUTE ACCENT}s", b"memory=1\xff"):
            result = self.run(b"--limit" if isinstance(limit, bytes) else "--limit", limit, "--", "true")
            self.check(f"CF-07: {limit!r} is refused cleanly", refused(result, FAILED, "") or refused(result, 2, ""), result)
        for host in ("exämple.org", "例え.jp:443", "a\u202eb.org", "example.org:４４３"):
            result = self.run("--allow-host", host, "--", "true")
            self.check(f"CF-07: the host {host!a} is refused cleanly", refused(result, FAILED, ""), result)
        result = self.run("--read", self.path("größe-\u202e-缺"), "--", "true")
        self.check("CF-07: a missing path in another script is named, without what turns text around",
                   refused(result, FAILED, "gr") and "\u202e" not in result.text_err(), result)


ROWS = [name for name in vars(Suite) if re.fullmatch(r"(fs|ho|pr|tt|se|cf)_\d+|network", name)]


def main():
    report = gloveharness.Report()
    only = [row.lower().replace("-", "_") for row in sys.argv[2:]]
    for operator in gloveharness.modes(report, sys.argv[1]):
        suite = Suite(report, operator)
        for name in ROWS:
            if only and name not in only:
                continue
            try:
                getattr(suite, name)()
            except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError) as error:
                suite.check(f"{name}: the test itself", False, repr(error))
        left = gloveharness.sandbox_processes(operator.build)
        suite.check("nothing is left running", wait_until(lambda: not gloveharness.sandbox_processes(operator.build)), left)
    return report.finish()


sys.exit(main())
