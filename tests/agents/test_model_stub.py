#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The model stub: each dialect, streamed and whole, first turn and second; and what is not a request."""
import http.client
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from model_stub import BODY_MAX, ModelStub, shell_call  # noqa: E402

SHELL = {'type': 'object', 'properties': {'command': {'type': 'string'}, 'description': {'type': 'string'}}}
FIRST = {
    '/v1/responses': {'input': [{'role': 'user', 'content': [{'type': 'input_text', 'text': 'go'}]}],
                      'tools': [{'type': 'namespace', 'tools': [{'type': 'function', 'name': 'shell', 'parameters': SHELL}]}]},
    '/v1/chat/completions': {'messages': [{'role': 'user', 'content': 'go'}],
                             'tools': [{'type': 'function', 'function': {'name': 'bash', 'parameters': SHELL}}]},
    '/v1/messages': {'messages': [{'role': 'user', 'content': 'go'}], 'tools': [{'name': 'Bash', 'input_schema': SHELL}]},
}
RESULTS = {
    '/v1/responses': ('input', {'type': 'function_call_output', 'call_id': 'call_1', 'output': 'made'}),
    '/v1/chat/completions': ('messages', {'role': 'tool', 'tool_call_id': 'call_1', 'content': 'made'}),
    '/v1/messages': ('messages', {'role': 'user', 'content': [{'type': 'tool_result', 'content': [{'text': 'made'}]}]}),
}
failures = count = 0


def check(name, condition):
    global failures, count
    count += 1
    failures += not condition
    print(f'{"ok" if condition else "not ok"} {count} - {name}')


def ask(stub, path, body, method='POST', headers=None):
    connection = http.client.HTTPConnection('127.0.0.1', stub.port, timeout=10)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, headers or {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def second(path):
    key, result = RESULTS[path]
    return {**FIRST[path], key: [*FIRST[path][key], result]}


def check_dialect(stub, path, streamed):
    name = f'{path} {"streamed" if streamed else "whole"}'
    extra = {'model': 'stub', 'stream': streamed}
    status, text = ask(stub, path, {**FIRST[path], **extra})
    # In a stream the arguments are JSON in a JSON string.
    check(f'{name}: calls the shell tool first', status == 200 and 'do it' in text and 'FINAL' not in text)
    status, text = ask(stub, path, {**second(path), **extra})
    check(f'{name}: ends when it has the result', status == 200 and 'FINAL' in text and 'do it' not in text)
    if streamed:
        events = [line[6:] for line in text.splitlines() if line.startswith('data: ')]
        check(f'{name}: every event is JSON', all(e == '[DONE]' or isinstance(json.loads(e), dict) for e in events))
    kept = stub.requests[-1]
    check(f'{name}: keeps what was asked', kept['path'] == path and kept['results'] == ['made'] and 'go' in kept['prompts'])


def check_refusals(stub):
    for name, path, body, headers, expected in (
            ('not JSON', '/v1/messages', b'{', {}, 400), ('not an object', '/v1/messages', b'[]', {}, 400),
            ('no model', '/v1/messages', b'{}', {}, 400), ('no such path', '/v1/nothing', b'{}', {}, 404),
            ('an encoding', '/v1/messages', b'{}', {'content-encoding': 'br'}, 415),
            ('not gzip', '/v1/messages', b'{}', {'content-encoding': 'gzip'}, 400),
            ('too large', '/v1/messages', b'', {'content-length': str(BODY_MAX + 1)}, 413),
            ('a negative length', '/v1/messages', b'', {'content-length': '-1'}, 413)):
        status, _ = ask(stub, path, body, headers=headers)
        check(f'refuses {name}', status == expected)
    status, text = ask(stub, '/v1/models', b'', 'GET')
    check('lists its model', status == 200 and json.loads(text)['data'][0]['id'] == 'stub')


def main():
    with ModelStub(command='do it', final='FINAL') as stub:
        for path in FIRST:
            for streamed in (True, False):
                check_dialect(stub, path, streamed)
        check_refusals(stub)
        status, text = ask(stub, '/v1/messages', {'model': 'stub', 'messages': []})
        check('says something when there are no tools', status == 200 and 'A title' in text)
    array = [{'name': 'shell', 'parameters': {'properties': {'command': {'type': 'array'}}}}]
    check('an array of words, where the tool asks for one', shell_call(array, 'x')[1] == {'command': ['bash', '-lc', 'x']})
    check('no tool, no call', shell_call([{'name': 'read'}], 'x') is None)
    print(f'1..{count}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
