"""Measures two reference queue managers with real sockets. For recoverable messages each queue manager has a real
store.

``kind``: express, recoverable or transactional. The applications run in the processes of the queue managers: the
first application sends while few messages wait, and the second application receives every message from its queue.
The applications do not use JSON.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.pairs import BODY, Memory, Options, Report, get_instant, wait_until_input_closes
from reference_qm.codec import MessageIdentifier
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.commands.input_dispatching import HANDLER_BY_COMMAND_TYPE
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.statuses import Status
from reference_qm.shell.host import Host, HostLimits
from reference_qm.shell.sqlite_store import SqliteStore
from reference_qm.shell.system import SystemEntropy
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import OpenQueue, OpenSession, Request, Result, SendMessage
from reference_qm.surface.driver import CoreDriver
from reference_qm.surface.effects import Answer, CommandRejected, Effect
from reference_qm.surface.store import MemoryStore

ADDRESS, SENDING_ADDRESS = "127.0.0.1", "127.0.0.2"
QUEUE = "private$\\bench"
DESTINATION = f"DIRECT=TCP:{ADDRESS}\\{QUEUE}"
SENDER, RECEIVER = UUID(int=1), UUID(int=2)
MAX_WAITING_MESSAGES = 256
"""The maximum number of messages that the queue manager has accepted but not yet sent."""
TAKEN_AT_ONCE = 64


def compute_wire_size() -> int:
    """Return the size of an express message on the wire in bytes."""
    identifier = MessageIdentifier(SENDER, 1)
    message = Message(Identifier=identifier, DestinationQueueFormatName=DESTINATION, Body=BODY)
    return len(serialize_message(message).build())


async def receive(options: Options, report: Report) -> None:
    """Receive every message from the queue."""
    host, _ = _host(options, RECEIVER, ADDRESS, 1801, QueueSettings(QUEUE, options.kind == "transactional"))
    endpoint = await host.bind_tcp(0)
    await host.start()
    report({"port": endpoint.port})
    handle = (await _ask_host(host, OpenQueue(QUEUE))).values["handle"]
    receiver = _Receiver(host, handle, options)
    await receiver.done
    report({"instant": get_instant(), "memory": receiver.memory.noted})
    await wait_until_input_closes()
    await host.stop()


async def send(options: Options, port: int, report: Report) -> None:
    """Send every message, and wait for all acknowledgments."""
    host, core = _host(options, SENDER, SENDING_ADDRESS, port)
    await host.start()
    await _ask_host(host, OpenSession(DESTINATION))
    outgoing = core.adm.OutgoingQueues[DESTINATION.lower()].session
    sender = _Sender(host, outgoing, options)
    report({"instant": get_instant()})
    await sender.send_messages_and_require_acks()
    while len(outgoing.OutgoingMessageTable):
        await asyncio.sleep(0.01)
    report({"instant": get_instant(), "memory": sender.memory.noted})
    await wait_until_input_closes()
    await host.stop()


class _EventfulDriver(CoreDriver):
    """A driver that sets an event after each input of the core."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.handled = asyncio.Event()

    def carry_out(self, effects: list[Effect]) -> None:
        super().carry_out(effects)
        self.handled.set()


class _EventfulHost(Host):
    """A host with an eventful driver."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.driver = self.eventful = _EventfulDriver(self)


class _Sender:
    """An application that sends a message whenever few messages wait."""

    def __init__(self, host: _EventfulHost, session: Session, options: Options) -> None:
        self.memory = Memory(options.marks)
        self._host = host
        self._session = session
        self._messages = options.messages
        self._recoverable = options.kind == "recoverable"
        self._transactional = options.kind == "transactional"
        self._given = self._taken = self._sent = 0

    async def send_messages_and_require_acks(self) -> None:
        """Send messages to the queue manager until it has accepted every one."""
        while self._taken < self._messages:
            self._sent += self._session.MessageSentCount - self._sent & 0xFFFF
            room = MAX_WAITING_MESSAGES - (self._given - min(self._sent, self._taken))
            for _ in range(min(room, self._messages - self._given)):
                self._send()
            self.memory.at(self._taken)
            if room and self._given < self._messages:
                await asyncio.sleep(0)  # messages that were sent at once leave room for more
            else:
                self._host.eventful.handled.clear()
                await self._host.eventful.handled.wait()

    def _send(self) -> None:
        self._given += 1
        message = SendMessage(DESTINATION, BODY, recoverable=self._recoverable, transactional=self._transactional)
        self._host.ask(message, self._on_answer)

    def _on_answer(self, answer: Answer) -> None:
        _result(answer)
        self._taken += 1


@dataclass(frozen=True, slots=True)
class _Take:
    """A request to dequeue at most ``limit`` messages. If fewer messages are available, the request waits for the
    next message. The result states whether the queue is empty.
    """

    handle: int
    limit: int
    answered: OnReadAnswered


def _take(qm: QueueManager, request: _Take, token: int, now: Now) -> Result:
    """Raise the Dequeue Message event as a remote protocol does. Spec: MS-MQDMPR 3.1.7.1.10."""
    descriptor = qm.descriptors[request.handle]
    waiting = len(qm.readers)
    for _ in range(request.limit):
        qm.message_reading.dequeue_message(descriptor, request.answered, now)
        if len(qm.readers) > waiting:
            return Result({"empty": True})
    return Result({"empty": False})


HANDLER_BY_COMMAND_TYPE[_Take] = lambda qm: partial(_take, qm)


class _Receiver:
    """An application that receives all available messages, then waits for the next message."""

    def __init__(self, host: Host, handle: int, options: Options) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.memory = Memory(options.marks)
        self._host = host
        self._handle = handle
        self._messages = options.messages
        self._taken = 0
        self._idle = True
        self._take()

    def _take(self) -> None:
        self._idle = False
        request: Any = _Take(self._handle, TAKEN_AT_ONCE, self._on_message)
        self._host.ask(request, self._on_taken)

    def _on_taken(self, answer: Answer) -> None:
        if _result(answer).values["empty"]:
            self._idle = True  # the next message goes to the waiting reader, and starts another turn
        elif not self.done.done():
            asyncio.get_running_loop().call_soon(self._take)

    def _on_message(self, status: Status, position: MessagePosition | None) -> None:
        if position is None or self.done.done():
            return
        assert position.MessageReference.Body == BODY
        self._taken += 1
        self.memory.at(self._taken)
        if self._taken == self._messages:
            self.done.set_result(None)
        elif self._idle:
            self._idle = False
            asyncio.get_running_loop().call_soon(self._take)


def _host(
    options: Options, identifier: UUID, address: str, remote_port: int, *queues: QueueSettings
) -> tuple[_EventfulHost, QueueManager]:
    config = QueueManagerConfig(
        identifier=identifier,
        addresses=(address,),
        window_size=options.window,
        remote_tcp_port=remote_port,
        queues=queues,
    )
    express = options.kind == "express"
    store = MemoryStore() if express else SqliteStore(Path(options.folder) / f"{identifier}.sqlite")
    host = _EventfulHost(QueueManagerInstallation(config, SystemEntropy()), address, store, HostLimits())
    assert isinstance(host.core, QueueManager)
    return host, host.core


async def _ask_host(host: Host, request: Request) -> Result:
    future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    host.ask(request, future.set_result)
    return _result(await future)


def _result(answer: Answer) -> Result:
    if isinstance(answer, CommandRejected):
        raise RuntimeError(answer.error)
    return answer.result
