"""Faults that break the rules MQQB-3.1.3.2-13 to MQQB-3.1.3.2-36."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from harness.faults.fields import set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_core_after_every_input, omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    SequenceInfo,
)
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import generate_guid
from reference_qm.surface.inputs import TransportAccepted


def _stop_session_timer(timer: TimerName) -> Install:
    class TimerStopped(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.stop(session, timer)

    return replace_part(TimerStopped)


for _name, _rule, _timer in (
    ("any-new-session-cleanup-timer-stopped", "MQQB-3.1.3.2-13", TimerName.SESSION_CLEANUP),
    ("initiator-new-session-retry-connect-timer-stopped", "MQQB-3.1.3.2-14", TimerName.SESSION_RETRY_CONNECT),
):
    add(
        _name,
        _rule,
        f"A queue manager begins a session without starting the {_timer.value} timer.",
        _stop_session_timer(_timer),
    )


@fault("initiator-no-cleanup-timer-of-retried-session", breaks="MQQB-3.1.3.2-13", blind=True)
class InitiatorNoCleanupTimerOfRetriedSession(SessionInitialization):
    """The initiator does not start the Session Cleanup Timer of a session that a retry opens."""

    def initialize_timers(self, session: Session, now: Now) -> None:
        super().initialize_timers(session, now)
        if session.is_retrying_connection:
            self.qm.session_timers.stop(session, TimerName.SESSION_CLEANUP)


add(
    "sender-new-session-outgoing-sequence-missing",
    "MQQB-3.1.3.2-15",
    "The sender begins a session without a TxOutgoingSequence.",
    omit_step(SessionInitialization.initialize_transfer_sequence),
)


def _replace_initial_sequence_element(element: str, value: object) -> Install:
    class SequenceElementReplaced(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            super().initialize_transfer_sequence(session, now)
            setattr(session.TxOutgoingSequence, element, value)

    return replace_part(SequenceElementReplaced)


_SEQUENCE_ELEMENT_FAULTS: tuple[tuple[str, str, str, object], ...] = (
    ("sender-new-sequence-last-ack-number-7", "MQQB-3.1.3.2-16", "LastAck", SequenceInfo(SeqNo=7)),
    ("sender-new-sequence-time-of-last-ack-0", "MQQB-3.1.3.2-17", "TimeOfLastAck", 0),
    ("sender-new-sequence-last-ack-count-1", "MQQB-3.1.3.2-18", "LastAckCount", 1),
    ("sender-new-sequence-resend-interval-index-3", "MQQB-3.1.3.2-19", "ResendIntervalIndex", 3),
    ("sender-new-sequence-resend-interval-300-s", "MQQB-3.1.3.2-20", "ResendInterval", 300),
    ("sender-new-sequence-resend-time-30", "MQQB-3.1.3.2-21", "ResendTime", 30),
)


for _name, _rule, _element, _value in _SEQUENCE_ELEMENT_FAULTS:
    _says = f"The sender sets {_element} of TxOutgoingSequence to {_value!r} when a session begins."
    add(_name, _rule, _says, _replace_initial_sequence_element(_element, _value))


def _keep_sequence_element(name: str) -> type[SessionInitialization]:
    class SequenceElementKept(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            old = session.TxOutgoingSequence
            super().initialize_transfer_sequence(session, now)
            if old is not None:
                setattr(get_outgoing_sequence(session), name, getattr(old, name))

    return SequenceElementKept


for rule, name, text in (
    ("MQQB-3.1.3.2-16", "LastAck", "last-ack"),
    ("MQQB-3.1.3.2-18", "LastAckCount", "last-ack-count"),
    ("MQQB-3.1.3.2-19", "ResendIntervalIndex", "resend-interval-index"),
    ("MQQB-3.1.3.2-20", "ResendInterval", "resend-interval"),
):
    add(
        f"initiator-{text}-of-earlier-session-kept",
        rule,
        f"The sender begins a new session with the {name} of the previous TxOutgoingSequence.",
        replace_part(_keep_sequence_element(name)),
        blind=True,
    )


@fault("sender-last-ack-count-kept-in-new-session", breaks="MQQB-3.1.3.2-18")
class SenderLastAckCountKeptInNewSession(SessionInitialization):
    """The sender begins a new session with the LastAckCount of the previous session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None and session.TxOutgoingSequence is not None:
            session.TxOutgoingSequence.LastAckCount = before.LastAckCount


@fault("sender-message-of-lost-session-not-sent-again", breaks="MQQB-3.1.3.2-22")
class SenderMessageOfLostSessionNotSentAgain(SessionInitialization):
    """The sender does not send a message of a lost session again on the next session."""

    def initialize_messages(self, session: Session) -> None:
        session.UnAckedMessageCount = 0


@fault("sender-express-message-of-lost-session-not-sent-again", breaks="MQQB-3.1.3.2-22", blind=True)
class SenderExpressMessageOfLostSessionNotSentAgain(SessionInitialization):
    """The sender deletes an express message that was sent on an earlier session, instead of sending it again."""

    def initialize_messages(self, session: Session) -> None:
        for position in session.OutgoingMessageTable:
            if position.Transmitted and not position.recoverable:
                session.OutgoingMessageTable.remove(position)
        super().initialize_messages(session)


