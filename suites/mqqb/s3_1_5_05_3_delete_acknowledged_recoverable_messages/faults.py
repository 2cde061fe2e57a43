"""Faults of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import SessionHeader
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session


def _keep_the_number(
    original: Callable[..., None], _: QueueManager, __: Session, header: SessionHeader
) -> Callable[..., None]:
    def delete(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        if position.RecoverableSequenceNumber != header.RecoverableMsgAckSeqNumber:
            original(qm, session, position)

    return delete


add(
    "recoverable-message-of-the-number-kept",
    "MQQB-3.1.5.5.3-01",
    "The recoverable message with the number RecoverableMsgAckSeqNumber is not deleted.",
    during(SessionAcks.delete_acknowledged_recoverable, SessionAcks.delete_position, _keep_the_number),
)


@fault("recoverable-ack-flags-ignored", breaks="MQQB-3.1.5.5.3-02")
class RecoverableAckFlagsIgnored(SessionAcks):
    """Of RecoverableMsgAckFlags only bit 0 is looked at."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        first = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        super().delete_acknowledged_recoverable(session, first)


def _flags(name: str, says: str, change: Callable[[int], int]) -> None:
    """Add a fault that takes other flags for those of an acknowledgment."""

    class OtherFlags(SessionAcks):
        def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
            flags = change(header.RecoverableMsgAckFlags)
            super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))

    add(name, "MQQB-3.1.5.5.3-02", says, replace_part(OtherFlags))


_flags("recoverable-ack-flags-of-31-bits", "The last bit is not looked at.", lambda flags: flags & 0x7FFF_FFFF)
_flags("recoverable-ack-flags-of-16-bits", "Only 16 bits are looked at.", lambda flags: flags & 0xFFFF)
_flags(
    "recoverable-ack-flags-up-to-the-highest",
    "All messages up to the highest bit are taken for acknowledged.",
    lambda flags: (1 << flags.bit_length()) - 1,
)


@fault("ordering-order-ack-forgotten", breaks="MQQB-3.1.5.5.3-03")
class OrderAckForgotten(TransactionalSending):
    """An order acknowledgment before that of the session is forgotten."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = False
        super().retain(session, position)


@fault("highest-flag-of-an-acknowledgment-not-read", breaks="MQQB-3.1.5.5.3-02", blind=True)
class HighestFlagOfAnAcknowledgmentNotRead(SessionAcks):
    """The highest bit of RecoverableMsgAckFlags is not looked at."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0x7FFFFFFF
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault("flags-stand-for-numbers-of-all-messages", breaks=("MQQB-3.1.5.5.3-02", "MQMQ-2.2.20.4-D02"), blind=True)
class FlagsStandForNumbersOfAllMessages(SessionAcks):
    """RecoverableMsgAckFlags of an acknowledgment are read as of the numbers that count express messages too."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        positions = session.OutgoingMessageTable.awaiting_ack
        apart = [position.RecoverableSequenceNumber for position in positions]
        for position in positions:
            position.RecoverableSequenceNumber = position.SequenceNumber
        super().delete_acknowledged_recoverable(session, header)
        for position, number in zip(positions, apart, strict=True):
            position.RecoverableSequenceNumber = number
