# SPDX-License-Identifier: LGPL-2.1-or-later
"""One contained run: who starts it, the folders it works in, the program itself with pipes or with a terminal, and what is left of it."""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

AGENT_NAMES = re.compile(r'codex|claude|copilot|opencode|^pi-', re.IGNORECASE)
SHARED_FOLDERS = ('/tmp', '/var/tmp', '/dev/shm')


class Identity:
    """Who starts glove."""

    def __init__(self, name, uid):
        self.name, self.uid = name, uid
        own = os.geteuid() == uid
        self.prefix = [] if own else ['setpriv', '--reuid', str(uid), '--regid', str(uid), '--clear-groups', '--']


class Scratch:
    """The folders of one run. `name` is in every path, so that whatever is left can be told from what others do."""

    def __init__(self, identity):
        self.identity = identity
        self.root = Path(tempfile.mkdtemp(prefix='agents-lane-'))
        self.name = self.root.name
        self.root.chmod(0o755)
        self.shared_before = self.list_shared()
        self.started = time.time()
        for folder in ('home', 'state', 'run', 'tmp', 'work', 'audit', 'task'):
            path = self.root / folder
            path.mkdir(mode=0o700)
            os.chown(path, identity.uid, identity.uid)
        self.work, self.audit = self.root / 'work', self.root / 'audit/audit.jsonl'

    def write_prompt(self, text):
        path = self.root / 'task/prompt'
        path.write_text(text)
        path.chmod(0o644)
        return path

    def environment(self):
        return {'PATH': '/usr/local/bin:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm-256color',
                'HOME': f'{self.root}/home', 'XDG_STATE_HOME': f'{self.root}/state', 'XDG_RUNTIME_DIR': f'{self.root}/run',
                'TMPDIR': f'{self.root}/tmp'}

    @staticmethod
    def list_shared():
        return {f'{folder}/{name}' for folder in SHARED_FOLDERS for name in os.listdir(folder)}

    def events(self):
        if not self.audit.exists():
            return []
        return [json.loads(line) for line in self.audit.read_text().splitlines()]

    def find_processes(self):
        """Processes that have to do with this run: its folder is among their mounts, in their arguments or their environment."""
        found = []
        for entry in os.listdir('/proc'):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            for file in ('mountinfo', 'cmdline', 'environ'):
                try:
                    if self.name.encode() in Path('/proc', entry, file).read_bytes():
                        found.append(f'{entry} ({Path("/proc", entry, "comm").read_text().strip()})')
                        break
                except OSError:
                    continue
        return found

    def find_leftovers(self, tree):
        """What should not be there once glove has returned."""
        faults = []
        deadline = time.monotonic() + 3
        while self.find_processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        faults += [f'process {process} still runs' for process in self.find_processes()]
        if self.name in Path('/proc/self/mountinfo').read_text():
            faults.append('a mount is left on the host')
        for folder in ('home', 'run', 'tmp'):
            faults += [f'{path} is left' for path in sorted((self.root / folder).rglob('*'))]
        faults += [f'{path} is left' for path in self.list_shared() - self.shared_before
                   if AGENT_NAMES.search(os.path.basename(path)) and self.is_new(path)]
        changed = subprocess.run(['find', tree, '-newerct', f'@{self.started:.0f}', '-print', '-quit'], capture_output=True,
                                 text=True, check=False).stdout.strip()
        if changed:
            faults.append(f'{changed} was changed')
        return faults

    def is_new(self, path):
        try:
            return os.lstat(path).st_ctime >= self.started and self.name not in path
        except OSError:
            return False

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def lines(self):
        """For the log, when something is wrong."""
        text = [f'exit status {self.status} after {self.seconds:.1f} s']
        for name, data in (('stdout', self.out), ('stderr', self.err)):
            kept = [line for line in plain(data).splitlines() if line.strip()][-25:]
            # A terminal's screen is one long line: its end tells most.
            text += [f'{name}: {" ".join(line.split())[-400:]}' for line in kept]
        return text


def plain(data):
    """Without escape sequences and controls."""
    text = data.decode(errors='replace')
    text = re.sub(r'\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b.', ' ', text)
    return ''.join(c if c.isprintable() or c == '\n' else ' ' for c in text)


def end(process):
    """Ends glove by its process group, and waits."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def run(scratch, command, seconds):
    """With pipes; nothing on standard input. The status is None when it did not end in time."""
    started = time.monotonic()
    process = subprocess.Popen([*scratch.identity.prefix, *command], env=scratch.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd='/')
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end(process)
        out, err = process.communicate()
        return Result(None, out, err, time.monotonic() - started)
    return Result(process.returncode, out, err, time.monotonic() - started)


class Terminal:
    """glove at a terminal of 40 by 120."""

    def __init__(self, scratch, command):
        self.started = time.monotonic()
        self.out = b''
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
        self.process = subprocess.Popen(
            [*scratch.identity.prefix, *command], env=scratch.environment(), stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, cwd='/', preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def pump(self, seconds, until=lambda: False):
        """Reads, and answers what a terminal is asked, until @until holds, the program ends or time is up."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not until():
            if not select.select([self.master], [], [], 0.1)[0]:
                if self.process.poll() is not None:
                    break
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            if not data:
                break
            self.out += data
            if b'\x1b[6n' in data:
                os.write(self.master, b'\x1b[1;1R')
            if b'\x1b[c' in data:
                os.write(self.master, b'\x1b[?62;c')
        return until()

    def type(self, data):
        try:
            os.write(self.master, data)
        except OSError:
            pass

    def finish(self, seconds):
        deadline = time.monotonic() + seconds
        self.pump(seconds, lambda: self.process.poll() is not None)
        # The terminal can be closed a moment before the process has ended.
        try:
            status = self.process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            status = None
            end(self.process)
        self.pump(0.5)
        os.close(self.master)
        return Result(status, self.out, b'', time.monotonic() - self.started)
