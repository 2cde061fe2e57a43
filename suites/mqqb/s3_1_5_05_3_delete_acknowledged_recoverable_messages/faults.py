"""Faults that break rules of MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step_during, replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _keep_message_whose_number_is_ack_number(
    original: Callable[..., None], _: QueueManager, __: Session, header: SessionHeader
) -> Callable[..., None]:
    def delete_all_but_message_of_ack_number(
        qm: QueueManager, session: Session, position: OutgoingMessagePosition
    ) -> None:
        if position.RecoverableSequenceNumber != header.RecoverableMsgAckSeqNumber:
            original(qm, session, position)

    return delete_all_but_message_of_ack_number


add(
    "sender-recoverable-message-of-ack-number-kept",
    "MQQB-3.1.5.5.3-01",
    "The sender keeps the recoverable message whose number is RecoverableMsgAckSeqNumber.",
    replace_method_during(
        SessionAcks.delete_acknowledged_recoverable_messages,
        SessionAcks.delete_position,
        _keep_message_whose_number_is_ack_number,
    ),
)


add(
    "sender-recoverable-messages-not-deleted-by-header-in-user-message",
    "MQQB-3.1.5.5.3-01",
    "The sender deletes no recoverable message if the SessionHeader is in a UserMessage.",
    omit_step_during(MessageReceiving.receive_user_message, SessionAcks.delete_acknowledged_recoverable_messages),
    blind=True,
)


@fault(
    "sender-recoverable-messages-numbered-with-express", breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"), blind=True
)
class SenderRecoverableMessagesNumberedWithExpress(SessionAcks):
    """The sender compares the recoverable acknowledgment with SequenceNumber, which also counts express messages."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        waiting = list(session.OutgoingMessageTable.awaiting_ack)
        old = [one.RecoverableSequenceNumber for one in waiting]
        for one in waiting:
            if one.recoverable:
                one.RecoverableSequenceNumber = one.SequenceNumber
        super().delete_acknowledged_recoverable_messages(session, header)
        for one, number in zip(waiting, old, strict=True):
            one.RecoverableSequenceNumber = number


@fault("sender-recoverable-ack-in-message-ignored", breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"), blind=True)
class SenderRecoverableAckInMessageIgnored(MessageReceiving):
    """The sender ignores the recoverable acknowledgment in the SessionHeader of a user message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if packet.SessionHeader is not None:
            cleared = {"SessionHeader.RecoverableMsgAckFlags": 0, "SessionHeader.RecoverableMsgAckSeqNumber": 0}
            packet = set_fields(packet, cleared)
        super().receive_user_message(session, packet, now)


@fault(
    "sender-acknowledged-recoverable-message-of-other-session-deleted",
    breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"),
    blind=True,
)
class SenderAcknowledgedRecoverableMessageOfOtherSessionDeleted(SessionAcks):
    """When the sender receives a recoverable acknowledgment, it also deletes the messages with the same numbers on its
    other sessions.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        for other in self.qm.sessions.values():
            super().delete_acknowledged_recoverable_messages(other, header)


@fault(
    "sender-session-ack-deletes-recoverable-messages-of-all-sessions",
    breaks=("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02"),
)
class SenderSessionAckDeletesRecoverableMessagesOfAllSessions(SessionAcks):
    """A SessionAck deletes the recoverable messages with the acknowledged numbers on all sessions."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        super().delete_acknowledged_recoverable_messages(session, header)
        for other in list_open_sessions(self.qm, session):
            super().delete_acknowledged_recoverable_messages(other, header)


@fault("sender-recoverable-ack-flags-except-bit-0-ignored", breaks="MQQB-3.1.5.5.3-02")
class SenderRecoverableAckFlagsExceptBit0Ignored(SessionAcks):
    """The sender ignores all bits of RecoverableMsgAckFlags except bit 0."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        first = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        super().delete_acknowledged_recoverable_messages(session, first)


def _add_fault_changing_ack_flags(name: str, says: str, change: Callable[[int], int]) -> None:
    """Add a fault that changes RecoverableMsgAckFlags of each received acknowledgment."""

    class ChangedAckFlags(SessionAcks):
        def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
            flags = change(header.RecoverableMsgAckFlags)
            super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=flags))

    add(name, "MQQB-3.1.5.5.3-02", says, replace_part(ChangedAckFlags))


_add_fault_changing_ack_flags(
    "sender-recoverable-ack-flags-bit-31-ignored",
    "The sender ignores bit 31 of RecoverableMsgAckFlags.",
    lambda flags: flags & 0x7FFF_FFFF,
)


_add_fault_changing_ack_flags(
    "sender-recoverable-ack-flags-high-16-bits-ignored",
    "The sender ignores the high 16 bits of RecoverableMsgAckFlags.",
    lambda flags: flags & 0xFFFF,
)


_add_fault_changing_ack_flags(
    "sender-recoverable-ack-flags-filled-up-to-highest-bit",
    "The sender deletes all recoverable messages up to the highest set bit of RecoverableMsgAckFlags.",
    lambda flags: (1 << flags.bit_length()) - 1,
)


