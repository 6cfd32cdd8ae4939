#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run-bad-input.py BUILD: each wrong input is one clear error that names the thing and the repair, and leaves nothing behind."""

import os
import pwd
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import gloveharness  # noqa: E402

FAILED, USAGE = 125, 2


def cases(operator):
    """(name, verb and arguments, status, what the error and the line behind it must match)"""
    folder = operator.folder
    workspace = operator.make_folder("workspace")
    operator.make_folder("home", ".ssh")
    operator.make_folder("home", "project")
    operator.make_folder("keys", ".gnupg")
    os.mkfifo(os.path.join(folder, "fifo"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, "a.sock"))
    listener.listen(1)
    operator.listener = listener
    listening = operator.make_folder("listening")
    below = socket.socket(socket.AF_UNIX)
    below.bind(os.path.join(listening, "b.sock"))
    below.listen(1)
    operator.below = below
    operator.write("empty-prompt")
    operator.write("zero-prompt", b"a\0b")
    operator.write("long-prompt", b"x" * (128 * 1024))
    operator.write("program", "#!/bin/sh\n", 0o755)
    os.symlink("/nowhere", os.path.join(folder, "dangling"))
    operator.give(folder)

    def execute(*options):
        return ("exec", *options, "--", "true")

    def run(*options):
        return ("run", *options)

    return [
        ("no verb's option", execute("--nonsense"), USAGE, "nonsense"),
        ("no command", ("exec",), USAGE, "no command"),
        ("an empty command", ("exec", "--", ""), USAGE, "command is empty"),
        ("both terminals", execute("--tty", "--no-tty"), USAGE, "--tty"),
        ("a missing path", execute("--read", "/no/such/thing"), FAILED, "/no/such/thing"),
        ("a missing workspace", execute("--workspace", folder + "/absent"), FAILED, "absent"),
        ("a file as workspace", execute("--workspace", folder + "/program"), FAILED, "not a folder"),
        ("a dangling link", execute("--read", folder + "/dangling"), FAILED, "dangling"),
        ("a grant of /", execute("--read", "/"), FAILED, "/"),
        ("a grant of /proc", execute("--read", "/proc"), FAILED, "/proc"),
        ("a grant below /proc", execute("--read", "/proc/self/fd"), FAILED, "/proc"),
        ("a grant of /sys", execute("--read", "/sys/kernel"), FAILED, "/sys"),
        ("a grant of /dev", execute("--read", "/dev/shm"), FAILED, "/dev"),
        ("a grant of /run", execute("--read", "/run"), FAILED, "/run"),
        ("a grant of all homes", execute("--read", "/home"), FAILED, "/home"),
        ("a grant of root's home", execute("--read", "/root"), FAILED, "/root|Permission denied"),
        ("the operator's own home", execute("--write", pwd.getpwuid(operator.uid).pw_dir), FAILED, pwd.getpwuid(operator.uid).pw_dir),
        ("the operator's keys", execute("--read", operator.home + "/.ssh"), FAILED, r"\.ssh"),
        ("keys elsewhere", execute("--read", folder + "/keys/.gnupg"), FAILED, r"\.gnupg"),
        ("passwords", execute("--read", "/etc/shadow"), FAILED, "/etc/shadow"),
        ("write to the system", execute("--write", "/usr/share"), FAILED, "/usr"),
        ("write to /etc", execute("--write", "/etc"), FAILED, "/etc"),
        ("a socket as a grant", execute("--read", folder + "/a.sock"), FAILED, "socket"),
        ("a fifo as a grant", execute("--read", folder + "/fifo"), FAILED, "fifo"),
        ("a device as a grant", execute("--read", "/dev/null"), FAILED, "/dev"),
        ("a listening socket below a grant", execute("--read", listening), FAILED, r"b\.sock"),
        ("allowing a socket that is none", execute("--read", listening, "--allow-socket", workspace), FAILED, "workspace"),
        ("an unknown backend", execute("--backend", "nothing"), FAILED, "nothing"),
        ("an unknown runtime", run("nothing"), FAILED, "nothing"),
        ("a runtime's missing program", run("codex", "--executable", "/no/such/codex"), FAILED, "/no/such/codex"),
        ("a search path without it", run("codex", "--search-path", folder), FAILED, "codex"),
        ("a relative search path", run("codex", "--search-path", "relative"), FAILED, "relative"),
        ("an empty prompt", run("codex", "--executable", folder + "/program", "--prompt-file", folder + "/empty-prompt"),
         FAILED, "empty"),
        ("a prompt with a zero byte", run("codex", "--executable", folder + "/program", "--prompt-file",
                                          folder + "/zero-prompt"), FAILED, "zero byte"),
        ("a prompt past the bound", run("codex", "--executable", folder + "/program", "--prompt-file",
                                        folder + "/long-prompt"), FAILED, "prompt"),
        ("a provider that is no URL", run("codex", "--executable", folder + "/program", "--provider-url", "nonsense"),
         FAILED, "nonsense"),
        ("a provider with user and password", run("codex", "--executable", folder + "/program", "--provider-url",
                                                  "http://u:p@host/"), FAILED, "user"),
        ("an audit file in the workspace", execute("--workspace", workspace, "--audit", workspace + "/a.jsonl"), FAILED,
         "audit"),
        ("an audit file in a read grant", execute("--read", workspace, "--audit", workspace + "/a.jsonl"), FAILED, "audit"),
        ("a grant that shows the folder of all runs", execute("--read", operator.state), FAILED, "audit"),
        ("an audit file in no folder", execute("--audit", folder + "/absent/a.jsonl"), FAILED, "audit"),
        ("an audit file that is a folder", execute("--audit", folder + "/home"), FAILED, "home"),
        ("an audit file that is a link", execute("--audit", folder + "/dangling"), FAILED, "dangling"),
        ("a managed variable", execute("--env", "HOME"), FAILED, "HOME"),
        ("a managed variable of the proxy", execute("--env", "https_proxy"), FAILED, "https_proxy"),
        ("a variable of glove's", execute("--env", "GLOVE_X"), FAILED, "GLOVE_X"),
        ("a variable with a value", execute("--env", "A=B"), FAILED, "A=B"),
        ("a variable that is not set", execute("--env", "NOT_SET_AT_ALL"), FAILED, "NOT_SET_AT_ALL"),
        ("a URL as host", execute("--allow-host", "http://example.org/"), FAILED, "leave out the scheme"),
        ("a pattern as host", execute("--allow-host", "*.example.org"), FAILED, r"below it: \.example\.org"),
        ("a port as forward", execute("--forward", "8080"), FAILED, "--forward 8080: .*\n.*PORT=HOST:PORT"),
        ("an empty host", execute("--allow-host", ""), FAILED, "host"),
        ("a host with a space", execute("--allow-host", "a b"), FAILED, "host"),
        ("a host that is a number", execute("--allow-host", "0x7f.1"), FAILED, "0x7f"),
        ("a host with two dots", execute("--allow-host", "a..b"), FAILED, r"a\.\.b"),
        ("port 0", execute("--allow-host", "example.org:0"), FAILED, "port"),
        ("port 65536", execute("--allow-host", "example.org:65536"), FAILED, "port"),
        ("a forward without a port", execute("--forward", "example.org"), FAILED, "example.org"),
        ("a forward to a suffix", execute("--forward", "8=.example.org:443"), FAILED, r"\.example\.org"),
        ("two forwards on a port", execute("--forward", "8=127.0.0.1:1", "--forward", "8=127.0.0.1:2"), FAILED, "port 8"),
        ("a limit of 0", execute("--limit", "pids=0"), FAILED, "pids"),
        ("a limit past 2^63", execute("--limit", "memory=9223372036854775808"), FAILED, "memory"),
        ("a limit past 2^63 by its suffix", execute("--limit", "memory=8388608T"), FAILED, "memory"),
        ("a limit that is no number", execute("--limit", "pids=many"), FAILED, "many"),
        ("a negative limit", execute("--limit", "pids=-1"), FAILED, "-1"),
        ("an unknown limit", execute("--limit", "luck=1"), FAILED, "luck"),
        ("a limit without a value", execute("--limit", "pids"), FAILED, "pids"),
        ("a terminal without one", execute("--tty"), FAILED, "terminal"),
        ("an audit file to explain that is missing", ("why", "--audit", folder + "/absent.jsonl"), FAILED, "absent"),
    ]


