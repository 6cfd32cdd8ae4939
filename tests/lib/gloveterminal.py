# SPDX-License-Identifier: LGPL-2.1-or-later
"""glove in a pseudo terminal. Standard library only."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time


class Terminal:
    """glove in a terminal of its own, as a person has it: a shell's job control is the test's."""

    def __init__(self, operator, *command, size=(40, 100)):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        os.fchown(slave, operator.uid, -1)
        self.slave = slave
        self.saved = termios.tcgetattr(slave)

        def controlling():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(operator.command("exec", "-q", *command), env=operator.environment(),
                                        cwd=operator.folder, stdin=slave, stdout=slave, stderr=slave,
                                        preexec_fn=controlling)
        self.output = b""

    def read_until(self, text, seconds=15):
        deadline = time.monotonic() + seconds
        while text not in self.output and time.monotonic() < deadline:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if ready:
                try:
                    self.output += os.read(self.master, 4096)
                except OSError:
                    break
        return text in self.output

    def type(self, data):
        os.write(self.master, data)

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def state(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def restored(self):
        return termios.tcgetattr(self.slave)[:4] == self.saved[:4]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
