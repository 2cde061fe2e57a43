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


def _keep_named_message(
    original: Callable[..., None], _: QueueManager, __: Session, header: SessionHeader
) -> Callable[..., None]:
    def delete_all_but_named(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> None:
        if position.RecoverableSequenceNumber != header.RecoverableMsgAckSeqNumber:
            original(qm, session, position)

    return delete_all_but_named


add(
    "sender-recoverable-message-of-ack-number-kept",
    "MQQB-3.1.5.5.3-01",
    "The sender keeps the recoverable message whose number is RecoverableMsgAckSeqNumber.",
    during(SessionAcks.delete_acknowledged_recoverable, SessionAcks.delete_position, _keep_named_message),
)


@fault("sender-recoverable-ack-flags-except-bit-0-ignored", breaks="MQQB-3.1.5.5.3-02")
class SenderRecoverableAckFlagsExceptBit0Ignored(SessionAcks):
    """The sender ignores all bits of RecoverableMsgAckFlags except bit 0."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        first = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        super().delete_acknowledged_recoverable(session, first)


def _add_flags_fault(name: str, says: str, change: Callable[[int], int]) -> None:
    """Add a fault that changes RecoverableMsgAckFlags of each received acknowledgment."""

    class OtherFlags(SessionAcks):
        def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
            flags = change(header.RecoverableMsgAckFlags)
            super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))

    add(name, "MQQB-3.1.5.5.3-02", says, replace_part(OtherFlags))


_add_flags_fault(
    "sender-recoverable-ack-flags-bit-31-ignored",
    "The sender ignores bit 31 of RecoverableMsgAckFlags.",
    lambda flags: flags & 0x7FFF_FFFF,
)
_add_flags_fault(
    "sender-recoverable-ack-flags-high-16-bits-ignored",
    "The sender ignores the high 16 bits of RecoverableMsgAckFlags.",
    lambda flags: flags & 0xFFFF,
)
_add_flags_fault(
    "sender-recoverable-ack-flags-filled-up-to-highest-bit",
    "The sender deletes all recoverable messages up to the highest set bit of RecoverableMsgAckFlags.",
    lambda flags: (1 << flags.bit_length()) - 1,
)


@fault("sender-order-ack-before-session-ack-forgotten", breaks="MQQB-3.1.5.5.3-03")
class SenderOrderAckBeforeSessionAckForgotten(TransactionalSending):
    """The sender forgets an OrderAck that arrives before the SessionAck of its message."""

    def retain(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = False
        super().retain(session, position)


@fault("sender-recoverable-ack-flags-highest-bit-not-read", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableAckFlagsHighestBitNotRead(SessionAcks):
    """The sender does not read the highest bit of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0x7FFFFFFF
        super().delete_acknowledged_recoverable(session, replace(header, RecoverableMsgAckFlags=flags))


@fault(
    "sender-recoverable-ack-flags-count-express-messages", breaks=("MQQB-3.1.5.5.3-02", "MQMQ-2.2.20.4-D02"), blind=True
)
class SenderRecoverableAckFlagsCountExpressMessages(SessionAcks):
    """When the sender computes the message numbers of the bits in RecoverableMsgAckFlags, it also counts express
    messages.
    """

    def delete_acknowledged_recoverable(self, session: Session, header: SessionHeader) -> None:
        positions = session.OutgoingMessageTable.awaiting_ack
        apart = [position.RecoverableSequenceNumber for position in positions]
        for position in positions:
            position.RecoverableSequenceNumber = position.SequenceNumber
        super().delete_acknowledged_recoverable(session, header)
        for position, number in zip(positions, apart, strict=True):
            position.RecoverableSequenceNumber = number
