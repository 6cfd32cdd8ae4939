# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agents: which package, which program, which path of the model server it asks. And the cache that they are installed into."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

INSTALL_SECONDS = 600
PING_SECONDS = 30


class Agent:
    def __init__(self, runtime, package, version, program, path):
        self.runtime, self.package, self.version, self.program, self.path = runtime, package, version, program, path


# The versions whose behaviour the adapters' READMEs describe; a newer patch of each is taken.
AGENTS = [
    Agent('codex', '@openai/codex', '0.171', 'codex', '/v1/responses'),
    Agent('pi', '@mariozechner/pi-coding-agent', '0.73', 'pi', '/v1/chat/completions'),
    Agent('claude-code', '@anthropic-ai/claude-code', '2.1', 'claude', '/v1/messages'),
    Agent('opencode', 'opencode-ai', '1.18', 'opencode', '/v1/chat/completions'),
    Agent('copilot', '@github/copilot', '1.0', 'copilot', '/v1/chat/completions'),
]


def cache_folder():
    return Path(os.environ.get('GLOVE_AGENTS_CACHE') or '/var/tmp/glove-agents').absolute()


def is_installed(cache, agent):
    try:
        found = json.loads((cache / 'node_modules' / agent.package / 'package.json').read_text())['version']
    except (OSError, ValueError, KeyError):
        return False
    return found.startswith(agent.version + '.') and os.access(cache / 'node_modules/.bin' / agent.program, os.X_OK)


def numbers(text):
    return [int(number) for number in re.findall(r'\d+', text)[:3]]


def wanted_node(cache, agent):
    """The Node.js that the package asks for where this one is older, else None."""
    try:
        least = json.loads((cache / 'node_modules' / agent.package / 'package.json').read_text())['engines']['node']
        here = subprocess.run(['node', '--version'], capture_output=True, text=True, check=True).stdout
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError):
        return None
    least = re.fullmatch(r'>=\s*([\d.]+)', least)
    return least[1] if least and numbers(here) < numbers(least[1]) else None


def registry_answers():
    """npm itself tries again for minutes, once a package."""
    try:
        return subprocess.run(['npm', 'ping', '--fetch-retries', '0'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=PING_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def install(cache):
    """Installs what is missing. Returns None, or why not."""
    missing = [agent for agent in AGENTS if not is_installed(cache, agent)]
    if not missing:
        return None
    if shutil.which('npm') is None:
        return 'npm is not installed'
    if not registry_answers():
        return 'the package registry can\'t be reached'
    cache.mkdir(parents=True, exist_ok=True)
    command = ['npm', 'install', '--no-audit', '--no-fund', '--prefix', str(cache),
               *(f'{agent.package}@~{agent.version}.0' for agent in missing)]
    print(f'# installing {", ".join(a.package for a in missing)} into {cache}', flush=True)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=INSTALL_SECONDS, text=True, errors='replace', check=False)
    except subprocess.TimeoutExpired:
        return f'the package registry did not answer within {INSTALL_SECONDS} s'
    missing = [agent.package for agent in AGENTS if not is_installed(cache, agent)]
    if not missing:
        return None
    said = [line for line in done.stdout.splitlines() if 'ERR' in line or 'error' in line]
    return f'{", ".join(missing)} can\'t be installed: {(said or ["npm said nothing"])[0].strip()[:200]}'