def entries(folder):
    return sorted(os.path.relpath(os.path.join(parent, name), folder)
                  for parent, folders, names in os.walk(folder) for name in folders + names)


def check(report, operator):
    for name, (verb, *arguments), status, pattern in cases(operator):
        before = entries(operator.folder)
        if verb == "why":
            command = operator.prefix() + [operator.glove(), verb, *arguments]
            import subprocess
            done = subprocess.run(command, env=operator.environment(), capture_output=True, check=False, timeout=30)
            result = gloveharness.Result(done.returncode, done.stdout, done.stderr)
        else:
            result = operator.run(verb, *arguments, timeout=30)
        error = [line for line in result.text_err().splitlines() if line.startswith("error[")]
        tried = [line for line in result.text_err().splitlines() if line.startswith("Try: ")]
        fine = (result.status == status and len(error) == 1 and len(tried) == 1
                and re.search(pattern, error[0] + "\n" + tried[0]) is not None)
        report.check(f"{operator.mode}: {name}", fine, result)
        after = [entry for entry in entries(operator.folder) if not entry.startswith(("state/glove", "home/.cache"))]
        left = [entry for entry in after if entry not in before]
        report.check(f"{operator.mode}: {name}: nothing is left", not left and not gloveharness.sandbox_processes(sys.argv[1]), left)


def main():
    report = gloveharness.Report()
    for operator in gloveharness.modes(report, sys.argv[1]):
        check(report, operator)
        operator.listener.close()
        operator.below.close()
    return report.finish()


sys.exit(main())
