"""Define how requests and answers are exchanged with one client on a control channel, independent of the transport.

A route (an address or a command) opens wires in the environment of a check. Each wire chooses the ids of its
requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from harness.environment import Environment, Stream
from harness.errors import ConformanceFailure
from harness.printable import one_line
from reference_qm.surface.inputs import Endpoint

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_SHOWN_UNMATCHED_IDS = 3
LONGEST_UNMATCHED_IDS_CHARACTERS = 60
UTF8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The bytes that .NET writes before the first line of a UTF-8 stream."""


class MissingElement(ConformanceFailure, KeyError):
    """Raised when a check reads an element that is missing in an answer from the SUT."""

    __str__ = ConformanceFailure.__str__


class ControlReply(dict[str, Any]):
    """A JSON object in an answer from the SUT. Reading a missing element raises MissingElement."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise MissingElement(f"an answer on the SUT's control channel has no {name!r}")


class ControlReplyReceiver(Protocol):
    """The interface of the object that receives the events of a wire."""

    def on_connection_open(self) -> None:
        """Handle the opening of the channel. From now on, the channel accepts requests."""

    def on_reply(self, reply: ControlReply) -> None:
        """Handle an answer. The answer has an ``id``, but this id may have any JSON type."""

    def on_end(self, why: str) -> None:
        """Handle the end of the channel. No further answers arrive."""


class ControlChannelConnection(Protocol):
    """The interface of one connection (wire) of a control channel."""

    @property
    def min_answer_wait_ms(self) -> int:
        """int ms: the minimum time to wait for the next answer. The time for the first answer of a command includes
        the start of the command.
        """

    @property
    def unmatched_ids(self) -> Sequence[Any]:
        """The ids of the first few answers that match no request."""

    def send_request(self, verb: str, arguments: dict[str, Any]) -> int:
        """Send a request on the control channel; return the id of the request."""

    def close(self) -> None:
        """Close the connection. Opened objects are closed, pending requests are canceled, and the sink receives no
        further events.
        """


class ControlRoute(Protocol):
    """A way to connect to a control channel: an address or a command. ``name`` is the name of the control channel
    in messages.
    """

    name: str

    def open(self, environment: Environment, sink: ControlReplyReceiver) -> ControlChannelConnection:
        """Open a connection (wire) of the control channel. Raise SutUnavailable if it is already known that this
        fails. Later, ``on_connection_open`` or ``on_end`` of the sink is called.
        """


def describe_missing_answer(unmatched_ids: Sequence[Any]) -> str:
    """Return the message about an answer that did not arrive. ``unmatched_ids`` contains the ids of answers that
    match no request.
    """
    if not unmatched_ids:
        return "no answer arrived in time"
    ids = one_line(", ".join(map(repr, unmatched_ids[:MAX_SHOWN_UNMATCHED_IDS])), LONGEST_UNMATCHED_IDS_CHARACTERS)
    return f"no answer arrived in time; an answer arrived with an id that no request has: {ids} (ids are integers)"


def describe_non_agent(identity: Mapping[str, Any]) -> str | None:
    """Return a message if the answer to `identity` shows that the program is not an agent, or None if it may be an
    agent.
    """
    if type(identity.get("ok")) is bool:
        return None
    what = "sends the tester's requests back" if identity.get("verb") == "identity" else "answers without `ok`"
    return f"{what}: it does not speak the control protocol"


class InvalidAnswerLine(ValueError):
    """Raised when input from a control channel is not an answer of the control protocol. The one-line message describes
    the error.
    """


class AnswerLines:
    """A parser that splits received bytes into answers of the control protocol. The bytes are given in pieces of
    any size.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._has_read_line = False

    def feed(self, data: bytes) -> Iterator[ControlReply]:
        """Yield the complete answers. Raise InvalidAnswerLine for an invalid line; all input after it is ignored."""
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            yield self._parse_answer_line(line)
        if len(self._buffer) > MAX_LINE_BYTES:
            raise InvalidAnswerLine(f"an answer is longer than {MAX_LINE_BYTES} bytes")

    def _parse_answer_line(self, line: bytes) -> ControlReply:
        first, self._has_read_line = not self._has_read_line, True
        text = line.removeprefix(UTF8_BYTE_ORDER_MARK) if first else line
        try:
            reply = json.loads(text, object_hook=ControlReply)
            hash(reply["id"])
        except (ValueError, TypeError, KeyError, RecursionError):
            noise = "; nothing but answers may be written to standard output or the connection" if first else ""
            raise InvalidAnswerLine(f"a line is not a JSON object with an id: {line[:80]!r}{noise}") from None
        if reply["id"] is None:
            raise InvalidAnswerLine(f"an answer matches no request: {ascii(reply.get('error'))[:200]}")
        found: ControlReply = reply
        return found


def encode_request_line(number: int, verb: str, arguments: dict[str, Any]) -> bytes:
    """Return the JSON line that encodes a request with the given verb."""
    return json.dumps({"id": number, "verb": verb, **arguments}, separators=(",", ":")).encode() + b"\n"


class TcpRoute:
    """A control channel at a TCP address. Each wire is a separate connection."""

    def __init__(self, endpoint: Endpoint, local_host: str = "") -> None:
        self.endpoint = endpoint
        self.local_host = local_host
        self.name = f"control {endpoint.host}:{endpoint.port}"

    def open(self, environment: Environment, sink: ControlReplyReceiver) -> TcpWire:
        return TcpWire(environment, self, sink)


class TcpWire:
    """A wire that is a TCP connection. Input after the first invalid answer is discarded."""

    min_answer_wait_ms = 0

    def __init__(self, environment: Environment, route: TcpRoute, sink: ControlReplyReceiver) -> None:
        self._sink = sink
        self._lines = AnswerLines()
        self._number = 0
        self._ended = False
        self.unmatched_ids: list[Any] = []
        self._stream: Stream = environment.connect(route.endpoint, route.local_host, self)

    def send_request(self, verb: str, arguments: dict[str, Any]) -> int:
        self._number += 1
        self._stream.send(encode_request_line(self._number, verb, arguments))
        return self._number

    def close(self) -> None:
        self._ended = True
        self._stream.close()

    def on_connection_open(self) -> None:
        self._sink.on_connection_open()

    def on_failed(self, error: str) -> None:
        self._sink.on_end(error)

    def on_bytes(self, data: bytes) -> None:
        try:
            for reply in self._lines.feed(data):
                if not self._ended:
                    self._check_answer_number(reply["id"])
                    self._sink.on_reply(reply)
        except InvalidAnswerLine as error:
            self.close()
            self._sink.on_end(str(error))

    def _check_answer_number(self, number: Any) -> None:
        asked = type(number) is int and 1 <= number <= self._number
        if not asked and len(self.unmatched_ids) < MAX_SHOWN_UNMATCHED_IDS:
            self.unmatched_ids.append(number)

    def on_closed(self, reason: str) -> None:
        self._sink.on_end(reason)
