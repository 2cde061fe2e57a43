"""Counts the calls and files on the path of one message through the receiving core.

A recoverable message that requests no acknowledgment arrives as bytes, is saved, and becomes available. The
benchmark counts calls of Python functions in ``reference_qm``. It does not count methods that dataclasses generate
or functions in C. An earlier message has filled caches and opened the session.

``python -m benchmarks.walk`` prints every call. Target: at most 130 calls, 30 files, and 80 changes of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import NamedTuple
from uuid import UUID

import reference_qm
from reference_qm.codec import (
    BaseHeader,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
    MessagePropertiesHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, Persist
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    BytesReceived,
    Endpoint,
    Input,
    QueueManagerStarted,
    RecordPersisted,
    TransportAccepted,
)

PACKAGE = Path(reference_qm.__file__).parent
QUEUE = "private$\\plain"
SENDER, RECEIVER = UUID(int=1), UUID(int=2)
TRANSPORT = "in-1"
HERE, THERE = Endpoint("10.0.0.2", 1801), Endpoint("10.0.0.1", 50_000)
EPOCH_S = 1_800_000_000
LATER_MS = 60_000
"""The delay in ms between the acknowledgment of the first message and the arrival of the second message."""


class Hop(NamedTuple):
    """A call on the path of the message: the file within the package, and the function."""

    file: str
    function: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The calls between an input of the core and the effects that result from it."""

    hops: Sequence[Hop]

    @property
    def files(self) -> int:
        """Return the number of different files that the calls visit."""
        return len({hop.file for hop in self.hops})

    @property
    def changes(self) -> int:
        """The number of calls into a file that differs from the file of the previous call."""
        return sum(one.file != other.file for one, other in pairwise(self.hops))

    def __str__(self) -> str:
        return f"{len(self.hops)} calls, {self.files} files, {self.changes} changes of file"


def walk_message() -> tuple[Walk, Walk]:
    """Return two walks: from the bytes of a message to the request to save its record, and from the saved record to the
    last effect.
    """
    core = _with_open_session()
    _save(core, _message(1), _after(0), core.handle)
    core.handle_timer(_after(LATER_MS))
    hops: list[list[Hop]] = []

    def record(event: Input, now: Now) -> list[Effect]:
        hops.append([])
        return _record_hops(lambda: core.handle(event, now), hops[-1])

    _save(core, _message(2), _after(LATER_MS), record)
    received, persisted = hops
    return Walk(received), Walk(persisted)


def measure() -> Iterator[str]:
    """Yield the figures of both walks, and the figures of the two walks together."""
    received, persisted = walk_message()
    yield f"bytes received: {received}"
    yield f"persisted: {persisted}"
    yield f"both: {Walk([*received.hops, *persisted.hops])} (target: 130, 30, 80)"


def main() -> None:
    """Print every call, then the figures."""
    for title, walk in zip(("bytes received", "persisted"), walk_message(), strict=True):
        print(title)
        last = ""
        for hop in walk.hops:
            print(f"    {hop.file if hop.file != last else '':40} {hop.function}")
            last = hop.file
    for line in measure():
        print(line)


def _save(
    core: QueueManager, packet: UserMessagePacket, now: Now, handle: Callable[[Input, Now], list[Effect]]
) -> None:
    """Pass a message to the core, and report to the core that the record of the message is saved."""
    effects = handle(BytesReceived(TRANSPORT, packet.build()), now)
    (record,) = [effect for effect in effects if isinstance(effect, Persist)]
    handle(RecordPersisted(record.token), now)
    assert core.adm.QueueCollection[QUEUE].MessagePositionList.Tail.State.value == "Available"  # type: ignore[union-attr]


def _record_hops(call: Callable[[], list[Effect]], hops: list[Hop]) -> list[Effect]:
    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{PACKAGE}/"):
            file = frame.f_code.co_filename.removeprefix(f"{PACKAGE}/")
            hops.append(Hop(file, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        return call()
    finally:
        sys.setprofile(before)


def _with_open_session() -> QueueManager:
    config = QueueManagerConfig(identifier=RECEIVER, addresses=(HERE.host,), queues=(QueueSettings(QUEUE),))
    core = QueueManager(config, SeededEntropy("walk"))
    core.restore({})
    now = _after(0)
    core.handle(QueueManagerStarted(), now)
    core.handle(TransportAccepted(TRANSPORT, THERE, HERE), now)
    core.handle(BytesReceived(TRANSPORT, _establish().build()), now)
    core.handle(BytesReceived(TRANSPORT, _parameters().build()), now)
    return core


def _after(ms: int) -> Now:
    return Now(1_000_000 + ms, EPOCH_S + ms // 1_000)


def _establish() -> EstablishConnectionPacket:
    header = EstablishConnectionHeader(ClientGuid=SENDER, OperatingSystem=0x0310, TimeStamp=77)
    return EstablishConnectionPacket(*_internal(2), header)


def _parameters() -> ConnectionParametersPacket:
    header = ConnectionParametersHeader(RecoverableAckTimeout=600, AckTimeout=30_000, WindowSize=64)
    return ConnectionParametersPacket(*_internal(3), header)


def _internal(packet_type: int) -> tuple[BaseHeader, InternalHeader]:
    return BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3)), InternalHeader(Flags=InternalHeader.flags(PT=packet_type))


def _message(ordinal: int) -> UserMessagePacket:
    return UserMessagePacket(
        BaseHeader=BaseHeader(Flags=BaseHeader.flags(PR=3)),
        UserHeader=UserHeader(
            SourceQueueManager=SENDER,
            MessageID=ordinal,
            SentTime=EPOCH_S,
            Flags=UserHeader.flags(DM=1, DQ=7, MP=1),
            DestinationQueue=DirectQueueFormatName(f"TCP:{HERE.host}\\{QUEUE}"),
        ),
        MessagePropertiesHeader=MessagePropertiesHeader(MessageBody=b"body"),
    )


if __name__ == "__main__":
    main()
