"""A real HTTP server on this machine that speaks chat completions, and says what a test wants.

It also speaks as much of Anthropic's messages as its replies need. It listens on 127.0.0.1 alone.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    """A tool call within a reply."""

    name: str
    arguments: dict[str, Any] | str
    """Text is sent as it is, so it may be broken JSON."""
    id: str = "call_1"

    @property
    def text(self) -> str:
        """The arguments as they are sent."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Says:
    """An answer: text, or tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: tuple[int, int] | None = (120, 15)
    """Input and output tokens; None leaves usage out."""
    finish_reason: str | None = ""
    """Empty: `stop`, or `tool_calls` where there are any. None leaves it out."""
    breaks_off: bool = False
    """The connection is closed in the middle (streams only)."""

    @property
    def reason(self) -> str | None:
        """The finish reason as it is sent."""
        if self.finish_reason != "":
            return self.finish_reason
        return "tool_calls" if self.calls else "stop"


@dataclass(frozen=True)
class Refuses:
    """An error status."""

    status: int
    message: str = "not now"
    code: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Raw:
    """A body that is sent as it is."""

    body: str
    content_type: str = "application/json"


class Hangs:
    """No answer until the server closes."""


class Drops:
    """The connection is closed without an answer."""


Line = Says | Refuses | Raw | Hangs | Drops
Script = Callable[[dict[str, Any]], Line]


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: dict[str, Any]
    client_port: int
    """Tells one connection from another."""


class ChatServer:
    """Answers each request with its next line, or with what a function makes of the request."""

    def __init__(self, *lines: Line, script: Script | None = None) -> None:
        self.received: list[Received] = []
        self._lines, self._script = list(lines), script
        self._closing = threading.Event()
        self._lock = threading.Lock()
        served = type("Handler", (_Handler,), {"chat": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), served)
        self._http.daemon_threads, self._http.block_on_close = True, False

    @property
    def host(self) -> str:
        """Its address without a path, as Anthropic's SDK wants it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """Its base URL, as OpenAI's SDK wants it."""
        return f"{self.host}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests so far."""
        return [received.body for received in self.received]

    def next_line(self, received: Received) -> Line:
        """Take note of a request and return the answer to it."""
        with self._lock:
            self.received.append(received)
            if self._script:
                return self._script(received.body)
            return self._lines.pop(0) if self._lines else Refuses(500, "the script is over")

    def hang(self) -> None:
        """Wait until the server closes."""
        self._closing.wait()

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        line = self.chat.next_line(Received(self.path, headers, body, self.client_address[1]))
        match line:
            case Says() if body.get("stream"):
                self._stream(line, body)
            case Says():
                whole = _message if self._is_anthropic else _completion
                self._send(200, json.dumps(whole(line, body["model"])))
            case Refuses():
                error = {"message": line.message, "type": line.code or "error", "code": line.code}
                self._send(line.status, json.dumps({"error": error}), headers=dict(line.headers))
            case Raw():
                self._send(200, line.body, line.content_type)
            case Hangs():
                self.chat.hang()
                self.close_connection = True
            case Drops():
                self.close_connection = True

    @property
    def _is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def _stream(self, line: Says, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        parts = _message_parts if self._is_anthropic else _completion_parts
        for part in parts(line, body["model"]):
            self._chunk(part)
        if line.breaks_off:
            self.close_connection = True
        else:
            self._chunk("")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send(
        self,
        status: int,
        body: str,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


def _completion(line: Says, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": line.text or None}
    if line.calls:
        message["tool_calls"] = [_function(call) for call in line.calls]
    choice = {"index": 0, "message": message, "finish_reason": line.reason}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": model}
    return {**body, "choices": [choice], **_usage(line)}


def _completion_parts(line: Says, model: str) -> Iterator[str]:
    def part(delta: dict[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _sse({**head, "choices": [choice]})

    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
    yield part({"role": "assistant", "content": ""})
    half = len(line.text) // 2
    for text in filter(None, (line.text[:half], line.text[half:])):
        yield part({"content": text})
        if line.breaks_off:
            return
    for index, call in enumerate(line.calls):
        function = {"name": call.name, "arguments": ""}
        start = {"index": index, "id": call.id, "type": "function", "function": function}
        yield part({"tool_calls": [start]})
        half = len(call.text) // 2
        for text in (call.text[:half], call.text[half:]):
            yield part({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
            if line.breaks_off:
                return
    if line.reason:
        yield part({}, line.reason)
    if line.usage:
        yield _sse({**head, "choices": [], **_usage(line)})
    yield "data: [DONE]\n\n"


def _function(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.text}
    return {"id": call.id, "type": "function", "function": function}


def _usage(line: Says) -> dict[str, Any]:
    if line.usage is None:
        return {}
    given, made = line.usage
    counts = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    return {"usage": counts}


def _message(line: Says, model: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": line.text}] if line.text else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in line.calls
    ]
    given, made = line.usage or (0, 0)
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": "tool_use" if line.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": given, "output_tokens": made},
    }


def _message_parts(line: Says, model: str) -> Iterator[str]:
    whole = _message(line, model)
    given, made = line.usage or (0, 0)
    start = {**whole, "content": [], "stop_reason": None}
    start["usage"] = {"input_tokens": given, "output_tokens": 1}
    yield _event("message_start", message=start)
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            given_as = block["input"]
            text = given_as if isinstance(given_as, str) else json.dumps(given_as)
            delta = {"type": "input_json_delta", "partial_json": text}
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        if line.breaks_off:
            return
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=end, usage={"output_tokens": made})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\n{_sse({'type': kind, **fields})}"


def _sse(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
