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


# -- what is left of the session before ----------------------------------------------------------------------------


def _kept(element: str) -> Install:
    class Kept(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            value = getattr(session, element)
            super().initialize_counts(session)
            setattr(session, element, value)

    return replace_part(Kept)


for _name, _rule, _element in (
    ("session-keeps-message-sent-count", "MQQB-3.1.3.2-02", "MessageSentCount"),
    ("session-keeps-recoverable-message-sent-count", "MQQB-3.1.3.2-03", "RecoverableMessageSentCount"),
    ("session-keeps-message-received-count", "MQQB-3.1.3.2-04", "MessageReceivedCount"),
    ("session-keeps-recoverable-message-received-count", "MQQB-3.1.3.2-05", "RecoverableMessageReceivedCount"),
    ("session-keeps-what-was-acknowledged-last", "MQQB-3.1.3.2-07", "LastAckedRecoverableMsgSeqNumber"),
    ("session-keeps-unacked-received-msg-count", "MQQB-3.1.3.2-08", "UnackedReceivedMsgCount"),
    ("session-keeps-recoverable-msg-ack-flags", "MQQB-3.1.3.2-06", "RecoverableMsgAckFlags"),
):
    _says = f"A session begins with the {_element} that the one before it ended with."
    add(_name, _rule, _says, _kept(_element))


def _acknowledge_on(faulty: FaultyCore) -> None:
    left: dict[int, int] = {}

    class Noted(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            left[session.number] = session.LastAckedRecoverableMsgSeqNumber
            super().initialize_counts(session)

    class Added(SessionAcks):
        def build_header(self, session: Session) -> SessionHeader:
            header = super().build_header(session)
            number = header.RecoverableMsgAckSeqNumber + left[session.number] & 0xFFFF
            return replace(header, RecoverableMsgAckSeqNumber=number)

    put_in_place(faulty.core, Noted)
    put_in_place(faulty.core, Added)


add(
    "session-keeps-last-acked-recoverable-msg-seq-number",
    "MQQB-3.1.3.2-07",
    "Recoverable messages are acknowledged with numbers that go on from the session before.",
    _acknowledge_on,
)


@fault("session-keeps-what-was-transmitted", breaks="MQQB-3.1.3.2-22")
class SessionKeepsWhatWasTransmitted(SessionInitialization):
    """A message that was transmitted on one session is not transmitted again on the next."""

    def initialize_messages(self, session: Session) -> None:
        session.UnAckedMessageCount = 0


# -- elements ------------------------------------------------------------------------------------------------------


def _begun_with(element: str, value: object) -> Install:
    class BegunWith(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            super().initialize_session(session, now)
            setattr(session, element, value)

    return replace_part(BegunWith)


_ELEMENTS: tuple[tuple[str, str, str, object], ...] = (
    ("session-begins-with-unacked-received-msg-count", "MQQB-3.1.3.2-08", "UnackedReceivedMsgCount", 5),
    ("session-begins-with-un-acked-message-count", "MQQB-3.1.3.2-23", "UnAckedMessageCount", 0xFFFF),
    ("session-begins-with-session-active", "MQQB-3.1.3.2-25", "SessionActive", True),
    ("session-begins-with-received-ack", "MQQB-3.1.3.2-26", "ReceivedAck", True),
    ("session-begins-with-ack-wait-timeout", "MQQB-3.1.3.2-27", "AckWaitTimeout", 30_000),
    ("session-begins-with-order-ack-timeout", "MQQB-3.1.3.2-28", "OrderAckTimeout", 5_000),
    ("session-begins-with-direct-format-session", "MQQB-3.1.3.2-29", "DirectFormatSession", True),
    ("session-begins-with-maximum-order-ack-delay", "MQQB-3.1.3.2-30", "MaximumOrderAckDelay", 60),
    ("session-begins-with-last-order-ack-send-time", "MQQB-3.1.3.2-31", "LastOrderAckSendTime", 0),
    ("session-begins-with-recoverable-ack-send-timeout", "MQQB-3.1.3.2-32", "RecoverableAckSendTimeout", 500),
    ("session-begins-with-remote-qm-public-key", "MQQB-3.1.3.2-33", "RemoteQMPublicKey", b"\x01\x00\x00\x00"),
)
for _name, _rule, _element, _value in _ELEMENTS:
    add(_name, _rule, f"A session begins with {_element} {_value!r}.", _begun_with(_element, _value))


@fault("session-begins-with-recoverable-msg-ack-flags", breaks="MQQB-3.1.3.2-06")
class SessionBeginsWithRecoverableMsgAckFlags(SessionOpening):
    """A session is opened with a flag set in RecoverableMsgAckFlags, and with the timer that goes with it."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.RecoverableMsgAckFlags = 0b100
        timeout_ms = session.RecoverableAckSendTimeout
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, timeout_ms, now)


add(
    "session-window-of-32",
    ("MQQB-3.1.3.2-24", "MQQB-3.1.6.4-09"),
    "WindowSize is 32.",
    field_is(ConnectionParametersPacket, "ConnectionParametersHeader.WindowSize", 32),
)


@fault("session-begins-in-another-state", breaks="MQQB-3.1.3.2-36")
class SessionBeginsInAnotherState(SessionOpening):
    """An accepted session begins in WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


# -- TxOutgoingSequence --------------------------------------------------------------------------------------------


def _sequence_begun_with(element: str, value: object) -> Install:
    class SequenceBegunWith(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            super().initialize_transfer_sequence(session, now)
            setattr(session.TxOutgoingSequence, element, value)

    return replace_part(SequenceBegunWith)


@fault("sequence-keeps-last-ack-count", breaks="MQQB-3.1.3.2-18")
class SequenceKeepsLastAckCount(SessionInitialization):
    """OrderAcks are counted on from session to session."""

    def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
        before = session.TxOutgoingSequence
        super().initialize_transfer_sequence(session, now)
        if before is not None and session.TxOutgoingSequence is not None:
            session.TxOutgoingSequence.LastAckCount = before.LastAckCount


_OF_SEQUENCE: tuple[tuple[str, str, str, object], ...] = (
    ("sequence-begins-with-last-ack", "MQQB-3.1.3.2-16", "LastAck", SequenceInfo(SeqNo=7)),
    ("sequence-begins-with-time-of-last-ack", "MQQB-3.1.3.2-17", "TimeOfLastAck", 0),
    ("sequence-begins-with-last-ack-count", "MQQB-3.1.3.2-18", "LastAckCount", 1),
    ("sequence-begins-with-resend-interval-index", "MQQB-3.1.3.2-19", "ResendIntervalIndex", 3),
    ("sequence-begins-with-resend-interval", "MQQB-3.1.3.2-20", "ResendInterval", 300),
    ("sequence-begins-with-resend-time", "MQQB-3.1.3.2-21", "ResendTime", 30),
)
for _name, _rule, _element, _value in _OF_SEQUENCE:
    _says = f"TxOutgoingSequence of a session begins with {_element} {_value!r}."
    add(_name, _rule, _says, _sequence_begun_with(_element, _value))
add(
    "session-without-outgoing-sequence",
    "MQQB-3.1.3.2-15",
    "A session begins without a TxOutgoingSequence.",
    skip(SessionInitialization.initialize_transfer_sequence),
)


# -- timers --------------------------------------------------------------------------------------------------------


def _running(timer: TimerName) -> Install:
    class Running(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.start(session, timer, _HOUR_MS, now)

    return replace_part(Running)


def _not_running(timer: TimerName) -> Install:
    class NotRunning(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.stop(session, timer)

    return replace_part(NotRunning)


for _name, _rule, _timer in (
    ("session-begins-with-session-ack-wait-timer", "MQQB-3.1.3.2-09", TimerName.SESSION_ACK_WAIT),
    ("session-begins-with-session-ack-send-timer", "MQQB-3.1.3.2-10", TimerName.SESSION_ACK_SEND),
    ("session-begins-with-transactional-ack-wait-timer", "MQQB-3.1.3.2-11", TimerName.TRANSACTIONAL_ACK_WAIT),
    ("session-begins-with-order-ack-send-timer", "MQQB-3.1.3.2-12", TimerName.ORDER_ACK_SEND),
):
    add(_name, _rule, f"A session begins with its {_timer.value} timer running.", _running(_timer))
for _name, _rule, _timer in (
    ("session-begins-without-session-cleanup-timer", "MQQB-3.1.3.2-13", TimerName.SESSION_CLEANUP),
    ("session-begins-without-session-retry-connect-timer", "MQQB-3.1.3.2-14", TimerName.SESSION_RETRY_CONNECT),
):
    add(_name, _rule, f"A session begins without its {_timer.value} timer running.", _not_running(_timer))


# -- the queue manager ---------------------------------------------------------------------------------------------


def _no_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = NULL_GUID


add("identifier-null", "MQQB-3.1.3.2-34", "QueueManager.Identifier is the null GUID.", always(_no_identifier))


@fault("identifier-of-each-session", breaks="MQQB-3.1.3.2-34")
class IdentifierOfEachSession(SessionOpening):
    """QueueManager.Identifier changes with each session."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        self.qm.adm.Identifier = UUID(int=self.qm.transports[event.transport].number)


@fault("ping-cookie-begins-far", breaks="MQQB-3.1.3.2-35")
class PingCookieBeginsFar(Initialization):
    """PingCookie begins with 1000."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.PingCookie = 1_000
