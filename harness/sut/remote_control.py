"""Access the queues of a SUT without a control channel: peek, receive and purge by qm2qm.

The reference reads as any client would (MS-MQQP 3.2.4), so that checks of other protocols can see which messages
arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.environment import Environment
from harness.environment.core_host import CoreHost, Unanswered
from harness.errors import HarnessError
from harness.sut.control import ControlRefused, Unsupported
from harness.sut.sut_file import SutFile
from reference_qm.config import QueueManagerConfig
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.commands import Request
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteOpen,
    RemoteOpenCursor,
    RemotePeek,
    RemotePurge,
    RemoteReadByLookupId,
    RemoteReceive,
)

FACILITIES = frozenset({"receive"})
"""The facility that remote reading replaces. An agent that has this facility also lets the SUT read remotely."""
VERBS = frozenset({"peek", "receive", "receive_by_lookup_id", "purge"})


class RemoteControl:
    """A control channel with few verbs, in place of ``harness.sut.control.Control``."""

    def __init__(self, environment: Environment, file: SutFile, rpc_port: int, identifier: UUID | None = None) -> None:
        """``identifier``: the SUT's identifier, if it is known, for the names of its private queues."""
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
        self._verbs: dict[str, Callable[..., dict[str, Any]]] = {
            "peek": self._peek,
            "receive": self._receive,
            "receive_by_lookup_id": self._receive_by_lookup_id,
            "purge": self._purge,
        }

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Carry out a verb. Raise ControlRefused when the SUT refuses a method or does not answer it, and Unsupported
        for all verbs except those in ``VERBS``.
        """
        if verb not in self._verbs:
            raise Unsupported(f"{verb} cannot be asked of a SUT without a control channel")
        return self._verbs[verb](**arguments)

    def begin(self, verb: str, **arguments: Any) -> int:
        """Refuse, because ``call`` waits for the answer to every verb."""
        raise Unsupported(f"{verb} cannot wait at a SUT without a control channel")

    def answer(self, request: int) -> dict[str, Any] | None:
        """Refuse, because no request was begun."""
        raise HarnessError(f"request {request} was never begun")

    def close(self) -> None:
        """Do nothing, because no connection stays open."""
        self.host.stop()

    def _peek(self, queue: str, limit: int = 1_000) -> dict[str, Any]:
        remote = self._open(queue, "peek")
        cursor = self._ask(RemoteOpenCursor(remote))["cursor"]
        found: list[dict[str, Any]] = []
        while len(found) < limit:
            message = self._ask(RemotePeek(cursor=cursor, next=bool(found)))["message"]
            if message is None:
                break
            if message in found and message["lookup_id"] is not None:
                raise ControlRefused(f"the SUT's remote cursor brings message {message['lookup_id']} of {queue} again")
            found.append(message)
        self._ask(RemoteClose(remote))
        return {"messages": found}

    def _receive(self, queue: str, timeout_ms: int = 0) -> dict[str, Any]:
        remote = self._open(queue, "receive")
        found = self._ask(RemoteReceive(remote, timeout_ms=timeout_ms))
        self._ask(RemoteClose(remote))
        return found

    def _receive_by_lookup_id(self, queue: str, lookup_id: int, seek: str = "current") -> dict[str, Any]:
        remote = self._open(queue, "receive")
        found = self._ask(RemoteReadByLookupId(remote, lookup_id, seek, peek=False))
        self._ask(RemoteClose(remote))
        return found

    def _purge(self, queue: str) -> dict[str, Any]:
        remote = self._open(queue, "receive")
        self._ask(RemotePurge(remote))
        return self._ask(RemoteClose(remote))

    def _open(self, queue: str, access: str) -> int:
        return int(self._ask(RemoteOpen(f"DIRECT=TCP:{self.sut_address}\\{queue}", access))["remote"])

    def _ask(self, request: Request) -> dict[str, Any]:
        try:
            answer = self.host.ask(request)
        except Unanswered as late:
            raise ControlRefused(f"the SUT leaves a remote read without an end: {late}") from late
        if isinstance(answer, str):
            raise ControlRefused(f"the SUT refused a remote read ({type(request).__name__}): {answer}")
        return dict(answer.values)
