"""Faults of MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import always, skip
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import NULL_GUID, ConnectionParametersPacket, SequenceInfo, SessionHeader
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import put_in_place
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted

_HOUR_MS = 3_600_000


# -- elements of the session before --------------------------------------------------------------------------------


def _keep_session_element(element: str) -> Install:
    class Kept(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            value = getattr(session, element)
            super().initialize_counts(session)
            setattr(session, element, value)

    return replace_part(Kept)


for _name, _rule, _element in (
    ("any-new-session-keeps-message-sent-count", "MQQB-3.1.3.2-02", "MessageSentCount"),
    ("any-new-session-keeps-recoverable-sent-count", "MQQB-3.1.3.2-03", "RecoverableMessageSentCount"),
    ("any-new-session-keeps-message-received-count", "MQQB-3.1.3.2-04", "MessageReceivedCount"),
    ("any-new-session-keeps-recoverable-received-count", "MQQB-3.1.3.2-05", "RecoverableMessageReceivedCount"),
    ("any-new-session-keeps-last-acked-number", "MQQB-3.1.3.2-07", "LastAckedRecoverableMsgSeqNumber"),
    ("any-new-session-keeps-unacked-received-count", "MQQB-3.1.3.2-08", "UnackedReceivedMsgCount"),
    ("any-new-session-keeps-recoverable-ack-flags", "MQQB-3.1.3.2-06", "RecoverableMsgAckFlags"),
):
    _says = f"A queue manager begins a new session with the {_element} of the previous session."
    add(_name, _rule, _says, _keep_session_element(_element))


def _continue_message_numbers(faulty: FaultyCore) -> None:
    left: dict[int, int] = {}

    class ReceiveCountContinued(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            left[session.number] = session.LastAckedRecoverableMsgSeqNumber
            super().initialize_counts(session)

    class Added(SessionAcks):
        def build_header(self, session: Session) -> SessionHeader:
            header = super().build_header(session)
            number = header.RecoverableMsgAckSeqNumber + left[session.number] & 0xFFFF
            return replace(header, RecoverableMsgAckSeqNumber=number)

    put_in_place(faulty.core, ReceiveCountContinued)
    put_in_place(faulty.core, Added)


add(
    "receiver-recoverable-ack-number-continues-over-sessions",
    "MQQB-3.1.3.2-07",
    "The receiver acknowledges recoverable messages with numbers that continue the numbers of the previous session.",
    _continue_message_numbers,
)


@fault("sender-message-of-lost-session-not-sent-again", breaks="MQQB-3.1.3.2-22")
class SenderMessageOfLostSessionNotSentAgain(SessionInitialization):
    """The sender does not send a message of a lost session again on the next session."""

    def initialize_messages(self, session: Session) -> None:
        session.UnAckedMessageCount = 0


# -- elements ------------------------------------------------------------------------------------------------------


def _begin_session_with(element: str, value: object) -> Install:
    class SessionElementReplaced(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            super().initialize_session(session, now)
            setattr(session, element, value)

    return replace_part(SessionElementReplaced)


_ELEMENTS: tuple[tuple[str, str, str, object], ...] = (
    ("any-new-session-unacked-received-count-5", "MQQB-3.1.3.2-08", "UnackedReceivedMsgCount", 5),
    ("any-new-session-unacked-message-count-65535", "MQQB-3.1.3.2-23", "UnAckedMessageCount", 0xFFFF),
    ("any-new-session-element-session-active-true", "MQQB-3.1.3.2-25", "SessionActive", True),
    ("any-new-session-element-received-ack-true", "MQQB-3.1.3.2-26", "ReceivedAck", True),
    ("any-new-session-ack-wait-timeout-30-s", "MQQB-3.1.3.2-27", "AckWaitTimeout", 30_000),
    ("any-new-session-order-ack-timeout-5-s", "MQQB-3.1.3.2-28", "OrderAckTimeout", 5_000),
    ("any-new-session-element-direct-format-session-true", "MQQB-3.1.3.2-29", "DirectFormatSession", True),
    ("any-new-session-maximum-order-ack-delay-60-s", "MQQB-3.1.3.2-30", "MaximumOrderAckDelay", 60),
    ("any-new-session-last-order-ack-send-time-0", "MQQB-3.1.3.2-31", "LastOrderAckSendTime", 0),
    ("any-new-session-recoverable-ack-send-timeout-500-ms", "MQQB-3.1.3.2-32", "RecoverableAckSendTimeout", 500),
    ("any-new-session-remote-public-key-not-zero", "MQQB-3.1.3.2-33", "RemoteQMPublicKey", b"\x01\x00\x00\x00"),
)
for _name, _rule, _element, _value in _ELEMENTS:
    add(
        _name,
        _rule,
        f"A queue manager begins a session with {_element} {_value!r}.",
        _begin_session_with(_element, _value),
    )


@fault("initiator-opened-session-recoverable-ack-flag-set", breaks="MQQB-3.1.3.2-06")
class InitiatorOpenedSessionRecoverableAckFlagSet(SessionOpening):
    """The initiator opens a session with a bit of RecoverableMsgAckFlags set and a running Session Ack Send Timer."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.RecoverableMsgAckFlags = 0b100
        timeout_ms = session.RecoverableAckSendTimeout
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, timeout_ms, now)