@fault("initiator-transactional-messages-not-sent-again-on-new-session", breaks="MQQB-3.1.3.2-22", blind=True)
class InitiatorTransactionalMessagesNotSentAgainOnNewSession(SessionInitialization):
    """On a new session, the sender sends only nontransactional messages again; it sends transactional messages again
    when the resend timer expires.
    """

    def initialize_messages(self, session: Session) -> None:
        super().initialize_messages(session)
        session.OutgoingMessageTable.withhold_all_positions()
        for position in session.OutgoingMessageTable:
            if not position.TxSequenceNumber:
                self.qm.dispatch_collection.add(session, position)


@fault("initiator-messages-sent-one-by-one-on-session-of-retry", breaks="MQQB-3.1.3.2-23", blind=True)
class InitiatorMessagesSentOneByOneOnSessionOfRetry(SessionInitialization):
    """On a session that a retry opens, the initiator sends each message only after the previous message has been
    acknowledged.
    """

    def initialize_messages(self, session: Session) -> None:
        super().initialize_messages(session)
        if session.is_retrying_connection:
            session.UnAckedMessageCount = self.qm.config.window_size - 1


@fault("sender-awaits-ack-before-journaled-message-of-priority-0", breaks="MQQB-3.1.3.2-23")
class SenderAwaitsAckBeforeJournaledMessageOfPriority0(MessageSending):
    """The sender waits for an acknowledgment before it sends a message with JP whose priority is 0."""

    def is_window_open(self, session: Session) -> bool:
        position = session.OutgoingMessageTable.get_next_unsent()
        alone = position is not None and position.UserMessage.UserHeader.JP and not position.UserMessage.BaseHeader.PR
        return super().is_window_open(session) and not (alone and session.UnAckedMessageCount)


add(
    "any-connection-parameters-window-size-32",
    ("MQQB-3.1.3.2-24", "MQQB-3.1.6.4-09"),
    "A queue manager sends a ConnectionParameters packet with WindowSize 32.",
    set_field_value(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 32),
)


@fault("initiator-direct-format-session-kept-on-reconnect", breaks="MQQB-3.1.3.2-29", blind=True)
class InitiatorDirectFormatSessionKeptOnReconnect(SessionInitialization):
    """An initiator that connects again keeps the DirectFormatSession of its earlier session."""

    def initialize_parameters(self, session: Session, now: Now) -> None:
        before = session.DirectFormatSession
        super().initialize_parameters(session, now)
        session.DirectFormatSession = before


def _clear_queue_manager_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = NULL_GUID


add(
    "queue-manager-identifier-null",
    "MQQB-3.1.3.2-34",
    "The queue manager uses the null GUID as QueueManager.Identifier.",
    change_core_after_every_input(_clear_queue_manager_identifier),
)


@fault("acceptor-queue-manager-identifier-changes-in-each-session", breaks="MQQB-3.1.3.2-34")
class AcceptorQueueManagerIdentifierChangesInEachSession(SessionOpening):
    """The acceptor's QueueManager.Identifier changes with each session."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.adm.Identifier = UUID(int=self.qm.transports[event.transport].number)


@fault("queue-manager-identifier-differs-in-responses-and-requests", breaks="MQQB-3.1.3.2-34", blind=True)
class QueueManagerIdentifierDiffersInResponsesAndRequests(SessionOpening):
    """The queue manager sends an Identifier in its EstablishConnection responses that differs from the Identifier in
    its requests.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        other = UUID(int=self.qm.adm.Identifier.int ^ 1)
        return set_fields(packet, {"EstablishConnectionHeader.ServerGuid": other})


@fault("initiator-ping-cookie-begins-with-1000", breaks="MQQB-3.1.3.2-35")
class InitiatorPingCookieBeginsWith1000(QueueManagerInitialization):
    """The initiator's PingCookie starts at 1000."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.PingCookie = 1_000


@fault("acceptor-new-session-state-waiting-cp-msg-instead-of-ec-msg", breaks=("MQQB-3.1.3.2-36", "MQQB-3.1.5.10-02"))
class AcceptorNewSessionStateWaitingCpMsgInsteadOfEcMsg(SessionOpening):
    """The acceptor begins a session in state WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


@fault("sender-resend-interval-index-kept-on-next-session", breaks="MQQB-3.1.3.2-19", blind=True)
class SenderResendIntervalIndexKeptOnNextSession(SessionInitialization):
    """The next session to the same destination begins with the ResendIntervalIndex of the previous session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None and session.TxOutgoingSequence is not None:
            session.TxOutgoingSequence.ResendIntervalIndex = before.ResendIntervalIndex


@fault("sender-resend-interval-kept-by-next-session", breaks="MQQB-3.1.3.2-20", blind=True)
class SenderResendIntervalKeptByNextSession(SessionInitialization):
    """When a session replaces a closed session, the sender begins the new session with the ResendInterval of the closed
    session.
    """

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None:
            get_outgoing_sequence(session).ResendInterval = before.ResendInterval


@fault("queue-manager-identifier-new-after-restart", breaks="MQQB-3.1.3.2-34", blind=True)
class QueueManagerIdentifierNewAfterRestart(StateRestoring):
    """The queue manager has a new random Identifier after each restart."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        if entries:
            self.qm.domain_membership.adopt_directory_identifier(generate_guid(self.qm.entropy))
