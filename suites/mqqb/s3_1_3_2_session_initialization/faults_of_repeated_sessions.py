"""Faults in the values with which a later session begins (MS-MQQB 3.1.3.2)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import add
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import OutgoingTransferSequence, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _is_other_session_open(self: Any, session: Session) -> bool:
    return any(one is not session and one.SessionState is SessionState.OPEN for one in self.qm.sessions.values())


def _find_sequence_of_another_outgoing_queue(self: Any, session: Session) -> OutgoingTransferSequence | None:
    """Return the transfer sequence of an outgoing queue other than the queue of the given session, or None."""
    for queue in self.qm.adm.OutgoingQueues.values():
        if queue.session is not session and queue.session.TxOutgoingSequence is not None:
            other: OutgoingTransferSequence = queue.session.TxOutgoingSequence
            return other
    return None


@fault("queue-manager-copies-unacked-received-count-of-other-session", breaks="MQQB-3.1.3.2-08", blind=True)
class QueueManagerCopiesUnackedReceivedCountOfOtherSession(SessionInitialization):
    """The queue manager begins a session with UnackedReceivedMsgCount of another session that is open."""

    def initialize_counts(self, session: Session) -> None:
        super().initialize_counts(session)
        counts = [one.UnackedReceivedMsgCount for one in self.qm.sessions.values() if one is not session]
        session.UnackedReceivedMsgCount = max(counts, default=0)


def _copy_elements_from_sequence_of_another_queue(*fields: str) -> type[SessionInitialization]:
    """Return a component that begins each session with the given elements of the transfer sequence of a different
    outgoing queue.
    """

    class CopiedFromOtherSequence(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            super().initialize_transfer_sequence(session, now)
            other = _find_sequence_of_another_outgoing_queue(self, session)
            for field in fields if other is not None else ():
                setattr(session.TxOutgoingSequence, field, getattr(other, field))

    return CopiedFromOtherSequence


add(
    "sender-session-last-ack-count-of-other-queue",
    "MQQB-3.1.3.2-18",
    "The sender begins a session with LastAckCount of the session of another outgoing queue.",
    replace_part(_copy_elements_from_sequence_of_another_queue("LastAckCount")),
    blind=True,
)
add(
    "sender-session-resend-interval-index-of-other-queue",
    "MQQB-3.1.3.2-19",
    "The sender begins a session with ResendIntervalIndex of the session of another outgoing queue.",
    replace_part(_copy_elements_from_sequence_of_another_queue("ResendIntervalIndex")),
    blind=True,
)
add(
    "sender-session-resend-interval-of-other-queue",
    "MQQB-3.1.3.2-20",
    "The sender begins a session with ResendInterval of the session of another outgoing queue.",
    replace_part(_copy_elements_from_sequence_of_another_queue("ResendInterval")),
    blind=True,
)


@fault("sender-new-session-transactional-messages-not-sent-again", breaks="MQQB-3.1.3.2-22", blind=True)
class SenderNewSessionTransactionalMessagesNotSentAgain(SessionInitialization):
    """The sender does not send transactional messages of an earlier session again when a new session begins."""

    def initialize_messages(self, session: Session) -> None:
        sent = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and one.Transmitted]
        super().initialize_messages(session)
        for position in sent:
            session.OutgoingMessageTable.note_position_sent(position)
            self.qm.dispatch_collection.remove(session, position)


@fault("sender-new-session-express-messages-not-sent-again", breaks="MQQB-3.1.3.2-22", blind=True)
class SenderNewSessionExpressMessagesNotSentAgain(SessionInitialization):
    """When a new session begins, the sender deletes the express messages that it has sent on an earlier session."""

    def initialize_messages(self, session: Session) -> None:
        for position in [one for one in session.OutgoingMessageTable if not one.recoverable and one.Transmitted]:
            session.OutgoingMessageTable.remove(position)
        super().initialize_messages(session)


@fault("sender-new-session-begins-with-nearly-full-window", breaks="MQQB-3.1.3.2-23", blind=True)
class SenderNewSessionBeginsWithNearlyFullWindow(SessionInitialization):
    """The sender begins a session after a lost session with UnAckedMessageCount one less than WindowSize, so that it
    waits for an acknowledgment after each message.
    """

    def initialize_session(self, session: Session, now: Now) -> None:
        again = any(position.Transmitted for position in session.OutgoingMessageTable)
        super().initialize_session(session, now)
        if again:
            session.UnAckedMessageCount = session.WindowSize - 1


@fault("sender-sends-one-message-of-new-session-while-other-queue-waits", breaks="MQQB-3.1.3.2-23", blind=True)
class SenderSendsOneMessageOfNewSessionWhileOtherQueueWaits(SessionInitialization):
    """The sender sends only one message of a session that begins while messages of another queue wait."""

    def initialize_session(self, session: Session, now: Now) -> None:
        super().initialize_session(session, now)
        if any(
            len(queue.session.OutgoingMessageTable)
            for queue in self.qm.adm.OutgoingQueues.values()
            if queue.session is not session
        ):
            session.UnAckedMessageCount = session.WindowSize - 1


@fault("queue-manager-window-size-32-while-other-session-is-open", breaks="MQQB-3.1.3.2-24", blind=True)
class QueueManagerWindowSize32WhileOtherSessionIsOpen(SessionInitialization):
    """The queue manager begins a session with WindowSize 32 while another session is open."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        if _is_other_session_open(self, session):
            session.WindowSize = 32


