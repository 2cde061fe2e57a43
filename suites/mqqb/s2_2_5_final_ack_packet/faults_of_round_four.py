"""Faults that break rules of MS-MQQB 2.2.5 FinalAck Packet, written without knowledge of the checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-missing-when-message-with-only-jp-expires", breaks="MQQB-2.2.5-22", blind=True)
class ReceiverFinalAckMissingWhenMessageWithOnlyJpExpires(FinalAcks):
    """The receiver sends no FinalAck when a transactional message with JP set and JN clear expires in its queue."""

    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        only_positive = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT and only_positive:
            return
        super().send_final_ack_of_message(position, reason, now)


@fault("receiver-second-final-ack-for-undecryptable-key-missing", breaks="MQQB-2.2.5-16", blind=True)
class ReceiverSecondFinalAckForUndecryptableKeyMissing(FinalAcks):
    """If two messages that the receiver cannot decrypt have the same EncryptionKey, the receiver sends no FinalAck for
    the second one.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused_keys: set[tuple[UUID, bytes]] = set()

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION and packet.SecurityHeader is not None:
            key = (packet.UserHeader.SourceQueueManager, packet.SecurityHeader.SecurityData.EncryptionKey)
            if key in self.refused_keys:
                return
            self.refused_keys.add(key)
        super().send_negative_final_ack(session, packet, message_class, now)


@fault(
    "receiver-final-ack-positive-for-purge-during-remote-read",
    breaks=("MQQB-2.2.5-21", "MQDMPR-3.1.1.12-D24", "MQQB-3.1.7.2.1-D03"),
    blind=True,
)
class ReceiverFinalAckPositiveForPurgeDuringRemoteRead(TwoPhaseReading):
    """The receiver sends a FinalAck of class ACK_RECEIVE for a message that is purged while a remote reader has it."""

    def end_with_deletion(self, position: MessagePosition, ended: Callable[[Status], None]) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            position.State = MessagePositionState.LOCKED
        super().end_with_deletion(position, ended)


@fault("receiver-negative-final-ack-source-guid-big-endian", breaks="MQQB-2.2.5.1-D01", blind=True)
class ReceiverNegativeFinalAckSourceGuidBigEndian(OrderAcks):
    """The receiver's negative FinalAck contains SourceGUID with its first three parts in big-endian byte order."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if isinstance(body, FinalAckBody) and message_class is not MessageClass.MQMSG_CLASS_ACK_RECEIVE:
            body = replace(body, SourceGUID=UUID(bytes_le=body.SourceGUID.bytes))
        super().send_transactional_ack(name, message_class, body, now)
