#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-surroundings.py BUILD: what glove inherits, and what lies in a workspace before the start, turns nothing against the operator."""

import glob
import json
import os
import resource
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402


def catalogue(translations):
    """A compiled gettext catalogue (MO file, GNU gettext manual)."""
    entries = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **translations}.items())
    ids = [key.encode() for key, _ in entries]
    texts = [value.encode() for _, value in entries]
    offset = 28 + 16 * len(entries)
    tables, data = b"", b""
    for strings in (ids, texts):
        for string in strings:
            tables += struct.pack("<II", len(string), offset + len(data))
            data += string + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0) + tables + data


class Tests:
    def __init__(self, operator, report):
        self.operator = operator
        self.report = report
        self.workspace = operator.make_folder("workspace")

    def check(self, name, passed, detail=""):
        return self.report.check(f"{name} ({self.operator.mode})", passed, detail)

    def run(self, *arguments, **keywords):
        return self.operator.run("exec", "--workspace", self.workspace, *arguments, **keywords)

    def last_events(self):
        newest = max(glob.glob(os.path.join(self.operator.state, "glove", "runs", "*", "audit.jsonl")))
        with open(newest, encoding="utf-8") as file:
            return newest, [json.loads(line) for line in file]

    def closed_streams(self):
        for name, streams in (("stdin", [0]), ("stdout", [1]), ("stderr", [2]), ("all", [0, 1, 2])):
            def close(streams=streams):
                for stream in streams:
                    os.close(stream)

            result = self.run("--", "sh", "-c", "cat; echo out; echo err >&2", preexec_fn=close)
            _, events = self.last_events()
            self.check(f"closed at the start: {name}", result.status == 0
                       and [event["action"] for event in events] == ["agent_launch", "agent_exit"]
                       and (b"out" in result.out) == (1 not in streams) and (b"err" in result.err) == (2 not in streams),
                       f"{result}\n{events}")

    def file_size_limit(self):
        result = self.run("--", "true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.check("no file may grow: an error, not a signal", result.status == 125 and "error[" in result.text_err(), result)

    def translations(self):
        folder = self.operator.make_folder("evil", "LC_MESSAGES")
        self.operator.write("evil/LC_MESSAGES/glove.mo", catalogue({"no verb is given": "FOREIGN"}))
        up = "../" * 16 + os.path.dirname(folder).lstrip("/")
        for value in (up, f"de:{up}"):
            command = self.operator.prefix() + [self.operator.glove()]
            result = gloveharness.run_plainly(command, self.operator.environment({"LANGUAGE": value}))
            self.check(f"no translation is taken from a folder that LANGUAGE leads to ({value[:4]})",
                       "FOREIGN" not in result.text_err() and "no verb is given" in result.text_err(), result)

    def all(self):
        self.closed_streams()
        self.file_size_limit()
        self.translations()


def main():
    report = gloveharness.Report()
    for operator in gloveharness.modes(report, sys.argv[1]):
        Tests(operator, report).all()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
