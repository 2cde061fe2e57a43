"""The control channel of a SUT: JSON Lines (docs/control-protocol.md), over TCP or inside this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from harness.environment import Environment, Stream
from harness.environment.system_host import SystemHost
from harness.errors import ConformanceFailure, SutUnavailable
from reference_qm.control import answer, request_from
from reference_qm.surface.commands import CancelWaiting, Request, Result
from reference_qm.surface.effects import Completed, Rejected
from reference_qm.surface.inputs import Endpoint
from reference_qm.surface.surroundings import HostRequest

ANSWER_MS = 10_000
LINE_LIMIT = 16 * 1024 * 1024
ANSWERS_LIMIT = 1_000
"""Answers that may wait for somebody to ask for them."""
REASON_LIMIT = 500
"""Characters of a SUT's reason that are repeated."""


class ControlRefused(ConformanceFailure):
    """The SUT answered a verb with ok = false."""


class MissingElement(ConformanceFailure, KeyError):
    """An answer of the SUT lacks what a check looks for in it."""

    __str__ = ConformanceFailure.__str__


class Reply(dict[str, Any]):
    """An object of an answer: what is not in it is the SUT's mistake."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        raise MissingElement(f"an answer on the SUT's control channel has no {name!r}")


class Control(Protocol):
    """A control channel, with a method for its verbs."""

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a verb; ControlRefused when the SUT says no, SutUnavailable when it says nothing."""

    def begin(self, verb: str, **arguments: Any) -> int:
        """Ask for a verb whose answer may come much later; return the id of the request, which ``cancel`` takes."""

    def answer(self, request: int) -> dict[str, Any] | None:
        """Return the answer to a request that was begun, once; None while there is none."""

    def close(self) -> None:
        """Hang up."""


class VirtualControl:
    """The control protocol of a reference core in this process: the same verbs, no socket."""

    def __init__(self, host: SystemHost) -> None:
        self.host = host
        self._on_host: dict[str, Callable[[], None]] = {"restart": host.restart, "reset": host.reset}

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        if verb in self._on_host:
            self._on_host[verb]()
            self._confirm_life(verb)
            return {}
        number = self.begin(verb, **arguments)
        timeout_ms = ANSWER_MS + int(arguments.get("timeout_ms") or 0)
        self.host.environment.run_until(lambda: number in self.host.answers or not self.host.lives, timeout_ms)
        reply = self.answer(number)
        if reply is None:
            self._confirm_life(verb)
            raise SutUnavailable(f"control: {verb}: no answer in time")
        return _checked(verb, reply)

    def begin(self, verb: str, **arguments: Any) -> int:
        return self.host.begin(_request(verb, arguments))

    def _confirm_life(self, verb: str) -> None:
        if not self.host.lives:
            how = f"ended with {self.host.ended}" if self.host.ended else "hangs"
            raise SutUnavailable(f"control: {verb}: the system {how}")

    def answer(self, request: int) -> dict[str, Any] | None:
        found = self.host.answers.pop(request, None)
        return None if found is None else _reply(found)

    def close(self) -> None:
        """Do nothing: no connection is open."""


class JsonlControl:
    """One JSON object per line over TCP."""

    def __init__(
        self, environment: Environment, endpoint: Endpoint, local_host: str, *, answer_ms: int = ANSWER_MS
    ) -> None:
        self.environment = environment
        self.answer_ms = answer_ms
        self.endpoint = endpoint
        self._buffer = bytearray()
        self._answers: dict[int, dict[str, Any]] = {}
        self._next = 0
        self._state = "connecting"
        self._stream: Stream = environment.connect(endpoint, local_host, self)
        environment.run_until(lambda: self._state != "connecting", answer_ms)
        if self._state != "open":
            raise SutUnavailable(f"control {endpoint.host}:{endpoint.port} does not answer: {self._state}")

    def on_open(self) -> None:
        self._state = "open"

    def on_failed(self, error: str) -> None:
        self._state = error

    def on_bytes(self, data: bytes) -> None:
        """Take answers to requests that were made; after what is no answer nothing is looked at any more."""
        if self._state != "open":
            return
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", searched)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            if not self._take(line):
                return
        if len(self._buffer) > LINE_LIMIT:
            self._end(f"an answer longer than {LINE_LIMIT} bytes")

    def _take(self, line: bytes) -> bool:
        try:
            reply = json.loads(line, object_hook=Reply)
            self._answers[reply["id"]] = reply
        except (ValueError, TypeError, KeyError, RecursionError):
            self._end(f"not a JSON object with an id: {line[:80]!r}")
            return False
        if len(self._answers) > ANSWERS_LIMIT:
            self._end(f"{ANSWERS_LIMIT} answers to questions that nobody asked")
            return False
        return True

    def _end(self, why: str) -> None:
        self._state = why
        self._buffer.clear()
        self._stream.close()

    def on_closed(self, reason: str) -> None:
        self._state = reason

    def begin(self, verb: str, **arguments: Any) -> int:
        self._next += 1
        line = json.dumps({"id": self._next, "verb": verb, **arguments}, separators=(",", ":"))
        self._stream.send(line.encode() + b"\n")
        return self._next

    def answer(self, request: int) -> dict[str, Any] | None:
        return self._answers.pop(request, None)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        number = self.begin(verb, **arguments)
        timeout = self.answer_ms + int(arguments.get("timeout_ms") or 0)
        self.environment.run_until(lambda: number in self._answers or self._state != "open", timeout)
        if number not in self._answers:
            why = "no answer in time" if self._state == "open" else self._state
            raise SutUnavailable(f"control {self.endpoint.host}:{self.endpoint.port}: {verb}: {why}")
        return _checked(verb, self._answers.pop(number))

    def close(self) -> None:
        self._stream.close()


def _request(verb: str, arguments: dict[str, Any]) -> Request | HostRequest:
    """Make a request; ``cancel`` names the request that it ends by its id, which is its token."""
    if verb == "cancel":
        return CancelWaiting(arguments["request"])
    return request_from({"verb": verb, **arguments})


def _reply(found: Result | str) -> dict[str, Any]:
    return answer(0, Rejected(0, found) if isinstance(found, str) else Completed(0, found))


def _checked(verb: str, reply: dict[str, Any]) -> dict[str, Any]:
    if reply.get("ok") is not True:
        raise ControlRefused(f"the SUT refused {verb}: {str(reply.get('error', 'without a reason'))[:REASON_LIMIT]}")
    return reply
