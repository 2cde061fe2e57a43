"""Access the queues of a SUT without a control channel: open, peek, receive and purge queues over qm2qm.

A reference queue manager reads the queues as any client would (MS-MQQP 3.2.4). In this way, checks of other protocols
can observe which messages have arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import UUID

from harness.environment import Environment
from harness.environment.core_host import CommandNotAnsweredInTime, CoreHost
from harness.errors import HarnessError
from harness.sut.control import ControlRefused, Unsupported
from harness.sut.sut_file import SutFile
from reference_qm.config import QueueManagerConfig
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.commands import Request
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteCloseCursor,
    RemoteOpen,
    RemoteOpenCursor,
    RemotePeek,
    RemotePurge,
    RemoteReadByLookupId,
    RemoteReceive,
)

REMOTE_ANSWER_TIMEOUT_MS = 60_000
FACILITIES_OF_REMOTE_CONTROL = frozenset({"receive"})
"""The facility whose verbs remote reading replaces. An agent with this facility can also make the SUT read
remotely.
"""


class RemoteControl:
    """A control channel that offers only the verbs that remote reading can carry out. It is used in place of
    ``harness.sut.control.Control``.
    """

    def __init__(self, environment: Environment, file: SutFile, rpc_port: int, identifier: UUID | None = None) -> None:
        """Prepare remote reading. ``identifier`` is the SUT's identifier, which is needed for the names of its
        private queues, or None if it is unknown.
        """
        driver = file.driver
        self.sut_address = driver.address
        config = QueueManagerConfig(
            driver.peer_identifier,
            addresses=(driver.peer_address,),
            remote_rpc_port=rpc_port,
            routes={} if identifier is None else {identifier: driver.address},
        )
        self.host = CoreHost(environment, QueueManager(config, SeededEntropy("remote control")), driver.peer_address)
        self.host.start()
        self._begun: dict[int, Callable[[], object]] = {}
        """The remote reads that have not been answered yet, by token, each with the function to call after its
        answer.
        """
        self._verbs: dict[str, Callable[..., dict[str, Any]]] = {
            "open_queue": self._open_queue,
            "close_queue": lambda handle: self._ask_remote_host(RemoteClose(handle)),
            "open_cursor": lambda handle: self._ask_remote_host(RemoteOpenCursor(handle)),
            "close_cursor": lambda cursor: self._ask_remote_host(RemoteCloseCursor(cursor)),
            "peek": self._peek_messages,
            "purge": self._purge_queue,
        }

    def offers_verb(self, verb: str) -> bool:
        """Return whether a verb can be carried out."""
        return verb in self._verbs or verb in _READ_REQUESTS

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a verb by remote reading. Raise ControlRefused if the SUT refuses a method or does not answer
        it. Raise Unsupported for other verbs, and for transactions, which remote reading does not support.
        """
        if verb in self._verbs:
            return self._verbs[verb](**arguments)
        request, close = self._make_read(verb, arguments)
        try:
            return self._ask_remote_host(request, int(arguments.get("timeout_ms") or 0))
        finally:
            close()

    def begin(self, verb: str, **arguments: Any) -> int:
        """Begin a remote read that may be answered much later. Return the token of the read."""
        request, close = self._make_read(verb, arguments)
        token = self.host.begin(request)
        self._begun[token] = close
        return token

    def answer(self, request: int) -> dict[str, Any] | None:
        """Return the answer to a read that ``begin`` started, or None if the answer has not arrived yet. Each
        answer is returned only once.
        """
        if request not in self._begun:
            raise HarnessError(f"request {request} was never started")
        if request not in self.host.answers:
            return None
        close = self._begun.pop(request)
        found = self.host.answers.pop(request)
        close()
        if isinstance(found, str):
            return {"ok": False, "error": found}
        return {"ok": True, **found.values}

    def close(self) -> None:
        """Do nothing, because no connection stays open."""
        self.host.stop()

    def _make_read(self, verb: str, arguments: dict[str, Any]) -> tuple[Request, Callable[[], object]]:
        """Return the remote read for a verb, and the function to call after its answer. If the queue was given by
        name, this function closes the queue.
        """
        if verb not in _READ_REQUESTS:
            raise Unsupported(f"{verb} is not possible for a SUT without a control channel")
        make, access = _READ_REQUESTS[verb]
        if arguments.get("transaction") is not None:
            raise Unsupported(f"{verb} in a transaction is not possible for a SUT without a control channel")
        given = {name: value for name, value in arguments.items() if name not in ("queue", "handle", "transaction")}
        if "cursor" in arguments:
            return make(**given), lambda: None
        if "handle" in arguments:
            return make(remote=arguments["handle"], **given), lambda: None
        remote = self._open_remote_queue(arguments["queue"], access)
        return make(remote=remote, **given), lambda: self._ask_remote_host(RemoteClose(remote))

    def _open_queue(self, queue: str, access: str = "receive", *, deny_receive: bool = False) -> dict[str, Any]:
        return {"handle": self._open_remote_queue(queue, access, deny_receive=deny_receive)}

    def _peek_messages(self, queue: str, limit: int = 1_000) -> dict[str, Any]:
        remote = self._open_remote_queue(queue, "peek")
        cursor = self._ask_remote_host(RemoteOpenCursor(remote))["cursor"]
        found: list[dict[str, Any]] = []
        while len(found) < limit:
            message = self._ask_remote_host(RemotePeek(cursor=cursor, next=bool(found)))["message"]
            if message is None:
                break
            if message in found and message["lookup_id"] is not None:
                raise ControlRefused(f"the SUT's remote cursor returns message {message['lookup_id']} of {queue} again")
            found.append(message)
        self._ask_remote_host(RemoteClose(remote))
        return {"messages": found}

    def _purge_queue(self, queue: str) -> dict[str, Any]:
        remote = self._open_remote_queue(queue, "receive")
        self._ask_remote_host(RemotePurge(remote))
        return self._ask_remote_host(RemoteClose(remote))

    def _open_remote_queue(self, queue: str, access: str, *, deny_receive: bool = False) -> int:
        name = f"DIRECT=TCP:{self.sut_address}\\{queue}"
        return int(self._ask_remote_host(RemoteOpen(name, access, deny_receive))["remote"])

    def _ask_remote_host(self, request: Request, wait_ms: int = 0) -> dict[str, Any]:
        try:
            answer = self.host.ask(request, REMOTE_ANSWER_TIMEOUT_MS + wait_ms)
        except CommandNotAnsweredInTime as late:
            raise ControlRefused(f"the SUT did not end a remote read: {late}") from late
        if isinstance(answer, str):
            raise ControlRefused(f"the SUT refused a remote read ({type(request).__name__}): {answer}")
        return dict(answer.values)


_READ_REQUESTS: Mapping[str, tuple[Callable[..., Request], str]] = MappingProxyType(
    {
        "receive": (RemoteReceive, "receive"),
        "peek_message": (RemotePeek, "peek"),
        "peek_next": (partial(RemotePeek, next=True), "peek"),
        "receive_by_lookup_id": (RemoteReadByLookupId, "receive"),
        "peek_by_lookup_id": (partial(RemoteReadByLookupId, peek=True), "peek"),
    }
)
"""For each verb that reads a message, the remote read, and the access mode that this read needs."""
