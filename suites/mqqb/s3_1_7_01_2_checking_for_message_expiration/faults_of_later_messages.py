"""Faults that break rules of MS-MQQB 3.1.7.1.2 Checking for Message Expiration for later messages, or for messages of
one kind.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import change_step
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


def _send_without_expiration_check(
    self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now
) -> Any:
    if not session.MessageSentCount:
        return original(session, position, now)
    self.qm.session_address_resolving.set_queue_manager_address(session, position)
    if self.sign_and_encrypt_message(session, position, now):
        self.transmit(session, position, self.update_user_message(session, position, now))
    return True


def _send_expired_messages(condition: Any) -> Any:
    def run(self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if condition(self, session, position):
            self.transmit(session, position, self.update_user_message(session, position, now))
        else:
            original(session, position, now)

    return combine_installers(
        change_step(MessageSending.delete_expired_message, run), omit_step(MessageExpiring.on_expiration_timer)
    )


def _keep_expired_messages_in_table(condition: Any) -> Any:
    def run(self: Any, original: Any, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        original(session, position, now)
        if condition(self, session, position):
            session.OutgoingMessageTable.add(position)

    return change_step(MessageSending.delete_expired_message, run)


def _count_expired_messages(self: Any) -> int:
    self.__dict__["expired"] = self.__dict__.get("expired", 0) + 1
    return int(self.__dict__["expired"])


def _does_message_request_journaling(self: Any, session: Session, position: OutgoingMessagePosition) -> bool:
    packet: UserMessagePacket = position.UserMessage
    return bool(packet.UserHeader.JN or packet.UserHeader.JP)


for _name, _rule, _says, _install in (
    (
        "sender-expired-message-behind-unexpired-sent",
        "MQQB-3.1.7.1.2-01",
        "The sender checks TimeToReachQueue only until it has sent a message on the session.",
        combine_installers(
            change_step(MessageSending.send_user_message, _send_without_expiration_check),
            omit_step(MessageExpiring.on_expiration_timer),
        ),
    ),
    (
        "sender-expired-routed-message-sent",
        "MQQB-3.1.7.1.2-01",
        "The sender does not check TimeToReachQueue of a message of another queue manager.",
        _send_expired_messages(
            lambda self, session, position: not self.is_from_this_queue_manager(position.UserMessage)
        ),
    ),
    (
        "sender-expired-message-of-high-priority-sent",
        "MQQB-3.1.7.1.2-01",
        "The sender does not check TimeToReachQueue of a message whose priority is above 3.",
        _send_expired_messages(lambda self, session, position: position.UserMessage.BaseHeader.Flags & 7 > 3),
    ),
    (
        "sender-second-expired-message-kept-in-table",
        "MQQB-3.1.7.1.2-02",
        "The sender keeps its second and later expired messages in OutgoingMessageTable.",
        _keep_expired_messages_in_table(lambda self, session, position: _count_expired_messages(self) > 1),
    ),
    (
        "sender-expired-message-with-journaling-kept-in-table",
        "MQQB-3.1.7.1.2-02",
        "The sender keeps an expired message that requests journaling in OutgoingMessageTable.",
        _keep_expired_messages_in_table(_does_message_request_journaling),
    ),
    (
        "sender-expired-message-without-journaling-kept-in-table",
        "MQQB-3.1.7.1.2-02",
        "The sender keeps an expired message that requests no journaling in OutgoingMessageTable.",
        _keep_expired_messages_in_table(lambda *given: not _does_message_request_journaling(*given)),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
