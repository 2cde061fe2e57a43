"""Faults that break rules of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import add_to_field, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import (
    change_packets_of_kind,
    omit_step_during,
    replace_method_during,
    send_wrong_field_values,
    set_fields,
)
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-packet-label-differs-from-message-label", breaks=("MQQB-3.1.7.11-01", "MQDMPR-3.1.7.1.30-04"))
class SenderPacketLabelDiffersFromMessageLabel(MessageSending):
    """The sender creates a packet whose label differs from the label of the message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        label = {"MessagePropertiesHeader.Label": "else"}
        packet: UserMessagePacket = set_fields(super().construct_user_message(position), label)
        return packet


@fault("sender-sends-body-of-earlier-message-of-same-label-and-size", breaks="MQQB-3.1.7.11-01", blind=True)
class SenderSendsBodyOfEarlierMessageOfSameLabelAndSize(MessageSending):
    """If two messages have the same label and size, the sender puts the body of the earlier message into the packet of
    the later message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.bodies: dict[tuple[str, int], bytes] = {}

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if not message.Class:
            body = self.bodies.setdefault((message.Label, len(message.Body)), message.Body)
            position.MessageReference = replace(message, Body=body)
        return super().construct_user_message(position)


@fault("sender-session-header-never-added", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class SenderSessionHeaderNeverAdded(MessageSending):
    """The sender never adds a SessionHeader to a message."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return False


@fault("sender-session-header-added-too-early", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class SenderSessionHeaderAddedTooEarly(MessageSending):
    """The sender adds a SessionHeader to a message whenever any received message is unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return bool(session.UnackedReceivedMsgCount)


@fault("sender-session-header-once-per-session", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"), blind=True)
class SenderSessionHeaderOncePerSession(MessageSending):
    """The sender adds a SessionHeader to at most one message of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.added: set[int] = set()

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        due = super().is_acknowledgment_due(session, now) and session.number not in self.added
        if due:
            self.added.add(session.number)
        return due


@fault(
    "sender-session-header-for-recoverable-messages-only", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"), blind=True
)
class SenderSessionHeaderForRecoverableMessagesOnly(MessageSending):
    """The sender adds a SessionHeader only when it has received recoverable messages that are still unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return super().is_acknowledgment_due(session, now) and bool(session.RecoverableMsgAckFlags)


@fault("sender-session-header-only-once-on-a-session", breaks="MQQB-3.1.7.11-02", blind=True)
class SenderSessionHeaderOnlyOnceOnASession(MessageSending):
    """The sender adds a SessionHeader to only one message of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str | None] = set()

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        due = super().is_acknowledgment_due(session, now) and session.transport not in self.done
        if due:
            self.done.add(session.transport)
        return due


@fault("sender-session-header-missing-in-transactional-message", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderMissingInTransactionalMessage(MessageSending):
    """The sender never adds a SessionHeader to a transactional message."""

    is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)


