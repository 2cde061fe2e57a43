"""Serves the control protocol, which has one JSON object per line over TCP (docs/control-protocol.md)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, cast

from reference_qm.control import (
    VERBS_BY_FACILITY,
    ControlError,
    VerbNotOffered,
    build_answer,
    find_verb_refusal_reason,
    list_offered_facilities,
    parse_request,
)
from reference_qm.shell.host import Host
from reference_qm.surface.commands import CancelWaiting, CloseQueue, OpenQueue, Request
from reference_qm.surface.effects import Answer, CommandCompleted
from reference_qm.surface.inputs import Endpoint
from reference_qm.surface.queue_manager_environment import EnvironmentRequest
from reference_qm.surface.remote_commands import RemoteClose, RemoteOpen
from reference_qm.surface.store import StoreError

LINE_BYTES_LIMIT = 8 * 1024 * 1024
"""The maximum size of a line in bytes. This size is sufficient for a body of 4 MiB in base64, and no packet has a
body that large.
"""
LINE_TOO_LONG_REFUSAL = f"a line is longer than {LINE_BYTES_LIMIT} bytes"
CONTROL_CLIENTS_LIMIT = 64
UNANSWERED_REQUESTS_LIMIT = 1024
"""The maximum number of unanswered requests of one client."""

UNREAD_BYTES_LIMIT = 64 * 1024 * 1024
"""The maximum number of bytes in unread answers. A client that exceeds this number is disconnected."""


class ControlServer:
    """Serves the control protocol to several clients at once. ``stop`` is called when a client requests the end of the
    process. ``reset`` is called when a client requests a reset, and raises ControlError or StoreError if a reset is
    impossible. ``offered``: the facilities that clients may use.
    """

    def __init__(
        self,
        host: Host,
        stop: Callable[[], None],
        reset: Callable[[], None],
        offered: Collection[str] = frozenset(VERBS_BY_FACILITY),
    ) -> None:
        self.host = host
        self.stop = stop
        self.reset = reset
        self.offered = offered
        self.clients: set[ControlClient] = set()
        self.ending = False
        self._listener: asyncio.Server | None = None

    async def bind(self, endpoint: Endpoint) -> Endpoint:
        """Bind the port, but do not accept clients yet. Raise OSError if this fails."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: ControlClient(self), endpoint.host, endpoint.port, start_serving=False
        )
        return Endpoint(*self._listener.sockets[0].getsockname()[:2])

    async def start(self) -> None:
        """Accept clients. Raise OSError if the port is in use."""
        if self._listener is not None:
            await self._listener.start_serving()

    def close_listener(self) -> None:
        """Stop accepting clients and requests. Pending answers are still delivered."""
        self.ending = True
        if self._listener is not None:
            self._listener.close()

    def forget_handles(self) -> None:
        """Forget the handles of all clients, because the queue manager has been restarted or reset."""
        for client in self.clients:
            client.forget_handles()

    def close_client_connections(self) -> None:
        """Close the connections of all clients."""
        for client in self.clients:
            client.close_client_connections()


