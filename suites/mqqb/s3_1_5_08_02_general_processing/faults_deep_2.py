"""Faults of MS-MQQB 3.1.5.8.2 General Processing that occur only for one kind of delivery or the second of two
messages.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import Message, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


def _omit_nack_of_express_message(refused: MessageClass) -> Install:
    class Omitted(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            express = message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
            if message_class is not refused or not express:
                super().acknowledge_failure(message, message_class, now)

    return replace_part(Omitted)


add(
    "receiver-nack-bad-dst-q-of-express-message-missing",
    "MQQB-3.1.5.8.2-17",
    "The receiver sends no acknowledgment of class BAD_DST_Q for an express message with NA set.",
    _omit_nack_of_express_message(MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
)
add(
    "receiver-nack-not-transactional-msg-of-express-message-missing",
    "MQQB-3.1.5.8.2-34",
    "The receiver sends no acknowledgment of class NOT_TRANSACTIONAL_MSG for an express message with NA set.",
    _omit_nack_of_express_message(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
)


@fault("receiver-final-ack-of-missing-queue-once-per-session", breaks="MQQB-3.1.5.8.2-20")
class ReceiverFinalAckOfMissingQueueOncePerSession(FinalAcks):
    """The receiver sends only one FinalAck of class BAD_DST_Q on each session."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        done = self.__dict__.setdefault("done", set())
        if message_class is MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q:
            if session.number in done:
                return
            done.add(session.number)
        super().refuse_transactional(session, packet, message_class, now)


@fault("initiator-later-recoverable-message-on-session-not-counted", breaks="MQQB-3.1.5.8.2-02")
class InitiatorLaterRecoverableMessageOnSessionNotCounted(Receiving):
    """The initiator does not count nontransactional recoverable messages after the first message of a session."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.MessageReceivedCount
        super().count_received(session, packet)
        if session.initiator and before and packet.UserHeader.DM and packet.TransactionHeader is None:
            session.MessageReceivedCount = before


@fault("router-hop-count-of-transactional-message-not-incremented", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountOfTransactionalMessageNotIncremented(Routing):
    """The router does not increment RC of a transactional message."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        return packet if counted is not None and packet.TransactionHeader is not None else counted


@fault("router-hop-count-set-to-1", breaks="MQQB-3.1.5.8.2-39")
class RouterHopCountSetTo1(Routing):
    """The router sets RC of each forwarded message to 1."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        if counted is None:
            return None
        user = counted.UserHeader
        flags = user.Flags & ~type(user).flags(RC=31) | type(user).flags(RC=1)
        return replace(counted, UserHeader=replace(user, Flags=flags))