@fault("sender-transactional-message-without-due-session-header", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderTransactionalMessageWithoutDueSessionHeader(MessageSending):
    """The sender adds no SessionHeader to a transactional message when an acknowledgment is nearly due."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)


@fault("sender-session-header-not-in-transactional-messages", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderNotInTransactionalMessages(MessageSending):
    """The sender adds no SessionHeader to a transactional message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        count = session.UnackedReceivedMsgCount
        if position.TxSequenceNumber:
            session.UnackedReceivedMsgCount = 0
        packet = super().update_user_message(session, position, now)
        if position.TxSequenceNumber:
            session.UnackedReceivedMsgCount = count
        return packet


@fault("sender-session-header-for-several-received-messages-only", breaks="MQQB-3.1.7.11-03", blind=True)
class SenderSessionHeaderForSeveralReceivedMessagesOnly(MessageSending):
    """The sender adds a SessionHeader to a message only if at least two messages are unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return session.UnackedReceivedMsgCount > 1 and super().is_acknowledgment_due(session, now)


add(
    "sender-session-header-ack-sequence-number-low",
    "MQQB-3.1.7.11-05",
    "The SessionHeader in the sender's message has an AckSequenceNumber that is one too low.",
    add_to_field(UserMessagePacket, "SessionHeader.AckSequenceNumber", -1),
)


class _SessionHeaderChanger(MessageSending):
    """Change the SessionHeader that the sender adds to a message."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        before = (session.RecoverableMsgAckFlags, session.UnackedReceivedMsgCount)
        packet = super().update_user_message(session, position, now)
        if packet.SessionHeader is None:
            return packet
        return self.change(session, position, packet, before)

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        raise NotImplementedError


def _replace_session_header_fields(packet: UserMessagePacket, **fields: Any) -> UserMessagePacket:
    assert packet.SessionHeader is not None
    return replace(packet, SessionHeader=replace(packet.SessionHeader, **fields))


@fault("sender-session-header-ack-sequence-number-omits-last-message", breaks="MQQB-3.1.7.11-05", blind=True)
class SenderSessionHeaderAckSequenceNumberOmitsLastMessage(_SessionHeaderChanger):
    """The sender sets AckSequenceNumber of a SessionHeader that it adds to the number of the last
    recoverable message.
    """

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_session_header_fields(
            packet, AckSequenceNumber=session.RecoverableMessageReceivedCount or session.MessageReceivedCount
        )


add(
    "sender-session-header-recoverable-number-not-lowest",
    "MQQB-3.1.7.11-06",
    "The SessionHeader in the sender's message has a RecoverableMsgAckSeqNumber one above the lowest number.",
    add_to_field(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)


add(
    "sender-session-header-sent-count-without-message",
    "MQQB-3.1.7.11-07",
    "The SessionHeader in the sender's message does not count this message in UserMsgSequenceNumber.",
    add_to_field(UserMessagePacket, "SessionHeader.UserMsgSequenceNumber", -1),
)


@fault("sender-user-msg-sequence-number-omits-recoverable-message", breaks="MQQB-3.1.7.11-07", blind=True)
class SenderUserMsgSequenceNumberOmitsRecoverableMessage(_SessionHeaderChanger):
    """The sender does not count a recoverable message that contains the SessionHeader in UserMsgSequenceNumber."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_session_header_fields(
            packet, UserMsgSequenceNumber=session.MessageSentCount - int(position.recoverable)
        )


add(
    "sender-session-header-recoverable-sent-count-0",
    "MQQB-3.1.7.11-08",
    "The SessionHeader in the sender's message has RecoverableMsgSeqNumber 0.",
    set_field_value(UserMessagePacket, "SessionHeader.RecoverableMsgSeqNumber", 0),
)


@fault("sender-recoverable-msg-seq-number-omits-message-with-header", breaks="MQQB-3.1.7.11-08", blind=True)
class SenderRecoverableMsgSeqNumberOmitsMessageWithHeader(_SessionHeaderChanger):
    """The sender does not count the recoverable message that contains the SessionHeader in RecoverableMsgSeqNumber."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_session_header_fields(
            packet, RecoverableMsgSeqNumber=session.RecoverableMessageSentCount - int(position.recoverable)
        )


def _has_session_header(packet: UserMessagePacket) -> bool:
    return packet.SessionHeader is not None


add(
    "sender-session-header-has-only-flag-bit-0-set",
    "MQQB-3.1.7.11-09",
    "The SessionHeader in the sender's message has only bit 0 of RecoverableMsgAckFlags set.",
    send_wrong_field_values(
        UserMessagePacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}, _has_session_header
    ),
)


@fault("sender-session-header-sets-only-lowest-recoverable-ack-flag", breaks="MQQB-3.1.7.11-09", blind=True)
class SenderSessionHeaderSetsOnlyLowestRecoverableAckFlag(_SessionHeaderChanger):
    """The sender sets only the lowest bit of RecoverableMsgAckFlags in a SessionHeader that it adds."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        assert packet.SessionHeader is not None
        return _replace_session_header_fields(
            packet, RecoverableMsgAckFlags=packet.SessionHeader.RecoverableMsgAckFlags & 1
        )


add(
    "sender-session-header-window-size-not-own",
    "MQQB-3.1.7.11-10",
    "The SessionHeader in the sender's message has a WindowSize other than the sender's.",
    add_to_field(UserMessagePacket, "SessionHeader.WindowSize", 1),
)


@fault("sender-session-header-has-window-size-that-remote-side-announced", breaks="MQQB-3.1.7.11-10", blind=True)
class SenderSessionHeaderHasWindowSizeThatRemoteSideAnnounced(_SessionHeaderChanger):
    """The sender sets WindowSize of a SessionHeader that it adds to the WindowSize that the remote side announced."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        return _replace_session_header_fields(packet, WindowSize=session.ReceivedWindowSize)