add(
    "any-connection-parameters-window-size-32",
    ("MQQB-3.1.3.2-24", "MQQB-3.1.6.4-09"),
    "A queue manager sends a ConnectionParameters packet with WindowSize 32.",
    field_is(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 32),
)


@fault("acceptor-new-session-state-waiting-cp-msg-instead-of-ec-msg", breaks="MQQB-3.1.3.2-36")
class AcceptorNewSessionStateWaitingCpMsgInsteadOfEcMsg(SessionOpening):
    """The acceptor begins a session in state WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


# -- TxOutgoingSequence --------------------------------------------------------------------------------------------


def _begin_sequence_with(element: str, value: object) -> Install:
    class SequenceElementReplaced(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            super().initialize_transfer_sequence(session, now)
            setattr(session.TxOutgoingSequence, element, value)

    return replace_part(SequenceElementReplaced)


@fault("sender-new-session-keeps-last-ack-count", breaks="MQQB-3.1.3.2-18")
class SenderNewSessionKeepsLastAckCount(SessionInitialization):
    """The sender begins a new session with the LastAckCount of the previous session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None and session.TxOutgoingSequence is not None:
            session.TxOutgoingSequence.LastAckCount = before.LastAckCount


_OF_SEQUENCE: tuple[tuple[str, str, str, object], ...] = (
    ("sender-new-sequence-last-ack-number-7", "MQQB-3.1.3.2-16", "LastAck", SequenceInfo(SeqNo=7)),
    ("sender-new-sequence-time-of-last-ack-0", "MQQB-3.1.3.2-17", "TimeOfLastAck", 0),
    ("sender-new-sequence-last-ack-count-1", "MQQB-3.1.3.2-18", "LastAckCount", 1),
    ("sender-new-sequence-resend-interval-index-3", "MQQB-3.1.3.2-19", "ResendIntervalIndex", 3),
    ("sender-new-sequence-resend-interval-300-s", "MQQB-3.1.3.2-20", "ResendInterval", 300),
    ("sender-new-sequence-resend-time-30", "MQQB-3.1.3.2-21", "ResendTime", 30),
)
for _name, _rule, _element, _value in _OF_SEQUENCE:
    _says = f"The sender sets {_element} of TxOutgoingSequence to {_value!r} when a session begins."
    add(_name, _rule, _says, _begin_sequence_with(_element, _value))
add(
    "sender-new-session-outgoing-sequence-missing",
    "MQQB-3.1.3.2-15",
    "The sender begins a session without a TxOutgoingSequence.",
    skip(SessionInitialization.initialize_transfer_sequence),
)


# -- timers --------------------------------------------------------------------------------------------------------


def _start_session_timer(timer: TimerName) -> Install:
    class TimerStarted(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.start(session, timer, _HOUR_MS, now)

    return replace_part(TimerStarted)


def _stop_session_timer(timer: TimerName) -> Install:
    class TimerStopped(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.stop(session, timer)

    return replace_part(TimerStopped)


for _name, _rule, _timer in (
    ("any-new-session-ack-wait-timer-running", "MQQB-3.1.3.2-09", TimerName.SESSION_ACK_WAIT),
    ("any-new-session-ack-send-timer-running", "MQQB-3.1.3.2-10", TimerName.SESSION_ACK_SEND),
    ("any-new-session-transactional-ack-wait-timer-running", "MQQB-3.1.3.2-11", TimerName.TRANSACTIONAL_ACK_WAIT),
    ("any-new-session-order-ack-send-timer-running", "MQQB-3.1.3.2-12", TimerName.ORDER_ACK_SEND),
):
    add(
        _name,
        _rule,
        f"A queue manager begins a session with a running {_timer.value} timer.",
        _start_session_timer(_timer),
    )
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


# -- the queue manager ---------------------------------------------------------------------------------------------


def _clear_queue_manager_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = NULL_GUID


add(
    "queue-manager-identifier-null",
    "MQQB-3.1.3.2-34",
    "The queue manager uses the null GUID as QueueManager.Identifier.",
    always(_clear_queue_manager_identifier),
)


@fault("acceptor-queue-manager-identifier-changes-with-session", breaks="MQQB-3.1.3.2-34")
class AcceptorQueueManagerIdentifierChangesWithSession(SessionOpening):
    """The acceptor's QueueManager.Identifier changes with each session."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.adm.Identifier = UUID(int=self.qm.transports[event.transport].number)


@fault("initiator-ping-cookie-begins-with-1000", breaks="MQQB-3.1.3.2-35")
class InitiatorPingCookieBeginsWith1000(Initialization):
    """The initiator's PingCookie starts at 1000."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.PingCookie = 1_000
