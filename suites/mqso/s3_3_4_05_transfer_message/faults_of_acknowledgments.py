"""Faults in the session acknowledgments of transferred messages: MQSO-3.3.4.5-D03."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("receiver-large-message-not-acknowledged-on-session", breaks="MQSO-3.3.4.5-D03")
class ReceiverLargeMessageNotAcknowledgedOnSession(MessageReceiving):
    """The receiver does not acknowledge a recoverable message with a body above 4,096 bytes."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if len(packet.MessagePropertiesHeader.MessageBody) > 4096:
            receipt.must_be_acknowledged = False
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-message-on-second-session-not-acknowledged", breaks="MQSO-3.3.4.5-D03")
class ReceiverMessageOnSecondSessionNotAcknowledged(SessionAcks):
    """The receiver acknowledges the messages of only one of its sessions."""

    def flag_recoverable_messages(self, session: Session, now: Now) -> None:
        if self.__dict__.setdefault("first", session.number) == session.number:
            super().flag_recoverable_messages(session, now)


@fault("receiver-transactional-message-not-acknowledged-on-session", breaks="MQSO-3.3.4.5-D03")
class ReceiverTransactionalMessageNotAcknowledgedOnSession(MessageReceiving):
    """The receiver does not acknowledge a transactional message on the session."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.TransactionHeader is not None:
            receipt.must_be_acknowledged = False
        super().put_received_message_into_queue(session, packet, receipt, now)