@fault("sender-recoverable-ack-flags-highest-bit-not-read", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableAckFlagsHighestBitNotRead(SessionAcks):
    """The sender does not read the highest bit of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        flags = header.RecoverableMsgAckFlags & 0x7FFFFFFF
        super().delete_acknowledged_recoverable_messages(session, replace(header, RecoverableMsgAckFlags=flags))


@fault(
    "sender-recoverable-ack-flags-count-express-messages", breaks=("MQQB-3.1.5.5.3-02", "MQMQ-2.2.20.4-D02"), blind=True
)
class SenderRecoverableAckFlagsCountExpressMessages(SessionAcks):
    """When the sender computes the message numbers of the bits in RecoverableMsgAckFlags, it also counts express
    messages.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        positions = session.OutgoingMessageTable.awaiting_ack
        apart = [position.RecoverableSequenceNumber for position in positions]
        for position in positions:
            position.RecoverableSequenceNumber = position.SequenceNumber
        super().delete_acknowledged_recoverable_messages(session, header)
        for position, number in zip(positions, apart, strict=True):
            position.RecoverableSequenceNumber = number


@fault("sender-recoverable-msg-ack-flags-read-as-16-bits", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableMsgAckFlagsReadAs16Bits(SessionAcks):
    """The sender reads only the low 16 bits of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        half = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)
        super().delete_acknowledged_recoverable_messages(session, half)


@fault("sender-recoverable-ack-flags-read-as-numbers-of-all-messages", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableAckFlagsReadAsNumbersOfAllMessages(SessionAcks):
    """The sender treats the bits of RecoverableMsgAckFlags as numbers of all messages, not only of the recoverable
    messages.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        first = header.RecoverableMsgAckSeqNumber
        for position in session.OutgoingMessageTable.awaiting_ack:
            bit = position.SequenceNumber - first
            flagged = 0 <= bit < 32 and header.RecoverableMsgAckFlags >> bit & 1
            if position.recoverable and not position.TxSequenceNumber and flagged:
                self.delete_position(session, position)


@fault("sender-upper-16-recoverable-ack-flags-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderUpper16RecoverableAckFlagsIgnored(SessionAcks):
    """The sender uses only the lower 16 bits of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        lower = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)
        super().delete_acknowledged_recoverable_messages(session, lower)


@fault("sender-bit-31-of-recoverable-ack-flags-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderBit31OfRecoverableAckFlagsIgnored(SessionAcks):
    """The sender ignores bit 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        lower = replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0x7FFFFFFF)
        super().delete_acknowledged_recoverable_messages(session, lower)


@fault("sender-recoverable-flags-above-bit-15-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderRecoverableFlagsAboveBit15Ignored(SessionAcks):
    """The sender ignores bits 16 to 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        header = set_fields(header, {"RecoverableMsgAckFlags": lambda old: old & 0xFFFF})
        super().delete_acknowledged_recoverable_messages(session, header)


@fault("sender-highest-recoverable-flag-ignored", breaks="MQQB-3.1.5.5.3-02", blind=True)
class SenderHighestRecoverableFlagIgnored(SessionAcks):
    """The sender ignores bit 31 of RecoverableMsgAckFlags."""

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        header = set_fields(header, {"RecoverableMsgAckFlags": lambda old: old & 0x7FFFFFFF})
        super().delete_acknowledged_recoverable_messages(session, header)


@fault("sender-forgets-order-ack-that-arrives-before-session-ack", breaks="MQQB-3.1.5.5.3-03")
class SenderForgetsOrderAckThatArrivesBeforeSessionAck(TransactionalSending):
    """The sender forgets an OrderAck that arrives before the SessionAck of its message."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        position.ReceivedOrderAck = False
        super().keep_message_until_order_ack(session, position)


@fault("sender-deletes-transactional-message-by-flag-beside-other-flags", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderDeletesTransactionalMessageByFlagBesideOtherFlags(SessionAcks):
    """While other recoverable messages wait, the sender deletes a transactional message without an OrderAck if the bit
    of the message in RecoverableMsgAckFlags is set.
    """

    def delete_acknowledged_recoverable_messages(self, session: Session, header: SessionHeader) -> None:
        sent = session.OutgoingMessageTable.awaiting_ack
        super().delete_acknowledged_recoverable_messages(session, header)
        if any(one.recoverable and not one.TxSequenceNumber for one in sent):
            for one in session.OutgoingMessageTable:
                bit = one.RecoverableSequenceNumber - header.RecoverableMsgAckSeqNumber
                if one.TxSequenceNumber and 0 <= bit < 32 and header.RecoverableMsgAckFlags >> bit & 1:
                    self.delete_position(session, one)


@fault("sender-second-transactional-message-deleted-without-order-ack", breaks="MQQB-3.1.5.5.3-03", blind=True)
class SenderSecondTransactionalMessageDeletedWithoutOrderAck(TransactionalSending):
    """The sender deletes every transactional message except the first of its sequence when it receives a session
    acknowledgment.
    """

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.TxSequenceNumber > 1:
            position.ReceivedOrderAck = True
        super().keep_message_until_order_ack(session, position)
