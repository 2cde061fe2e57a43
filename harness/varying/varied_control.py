"""Define a control channel that adds the values of a row of a covering array to requests. It adds a value only if the
check itself does not set this value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from harness.varying.variant import RowVariant

SECOND_READ_TIMEOUT_MS = 1_000


class VerbChannel(Protocol):
    """The interface of the control channel to which a `VariedControl` adds values."""

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send a request with a verb and return its answer."""

    def begin(self, verb: str, **arguments: Any) -> int:
        """Send a request with a verb whose answer may arrive later."""

    def answer(self, request: int) -> dict[str, Any] | None:
        """Return the answer to a request."""

    def close(self) -> None:
        """Close the channel."""


class VariedControl:
    """A control channel that adds the values of a row to its requests."""

    def __init__(self, control: VerbChannel, variant: RowVariant) -> None:
        self.control = control
        self._variant = variant

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        if verb == "receive" and "queue" in arguments:
            return self._receive_message(**arguments)
        return self.control.call(verb, **self._variant.add_to_request(verb, arguments))

    def begin(self, verb: str, **arguments: Any) -> int:
        return self.control.begin(verb, **self._variant.add_to_request(verb, arguments))

    def answer(self, request: int) -> dict[str, Any] | None:
        return self.control.answer(request)

    def close(self) -> None:
        self.control.close()

    def _receive_message(self, **arguments: Any) -> dict[str, Any]:
        if arguments.get("timeout_ms") == 0 and self._variant["read time-out"] == "a second":
            arguments["timeout_ms"] = SECOND_READ_TIMEOUT_MS
        if "transaction" in arguments or self._variant["read transaction"] == "none":
            return self._receive_message_by(arguments)
        transaction = self.control.call("begin")["transaction"]
        return self._finish_read(
            partial(self._receive_message_by, {**arguments, "transaction": transaction}),
            partial(self.control.call, "commit", transaction=transaction),
        )

    def _receive_message_by(self, arguments: dict[str, Any]) -> dict[str, Any]:
        by = self._variant["read by"]
        if by == "queue":
            return self.control.call("receive", **arguments)
        queue, rest = arguments.pop("queue"), arguments
        handle = self.control.call("open_queue", queue=queue, access="receive")["handle"]
        close = partial(self.control.call, "close_queue", handle=handle)
        if by == "handle":
            return self._finish_read(partial(self.control.call, "receive", handle=handle, **rest), close)
        cursor = self.control.call("open_cursor", handle=handle)["cursor"]
        return self._finish_read(partial(self.control.call, "receive", cursor=cursor, **rest), close)

    @staticmethod
    def _finish_read(read: Callable[[], dict[str, Any]], end: Callable[[], object]) -> dict[str, Any]:
        try:
            return read()
        finally:
            end()
