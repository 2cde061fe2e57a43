"""Faults in the connection of a sent message, and in the reports about sent messages. Spec: MS-MQQB 3.1.7.1.6,
3.1.7.1.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session


class _SendingToOtherQueueManager(MessageSending):
    """Sends those messages that a subclass selects to a wrong queue manager, on the open connection with this queue
    manager.
    """

    def is_misdirected(self, session: Session, position: OutgoingMessagePosition) -> bool:
        raise NotImplementedError

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        others = [one for one in list_open_sessions(self.qm, session) if one.RemoteQMAddress != session.RemoteQMAddress]
        if others and self.is_misdirected(session, position):
            super().transmit(others[0], position, packet)
        else:
            super().transmit(session, position, packet)


@fault("sender-message-on-later-session-sent-to-other-queue-manager", breaks="MQQB-3.1.7.1.6-01", blind=True)
class SenderMessageOnLaterSessionSentToOtherQueueManager(_SendingToOtherQueueManager):
    """The sender sends the messages of a later session on the connection with another queue manager."""

    def is_misdirected(self, session: Session, position: OutgoingMessagePosition) -> bool:
        first = self.__dict__.setdefault("first_connections", {}).setdefault(session.number, session.transport)
        return bool(first != session.transport)


@fault("sender-resent-message-goes-to-other-queue-manager", breaks="MQQB-3.1.7.1.6-01", blind=True)
class SenderResentMessageGoesToOtherQueueManager(_SendingToOtherQueueManager):
    """The sender sends a message that it repeats on the same session on the connection with another queue manager."""

    def is_misdirected(self, session: Session, position: OutgoingMessagePosition) -> bool:
        return position.Transmitted


def _give_report_identifier_of_traced_message(
    original: Callable[..., int], qm: QueueManager, session: Session, message: Message, *_: Any
) -> Callable[..., int]:
    return lambda *arguments: message.Identifier.Ordinal if message.TransactionIdentifier else original(*arguments)


add(
    "sender-report-of-transactional-message-identifier-of-message",
    "MQQB-3.1.7.1.7-02",
    "The sender gives the report on a transactional message the MessageID of this message.",
    replace_method_during(
        MessageTracing.trace_sent_message,
        MessageNumbering.assign_message_ordinal,
        _give_report_identifier_of_traced_message,
    ),
    blind=True,
)


def _give_report_identifier_of_last_message(
    original: Callable[..., int], qm: QueueManager, *_: Any
) -> Callable[..., int]:
    return lambda *arguments: qm.adm.MessageIdOrdinal


add(
    "sender-report-identifier-of-last-message",
    "MQQB-3.1.7.1.7-02",
    "The sender gives a report on a sent message the MessageID of the last message that it created.",
    replace_method_during(
        MessageTracing.trace_sent_message,
        MessageNumbering.assign_message_ordinal,
        _give_report_identifier_of_last_message,
    ),
    blind=True,
)
