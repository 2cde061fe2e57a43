"""Faults that break the rules MQQB-3.1.3.2-02 to MQQB-3.1.3.2-09."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    SessionHeader,
)
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


def _keep_session_element(element: str) -> Install:
    class SessionElementKept(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            value = getattr(session, element)
            super().initialize_counts(session)
            setattr(session, element, value)

    return replace_part(SessionElementKept)


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


def _keep_element_at_reopening(name: str) -> type[SessionInitialization]:
    """Return a component that keeps the old value of a given element when a session is opened again."""

    class ReopenedElementKept(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            old: Any = getattr(session, name)
            super().initialize_session(session, now)
            if session.initiator:
                setattr(session, name, old)

    return ReopenedElementKept


for rule, name, text in (
    ("MQQB-3.1.3.2-02", "MessageSentCount", "message-sent-count"),
    ("MQQB-3.1.3.2-03", "RecoverableMessageSentCount", "recoverable-message-sent-count"),
    ("MQQB-3.1.3.2-04", "MessageReceivedCount", "message-received-count"),
    ("MQQB-3.1.3.2-05", "RecoverableMessageReceivedCount", "recoverable-message-received-count"),
    ("MQQB-3.1.3.2-06", "RecoverableMsgAckFlags", "recoverable-ack-flags"),
    ("MQQB-3.1.3.2-07", "LastAckedRecoverableMsgSeqNumber", "last-acked-number"),
    ("MQQB-3.1.3.2-08", "UnackedReceivedMsgCount", "unacked-received-count"),
    ("MQQB-3.1.3.2-25", "SessionActive", "session-active"),
    ("MQQB-3.1.3.2-26", "ReceivedAck", "received-ack"),
    ("MQQB-3.1.3.2-29", "DirectFormatSession", "direct-format-session"),
):
    add(
        f"initiator-{text}-of-earlier-session-kept",
        rule,
        f"The initiator opens another session for a queue with the {name} of the previous session.",
        replace_part(_keep_element_at_reopening(name)),
        blind=True,
    )


def _add_fault_keeping_element(rule: str, name: str, element: str) -> None:
    @fault(name, breaks=rule)
    class ReopenedElementKept(SessionInitialization):
        __doc__ = f"The initiator keeps {element} of its closed session when it opens the session again."

        def initialize_counts(self, session: Session) -> None:
            kept = getattr(session, element)
            super().initialize_counts(session)
            if session.initiator:
                setattr(session, element, kept)


_add_fault_keeping_element("MQQB-3.1.3.2-02", "initiator-message-sent-count-kept-by-later-session", "MessageSentCount")


_add_fault_keeping_element(
    "MQQB-3.1.3.2-03", "initiator-recoverable-message-sent-count-kept-by-later-session", "RecoverableMessageSentCount"
)


@fault("acceptor-message-received-count-continued-from-closed-session", breaks="MQQB-3.1.3.2-04", blind=True)
class AcceptorMessageReceivedCountContinuedFromClosedSession(SessionOpening):
    """The acceptor begins a session with the MessageReceivedCount of the last closed session of the same sender."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        for old in self.qm.closed_sessions:
            if not old.initiator and old.RemoteQMGuid == session.RemoteQMGuid:
                session.MessageReceivedCount = old.MessageReceivedCount


_add_fault_keeping_element(
    "MQQB-3.1.3.2-04", "initiator-message-received-count-kept-by-later-session", "MessageReceivedCount"
)


@fault("initiator-recoverable-message-received-count-kept-on-reconnect", breaks="MQQB-3.1.3.2-05", blind=True)
class InitiatorRecoverableMessageReceivedCountKeptOnReconnect(SessionInitialization):
    """An initiator that connects again keeps the RecoverableMessageReceivedCount of its earlier session."""

    def initialize_counts(self, session: Session) -> None:
        before = session.RecoverableMessageReceivedCount
        super().initialize_counts(session)
        session.RecoverableMessageReceivedCount = before


_add_fault_keeping_element(
    "MQQB-3.1.3.2-05",
    "initiator-recoverable-message-received-count-kept-by-later-session",
    "RecoverableMessageReceivedCount",
)


@fault("initiator-session-opens-with-bit-in-recoverable-ack-flags", breaks="MQQB-3.1.3.2-06")
class InitiatorSessionOpensWithBitInRecoverableAckFlags(SessionOpening):
    """The initiator opens a session with a bit of RecoverableMsgAckFlags set and a running Session Ack Send Timer."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.RecoverableMsgAckFlags = 0b100
        timeout_ms = session.RecoverableAckSendTimeout
        self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, timeout_ms, now)


_add_fault_keeping_element(
    "MQQB-3.1.3.2-06", "initiator-recoverable-flags-kept-by-later-session", "RecoverableMsgAckFlags"
)


def _continue_recoverable_ack_numbers(faulty: FaultyCore) -> None:
    left: dict[int, int] = {}

    class EarlierNumberKept(SessionInitialization):
        def initialize_counts(self, session: Session) -> None:
            left[session.number] = session.LastAckedRecoverableMsgSeqNumber
            super().initialize_counts(session)

    class EarlierNumberAdded(SessionAcks):
        def build_session_header(self, session: Session) -> SessionHeader:
            header = super().build_session_header(session)
            number = header.RecoverableMsgAckSeqNumber + left[session.number] & 0xFFFF
            return replace(header, RecoverableMsgAckSeqNumber=number)

    replace_part_by_subclass(faulty.core, EarlierNumberKept)
    replace_part_by_subclass(faulty.core, EarlierNumberAdded)


add(
    "receiver-recoverable-ack-number-continues-over-sessions",
    "MQQB-3.1.3.2-07",
    "The receiver acknowledges recoverable messages with numbers that continue the numbers of the previous session.",
    _continue_recoverable_ack_numbers,
)


_add_fault_keeping_element(
    "MQQB-3.1.3.2-07", "initiator-last-acknowledged-number-kept-by-later-session", "LastAckedRecoverableMsgSeqNumber"
)


def _replace_initial_session_element(element: str, value: object) -> Install:
    class SessionElementReplaced(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            super().initialize_session(session, now)
            setattr(session, element, value)

    return replace_part(SessionElementReplaced)


_SESSION_ELEMENT_FAULTS: tuple[tuple[str, str, str, object], ...] = (
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


for _name, _rule, _element, _value in _SESSION_ELEMENT_FAULTS:
    add(
        _name,
        _rule,
        f"A queue manager begins a session with {_element} {_value!r}.",
        _replace_initial_session_element(_element, _value),
    )


_ONE_HOUR_MS = 3_600_000


def _start_session_timer(timer: TimerName) -> Install:
    class TimerStarted(SessionInitialization):
        def initialize_timers(self, session: Session, now: Now) -> None:
            super().initialize_timers(session, now)
            self.qm.session_timers.start(session, timer, _ONE_HOUR_MS, now)

    return replace_part(TimerStarted)


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