def _remove_session_header(packet: UserMessagePacket) -> bytes:
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags, PacketSize=0), SessionHeader=None).build()


add(
    "sender-session-header-and-sh-missing",
    "MQQB-3.1.7.11-11",
    "The sender's message omits a due SessionHeader and has SH clear.",
    change_packets_of_kind(UserMessagePacket, _remove_session_header, _has_session_header),
)


def _change_session_after_session_header(element: str, value: object) -> Install:
    """Make the sender set an element of the session after it sends a message with a SessionHeader."""

    def replace_note_acknowledged(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note_acknowledged_and_change_session(qm: QueueManager, session: Session, now: Now) -> None:
            original(qm, session, now)
            setattr(session, element, value)

        return note_acknowledged_and_change_session

    return replace_method_during(
        MessageSending.update_user_message, SessionAcks.reset_unacknowledged_counts, replace_note_acknowledged
    )


add(
    "sender-ack-flags-not-cleared-by-session-header",
    "MQQB-3.1.7.11-12",
    "The sender does not clear RecoverableMsgAckFlags after it sends a message with a SessionHeader.",
    _change_session_after_session_header("RecoverableMsgAckFlags", 0b11),
)


@fault("sender-ack-flags-not-cleared-after-header-in-recoverable-message", breaks="MQQB-3.1.7.11-12", blind=True)
class SenderAckFlagsNotClearedAfterHeaderInRecoverableMessage(_SessionHeaderChanger):
    """The sender does not clear RecoverableMsgAckFlags after it has added a SessionHeader to a recoverable message."""

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        if position.recoverable:
            session.RecoverableMsgAckFlags = before[0]
        return packet


add(
    "sender-unacked-received-count-not-reset-by-session-header",
    "MQQB-3.1.7.11-13",
    "The sender does not reset UnackedReceivedMsgCount after it sends a message with a SessionHeader.",
    _change_session_after_session_header("UnackedReceivedMsgCount", 3),
)


@fault("sender-unacked-count-reset-only-after-first-session-header", breaks="MQQB-3.1.7.11-13", blind=True)
class SenderUnackedCountResetOnlyAfterFirstSessionHeader(_SessionHeaderChanger):
    """The sender sets UnackedReceivedMsgCount to 0 only after it has added the first SessionHeader of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str | None] = set()

    def change(
        self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket, before: tuple[int, int]
    ) -> UserMessagePacket:
        if session.transport in self.done:
            session.UnackedReceivedMsgCount = before[1]
        self.done.add(session.transport)
        return packet


add(
    "sender-last-acked-number-0-after-session-header",
    "MQQB-3.1.7.11-14",
    "The sender sets LastAckedRecoverableMsgSeqNumber to 0 after it sends a message with a SessionHeader.",
    _change_session_after_session_header("LastAckedRecoverableMsgSeqNumber", 0),
)


add(
    "sender-session-ack-timer-not-stopped-by-session-header",
    "MQQB-3.1.7.11-15",
    "The sender does not stop the Session Ack Send Timer after it sends a message with a SessionHeader.",
    omit_step_during(MessageSending.update_user_message, SessionTimers.stop),
)


@fault("sender-application-tag-cut-to-16-bits", breaks="MQQB-3.1.7.11-01", blind=True)
class SenderApplicationTagCutTo16Bits(MessageSending):
    """The sender puts only the low 16 bits of Message.AppSpecific into ApplicationTag of the packet."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = packet.MessagePropertiesHeader
        low = replace(properties, ApplicationTag=properties.ApplicationTag & 0xFFFF)
        return replace(packet, MessagePropertiesHeader=low)
