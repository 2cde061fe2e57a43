"""Faults of MS-MQQB 3.1.7.1 Send User Message Event: acknowledgments, reports and forwarded messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-accepted-session-outgoing-queue-reference-null-after-final-ack", breaks="MQQB-3.1.7.1-04", blind=True)
class ReceiverAcceptedSessionOutgoingQueueReferenceNullAfterFinalAck(MessageSending):
    """The receiver leaves OutgoingQueueReference of an accepted session at NULL when the first message that it sends on
    the session is a FinalAck.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.referring: set[int] = set()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        if not session.initiator and is_final_ack(packet) and session.number not in self.referring:
            session.OutgoingQueueReference = None
        else:
            self.referring.add(session.number)


@fault("sender-report-message-id-not-assigned", breaks="MQQB-3.1.7.1-05", blind=True)
class SenderReportMessageIdNotAssigned(MessageSending):
    """The queue manager sends a report without an identifier: its MessageID is 0."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.Class == MessageClass.MQMSG_CLASS_REPORT:
            unnumbered = MessageIdentifier(message.Identifier.QueueManagerGuid, 0)
            position.MessageReference = replace(message, Identifier=unnumbered)
        return super().construct_user_message(position)


@fault("router-forwarded-traced-message-not-reported", breaks="MQQB-3.1.7.1.7-02", blind=True)
class RouterForwardedTracedMessageNotReported(MessageTracing):
    """The router sends no report when it has forwarded a traced message of another queue manager."""

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            super().trace_sent_message(session, message, now)


@fault("router-report-label-has-hop-count-before-increment", breaks="MQQB-3.1.7.1.7-04", blind=True)
class RouterReportLabelHasHopCountBeforeIncrement(MessageTracing):
    """In Label of the report on a forwarded message, the router puts RC of the received packet, instead of the
    incremented RC of the forwarded packet.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sending = False

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        self.sending = message.Identifier.QueueManagerGuid != self.qm.adm.Identifier
        super().trace_sent_message(session, message, now)
        self.sending = False

    def build_report_label(self, message: Message, now: Now) -> str:
        arrived = replace(message, HopCount=message.HopCount - 1) if self.sending else message
        return super().build_report_label(arrived, now)
