"""Faults of MS-MQQB 3.1.7.1 Send User Message Event that depend on the kind, the order or the session of a message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.states import OutgoingQueueState, SessionState

Condition = Callable[[Any, Any], bool]
"""The type of conditions: a function of the session and the OutgoingMessagePosition."""


def _is_express(session: Any, position: Any) -> bool:
    return not position.recoverable


def _is_recoverable(session: Any, position: Any) -> bool:
    return bool(position.recoverable) and not position.TxSequenceNumber


def _is_transactional(session: Any, position: Any) -> bool:
    return bool(position.TxSequenceNumber)


def _is_message_of_queue_manager_itself(session: Any, position: Any) -> bool:
    return bool(position.UserMessage.MessagePropertiesHeader.MessageClass)


def _has_high_priority(session: Any, position: Any) -> bool:
    return bool(position.UserMessage.BaseHeader.PR > 3)


def _is_later_message_of_session(session: Any, position: Any) -> bool:
    return bool(session.MessageSentCount > 0)


def _was_message_sent(session: Any, position: Any) -> bool:
    return bool(position.SequenceNumber)


def _has_large_body(session: Any, position: Any) -> bool:
    return len(position.UserMessage.MessagePropertiesHeader.MessageBody) > 4096


_MESSAGE_KIND_CONDITIONS: dict[str, tuple[str, Condition]] = {
    "express-message": ("an express message", _is_express),
    "recoverable-message": ("a recoverable message", _is_recoverable),
    "transactional-message": ("a transactional message", _is_transactional),
    "own-message": ("a message that it created itself", _is_message_of_queue_manager_itself),
    "urgent-message": ("a message with a priority above 3", _has_high_priority),
    "later-message": ("each later message of a session", _is_later_message_of_session),
    "resent-message": ("a message that it sends again", _was_message_sent),
    "large-message": ("a message with a body of more than 4 KB", _has_large_body),
}


def _send_from_paused_queue(kind: str) -> Install:
    """Return an installer of a fault that also sends selected messages from a queue that is not connected."""

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
        original(session, position, now)
        held = session.OutgoingQueueReference.State is OutgoingQueueState.ON_HOLD
        if held and session.SessionState is SessionState.OPEN and _MESSAGE_KIND_CONDITIONS[kind][1](session, position):
            self.send_user_message(session, position, now)

    return change_step(MessageSending.add_message_to_session_table, run)


def _ignore_window_for_messages(kind: str) -> Install:
    def run(self: Any, original: Any, session: Any) -> bool:
        position = session.OutgoingMessageTable.get_next_unsent()
        return bool(original(session)) or (
            position is not None and _MESSAGE_KIND_CONDITIONS[kind][1](session, position)
        )

    return change_step(MessageSending.is_window_open, run)


def _ignore_window_of_later_session(self: Any, original: Any, session: Any) -> bool:
    first = self.__dict__.setdefault("first", session.number)
    return bool(original(session)) or session.number != first


def _skip_message_security(attribute: str, off: int, kind: str) -> Install:
    """Return an installer of a fault that does not sign, or does not encrypt, selected messages; ``attribute``
    determines which of the two.
    """

    def run(self: Any, original: Any, session: Any, position: Any, now: Any) -> bool:
        place = position.MessagePosition
        message = place.MessageReference
        if message.security is None or not _MESSAGE_KIND_CONDITIONS[kind][1](session, position):
            return bool(original(session, position, now))
        place.MessageReference = replace(message, security=replace(message.security, **{attribute: off}))
        try:
            return bool(original(session, position, now))
        finally:
            place.MessageReference = message

    return change_step(MessageSending.sign_and_encrypt_message, run)


def _omit_message_transmission(kind: str) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
        if _MESSAGE_KIND_CONDITIONS[kind][1](session, position):
            position.Transmitted = True
        else:
            original(session, position, packet)

    return change_step(MessageSending.transmit, run)


def _omit_transmission_of_fifth_message(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
    if session.MessageSentCount == 5:
        position.Transmitted = True
    else:
        original(session, position, packet)


def _send_message_on_other_session(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
    others = [one for one in list_open_sessions(self.qm, session) if one.initiator]
    if others and position.SequenceNumber > 1:
        original(others[0], position, packet)
    else:
        original(session, position, packet)


def _set_transmitted_of_first_message_only(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
    original(session, position, packet)
    position.Transmitted = session.MessageSentCount == 1


def _clear_transmitted_of_messages(kind: str) -> Install:
    def run(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
        original(session, position, packet)
        position.Transmitted = not _MESSAGE_KIND_CONDITIONS[kind][1](session, position)

    return change_step(MessageSending.transmit, run)


def _set_transmitted_of_waiting_message(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
    original(session, position, now)
    if not self.is_window_open(session):
        position.Transmitted = True


def _change_constructed_packet(change: Callable[[UserMessagePacket], UserMessagePacket]) -> Install:
    def run(self: Any, original: Any, position: Any) -> UserMessagePacket:
        return change(original(position))

    return change_step(MessageSending.construct_user_message, run)


def _set_fields_of_constructed_packet(when: Callable[[UserMessagePacket], bool], header: str, **values: Any) -> Install:
    def change(packet: UserMessagePacket) -> UserMessagePacket:
        if not when(packet):
            return packet
        packet = replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))
        return replace(packet, **{header: replace(getattr(packet, header), **values)})

    return _change_constructed_packet(change)


def _delete_sent_messages_on_close(kind: str) -> Install:
    """Return an installer of a fault that deletes selected sent messages when the connection of a session is lost."""

    def run(self: Any, original: Any, session: Any, reason: Any, now: Any) -> None:
        for position in session.OutgoingMessageTable if session.initiator else ():
            if position.AwaitingAck and _MESSAGE_KIND_CONDITIONS[kind][1](session, position):
                session.OutgoingMessageTable.remove(position)
        original(session, reason, now)

    return change_step(SessionClosing.on_transport_lost, run)


def _ignore_connection_loss(when: Callable[[Any, Any], bool]) -> Install:
    """Return an installer of a fault that ignores the loss of selected connections."""

    def run(self: Any, original: Any, session: Any, reason: Any, now: Any) -> None:
        if not when(self, session):
            original(session, reason, now)

    return change_step(SessionClosing.on_transport_lost, run)


def _is_later_connection_loss(self: Any, session: Any) -> bool:
    lost = self.__dict__.setdefault("lost", {})
    lost[session.number] = lost.get(session.number, 0) + 1
    return lost[session.number] > 1


def _keep_queue_state_at_later_connection_loss(self: Any, original: Any, session: Any, reason: Any, now: Any) -> None:
    again = _is_later_connection_loss(self, session)
    original(session, reason, now)
    queue = session.OutgoingQueueReference
    if again and session.initiator and queue is not None and queue.State is OutgoingQueueState.DISCONNECTED:
        queue.State = OutgoingQueueState.CONNECTED


def _send_resent_messages_twice(kind: str) -> Install:
    """Return an installer of a fault that sends selected messages twice on the session after a lost session."""

    def run(self: Any, original: Any, session: Any, position: Any, packet: Any) -> None:
        again = position.MessagePosition in self.__dict__.setdefault("sent", [])
        self.sent.append(position.MessagePosition)
        original(session, position, packet)
        if again and _MESSAGE_KIND_CONDITIONS[kind][1](session, position):
            original(session, position, packet)

    return change_step(MessageSending.transmit, run)


def _omit_resending_on_next_session(kind: str) -> Install:
    """Return an installer of a fault that does not resend selected messages of a lost session on the next session."""

    def run(self: Any, original: Any, session: Any) -> None:
        sent = {
            one.order
            for one in session.OutgoingMessageTable
            if one.Transmitted and _MESSAGE_KIND_CONDITIONS[kind][1](session, one)
        }
        original(session)
        table = session.OutgoingMessageTable
        table.withhold_all_positions()
        for position in table:
            if position.order not in sent:
                self.qm.dispatch_collection.add(session, position)

    return change_step(SessionInitialization.initialize_messages, run)


def _describe_message_kinds(*kinds: str) -> list[tuple[str, str]]:
    """Return each kind of message with the words that describe it."""
    return [(kind, _MESSAGE_KIND_CONDITIONS[kind][0]) for kind in kinds]


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    *(
        (
            f"sender-{kind}-sent-from-queue-on-hold",
            "MQQB-3.1.7.1-02",
            f"The sender sends {words} from an outgoing queue that is on hold while its session is open.",
            _send_from_paused_queue(kind),
        )
        for kind, words in _describe_message_kinds(
            "express-message", "transactional-message", "own-message", "urgent-message"
        )
    ),
    *(
        (
            f"sender-{kind}-sent-with-full-window",
            "MQQB-3.1.7.1-03",
            f"The sender sends {_MESSAGE_KIND_CONDITIONS[kind][0]} even if the window is full.",
            _ignore_window_for_messages(kind),
        )
        for kind in ("transactional-message", "own-message", "urgent-message", "express-message")
    ),
    (
        "sender-window-of-second-queue-ignored",
        "MQQB-3.1.7.1-03",
        "The sender respects the window only on its first session.",
        change_step(MessageSending.is_window_open, _ignore_window_of_later_session),
    ),
    *(
        (
            f"sender-{kind}-sent-unsigned",
            "MQQB-3.1.7.1-07",
            f"The sender does not sign {_MESSAGE_KIND_CONDITIONS[kind][0]}.",
            _skip_message_security("AuthenticationLevel", 0, kind),
        )
        for kind in ("express-message", "transactional-message", "resent-message", "later-message", "large-message")
    ),
    *(
        (
            f"sender-{kind}-sent-in-clear",
            "MQQB-3.1.7.1-08",
            f"The sender does not encrypt {_MESSAGE_KIND_CONDITIONS[kind][0]}.",
            _skip_message_security("PrivacyLevel", 0, kind),
        )
        for kind in ("express-message", "transactional-message", "resent-message", "later-message", "large-message")
    ),
    *(
        (
            f"sender-{kind}-not-transmitted",
            "MQQB-3.1.7.1-10",
            f"The sender counts {_MESSAGE_KIND_CONDITIONS[kind][0]} as sent, but does not send the packet.",
            _omit_message_transmission(kind),
        )
        for kind in ("own-message", "urgent-message", "large-message", "resent-message")
    ),
    (
        "sender-fifth-message-not-transmitted",
        "MQQB-3.1.7.1-10",
        "The sender counts the fifth message of a session as sent, but does not send the packet.",
        change_step(MessageSending.transmit, _omit_transmission_of_fifth_message),
    ),
    (
        "sender-later-messages-on-connection-of-other-session",
        "MQQB-3.1.7.1.6-01",
        "The sender sends the second and each later message of a session on the connection of another session.",
        change_step(MessageSending.transmit, _send_message_on_other_session),
    ),
    (
        "sender-transmitted-only-of-first-message",
        "MQQB-3.1.7.1.6-02",
        "The sender sets Transmitted only of the first message of a session.",
        change_step(MessageSending.transmit, _set_transmitted_of_first_message_only),
    ),
    *(
        (
            f"sender-transmitted-of-{kind}-false",
            "MQQB-3.1.7.1.6-02",
            f"The sender leaves Transmitted of {_MESSAGE_KIND_CONDITIONS[kind][0]} FALSE.",
            _clear_transmitted_of_messages(kind),
        )
        for kind in ("transactional-message", "own-message")
    ),
    (
        "sender-transmitted-of-message-behind-full-window",
        "MQQB-3.1.7.1.6-02",
        "The sender sets Transmitted of a message that waits for a full window.",
        change_step(MessageSending.add_message_to_session_table, _set_transmitted_of_waiting_message),
    ),
    *(
        (
            f"sender-{kind}-deleted-with-lost-connection",
            ("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04"),
            f"The sender deletes {words} that awaits its acknowledgment when the connection is lost.",
            _delete_sent_messages_on_close(kind),
        )
        for kind, words in _describe_message_kinds(
            "express-message", "recoverable-message", "own-message", "urgent-message"
        )
    ),
    (
        "sender-queue-connected-after-second-loss",
        "MQQB-3.1.7.1.6-03",
        "The sender leaves State Connected after the second loss of a connection.",
        change_step(SessionClosing.on_transport_lost, _keep_queue_state_at_later_connection_loss),
    ),
    *(
        (
            f"sender-{kind}-sent-twice-after-loss",
            "MQQB-3.1.7.1.6-04",
            f"The sender sends {_MESSAGE_KIND_CONDITIONS[kind][0]} twice on the session after the lost session.",
            _send_resent_messages_twice(kind),
        )
        for kind in ("express-message", "transactional-message", "own-message", "later-message")
    ),
    *(
        (
            f"sender-{kind}-of-lost-session-left-out",
            "MQQB-3.1.7.1.6-04",
            f"The sender does not send {_MESSAGE_KIND_CONDITIONS[kind][0]} of a lost session on the next session.",
            _omit_resending_on_next_session(kind),
        )
        for kind in ("express-message", "urgent-message", "large-message")
    ),
    (
        "sender-second-lost-session-not-closed",
        "MQQB-3.1.7.1.6-06",
        "The sender does not close a session whose connection is lost for the second time.",
        _ignore_connection_loss(_is_later_connection_loss),
    ),
    (
        "sender-lost-session-without-messages-not-closed",
        "MQQB-3.1.7.1.6-06",
        "The sender does not close a lost session if no message awaits its acknowledgment.",
        _ignore_connection_loss(
            lambda self, session: session.initiator and not session.OutgoingMessageTable.awaiting_ack
        ),
    ),
    *(
        (
            f"sender-{label}",
            "MQQB-3.1.7.1.1-03",
            says,
            _set_fields_of_constructed_packet(when, header, **values),
        )
        for label, says, when, header, values in (
            (
                "label-of-message-with-priority-7-empty",
                "The sender sends a message of priority 7 without its label.",
                lambda packet: packet.BaseHeader.PR == 7,
                "MessagePropertiesHeader",
                {"Label": ""},
            ),
            (
                "application-tag-of-recoverable-message-0",
                "The sender sends a recoverable message with the application tag 0.",
                lambda packet: bool(packet.UserHeader.DM),
                "MessagePropertiesHeader",
                {"ApplicationTag": 0},
            ),
            (
                "time-to-reach-queue-of-recoverable-message-infinite",
                "The sender sends a recoverable message with an infinite TimeToReachQueue.",
                lambda packet: bool(packet.UserHeader.DM) and packet.TransactionHeader is None,
                "BaseHeader",
                {"TimeToReachQueue": 0xFFFFFFFF},
            ),
            (
                "lifetime-of-transactional-message-infinite",
                "The sender sends a transactional message with an infinite TimeToBeReceived.",
                lambda packet: packet.TransactionHeader is not None,
                "UserHeader",
                {"TimeToBeReceived": 0xFFFFFFFF},
            ),
            (
                "label-of-message-with-large-body-empty",
                "The sender sends a message with a body of more than 4 KB without its label.",
                lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > 4096,
                "MessagePropertiesHeader",
                {"Label": ""},
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