class ControlClient(asyncio.Protocol):
    """The connection of a client. The client may send further requests before it gets an answer. Each answer
    contains the id of its request, and is sent as soon as it is ready.
    """

    def __init__(self, server: ControlServer) -> None:
        self.server = server
        self._transport: asyncio.Transport | None = None
        self._unhandled_bytes = bytearray()
        self._waiting: dict[int, Any] = {}
        """The ids of unanswered requests, by the host's tokens."""
        self._paused = False
        self._opened: dict[Request, None] = {}
        """The requests that close the client's open handles. They are sent to the core when the connection ends."""

    # -- asyncio's callbacks ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if len(self.server.clients) >= CONTROL_CLIENTS_LIMIT:
            self._refuse_request(
                None, f"{CONTROL_CLIENTS_LIMIT} control clients are already connected; close one of them"
            )
            self.close_client_connections()
            return
        self.server.clients.add(self)

    def data_received(self, data: bytes) -> None:
        searched = len(self._unhandled_bytes)
        self._unhandled_bytes += data
        self._handle_complete_lines(searched)

    def pause_writing(self) -> None:
        """Stop handling the requests of a client that does not read its answers."""
        self._paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        if self._transport is not None:
            self._transport.resume_reading()
        self._handle_complete_lines(0)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the waiting requests, because a message that is received for a disconnected client would be lost."""
        self._transport = None
        self.server.clients.discard(self)
        for token in list(self._waiting):
            self.server.host.ask(CancelWaiting(token), _ignore_answer)
        for close in list(self._opened):
            self.server.host.ask(close, _ignore_answer)

    # -- requests and answers -----------------------------------------------------------------------------------

    def close_client_connections(self) -> None:
        """Close the connection after the pending answers are delivered."""
        if self._transport is not None:
            self._transport.close()

    def _handle_complete_lines(self, searched: int) -> None:
        """Handle the complete lines in the received bytes. The first ``searched`` bytes are known to contain no line
        end.
        """
        while not (self._paused or self.server.ending) and (end := self._unhandled_bytes.find(b"\n", searched)) >= 0:
            line = bytes(self._unhandled_bytes[:end])
            del self._unhandled_bytes[: end + 1]
            searched = 0
            self._handle_request_line(line)
        if not self._paused and len(self._unhandled_bytes) > LINE_BYTES_LIMIT:
            self._unhandled_bytes.clear()
            self._refuse_request(None, LINE_TOO_LONG_REFUSAL)
            self.close_client_connections()

    def _handle_request_line(self, line: bytes) -> None:
        number: Any = None
        try:
            arguments = _parse_object(line)
            number = _get_request_number(arguments)
            verb = arguments.get("verb")
            if isinstance(verb, str) and (refused := find_verb_refusal_reason(verb, self.server.offered)) is not None:
                raise VerbNotOffered(refused)
            on_verb = _HOST_VERB_HANDLERS.get(verb) if isinstance(verb, str) else None
            if verb == "cancel":
                self._cancel_request(number, arguments)
            elif on_verb is None:
                self._ask_host(number, parse_request(arguments))
            elif len(arguments) == 1:
                on_verb(self, number)
            else:
                raise ControlError(f"{verb} takes no arguments; omit {', '.join(arguments.keys() - {'verb'})}")
        except VerbNotOffered as error:
            self._send_reply({"id": number, "ok": False, "error": str(error), "unsupported": True})
        except ControlError as error:
            self._refuse_request(number, str(error))

    def _ask_host(self, number: Any, request: Request | EnvironmentRequest) -> None:
        if len(self._waiting) >= UNANSWERED_REQUESTS_LIMIT:
            raise ControlError(
                f"{UNANSWERED_REQUESTS_LIMIT} requests of this client are not answered yet; read their answers first"
            )

        def send_answer(result: Answer) -> None:
            self._waiting.pop(result.token, None)
            if isinstance(result, CommandCompleted):
                self._note_handle_change(request, result)
            self._send_reply(self._limit_facilities(build_answer(number, result)))

        token = self.server.host.ask(request, send_answer)
        if self.server.host.is_unanswered(token):
            self._waiting[token] = number

    def _note_handle_change(self, request: Request | EnvironmentRequest, result: CommandCompleted) -> None:
        """Record that a handle was opened or closed. If a handle was opened but its client has already disconnected,
        close the handle at once.
        """
        if isinstance(request, CloseQueue | RemoteClose):
            self._opened.pop(request, None)
        opens = _CLOSING_REQUEST_BY_OPENING_REQUEST.get(type(request))
        if opens is None:
            return
        close = opens(result.result.values)
        if self._transport is None:
            self.server.host.ask(close, _ignore_answer)
        else:
            self._opened[close] = None

    def forget_handles(self) -> None:
        """Forget the handles that a restart has closed, because the new core may give their numbers to new handles."""
        self._opened.clear()

    def _cancel_request(self, number: Any, arguments: dict[str, Any]) -> None:
        """Cancel an earlier request of this client, which is waiting for a message."""
        if arguments.keys() != {"verb", "request"}:
            raise ControlError("cancel takes only the argument request, the id of the request to cancel")
        token = next((one for one, waiting in self._waiting.items() if waiting == arguments["request"]), None)
        if token is None:
            raise ControlError(
                f"request {ascii(arguments['request'])[:60]} of this client is not pending, so it cannot be cancelled"
            )
        self._ask_host(number, CancelWaiting(token))

    def _restart_host(self, number: Any) -> None:
        self.server.host.restart()
        self.server.forget_handles()
        self._send_reply({"id": number, "ok": True})

    def _reset_host(self, number: Any) -> None:
        try:
            self.server.reset()
        except StoreError as error:
            raise ControlError(str(error)) from error
        self.server.forget_handles()
        self._send_reply({"id": number, "ok": True})

    def _stop_host(self, number: Any) -> None:
        self._send_reply({"id": number, "ok": True})
        self.server.stop()

    def _limit_facilities(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Remove from the answer to ``identity`` the facilities that this server does not offer."""
        if "facilities" in reply:
            reply["facilities"] = list_offered_facilities(reply["facilities"], self.server.offered)
        return reply

    def _refuse_request(self, number: Any, error: str) -> None:
        self._send_reply({"id": number, "ok": False, "error": error})

    def _send_reply(self, reply: dict[str, Any]) -> None:
        if self._transport is not None and not self._transport.is_closing():
            if self._transport.get_write_buffer_size() > UNREAD_BYTES_LIMIT:
                self._transport.abort()
                return
            self._transport.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")


_HOST_VERB_HANDLERS = MappingProxyType(
    {"restart": ControlClient._restart_host, "reset": ControlClient._reset_host, "stop": ControlClient._stop_host}
)


_CLOSING_REQUEST_BY_OPENING_REQUEST: Mapping[
    type[Request] | type[EnvironmentRequest], Callable[[Mapping[str, Any]], Request]
] = MappingProxyType(
    {
        OpenQueue: lambda opened: CloseQueue(opened["handle"]),
        RemoteOpen: lambda opened: RemoteClose(opened["remote"]),
    }
)
"""The request that closes an object, by the request that opens it. Cursors have no entry, because they are closed
together with their queue's handle.
"""


def _ignore_answer(answer: Answer) -> None:
    """Ignore the answer to a request that no client made."""


def _parse_object(line: bytes) -> dict[str, Any]:
    if len(line) > LINE_BYTES_LIMIT:
        raise ControlError(LINE_TOO_LONG_REFUSAL)
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ControlError(f"the line is not a JSON object: {error}") from error
    except RecursionError as error:
        raise ControlError("the line is not a JSON object: the value is nested too deeply") from error
    if not isinstance(found, dict):
        raise ControlError(f"the line is not a JSON object, but of type {type(found).__name__}")
    return found


def _get_request_number(arguments: dict[str, Any]) -> int | str:
    number = arguments.pop("id", None)
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise ControlError('"id" is missing, or is neither a number nor a string; the answer repeats the "id"')
    return number
