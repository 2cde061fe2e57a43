"""Faults of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from harness.faults.session_states import ignore_out_of_state
from reference_qm.codec import MessageClass, Packet, SessionHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessageIDHistoryEntry, Queue, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("receiver-message-before-open-ignored", breaks="MQQB-3.1.5.8-01")
class ReceiverMessageBeforeOpenIgnored(Closing):
    """The receiver ignores a user message on a session that is not open, instead of closing the session."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, UserMessagePacket):
            super().refuse_out_of_state(session, packet, now)


@fault("receiver-duplicate-accepted", breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"))
class ReceiverDuplicateAccepted(History):
    """The receiver accepts every duplicate of a user message."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None


@fault("receiver-message-security-not-checked", breaks="MQQB-3.1.5.8-05")
class ReceiverMessageSecurityNotChecked(SecurityOnReceipt):
    """The receiver accepts a user message with any security data, valid or not."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


@fault("receiver-message-session-header-ignored", breaks=("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"))
class ReceiverMessageSessionHeaderIgnored(Receiving):
    """The receiver ignores the SessionHeader of a user message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().receive_user_message(session, replace(packet, SessionHeader=None), now)


@fault("receiver-expired-message-accepted", breaks="MQQB-3.1.5.8-07")
class ReceiverExpiredMessageAccepted(Admission):
    """The receiver accepts an expired user message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet


@fault("receiver-transactional-message-out-of-sequence-accepted", breaks="MQQB-3.1.5.8-08")
class ReceiverTransactionalMessageOutOfSequenceAccepted(InSequence):
    """The receiver accepts a transactional message out of sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return True


@fault("receiver-expired-recoverable-message-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverExpiredRecoverableMessageAccepted(Admission):
    """The receiver accepts an expired recoverable message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.DM and not packet.UserHeader.TH:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-expired-message-with-time-to-be-received-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class ReceiverExpiredMessageWithTimeToBeReceivedAccepted(Admission):
    """The receiver does not check the expiration of a message that has a TimeToBeReceived."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.TimeToBeReceived != 0xFFFFFFFF:
            return packet
        return super().check_expiration(session, packet, queue, now)


def _accept_any_message_counts(original: Any, *_: Any) -> Any:
    def process_with_correct_counts(qm: QM, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=session.MessageReceivedCount,
            RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount,
        )
        original(qm, session, right, now)

    return process_with_correct_counts


add(
    "receiver-message-session-header-counts-not-validated",
    "MQQB-3.1.5.8.4-01",
    "The receiver does not validate the counts in the SessionHeader of a user message.",
    during(Receiving.receive_user_message, SessionAcks.validate_message_counts, _accept_any_message_counts),
    blind=True,
)


add(
    "initiator-message-before-parameters-response-ignored",
    "MQQB-3.1.5.8-01",
    "The initiator ignores a user message while it waits for the ConnectionParameters response.",
    ignore_out_of_state(UserMessagePacket, SessionState.WAITING_CPR_MSG, initiator=True),
    blind=True,
)
