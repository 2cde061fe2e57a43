"""What a system has received, as far as its later packets are judged by it. Spec: MS-MQMQ 2.2.20."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import Recent, Summary, record_of
from reference_qm.codec import TxSequenceID


class Message(NamedTuple):
    """What acknowledgments of a message depend on, under the printed names; ``body``: hashed."""

    QueueManagerAddress: UUID
    DM: int
    DQ: int
    AQ: int
    DestinationQueue: Any
    AdminQueue: Any
    asks: int
    MessageClass: int
    body: int
    is_encrypted: bool
    TxSequenceID: TxSequenceID | None
    TxSequenceNumber: int
    PreviousTxSequenceNumber: int

    @classmethod
    def of(cls, packet: Any) -> Message:
        """Summarize the strict codec's record of a message."""
        user, properties, transaction = packet.UserHeader, packet.MessagePropertiesHeader, packet.TransactionHeader
        return cls(
            user.QueueManagerAddress,
            user.DM,
            user.DQ,
            user.AQ,
            user.DestinationQueue,
            user.AdminQueue,
            properties.Flags & 0xF,
            properties.MessageClass,
            hash(properties.MessageBody),
            properties.PrivacyLevel != 0,
            None if transaction is None else transaction.TxSequenceID,
            0 if transaction is None else transaction.TxSequenceNumber,
            0 if transaction is None else transaction.PreviousTxSequenceNumber,
        )


class Received(Summary):
    """The messages that a system has received, by source and MessageID; None of an identifier that several have."""

    of_system = True

    def __init__(self) -> None:
        self.messages = Recent[tuple[UUID, int], Message | None]()
        self.numbers = Recent[tuple[TxSequenceID, int], bool]()
        """The places in sequences that were received."""
        self.sequences = Recent[TxSequenceID, bool]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Note a message of the peer."""
        packet = record_of(frame) if not frame.from_sut and frame.kind == "UserMessage" else None
        if packet is None:
            return
        key, message = (packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID), Message.of(packet)
        if self.messages.get(key, message) != message:
            self.messages[key] = None
        self.messages.keep(key, message)
        if message.TxSequenceID is not None:
            self.sequences.keep(message.TxSequenceID, True)
            self.numbers.keep((message.TxSequenceID, message.TxSequenceNumber), True)
