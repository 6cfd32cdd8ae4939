#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-limits.py BUILD: `glove exec --limit` where a control group is delegated: memory, processes and processors of a whole session."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402

FORKS = ("import os, time\nn = 0\ntry:\n    while n < 100:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\n"
         "except OSError: pass\nprint(n)")
THREADS = ("import os, threading, time\nn = 0\ntry:\n    while n < 100:\n        threading.Thread(target=time.sleep, args=(60,)).start()\n"
           "        n += 1\nexcept RuntimeError: pass\nprint(n, flush=True)\nos._exit(0)")
# Each half fits, both together don't.
HALVES = "import os, time\nos.fork()\na = b'x' * (40 << 20)\ntime.sleep(60)"
SPIN = "import time\ne = time.monotonic() + 4\nwhile time.monotonic() < e: pass\nprint(time.process_time())"
# As an operator does below systemd: a scope of its own for each.
SCOPE = ["systemd-run", "--user", "--scope", "--quiet", "-p", "Delegate=yes", "--"] if os.path.isdir("/run/systemd/system") else []
BUSY = "while :; do :; done & while :; do :; done"


class Suite:
    def __init__(self, report, operator):
        self.report = report
        self.operator = operator
        self.number = 0

    def check(self, name, passed, detail=""):
        return self.report.check(f"{self.operator.mode}: {name}", passed, detail)

    def run(self, limit, *command):
        """The result, the session's events, what `why` says of them."""
        self.number += 1
        audit = os.path.join(self.operator.folder, f"audit-{self.number}.jsonl")
        done = subprocess.run([*SCOPE, *self.operator.command("exec", "--quiet", "--no-tty", "--audit", audit,
                               "--limit", limit, "--", *command)],
                              env={**os.environ, **self.operator.environment()}, cwd=self.operator.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=120)
        result = gloveharness.Result(done.returncode, done.stdout, done.stderr)
        events = []
        if os.path.exists(audit):
            with open(audit, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
        why = subprocess.run(self.operator.prefix() + [self.operator.glove(), "why", "--audit", audit, "--json"],
                             env=self.operator.environment(), capture_output=True, check=False)
        return result, events, json.loads(why.stdout or "[]")

    def ended_by(self, name, cause, limit, *command):
        result, events, why = self.run(limit, *command)
        told = f"the limit {limit.split('=')[0]}, "
        self.check(f"{name} ends the session", result.status == 137 and told.encode() in result.err, result)
        self.check(f"{name} is the recorded cause",
                   any(event["action"] == "agent_exit" and f'"cause":"{cause}"' in event["arguments"].replace(" ", "")
                       for event in events), events)
        option = f"--limit {limit.split('=')[0]}="
        self.check(f"{name} is what `why` names", any(option in item["allow"] for item in why), why)

    def refused(self, name, command, maximum):
        result, _, why = self.run(f"pids={maximum}", "python3", "-c", command)
        count = result.text_out().strip()
        self.check(f"{name}: as many as there may be and no more",
                   result.status == 0 and count.isdigit() and maximum - 10 <= int(count) < maximum, result)
        self.check(f"{name}: `why` names it", any("--limit pids=" in item["allow"] for item in why), why)

    def memory(self):
        self.ended_by("memory of two processes together", "memory_limit", "memory=64M", "python3", "-S", "-c", HALVES)
        self.ended_by("memory of a file in /tmp", "memory_limit", "memory=64M", "sh", "-c",
                      "head -c 200M /dev/zero > /tmp/f")

    def processors(self):
        result, _, _ = self.run("cpus=0.5", "python3", "-S", "-c", SPIN)
        spent = float(result.text_out().strip() or "nan")
        self.check("half a processor in four seconds gives about two", result.status == 0 and 0.5 < spent < 3, result)
        self.ended_by("processor time of two processes together", "cpu_time_limit", "cpu-time=2s", "sh", "-c", BUSY)

    def nothing_left(self):
        groups = [os.path.join(folder, name) for folder, names, _ in os.walk("/sys/fs/cgroup") for name in names]
        left = [group for group in groups if os.path.basename(group).startswith("glove-session-")]
        self.check("no control group is left", groups and not left, left or "there is no control group at all")


def main():
    report = gloveharness.Report()
    # not modes (): the group is delegated to whoever runs this
    operator = gloveharness.Operator("root" if os.geteuid() == 0 else "user", sys.argv[1])
    suite = Suite(report, operator)
    suite.memory()
    suite.refused("processes", FORKS, 24)
    suite.refused("threads", THREADS, 24)
    suite.processors()
    suite.nothing_left()
    operator.clean()
    return report.finish()


sys.exit(main())
