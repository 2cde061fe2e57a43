"""Store the messages that a system has received; predicates compare the later packets of the system with them. Spec:
MS-MQMQ 2.2.20.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import ConnectionSummary, RecentValues, parse_frame_strictly
from reference_qm.codec import TxSequenceID


class Message(NamedTuple):
    """The fields of a message on which its acknowledgments depend, with their names in the documents;
    ``body`` is a hash.
    """

    QueueManagerAddress: UUID
    DM: int
    DQ: int
    AQ: int
    DestinationQueue: Any
    AdminQueue: Any
    ack_request_bits: int
    MessageClass: int
    body: int
    is_encrypted: bool
    TxSequenceID: TxSequenceID | None
    TxSequenceNumber: int
    PreviousTxSequenceNumber: int

    @classmethod
    def of(cls, packet: Any) -> Message:
        """Return the fields of a message from the record of the strict codec."""
        user, properties, transaction = packet.UserHeader, packet.MessagePropertiesHeader, packet.TransactionHeader
        security = packet.SecurityHeader
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
            properties.PrivacyLevel != 0 or (security is not None and bool(security.EB)),
            None if transaction is None else transaction.TxSequenceID,
            0 if transaction is None else transaction.TxSequenceNumber,
            0 if transaction is None else transaction.PreviousTxSequenceNumber,
        )


class ReceivedMessages(ConnectionSummary):
    """Store the messages that a system has received, by source and MessageID. An identifier that several messages share
    has the value None.
    """

    covers_whole_system = True

    def __init__(self) -> None:
        self.messages = RecentValues[tuple[UUID, int], Message | None]()
        self.numbers = RecentValues[tuple[TxSequenceID, int], bool]()
        """The positions in sequences that the system has received."""
        self.sequences = RecentValues[TxSequenceID, bool]()
        self.first_begun = RecentValues[UUID, TxSequenceID]()
        """The first sequence of each queue manager whose first message is in the capture."""
        self.missing: str | None = None
        """The part of a connection that is missing from the capture, or None. The system may have
        received more messages in this part.
        """

    def has_captured_sequence_from_first_message(self, identifier: TxSequenceID) -> bool:
        """Return whether the capture contains the first message of a sequence."""
        return self.missing is None and (identifier, 1) in self.numbers

    def can_have_received_no_message_of_sequence(self, identifier: TxSequenceID, source: UUID | None) -> bool:
        """Return whether the system cannot have received any message of a sequence from a queue manager; ``source``
        None: the only sender.

        The system may have received a sequence with a lower identifier before the capture began, because a queue
        manager assigns ascending identifiers (MS-MQQB 3.1.1.3.1).
        """
        if source is None and len(self.first_begun) == 1:
            source = next(iter(self.first_begun))
        first = None if source is None else self.first_begun.get(source)
        return (
            self.missing is None
            and first is not None
            and identifier not in self.sequences
            and int(identifier) > int(first)
        )

    def note(self, frame: Frame, connection: Connection) -> None:
        """Record a message of the peer."""
        self.missing = self.missing or connection.missing_frames_reason
        packet = parse_frame_strictly(frame) if not frame.from_sut and frame.kind == "UserMessage" else None
        if packet is None:
            return
        key, message = (packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID), Message.of(packet)
        if self.messages.get(key, message) != message:
            self.messages[key] = None
        self.messages.store_new_value(key, message)
        if message.TxSequenceID is not None:
            self.sequences.store_new_value(message.TxSequenceID, True)
            self.numbers.store_new_value((message.TxSequenceID, message.TxSequenceNumber), True)
            if message.TxSequenceNumber == 1:
                self.first_begun.store_new_value(packet.UserHeader.SourceQueueManager, message.TxSequenceID)
