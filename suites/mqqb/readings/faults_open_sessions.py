"""Readings of erratum E16, which is about the session on which a queue manager sends a message.

The reference sends a message for another queue manager on a session that it opens for the outgoing queue. These
variants send the message on a session that the remote queue manager has opened: the first session, the last session, or
the session on which the latest message arrived.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import register_variant_of_reading
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import stop_counting_as_unacknowledged
from reference_qm.model.adm import OutgoingMessagePosition, OutgoingQueue, RecoverableReceipt, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

OpenSessionChoiceFunction = Callable[[QueueManager, list[Session]], Session]
"""A function that chooses one of the open sessions. Its argument lists the sessions in the order in
which they were opened.
"""
OpenSessionUsePredicate = Callable[[QueueManager, UserMessagePacket], bool]
"""A function that decides whether a queue manager sends a message on a session that is already open."""


def is_message_of_queue_manager_itself(qm: QueueManager, packet: UserMessagePacket) -> bool:
    """Return whether the queue manager itself sends a message, such as an acknowledgment or a report."""
    sent_here = packet.UserHeader.SourceQueueManager == qm.adm.Identifier
    return sent_here and packet.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL


def is_sendable_on_remote_session(qm: QueueManager, packet: UserMessagePacket) -> bool:
    """Return whether a message may be sent on a session of the remote queue manager. The messages of this queue
    manager's own sequences may not be sent there.
    """
    return packet.TransactionHeader is None or packet.UserHeader.SourceQueueManager != qm.adm.Identifier


def get_first_session(qm: QueueManager, sessions: list[Session]) -> Session:
    """Return the session that was opened first."""
    return sessions[0]


def get_last_session(qm: QueueManager, sessions: list[Session]) -> Session:
    """Return the session that was opened last."""
    return sessions[-1]


def get_latest_session(qm: QueueManager, sessions: list[Session]) -> Session:
    """Return the session on which the latest message arrived."""
    noted = getattr(qm.message_receiving, "latest", None)
    return noted if noted in sessions else sessions[-1]


class ReceiverRemembersSessionOfLatestMessage(MessageReceiving):
    """The receiver remembers the session on which the latest message arrived."""

    get_latest_session: Session | None = None

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        self.latest = session
        super().put_received_message_into_queue(session, packet, receipt, now)


class SenderUsesOpenSession(MessageSending):
    """The sender sends those messages that a subclass selects on a session that is already open, unless the outgoing
    queue has its own session or contains earlier messages.
    """

    is_sent_on_open_session: OpenSessionUsePredicate
    choose_session: OpenSessionChoiceFunction

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        free = session.SessionState is SessionState.CLOSED and not len(session.OutgoingMessageTable)
        if (
            free
            and type(self).is_sent_on_open_session(self.qm, position.UserMessage)
            and self._is_outgoing_queue_not_on_hold(session)
        ):
            session = self._find_open_session(position) or session
        super().add_message_to_session_table(session, position, now)

    def dispatch_messages(self, session: Session, now: Now) -> None:
        super().dispatch_messages(session, now)
        for other in self._list_accepted_sessions():  # messages whose storing has ended may wait on any of them
            if other is not session and len(other.OutgoingMessageTable):
                super().dispatch_messages(other, now)

    def _is_outgoing_queue_not_on_hold(self, session: Session) -> bool:
        return get_outgoing_queue(session).State is not OutgoingQueueState.ON_HOLD

    def _list_accepted_sessions(self) -> list[Session]:
        every = self.qm.sessions.values()
        return [one for one in every if not one.initiator and one.SessionState is SessionState.OPEN]

    def _find_open_session(self, position: OutgoingMessagePosition) -> Session | None:
        """Find a session that the destination of a message has opened."""
        name = position.MessagePosition.MessageReference.DestinationQueueFormatName.upper()
        found = [
            one for one in self._list_accepted_sessions() if name.startswith(_build_remote_format_name_prefixes(one))
        ]
        if not found:
            return None
        session = type(self).choose_session(self.qm, found)
        if session.OutgoingQueueReference is None:
            queue = OutgoingQueue(Pathname=name, DestinationFormatName=name, State=OutgoingQueueState.CONNECTED)
            queue.session = session
            session.OutgoingQueueReference = queue
        return session


class SenderReturnsUnsentMessagesToQueue(FinalAcks):
    """The sender returns all unsent messages, including express messages, to their outgoing queue when an accepted
    session ends.
    """

    def keep_final_acks(self, session: Session, now: Now) -> None:
        moved = [] if session.initiator else list(session.OutgoingMessageTable)
        for position in moved:
            if not position.recoverable and not is_for_order_queue(position.UserMessage):
                stop_counting_as_unacknowledged(session, position)
                session.OutgoingMessageTable.remove(position)
                self.move_to_outgoing_queue(position, now)
        super().keep_final_acks(session, now)


def _build_remote_format_name_prefixes(session: Session) -> tuple[str, str]:
    """Return the prefixes, in upper case, of the format names of the remote queue manager's queues."""
    return f"DIRECT=TCP:{session.RemoteQMAddress}\\".upper(), f"PRIVATE={session.RemoteQMGuid}\\".upper()


SESSION_CHOICE_FAULTS: tuple[tuple[str, str, OpenSessionUsePredicate, OpenSessionChoiceFunction], ...] = (
    (
        "E16.2",
        "The queue manager sends its own messages on the session that was opened first.",
        is_message_of_queue_manager_itself,
        get_first_session,
    ),
    (
        "E16.3",
        "The queue manager sends its own messages on the session that was opened last.",
        is_message_of_queue_manager_itself,
        get_last_session,
    ),
    (
        "E16.4",
        "The queue manager sends its own messages on the session on which the latest message arrived.",
        is_message_of_queue_manager_itself,
        get_latest_session,
    ),
    (
        "E16.5",
        "The queue manager sends every message on the session that was opened first.",
        is_sendable_on_remote_session,
        get_first_session,
    ),
    (
        "E16.6",
        "The queue manager sends every message on the session that was opened last.",
        is_sendable_on_remote_session,
        get_last_session,
    ),
    (
        "E16.7",
        "The queue manager sends every message on the session on which the latest message arrived.",
        is_sendable_on_remote_session,
        get_latest_session,
    ),
)
for _reading, _says, _moves, _choose in SESSION_CHOICE_FAULTS:
    _sending = type(
        "SenderUsesOpenSession",
        (SenderUsesOpenSession,),
        {"is_sent_on_open_session": _moves, "choose_session": _choose},
    )
    register_variant_of_reading(
        _reading,
        _says,
        combine_installers(
            replace_part(_sending),
            replace_part(ReceiverRemembersSessionOfLatestMessage),
            replace_part(SenderReturnsUnsentMessagesToQueue),
        ),
    )
