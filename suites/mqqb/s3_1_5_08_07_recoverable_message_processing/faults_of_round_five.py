"""Blind violations of round five: MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.store.entries import build_message_id_history_entry
from reference_qm.core.transfer.message_arrival import MessageArrival, UnsavedArrival
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import INFINITE_TIMEOUT, Session
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Persist


@fault("receiver-recoverable-message-with-limited-timetobereceived-not-stored", breaks="MQQB-3.1.5.8.7-12", blind=True)
class ReceiverRecoverableMessageWithLimitedTimetobereceivedNotStored(MessageArrival):
    """The receiver acknowledges a recoverable message with a limited TimeToBeReceived, but does not store the message
    on disk.
    """

    def save_message(self, saving: UnsavedArrival, packet: UserMessagePacket) -> None:
        if saving.position.MessageReference.TimeToBeReceived == INFINITE_TIMEOUT:
            super().save_message(saving, packet)
            return
        token = self.qm.assign_persist_token()
        self.qm.savings[token] = saving
        saving.position.key = token
        saving.position.is_disk_write_pending = True
        self.qm.emit_effect(Persist(token, build_message_id_history_entry(saving.entry)))


@fault(
    "receiver-sessionack-of-full-flags-usermsgsequencenumber-of-acknowledged-messages",
    breaks="MQQB-3.1.5.8.7-07",
    blind=True,
)
class ReceiverSessionackOfFullFlagsUsermsgsequencenumberOfAcknowledgedMessages(SessionAcks):
    """In the SessionAck that the receiver sends after 32 unacknowledged recoverable messages, UserMsgSequenceNumber
    includes only those sent messages that the remote queue manager has acknowledged.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.__dict__["are_flags_full"] = True
        super().set_acknowledgment_flag(session, now)
        self.__dict__["are_flags_full"] = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        full = self.__dict__.get("are_flags_full")
        return replace(header, UserMsgSequenceNumber=session.last_ack_number) if full else header
