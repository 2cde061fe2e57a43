"""Faults of MS-MQQB 3.1.7.11 in the SessionHeaders of some kinds of messages, and on one of several sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.other_sessions import list_open_sessions
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

OutgoingMessageCondition = Callable[[QueueManager, Session, OutgoingMessagePosition], bool]
SessionHeaderFieldComputation = Callable[[QueueManager, Session, SessionHeader], int]


def is_express(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> bool:
    """Return whether an express message is being sent."""
    return not position.recoverable


def is_recoverable(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> bool:
    """Return whether a recoverable message without transaction is being sent."""
    return position.recoverable and not position.TxSequenceNumber


def is_transactional(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> bool:
    """Return whether a transactional message is being sent."""
    return bool(position.TxSequenceNumber)


def is_any_outgoing_message(qm: QueueManager, session: Session, position: OutgoingMessagePosition) -> bool:
    """Return True for every message."""
    return True


def get_element_of_other_session(element: str) -> SessionHeaderFieldComputation:
    """Return a function that reads an element of the oldest other open session, or the element of the session itself if
    no other session is open.
    """

    def get_element(qm: QueueManager, session: Session, header: SessionHeader) -> int:
        others = list_open_sessions(qm, session)
        return int(getattr(others[0] if others else session, element))

    return get_element


def change_added_session_header(
    field: str, compute: SessionHeaderFieldComputation, when: OutgoingMessageCondition
) -> Install:
    """Return an installer of a fault that changes a field of the SessionHeader that is added to a message."""

    def make_changed_header(
        original: Any, qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> Any:
        def build_changed_header(qm: QueueManager, session: Session) -> SessionHeader:
            header: SessionHeader = original(qm, session)
            if not when(qm, session, position):
                return header
            return replace(header, **{field: compute(qm, session, header) & 0xFFFFFFFF})

        return build_changed_header

    return replace_method_during(
        MessageSending.update_user_message, SessionAcks.build_session_header, make_changed_header
    )


def keep_session_element_after_session_header(
    element: str, compute: Callable[[int], int], when: OutgoingMessageCondition
) -> Install:
    """Return an installer of a fault that sets an element of the session to a value that is computed from the value
    before a SessionHeader was added to a message.
    """

    def make_step_that_keeps_element(
        original: Any, qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> Any:
        def note_acknowledged_and_keep_element(qm: QueueManager, session: Session, now: Now) -> None:
            before = getattr(session, element)
            original(qm, session, now)
            if when(qm, session, position):
                setattr(session, element, compute(before))

        return note_acknowledged_and_keep_element

    return replace_method_during(
        MessageSending.update_user_message, SessionAcks.reset_unacknowledged_counts, make_step_that_keeps_element
    )


for _name, _rule, _says, _field, _compute, _when in (
    (
        "sender-session-header-ack-number-counts-recoverable-messages-only",
        "MQQB-3.1.7.11-05",
        "The sender sets AckSequenceNumber of a SessionHeader to the number of received recoverable messages.",
        "AckSequenceNumber",
        lambda qm, session, header: session.RecoverableMessageReceivedCount,
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-ack-number-one-less-in-transactional-message",
        "MQQB-3.1.7.11-05",
        "The sender sets AckSequenceNumber of the SessionHeader of a transactional message to one less than "
        "MessageReceivedCount.",
        "AckSequenceNumber",
        lambda qm, session, header: max(header.AckSequenceNumber - 1, 0),
        is_transactional,
    ),
    (
        "sender-session-header-ack-number-of-other-session",
        "MQQB-3.1.7.11-05",
        "The sender sets AckSequenceNumber of a SessionHeader to MessageReceivedCount of another session.",
        "AckSequenceNumber",
        get_element_of_other_session("MessageReceivedCount"),
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-message-count-without-transactional-message",
        "MQQB-3.1.7.11-07",
        "The sender does not count a transactional message in UserMsgSequenceNumber of its SessionHeader.",
        "UserMsgSequenceNumber",
        lambda qm, session, header: header.UserMsgSequenceNumber - 1,
        is_transactional,
    ),
    (
        "sender-session-header-message-count-of-other-session",
        "MQQB-3.1.7.11-07",
        "The sender sets UserMsgSequenceNumber of a SessionHeader to MessageSentCount of another session.",
        "UserMsgSequenceNumber",
        get_element_of_other_session("MessageSentCount"),
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-message-count-in-recoverable-message-one-less",
        "MQQB-3.1.7.11-07",
        "The sender does not count a recoverable message in UserMsgSequenceNumber of its SessionHeader.",
        "UserMsgSequenceNumber",
        lambda qm, session, header: header.UserMsgSequenceNumber - 1,
        is_recoverable,
    ),
    (
        "sender-session-header-recoverable-count-without-transactional-message",
        "MQQB-3.1.7.11-08",
        "The sender does not count a transactional message in RecoverableMsgSeqNumber of its SessionHeader.",
        "RecoverableMsgSeqNumber",
        lambda qm, session, header: header.RecoverableMsgSeqNumber - 1,
        is_transactional,
    ),
    (
        "sender-session-header-recoverable-count-0-in-express-message",
        "MQQB-3.1.7.11-08",
        "The sender sets RecoverableMsgSeqNumber of the SessionHeader of an express message to 0.",
        "RecoverableMsgSeqNumber",
        lambda qm, session, header: 0,
        is_express,
    ),
    (
        "sender-session-header-recoverable-count-of-other-session",
        "MQQB-3.1.7.11-08",
        "The sender sets RecoverableMsgSeqNumber of a SessionHeader to RecoverableMessageSentCount of another session.",
        "RecoverableMsgSeqNumber",
        get_element_of_other_session("RecoverableMessageSentCount"),
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-has-16-flags",
        "MQQB-3.1.7.11-09",
        "The sender cuts RecoverableMsgAckFlags of a SessionHeader to 16 bits.",
        "RecoverableMsgAckFlags",
        lambda qm, session, header: header.RecoverableMsgAckFlags & 0xFFFF,
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-flags-of-express-message-0",
        "MQQB-3.1.7.11-09",
        "The sender sets RecoverableMsgAckFlags of the SessionHeader of an express message to 0.",
        "RecoverableMsgAckFlags",
        lambda qm, session, header: 0,
        is_express,
    ),
    (
        "sender-session-header-flags-of-other-session",
        "MQQB-3.1.7.11-09",
        "The sender sets RecoverableMsgAckFlags of a SessionHeader to the flags of another session.",
        "RecoverableMsgAckFlags",
        get_element_of_other_session("RecoverableMsgAckFlags"),
        is_any_outgoing_message,
    ),
):
    add(_name, _rule, _says, change_added_session_header(_field, _compute, _when), blind=True)

for _name, _rule, _says, _element, _keep, _when in (
    (
        "sender-session-header-in-express-message-flags-not-cleared",
        "MQQB-3.1.7.11-12",
        "The sender does not clear RecoverableMsgAckFlags after it has added a SessionHeader to an express message.",
        "RecoverableMsgAckFlags",
        lambda before: before,
        is_express,
    ),
    (
        "sender-session-header-in-transactional-message-flags-not-cleared",
        "MQQB-3.1.7.11-12",
        "The sender does not clear RecoverableMsgAckFlags after it has added a SessionHeader to a transactional "
        "message.",
        "RecoverableMsgAckFlags",
        lambda before: before,
        is_transactional,
    ),
    (
        "sender-session-header-clears-lowest-flag-only",
        "MQQB-3.1.7.11-12",
        "The sender clears only the lowest bit of RecoverableMsgAckFlags after it has added a SessionHeader to a "
        "message.",
        "RecoverableMsgAckFlags",
        lambda before: before & before - 1 if before else 0,
        is_any_outgoing_message,
    ),
    (
        "sender-session-header-in-transactional-message-unacked-count-kept",
        "MQQB-3.1.7.11-13",
        "The sender does not reset UnackedReceivedMsgCount after it has added a SessionHeader to a transactional "
        "message.",
        "UnackedReceivedMsgCount",
        lambda before: before,
        is_transactional,
    ),
    (
        "sender-session-header-unacked-count-decremented",
        "MQQB-3.1.7.11-13",
        "The sender subtracts one from UnackedReceivedMsgCount after it has added a SessionHeader to a message.",
        "UnackedReceivedMsgCount",
        lambda before: before - 1,
        is_any_outgoing_message,
    ),
):
    add(_name, _rule, _says, keep_session_element_after_session_header(_element, _keep, _when), blind=True)
