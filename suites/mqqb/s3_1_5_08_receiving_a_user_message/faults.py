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


@fault("early-message-tolerated", breaks="MQQB-3.1.5.8-01")
class EarlyMessageTolerated(Closing):
    """A message that comes before the session is open is ignored."""

    def refuse_out_of_state(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, UserMessagePacket):
            super().refuse_out_of_state(session, packet, now)


@fault("duplicates-taken", breaks=("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"))
class DuplicatesTaken(History):
    """No message is a duplicate."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None


@fault("security-not-looked-at", breaks="MQQB-3.1.5.8-05")
class SecurityNotLookedAt(SecurityOnReceipt):
    """Any security will do."""

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        return packet


@fault("session-header-of-message-ignored", breaks=("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"))
class SessionHeaderOfMessageIgnored(Receiving):
    """A SessionHeader counts in SessionAcks only."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().receive_user_message(session, replace(packet, SessionHeader=None), now)


@fault("expired-taken", breaks="MQQB-3.1.5.8-07")
class ExpiredTaken(Admission):
    """A message that has expired is taken."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet


@fault("any-sequence-taken", breaks="MQQB-3.1.5.8-08")
class AnySequenceTaken(InSequence):
    """A transactional message is taken in any order."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return True


@fault("late-recoverable-message-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class LateRecoverableMessageAccepted(Admission):
    """The time of a recoverable message is never over when it arrives."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.DM and not packet.UserHeader.TH:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("late-message-with-a-time-to-be-received-accepted", breaks="MQQB-3.1.5.8-07", blind=True)
class LateMessageWithATimeToBeReceivedAccepted(Admission):
    """A message that also has a time to be received is not looked at when it arrives."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if packet.UserHeader.TimeToBeReceived != 0xFFFFFFFF:
            return packet
        return super().check_expiration(session, packet, queue, now)


def _counts_not_looked_at(original: Any, *_: Any) -> Any:
    def go_on(qm: QM, session: Session, header: SessionHeader, now: Now) -> None:
        right = replace(
            header,
            UserMsgSequenceNumber=session.MessageReceivedCount,
            RecoverableMsgSeqNumber=session.RecoverableMessageReceivedCount,
        )
        original(qm, session, right, now)

    return go_on


add(
    "counts-in-a-message-not-validated",
    "MQQB-3.1.5.8.4-01",
    "The counts of a SessionHeader that comes in a message are not looked at.",
    during(Receiving.receive_user_message, SessionAcks.validate_message_counts, _counts_not_looked_at),
    blind=True,
)


add(
    "message-before-the-parameters-response-ignored",
    "MQQB-3.1.5.8-01",
    "An initiator that waits for the response to its ConnectionParameters ignores a message.",
    ignore_out_of_state(UserMessagePacket, SessionState.WAITING_CPR_MSG, initiator=True),
    blind=True,
)
