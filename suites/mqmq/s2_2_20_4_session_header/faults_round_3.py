"""Faults that break rules of MS-MQMQ 2.2.20.4 SessionHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

_HALF_OF_RANGE = 0x8000


@fault("sender-expired-message-takes-sequence-number", breaks="MQMQ-2.2.20.4-03", blind=True)
class SenderExpiredMessageTakesSequenceNumber(Sending):
    """A message that expires before it is sent takes a sequence number of the sender's session."""

    def delete_expired(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        session.MessageSentCount = session.MessageSentCount + 1 & 0xFFFF
        super().delete_expired(session, position, now)


@fault("initiator-recoverable-count-kept-on-next-session", breaks="MQMQ-2.2.20.4-11", blind=True)
class InitiatorRecoverableCountKeptOnNextSession(SessionInitialization):
    """When the initiator connects again, it continues the count of recoverable messages of the previous session."""

    def initialize_counts(self, session: Session) -> None:
        sent = session.RecoverableMessageSentCount
        super().initialize_counts(session)
        session.RecoverableMessageSentCount = sent


@fault("receiver-session-kept-after-repeated-sequence-number", breaks="MQMQ-2.2.20.4-D03", blind=True)
class ReceiverSessionKeptAfterRepeatedSequenceNumber(Receiving):
    """The receiver does not close the session if the UserMsgSequenceNumber of a message is lower than the count of
    messages that it received.
    """

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        received = session.MessageReceivedCount + 1 & 0xFFFF
        header = packet.SessionHeader
        if header is not None and 0 < (received - header.UserMsgSequenceNumber & 0xFFFF) < _HALF_OF_RANGE:
            packet = set_fields(packet, {"SessionHeader.UserMsgSequenceNumber": received})
        super().receive_user_message(session, packet, now)
