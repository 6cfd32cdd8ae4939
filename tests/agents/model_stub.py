# SPDX-License-Identifier: LGPL-2.1-or-later
"""A scripted model on 127.0.0.1, for real agents. In the first turn of a task it calls the agent's own shell tool; when the agent
hands the result back, it says the final words. Speaks OpenAI Responses, Chat Completions and Anthropic Messages, each streamed or
whole. Every request is kept, so that a test can ask what the agent sent."""
import http.server
import json
import threading
import zlib

BODY_MAX = 32 * 1024 * 1024
SHELL_TOOLS = ('exec_command', 'shell_command', 'shell', 'local_shell', 'bash', 'Bash', 'container.exec')


class BadRequest(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def flatten_tools(tools):
    """Tool descriptions, whatever the dialect: {name, schema}. Namespaces nest."""
    found = []
    for tool in tools or []:
        if tool.get('type') == 'namespace':
            found += flatten_tools(tool.get('tools'))
            continue
        function = tool.get('function') or tool
        if isinstance(function.get('name'), str):
            schema = function.get('parameters') or function.get('input_schema') or {}
            found.append((function['name'], schema.get('properties') or {}))
    return found


def shell_call(tools, command):
    """The call of the agent's shell tool that runs @command, by what the tool's own schema asks for; None when it has none."""
    offered = dict(flatten_tools(tools))
    for name in SHELL_TOOLS:
        if name not in offered:
            continue
        properties = offered[name]
        key = 'cmd' if 'cmd' in properties else 'command'
        value = ['bash', '-lc', command] if (properties.get(key) or {}).get('type') == 'array' else command
        arguments = {key: value}
        if 'description' in properties:
            arguments['description'] = 'does the task'
        return name, arguments
    return None


class Turn:
    """What the model says in answer to one request: a tool call or text."""

    def __init__(self, stub, number, body, results):
        self.id = number
        self.model = body.get('model')
        self.call = None if results else shell_call(body.get('tools'), stub.command)
        self.text = None if self.call else stub.final if results or body.get('tools') else 'A title'


def text_of(content):
    """The text of a content value: a string, or parts with text in them."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return '\n'.join(text_of(part.get('text') or part.get('content') or part.get('output') or '')
                         for part in content if isinstance(part, dict))
    return ''


# --- OpenAI Responses ---
def responses_read(body):
    items = body.get('input')
    items = items if isinstance(items, list) else [{'role': 'user', 'content': items}]
    results = [text_of(i.get('output')) for i in items if str(i.get('type')).endswith('_call_output')]
    prompts = [text_of(i.get('content')) for i in items if i.get('role') == 'user']
    return prompts, results


def responses_item(turn, done):
    if turn.call:
        return {'type': 'function_call', 'id': f'fc_{turn.id}', 'call_id': f'call_{turn.id}', 'name': turn.call[0],
                'arguments': json.dumps(turn.call[1]) if done else '', 'status': 'completed' if done else 'in_progress'}
    part = {'type': 'output_text', 'text': turn.text, 'annotations': []}
    return {'type': 'message', 'id': f'msg_{turn.id}', 'role': 'assistant', 'content': [part] if done else [],
            'status': 'completed' if done else 'in_progress'}


def responses_whole(turn):
    usage = {'input_tokens': 10, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 5,
             'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 15}
    return {'id': f'resp_{turn.id}', 'object': 'response', 'created_at': 1, 'model': turn.model, 'status': 'completed',
            'output': [responses_item(turn, True)], 'usage': usage}


def responses_stream(turn):
    whole = responses_whole(turn)
    item = responses_item(turn, True)
    events = [('response.created', {'response': {**whole, 'status': 'in_progress', 'output': []}}),
              ('response.output_item.added', {'output_index': 0, 'item': responses_item(turn, False)})]
    where = {'item_id': item['id'], 'output_index': 0}
    if turn.call:
        events += [('response.function_call_arguments.delta', {**where, 'delta': item['arguments']}),
                   ('response.function_call_arguments.done', {**where, 'arguments': item['arguments']})]
    else:
        where['content_index'] = 0
        part = {'type': 'output_text', 'text': '', 'annotations': []}
        events += [('response.content_part.added', {**where, 'part': part}),
                   ('response.output_text.delta', {**where, 'delta': turn.text}),
                   ('response.output_text.done', {**where, 'text': turn.text})]
    events += [('response.output_item.done', {'output_index': 0, 'item': item}), ('response.completed', {'response': whole})]
    return [(name, {'type': name, 'sequence_number': number, **data}) for number, (name, data) in enumerate(events)]


# --- OpenAI Chat Completions ---
def chat_read(body):
    messages = body.get('messages') or []
    results = [text_of(m.get('content')) for m in messages if m.get('role') == 'tool']
    prompts = [text_of(m.get('content')) for m in messages if m.get('role') == 'user']
    return prompts, results


def chat_calls(turn):
    return [{'index': 0, 'id': f'call_{turn.id}', 'type': 'function',
             'function': {'name': turn.call[0], 'arguments': json.dumps(turn.call[1])}}]


def chat_whole(turn):
    message = {'role': 'assistant', 'content': turn.text}
    if turn.call:
        message['tool_calls'] = chat_calls(turn)
    return {'id': f'chatcmpl-{turn.id}', 'object': 'chat.completion', 'created': 1, 'model': turn.model,
            'usage': {'prompt_tokens': 10, 'completion_tokens': 5, 'total_tokens': 15},
            'choices': [{'index': 0, 'finish_reason': 'tool_calls' if turn.call else 'stop', 'message': message}]}


def chat_stream(turn):
    whole = chat_whole(turn)
    head = {'id': whole['id'], 'object': 'chat.completion.chunk', 'created': 1, 'model': turn.model}

    def chunk(delta, reason=None, **more):
        return None, {**head, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': reason}], **more}
    said = {'tool_calls': chat_calls(turn)} if turn.call else {'content': turn.text}
    return [chunk({'role': 'assistant', 'content': None if turn.call else ''}), chunk(said),
            chunk({}, whole['choices'][0]['finish_reason'], usage=whole['usage']), (None, '[DONE]')]


# --- Anthropic Messages ---
def messages_read(body):
    prompts, results = [], []
    for message in body.get('messages') or []:
        content = message.get('content')
        parts = content if isinstance(content, list) else [{'type': 'text', 'text': content}]
        for part in parts:
            if part.get('type') == 'tool_result':
                results.append(text_of(part.get('content')))
            elif part.get('type') == 'text' and message.get('role') == 'user':
                prompts.append(part.get('text') or '')
    return prompts, results


def messages_whole(turn):
    block = ({'type': 'tool_use', 'id': f'toolu_{turn.id}', 'name': turn.call[0], 'input': turn.call[1]} if turn.call
             else {'type': 'text', 'text': turn.text})
    return {'id': f'msg_{turn.id}', 'type': 'message', 'role': 'assistant', 'model': turn.model, 'content': [block],
            'stop_reason': 'tool_use' if turn.call else 'end_turn', 'stop_sequence': None,
            'usage': {'input_tokens': 10, 'output_tokens': 5}}


def messages_stream(turn):
    whole = messages_whole(turn)
    block = whole['content'][0]
    empty = {**block, 'input': {}} if turn.call else {**block, 'text': ''}
    delta = ({'type': 'input_json_delta', 'partial_json': json.dumps(turn.call[1])} if turn.call
             else {'type': 'text_delta', 'text': turn.text})
    events = [('message_start', {'message': {**whole, 'content': [], 'stop_reason': None}}),
              ('content_block_start', {'index': 0, 'content_block': empty}),
              ('content_block_delta', {'index': 0, 'delta': delta}),
              ('content_block_stop', {'index': 0}),
              ('message_delta', {'delta': {'stop_reason': whole['stop_reason'], 'stop_sequence': None},
                                 'usage': {'output_tokens': 5}}),
              ('message_stop', {})]
    return [(name, {'type': name, **data}) for name, data in events]


DIALECTS = {
    '/responses': (responses_read, responses_whole, responses_stream),
    '/chat/completions': (chat_read, chat_whole, chat_stream),
    '/messages': (messages_read, messages_whole, messages_stream),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    timeout = 60

    def log_message(self, *_):
        pass

    def read_chunks(self):
        body = b''
        while True:
            size = int(self.rfile.readline(1024).split(b';')[0], 16)
            if len(body) + size > BODY_MAX:
                raise BadRequest(413, 'the body is too large')
            body += self.rfile.read(size)
            self.rfile.readline(1024)
            if size == 0:
                return body

    def read_body(self):
        try:
            if self.headers.get('transfer-encoding', '').lower() == 'chunked':
                body = self.read_chunks()
            else:
                length = int(self.headers.get('content-length', 0))
                if not 0 <= length <= BODY_MAX:
                    raise BadRequest(413, 'the body is too large')
                body = self.rfile.read(length)
        except ValueError as error:
            raise BadRequest(400, 'a length is not a number') from error
        encoding = self.headers.get('content-encoding', 'identity')
        if encoding == 'gzip':
            return zlib.decompress(body, 31)
        if encoding != 'identity':
            raise BadRequest(415, f'no content encoding {encoding}')
        return body

    def answer(self, status, data):
        payload = json.dumps(data).encode()
        self.send_response(status)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(payload)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(payload)

    def stream(self, events):
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.send_header('connection', 'close')
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(((f'event: {name}\n' if name else '') + f'data: {text}\n\n').encode())
            self.wfile.flush()

    def take_turn(self, path):
        dialect = next((d for suffix, d in DIALECTS.items() if path.endswith(suffix)), None)
        raw = self.read_body()
        if dialect is None:
            if path.endswith('/count_tokens'):
                return self.answer(200, {'input_tokens': 10})
            self.server.stub.note(path=path, unknown=True)
            return self.answer(404, {'error': {'type': 'not_found_error', 'message': f'nothing at {path}'}})
        read, whole, stream = dialect
        body = json.loads(raw)
        if not isinstance(body, dict) or not isinstance(body.get('model'), str):
            raise BadRequest(400, 'no model is named')
        prompts, results = read(body)
        number = self.server.stub.note(path=path, model=body['model'], prompts=prompts, results=results,
                                       key=self.headers.get('x-api-key') or self.headers.get('authorization'),
                                       tools=[name for name, _ in flatten_tools(body.get('tools'))])
        turn = Turn(self.server.stub, number, body, results)
        return self.stream(stream(turn)) if body.get('stream') else self.answer(200, whole(turn))

    def do_POST(self):
        try:
            self.take_turn(self.path.split('?')[0])
        except BadRequest as error:
            self.answer(error.status, {'error': {'type': 'invalid_request_error', 'message': str(error)}})
        except (json.JSONDecodeError, AttributeError, zlib.error) as error:
            self.answer(400, {'error': {'type': 'invalid_request_error', 'message': f'not a request: {error}'}})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_GET(self):
        if self.path.split('?')[0].endswith('/models'):
            return self.answer(200, {'object': 'list', 'data': [{'id': 'stub', 'object': 'model'}]})
        return self.answer(404, {'error': {'type': 'not_found_error', 'message': 'nothing here'}})

    def do_HEAD(self):
        self.answer(200, {})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """An agent may hang up whenever it likes."""


class ModelStub:
    """with ModelStub(…) as stub: … stub.url … stub.requests"""

    def __init__(self, command='echo made-by-agent > result.txt && cat result.txt', final='STUB-DONE'):
        self.command, self.final = command, final
        self.requests = []
        self.lock = threading.Lock()
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.stub = self
        self.port = self.server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def note(self, **request):
        with self.lock:
            self.requests.append(request)
            return len(self.requests)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
