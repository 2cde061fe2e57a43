"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import field_is, off_by
from harness.faults.parts import fault
from harness.faults.primitives import during, packets, set_fields, skip_during, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-packet-label-wrong", breaks=("MQQB-3.1.7.11-01", "MQDMPR-3.1.7.1.30-04"))
class SenderPacketLabelWrong(Sending):
    """The sender creates a packet whose label differs from the label of the message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        label = {"MessagePropertiesHeader.Label": "else"}
        packet: UserMessagePacket = set_fields(super().construct_user_message(position), label)
        return packet


# -- messages with an acknowledgment ---------------------------------------------------------------------------------


@fault("sender-session-header-never-added", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class SenderSessionHeaderNeverAdded(Sending):
    """The sender never adds a SessionHeader to a message."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return False


@fault("sender-session-header-added-too-early", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class SenderSessionHeaderAddedTooEarly(Sending):
    """The sender adds a SessionHeader to a message whenever any received message is unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return bool(session.UnackedReceivedMsgCount)


# -- the acknowledgment --------------------------------------------------------------------------------------------


def _has_session_header(packet: UserMessagePacket) -> bool:
    return packet.SessionHeader is not None


def _remove_session_header(packet: UserMessagePacket) -> bytes:
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags, PacketSize=0), SessionHeader=None).build()


add(
    "sender-session-header-ack-sequence-number-low",
    "MQQB-3.1.7.11-05",
    "The SessionHeader in the sender's message has an AckSequenceNumber that is one too low.",
    off_by(UserMessagePacket, "SessionHeader.AckSequenceNumber", -1),
)
add(
    "sender-session-header-recoverable-number-not-lowest",
    "MQQB-3.1.7.11-06",
    "The SessionHeader in the sender's message has a RecoverableMsgAckSeqNumber one above the lowest number.",
    off_by(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)
add(
    "sender-session-header-sent-count-without-message",
    "MQQB-3.1.7.11-07",
    "The SessionHeader in the sender's message does not count this message in UserMsgSequenceNumber.",
    off_by(UserMessagePacket, "SessionHeader.UserMsgSequenceNumber", -1),
)
add(
    "sender-session-header-recoverable-sent-count-0",
    "MQQB-3.1.7.11-08",
    "The SessionHeader in the sender's message has RecoverableMsgSeqNumber 0.",
    field_is(UserMessagePacket, "SessionHeader.RecoverableMsgSeqNumber", 0),
)
add(
    "sender-session-header-has-only-flag-bit-0-set",
    "MQQB-3.1.7.11-09",
    "The SessionHeader in the sender's message has only bit 0 of RecoverableMsgAckFlags set.",
    wrong_fields(UserMessagePacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}, _has_session_header),
)
add(
    "sender-session-header-window-size-not-own",
    "MQQB-3.1.7.11-10",
    "The SessionHeader in the sender's message has a WindowSize other than the sender's.",
    off_by(UserMessagePacket, "SessionHeader.WindowSize", 1),
)
add(
    "sender-session-header-and-sh-missing",
    "MQQB-3.1.7.11-11",
    "The sender's message omits a due SessionHeader and has SH clear.",
    packets(UserMessagePacket, _remove_session_header, _has_session_header),
)

# -- the session after the message -----------------------------------------------------------------------------------


def _change_after_session_header(element: str, value: object) -> Install:
    """Make the sender set an element of the session after it sends a message with a SessionHeader."""

    def make_changed_note(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note_and_change(qm: QueueManager, session: Session, now: Now) -> None:
            original(qm, session, now)
            setattr(session, element, value)

        return note_and_change

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make_changed_note)


add(
    "sender-ack-flags-not-cleared-by-session-header",
    "MQQB-3.1.7.11-12",
    "The sender does not clear RecoverableMsgAckFlags after it sends a message with a SessionHeader.",
    _change_after_session_header("RecoverableMsgAckFlags", 0b11),
)
add(
    "sender-unacked-received-count-not-reset-by-session-header",
    "MQQB-3.1.7.11-13",
    "The sender does not reset UnackedReceivedMsgCount after it sends a message with a SessionHeader.",
    _change_after_session_header("UnackedReceivedMsgCount", 3),
)
add(
    "sender-last-acked-number-0-after-session-header",
    "MQQB-3.1.7.11-14",
    "The sender sets LastAckedRecoverableMsgSeqNumber to 0 after it sends a message with a SessionHeader.",
    _change_after_session_header("LastAckedRecoverableMsgSeqNumber", 0),
)
add(
    "sender-session-ack-timer-not-stopped-by-session-header",
    "MQQB-3.1.7.11-15",
    "The sender does not stop the Session Ack Send Timer after it sends a message with a SessionHeader.",
    skip_during(Sending.update_user_message, SessionTimers.stop),
)


@fault("sender-session-header-missing-in-transactional-message", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderMissingInTransactionalMessage(Sending):
    """The sender never adds a SessionHeader to a transactional message."""

    is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)
