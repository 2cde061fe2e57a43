"""Define the conversation of one client on a control channel, with requests and answers, independent of the transport.

A route (an address, a command) opens wires in the environment of a check; each wire chooses the ids of its requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from harness.environment import Environment, Stream
from harness.errors import ConformanceFailure
from harness.printable import one_line
from reference_qm.surface.inputs import Endpoint

LINE_LIMIT = 16 * 1024 * 1024
MOST_SHOWN_STRANGERS = 3
LONGEST_STRANGER_CHARACTERS = 60
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The bytes that .NET writes before the first line of a stream in UTF-8."""


class MissingElement(ConformanceFailure, KeyError):
    """An answer from the SUT lacks an element that a check reads."""

    __str__ = ConformanceFailure.__str__


class Reply(dict[str, Any]):
    """An object in an answer; a missing element is an error of the SUT."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise MissingElement(f"an answer on the SUT's control channel has no {name!r}")


class ReplySink(Protocol):
    """The receiver of a wire's events."""

    def on_open(self) -> None:
        """Handle an open channel, which now accepts requests."""

    def on_reply(self, reply: Reply) -> None:
        """Handle an answer, which has an ``id`` of any type."""

    def on_end(self, why: str) -> None:
        """Handle the end of the channel, after which no answers arrive."""


class Wire(Protocol):
    """The interface of a conversation on a control channel."""

    @property
    def patience_ms(self) -> int:
        """int ms: the least time to wait for the next answer; the first answer of a command includes the start of the
        command.
        """

    @property
    def strangers(self) -> Sequence[Any]:
        """The first few ids of answers that match no request."""

    def ask(self, verb: str, arguments: dict[str, Any]) -> int:
        """Send a request; return its id."""

    def close(self) -> None:
        """Close the conversation: opened objects are closed, pending requests are canceled, and the sink gets no
        further events.
        """


class Route(Protocol):
    """The interface of a route to a control channel. ``name``: its name in messages."""

    name: str

    def open(self, environment: Environment, sink: ReplySink) -> Wire:
        """Open a wire; raise SutUnavailable if this is known to fail. ``on_open`` or ``on_end`` of the sink is called
        later.
        """


def no_answer(strangers: Sequence[Any]) -> str:
    """Return the message for a missing answer. ``strangers``: ids of answers that belong to no request."""
    if not strangers:
        return "no answer in time"
    ids = one_line(", ".join(map(repr, strangers[:MOST_SHOWN_STRANGERS])), LONGEST_STRANGER_CHARACTERS)
    return f"no answer in time; an answer arrived with an id that no request has: {ids} (ids are integers)"


def describe_stranger(identity: Mapping[str, Any]) -> str | None:
    """Return the message about a program that is not an agent, from its answer to `identity`; None for a possible
    agent.
    """
    if type(identity.get("ok")) is bool:
        return None
    what = "sends the tester's requests back" if identity.get("verb") == "identity" else "answers without `ok`"
    return f"{what}: it does not speak the control protocol"


class NoAnswer(ValueError):
    """The input is not a line of the protocol; the message describes it in one line."""


class AnswerLines:
    """Splits bytes, which arrive in pieces of any size, into answers."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._any = False

    def feed(self, data: bytes) -> Iterator[Reply]:
        """Yield the complete answers; raise NoAnswer for an invalid line, after which no input is accepted."""
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            yield self._parse_answer_line(line)
        if len(self._buffer) > LINE_LIMIT:
            raise NoAnswer(f"an answer is longer than {LINE_LIMIT} bytes")

    def _parse_answer_line(self, line: bytes) -> Reply:
        first, self._any = not self._any, True
        text = line.removeprefix(BYTE_ORDER_MARK) if first else line
        try:
            reply = json.loads(text, object_hook=Reply)
            hash(reply["id"])
        except (ValueError, TypeError, KeyError, RecursionError):
            noise = "; nothing but answers may be written to standard output or the connection" if first else ""
            raise NoAnswer(f"a line is not a JSON object with an id: {line[:80]!r}{noise}") from None
        if reply["id"] is None:
            raise NoAnswer(f"an answer belongs to no request: {ascii(reply.get('error'))[:200]}")
        found: Reply = reply
        return found


def request_line(number: int, verb: str, arguments: dict[str, Any]) -> bytes:
    """Return the line that sends a request."""
    return json.dumps({"id": number, "verb": verb, **arguments}, separators=(",", ":")).encode() + b"\n"


class TcpRoute:
    """A control channel at an address: each wire is a connection."""

    def __init__(self, endpoint: Endpoint, local_host: str = "") -> None:
        self.endpoint = endpoint
        self.local_host = local_host
        self.name = f"control {endpoint.host}:{endpoint.port}"

    def open(self, environment: Environment, sink: ReplySink) -> TcpWire:
        return TcpWire(environment, self, sink)


class TcpWire:
    """A wire over one connection. Input after the first invalid answer is discarded."""

    patience_ms = 0

    def __init__(self, environment: Environment, route: TcpRoute, sink: ReplySink) -> None:
        self._sink = sink
        self._lines = AnswerLines()
        self._number = 0
        self._ended = False
        self.strangers: list[Any] = []
        self._stream: Stream = environment.connect(route.endpoint, route.local_host, self)

    def ask(self, verb: str, arguments: dict[str, Any]) -> int:
        self._number += 1
        self._stream.send(request_line(self._number, verb, arguments))
        return self._number

    def close(self) -> None:
        self._ended = True
        self._stream.close()

    def on_open(self) -> None:
        self._sink.on_open()

    def on_failed(self, error: str) -> None:
        self._sink.on_end(error)

    def on_bytes(self, data: bytes) -> None:
        try:
            for reply in self._lines.feed(data):
                if not self._ended:
                    self._check_answer_number(reply["id"])
                    self._sink.on_reply(reply)
        except NoAnswer as error:
            self.close()
            self._sink.on_end(str(error))

    def _check_answer_number(self, number: Any) -> None:
        asked = type(number) is int and 1 <= number <= self._number
        if not asked and len(self.strangers) < MOST_SHOWN_STRANGERS:
            self.strangers.append(number)

    def on_closed(self, reason: str) -> None:
        self._sink.on_end(reason)
