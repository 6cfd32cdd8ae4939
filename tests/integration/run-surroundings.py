#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-surroundings.py BUILD: what glove inherits, and what lies in a workspace before the start, turns nothing against the operator."""

import glob
import json
import os
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402


class Tests:
    def __init__(self, operator, report):
        self.operator = operator
        self.report = report
        self.workspace = operator.make_folder("workspace")

    def check(self, name, passed, detail=""):
        return self.report.check(f"{name} ({self.operator.mode})", passed, detail)

    def run(self, *arguments, **keywords):
        return self.operator.run("exec", "--workspace", self.workspace, *arguments, **keywords)

    def take(self, name):
        path = os.path.join(self.workspace, name)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(path)
        return lines

    def last_events(self):
        newest = max(glob.glob(os.path.join(self.operator.state, "glove", "runs", "*", "audit.jsonl")))
        with open(newest, encoding="utf-8") as file:
            return newest, [json.loads(line) for line in file]

    def closed_streams(self):
        for name, streams in (("stdin", [0]), ("stdout", [1]), ("stderr", [2]), ("all", [0, 1, 2])):
            def close(streams=streams):
                for stream in streams:
                    os.close(stream)

            result = self.run("--", "sh", "-c", "(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 >streams); echo out; echo err >&2",
                              preexec_fn=close)
            inside = self.take("streams")
            _, events = self.last_events()
            self.check(f"closed at the start: {name}", result.status == 0
                       and [event["action"] for event in events] == ["agent_launch", "agent_exit"]
                       and (b"out" in result.out) == (1 not in streams) and (b"err\n" in result.err) == (2 not in streams)
                       and all(inside[stream] == "/dev/null" for stream in streams), f"{result}\n{events}\n{inside}")

    def file_size_limit(self):
        result = self.run("--", "true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.check("no file may grow: an error, not a signal", result.status == 125 and "error[" in result.text_err(), result)

    def git_redirected(self):
        """What the agent adds to a repository, so that git on the host reads another configuration, is undone and told."""
        repository = self.operator.make_folder("workspace", ".git")
        for name in ("objects", "hooks"):
            self.operator.make_folder("workspace", ".git", name)
        self.operator.write("workspace/.git/HEAD", "ref: refs/heads/main\n")
        self.operator.write("workspace/.git/config", "[core]\n")
        attack = ("--", "sh", "-c", "mkdir evil; echo ../evil >.git/commondir; exit 7")
        allowed = self.run("--allow-git-config", *attack)
        kept = os.path.exists(repository + "/commondir")
        self.check("--allow-git-config leaves it", allowed.status == 7 and kept, allowed)
        if kept:
            os.unlink(repository + "/commondir")
        shutil.rmtree(os.path.join(self.workspace, "evil"), ignore_errors=True)
        kept = self.run("--quiet", *attack)
        with open(repository + "/commondir", encoding="utf-8") as file:
            self.check("a commondir is there, and can't be changed", kept.status == 7 and file.read() == ".\n"
                       and "Read-only file system" in kept.text_err(), kept)
        if self.operator.uid != 0:
            self.git_unwritable(repository)
        shutil.rmtree(repository)

    def git_unwritable(self, repository):
        """Where no commondir can be made beforehand, the agent's is undone and told."""
        os.unlink(repository + "/commondir")
        os.chmod(repository, 0o555)
        refused = self.run("--quiet", "--", "sh", "-c", "chmod 755 .git; echo ../evil >.git/commondir; exit 7")
        _, events = self.last_events()
        denials = [event for event in events if event.get("plane") == "file"]
        self.check("a commondir that the agent adds is renamed aside", refused.status == 7
                   and not os.path.exists(repository + "/commondir")
                   and os.path.exists(repository + "/commondir.refused-by-glove"), refused)
        self.check("it is told on standard error", "glove: refused" in refused.text_err()
                   and "/.git/commondir" in refused.text_err(), refused)
        self.check("it is recorded as a denial before the end", len(denials) == 1
                   and denials[0]["allow"] == "--allow-git-config" and denials[0]["tool"].endswith("/.git/commondir")
                   and events[-1]["action"] == "agent_exit", events)

    def prompt_through_link(self):
        """A link in the workspace where the operator expects the task: what it leads to is not handed over."""
        self.operator.write("secret", "hunter2")
        program = self.operator.write("bin/agent", "#!/bin/sh\necho \"$@\"\n", 0o755)
        link = os.path.join(self.workspace, "task.txt")
        os.symlink("../secret", link)
        result = self.operator.run("run", "codex", "--workspace", self.workspace, "--executable", program, "--prompt-file", link)
        self.check("a prompt through a link out of the workspace is refused", result.status == 125
                   and "error[denied]" in result.text_err() and b"hunter2" not in result.out, result)
        os.unlink(link)
        self.operator.write("workspace/task.txt", "say this")
        result = self.operator.run("run", "codex", "--workspace", self.workspace, "--executable", program, "--prompt-file", link)
        self.check("a prompt in the workspace is handed over", result.status == 0 and b"say this" in result.out, result)

    def tampered_record(self):
        record = self.operator.write("tampered.jsonl", "{}\n", 0o600)
        result = gloveharness.Result(*self.why(record))
        self.check("of a record that isn't intact nothing is said to have been allowed", result.status == 125
                   and result.out == b"" and "not intact" in result.text_err(), result)

    def why(self, record):
        done = subprocess.run(self.operator.prefix() + [self.operator.glove(), "why", "--audit", record], capture_output=True,
                              env=self.operator.environment(), check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def shown_safely(self):
        """What is quoted in an error moves no cursor, and makes no second line."""
        for name, arguments in (("a command", ("--", "no\n\x1b[2Jsuch")), ("a path", ("--read", "no\n\x1b[2J\u202esuch", "--", "true")),
                                ("a limit", ("--limit", "\x1b[2J=1", "--", "true")), ("an option", ("--\x1b[2J", "--", "true"))):
            result = self.run("--quiet", *arguments)
            lines = result.text_err().splitlines()
            self.check(f"{name} with control characters", result.status != 0 and b"\x1b" not in result.err
                       and "\u202e" not in result.text_err() and all(line.startswith(("error[", "Try: ")) for line in lines), result)

    def own_files(self):
        """What glove itself consists of is nothing for an agent to write."""
        build = os.path.join(self.operator.build)
        for name, path in (("its program", "core/cli"), ("its library", "core/api"), ("its plugins", "plugins/catalog"),
                           ("an entry of its catalog", "plugins/catalog/linux.conf"), ("its launcher", "plugins/backends"),
                           ("all of it", ".")):
            result = self.operator.run("exec", "--write", os.path.join(build, path), "--", "true")
            self.check(f"{name} can't be granted for writing", result.status == 125 and "error[denied]" in result.text_err()
                       and "Glove itself uses" in result.text_err(), result)
        result = self.run("--write", self.operator.state, "--audit", os.path.join(self.operator.folder, "audit.jsonl"), "--", "true")
        self.check("the records of other runs can't be granted for writing", result.status == 125
                   and "glove/runs" in result.text_err(), result)
        result = self.operator.run("exec", "--read", os.path.join(build, "core", "cli"), "--", "true")
        self.check("they can be granted for reading", result.status == 0, result)

    def all(self):
        self.closed_streams()
        self.file_size_limit()
        self.git_redirected()
        self.prompt_through_link()
        self.own_files()
        self.tampered_record()
        self.shown_safely()


def main():
    report = gloveharness.Report()
    for operator in gloveharness.modes(report, sys.argv[1]):
        Tests(operator, report).all()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