@fault("receiver-order-ack-timeout-is-2-s-on-session-that-it-opens", breaks="MQQB-3.1.3.2-28", blind=True)
class ReceiverOrderAckTimeoutIs2SOnSessionThatItOpens(SessionInitialization):
    """The receiver begins a session that it opens itself with OrderAckTimeout 2 s."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        if session.initiator:
            session.OrderAckTimeout = 2000


@fault("receiver-order-ack-timeout-is-2-s-while-other-session-is-open", breaks="MQQB-3.1.3.2-28", blind=True)
class ReceiverOrderAckTimeoutIs2SWhileOtherSessionIsOpen(SessionInitialization):
    """The receiver begins a session with OrderAckTimeout 2 s while another session is open."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        if _is_other_session_open(self, session):
            session.OrderAckTimeout = 2000


@fault("receiver-copies-direct-format-session-of-other-session", breaks="MQQB-3.1.3.2-29", blind=True)
class ReceiverCopiesDirectFormatSessionOfOtherSession(SessionInitialization):
    """The receiver begins a session with DirectFormatSession of another session that is open."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        session.DirectFormatSession = any(
            one.DirectFormatSession for one in self.qm.sessions.values() if one is not session
        )


@fault("receiver-sets-direct-format-session-by-establish-request", breaks="MQQB-3.1.3.2-29", blind=True)
class ReceiverSetsDirectFormatSessionByEstablishRequest(MessageReceiving):
    """The receiver sets DirectFormatSession when the initiator addressed the session by a direct format name, although
    no message has a direct format name.
    """

    def note_session_activity(self, session: Session, packet: Any, now: Now) -> None:
        super().note_session_activity(session, packet, now)
        session.DirectFormatSession = session.DirectFormatSession or session.is_destination_direct


@fault(
    "receiver-maximum-order-ack-delay-2-s-while-other-session-is-open",
    breaks=("MQQB-3.1.3.2-30", "MQQB-3.1.1.6.2-04", "MQQB-3.1.1.6.2-05"),
    blind=True,
)
class ReceiverMaximumOrderAckDelay2SWhileOtherSessionIsOpen(SessionInitialization):
    """The receiver begins a session with MaximumOrderAckDelay 2 s while another session is open."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        if _is_other_session_open(self, session):
            session.MaximumOrderAckDelay = 2


@fault("receiver-maximum-order-ack-delay-2-s-on-session-that-it-opens", breaks="MQQB-3.1.3.2-30", blind=True)
class ReceiverMaximumOrderAckDelay2SOnSessionThatItOpens(SessionInitialization):
    """The receiver begins a session that it opens itself with MaximumOrderAckDelay 2 s."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        super().initialize_parameters(session, now)
        if session.initiator:
            session.MaximumOrderAckDelay = 2
