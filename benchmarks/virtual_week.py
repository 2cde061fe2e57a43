"""Measures the computation for a week of protocol timers in virtual time. Every hour, a queue manager sends a
message of each kind to a second queue manager. Sessions open, acknowledge in time and close when they are idle, and
histories are cleaned up. During the whole week the queue manager also retries a destination that accepts
connections and stays silent. Separately, a queue manager tries a destination that refuses connections every 5
seconds.

Target: less than a second.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from uuid import UUID

from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import PurgeQueue, SendMessage
from reference_qm.surface.effects import CloseTransport, CommandRejected, Connect, Effect, Persist, SendPacket
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    BytesReceived,
    Command,
    Endpoint,
    Input,
    QueueManagerStarted,
    RecordPersisted,
    TransportAccepted,
    TransportConnected,
    TransportFailed,
    TransportLost,
)

HOUR_MS, WEEK_MS = 3_600_000, 7 * 24 * 3_600_000
EPOCH_S = 1_800_000_000
WANTED_S = 1.0
PLAIN, TRANSACTIONAL = "private$\\plain", "private$\\tx"
SENDER, RECEIVER, SILENT, REFUSING = "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"


class Week:
    """Two connected queue managers, and two destinations at which no queue manager answers."""

    def __init__(self) -> None:
        self.expired = self.attempts = self.received = 0
        self._connected: set[str] = set()
        self._now = Now(0, EPOCH_S)
        self._cores = {address: _core(address) for address in (SENDER, RECEIVER)}
        self._waiting: deque[tuple[str, Input]] = deque((address, QueueManagerStarted()) for address in self._cores)
        self._settle()

    def send(self, address: str, queue: str, *, recoverable: bool = False, transactional: bool = False) -> None:
        """Send a message from the sending queue manager."""
        message = SendMessage(
            f"DIRECT=TCP:{address}\\{queue}", b"body", recoverable=recoverable, transactional=transactional
        )
        self._ask(SENDER, message)

    def send_all_kinds(self) -> None:
        """Send one message of each kind to the receiver, then count and purge the messages in the receiver's queues."""
        self.send(RECEIVER, PLAIN)
        self.send(RECEIVER, PLAIN, recoverable=True)
        self.send(RECEIVER, TRANSACTIONAL, transactional=True)
        for queue in (PLAIN, TRANSACTIONAL):
            self.received += len(self._cores[RECEIVER].adm.QueueCollection[queue].MessagePositionList)
            self._ask(RECEIVER, PurgeQueue(queue))

    def pass_time(self, until_ms: int) -> None:
        """Advance the virtual time from timer to timer until the given duration has passed."""
        while True:
            due = min((one for core in self._cores.values() if (one := core.next_due()) is not None), default=None)
            if due is None or due > until_ms:
                break
            self._set(due)
            for address, core in self._cores.items():
                if core.next_due() == due:
                    self.expired += 1
                    self._carry_out(address, core.handle_timer(self._now))
            self._settle()
        self._set(until_ms)

    def _set(self, monotonic_ms: int) -> None:
        self._now = Now(monotonic_ms, EPOCH_S + monotonic_ms // 1000)

    def _ask(self, address: str, request: SendMessage | PurgeQueue) -> None:
        self._waiting.append((address, Command(0, request)))
        self._settle()

    def _settle(self) -> None:
        while self._waiting:
            address, event = self._waiting.popleft()
            self._carry_out(address, self._cores[address].handle(event, self._now))

    def _carry_out(self, address: str, effects: list[Effect]) -> None:
        other = RECEIVER if address == SENDER else SENDER
        for effect in effects:
            if isinstance(effect, SendPacket) and effect.transport in self._connected:
                self._waiting.append((other, BytesReceived(effect.transport, effect.data)))
            elif isinstance(effect, Connect):
                self._connect(address, effect)
            elif isinstance(effect, CloseTransport) and effect.transport in self._connected:
                self._connected.discard(effect.transport)
                self._waiting.append((other, TransportLost(effect.transport, "closed")))
            elif isinstance(effect, Persist):
                self._waiting.append((address, RecordPersisted(effect.token)))
            elif isinstance(effect, CommandRejected):
                raise RuntimeError(effect.error)

    def _connect(self, address: str, effect: Connect) -> None:
        self.attempts += 1
        local = Endpoint(address, 50_000)
        if effect.remote.host == REFUSING:
            self._waiting.append((address, TransportFailed(effect.transport, "connection refused")))
            return
        if effect.remote.host == RECEIVER:
            self._connected.add(effect.transport)  # both ends use the same name
            self._waiting.append((RECEIVER, TransportAccepted(effect.transport, local, effect.remote)))
        self._waiting.append((address, TransportConnected(effect.transport, effect.remote, local)))


def measure() -> Iterator[str]:
    """Measure the week with a silent destination, and the week with a refusing destination."""
    week = Week()
    began = time.perf_counter()
    week.send(SILENT, PLAIN)
    for hour_ms in range(0, WEEK_MS, HOUR_MS):
        week.send_all_kinds()
        week.pass_time(hour_ms + HOUR_MS)
    took = time.perf_counter() - began
    yield (
        f"two queue managers: {week.expired:,} timers expired, {week.attempts:,} connections, "
        f"{week.received} messages received in {took:.2f} s (target: less than {WANTED_S:g} s)"
    )
    week = Week()
    began = time.perf_counter()
    week.send(REFUSING, PLAIN)
    week.pass_time(WEEK_MS)
    took = time.perf_counter() - began
    yield f"a destination that refuses: {week.attempts:,} connections refused in {took:.2f} s"


def _core(address: str) -> QueueManager:
    config = QueueManagerConfig(
        identifier=UUID(int=int(address[-1])),
        addresses=(address,),
        queues=(QueueSettings(PLAIN), QueueSettings(TRANSACTIONAL, transactional=True)),
    )
    return QueueManager(config, SeededEntropy(address))
