"""Record all traffic between the systems of a topology in one capture. Every packet is judged as a packet of its
sender.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from harness.capture.recorder import FROM_SUT_DIRECTION, TO_SUT_DIRECTION, Connection, Frame, Recorder
from harness.capture.sut_framer import SutFramer
from harness.topology.relay import RelayedStreamPair
from reference_qm.codec import FramingError


@dataclass(eq=False, slots=True)
class RelayedConnection:
    """One connection between two systems. ``connection``: the record from the acceptor's perspective, which is the
    perspective of the capture. ``connection_from_initiator_view``: the same packets from the initiator's perspective,
    for predicates. ``initiator``: the role of the system that opened the connection, or None until its
    EstablishConnection request names the system.
    """

    acceptor: str
    connection: Connection
    connection_from_initiator_view: Connection
    initiator: str | None = None
    framer: SutFramer = field(default_factory=SutFramer)
    """The framer that splits the initiator's bytes into packets."""

    def list_packets_from_system(self, kind: str, by: str) -> list[Frame]:
        """Return the packets of the given kind that one of the two systems sent."""
        if by not in (self.initiator, self.acceptor):
            return []
        frames = self.connection.frames
        return [frame for frame in frames if frame.kind == kind and frame.from_sut == (by == self.acceptor)]

    @property
    def is_acknowledged(self) -> bool:
        """Whether each system has acknowledged all messages of the other system, or the connection is closed."""
        if self.connection.closed_by is not None:
            return True
        frames = self.connection.frames
        return all(
            _count_messages(frames, from_sut=side) <= _find_last_acknowledged_number(frames, from_sut=not side)
            for side in (True, False)
        )


def _count_messages(frames: Iterable[Frame], *, from_sut: bool) -> int:
    return sum(frame.kind == "UserMessage" for frame in frames if frame.from_sut == from_sut)


def _find_last_acknowledged_number(frames: Iterable[Frame], *, from_sut: bool) -> int:
    """Return the largest AckSequenceNumber that one side has sent. A scenario has too few messages for the number to
    wrap around.
    """
    headers = (
        frame.layers.get("SessionHeader")
        for frame in frames
        if frame.from_sut == from_sut and frame.kind in ("SessionAck", "UserMessage")
    )
    return max((header.AckSequenceNumber for header in headers if header is not None), default=0)


class Judge(Protocol):
    """The interface of a judge. The judge receives each packet twice: once as a packet from its sender, and once as
    a packet to its receiver.
    """

    def on_frame(self, frame: Frame) -> None:
        """Judge a packet that a system sent, or only record a packet that it received."""

    def note(self, frame: Frame) -> None:
        """Record a packet without judging it."""


class RelayTraffic:
    """An observer of all relays, which records and judges their traffic."""

    def __init__(self, recorder: Recorder, roles: Mapping[str, str], judge: Judge | None = None) -> None:
        """Observe the relays at the addresses that ``roles`` lists."""
        self.recorder = recorder
        self.relayed_connections: list[RelayedConnection] = []
        self.identifiers: dict[UUID, str] = {}
        """The role of each queue manager, by identifier."""
        self._roles = roles
        self._judge = judge
        self._connection_by_stream_pair: dict[RelayedStreamPair, RelayedConnection] = {}

    def list_packets_from_system(self, kind: str, *, by: str, to: str) -> list[Frame]:
        """Return the packets of a kind that one system sent to another, on connections opened by either system."""
        pairs = ((by, to), (to, by))
        return [
            frame
            for passage in self.relayed_connections
            if (passage.initiator, passage.acceptor) in pairs
            for frame in passage.list_packets_from_system(kind, by)
        ]

    # -- events of relays ---------------------------------------------------------------------------------------

    def on_opened(self, link: RelayedStreamPair) -> None:
        connection = self.recorder.record_opening(link.client, link.server, by_peer=True)
        passage = RelayedConnection(
            self._roles[link.server.host], connection, Connection(connection.number, "initiator")
        )
        self._connection_by_stream_pair[link] = passage
        self.relayed_connections.append(passage)

    def on_data(self, link: RelayedStreamPair, data: bytes, *, from_initiator: bool) -> None:
        passage = self._connection_by_stream_pair[link]
        for frame in (
            self._record_bytes(passage, data)
            if from_initiator
            else self.recorder.record_received(passage.connection, data)
        ):
            other = copy.copy(frame)
            other.direction = TO_SUT_DIRECTION if frame.from_sut else FROM_SUT_DIRECTION
            other.connection = passage.connection_from_initiator_view
            passage.connection_from_initiator_view.add(other)
            if self._judge is not None:
                passed_on = self._is_passed_on(frame, passage.initiator if from_initiator else passage.acceptor)
                for each in (frame, other):
                    (self._judge.note if passed_on else self._judge.on_frame)(each)

    def _is_passed_on(self, frame: Frame, by: str | None) -> bool:
        """Return whether a packet was forwarded by a system that changed only the hop count. Such a packet was
        already judged when its first sender sent it.
        """
        if frame.kind != "UserMessage":
            return False
        maker = UUID(str(frame["UserHeader"].SourceQueueManager))
        return maker in self.identifiers and self.identifiers[maker] != by

    def _record_bytes(self, passage: RelayedConnection, data: bytes) -> list[Frame]:
        """Record the bytes that an initiator sent, either as complete packets or as malformed bytes."""
        try:
            packets = passage.framer.feed(data)
        except FramingError as error:
            packets = [*error.packets, data]
        frames = [self.recorder.record_sent(passage.connection, packet) for packet in packets]
        for frame in frames:
            if frame.kind == "EstablishConnection" and passage.initiator is None:
                passage.initiator = self.identifiers.get(UUID(str(frame["EstablishConnectionHeader"].ClientGuid)))
        return frames

    def on_closed(self, link: RelayedStreamPair, *, by_initiator: bool) -> None:
        passage = self._connection_by_stream_pair.pop(link)
        self.recorder.record_connection_end(passage.connection, by_peer=by_initiator)
        passage.connection_from_initiator_view.closed_by = "sut" if by_initiator else "peer"
