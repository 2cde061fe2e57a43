"""Faults of MS-MQQB 3.1.3.2 Session Initialization in some sessions only: in those of one role, in a retry, or while
another session is open.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SequenceInfo
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted

_HOUR_MS = 3_600_000
_NONZERO_PUBLIC_KEY = b"\x01\x02\x03\x04"
SessionPredicate = Callable[[QueueManager, Session], bool]
SessionChangeFunction = Callable[[QueueManager, Session, Now], None]


def _is_accepted_session(qm: QueueManager, session: Session) -> bool:
    return not session.initiator


def _is_initiated_session(qm: QueueManager, session: Session) -> bool:
    return session.initiator


def _is_session_of_retry(qm: QueueManager, session: Session) -> bool:
    return session.is_retrying_connection


def _is_accepted_session_while_other_is_open(qm: QueueManager, session: Session) -> bool:
    return not session.initiator and bool(list_open_sessions(qm, session))


def _is_initiated_session_while_other_is_open(qm: QueueManager, session: Session) -> bool:
    return session.initiator and bool(list_open_sessions(qm, session))


def _has_only_express_messages(qm: QueueManager, session: Session) -> bool:
    return not any(position.recoverable for position in session.OutgoingMessageTable)


def _has_transactional_messages(qm: QueueManager, session: Session) -> bool:
    return any(position.TxSequenceNumber for position in session.OutgoingMessageTable)


def _change_initialized_session(which: SessionPredicate, change: SessionChangeFunction) -> Install:
    """Return an installer of a fault that changes the elements of certain sessions after their initialization."""

    class ElementsReplaced(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            super().initialize_session(session, now)
            if which(self.qm, session):
                change(self.qm, session, now)

    return replace_part(ElementsReplaced)


def _start_timer(name: TimerName) -> SessionChangeFunction:
    def start(qm: QueueManager, session: Session, now: Now) -> None:
        qm.session_timers.start(session, name, _HOUR_MS, now)

    return start


def _stop_session_retry_connect_timer(qm: QueueManager, session: Session, now: Now) -> None:
    qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


def _set_session_element(name: str, value: object) -> SessionChangeFunction:
    def set_value(qm: QueueManager, session: Session, now: Now) -> None:
        setattr(session, name, value)

    return set_value


def _copy_element_of_other_session(name: str) -> SessionChangeFunction:
    def copy_value(qm: QueueManager, session: Session, now: Now) -> None:
        setattr(session, name, getattr(list_open_sessions(qm, session)[0], name))

    return copy_value


def _set_sequence_element(name: str, value: object) -> SessionChangeFunction:
    def set_value(qm: QueueManager, session: Session, now: Now) -> None:
        setattr(get_outgoing_sequence(session), name, value)

    return set_value


def _set_resend_time_from_clock(qm: QueueManager, session: Session, now: Now) -> None:
    sequence = get_outgoing_sequence(session)
    sequence.ResendTime = now.utc_s + sequence.ResendInterval


def _set_time_of_last_ack_to_uptime(qm: QueueManager, session: Session, now: Now) -> None:
    get_outgoing_sequence(session).TimeOfLastAck = now.monotonic_ms // 1000


def _remove_outgoing_sequence(qm: QueueManager, session: Session, now: Now) -> None:
    session.TxOutgoingSequence = None


def _add_unacknowledged_message(qm: QueueManager, session: Session, now: Now) -> None:
    get_outgoing_sequence(session).UnackedSequence.append(SequenceInfo(int(session.OutgoingTxSequenceID), 1, 0))


def _set_last_order_ack_send_time_to_uptime(qm: QueueManager, session: Session, now: Now) -> None:
    session.LastOrderAckSendTime = now.monotonic_ms // 1000


for _name, _rule, _says, _which, _change in (
    (
        "initiator-session-ack-wait-timer-runs-in-retry",
        "MQQB-3.1.3.2-09",
        "The initiator begins a retried session with a running Session Ack Wait Timer.",
        _is_session_of_retry,
        _start_timer(TimerName.SESSION_ACK_WAIT),
    ),
    (
        "acceptor-session-begins-with-session-ack-wait-timer",
        "MQQB-3.1.3.2-09",
        "The acceptor begins a session with a running Session Ack Wait Timer.",
        _is_accepted_session,
        _start_timer(TimerName.SESSION_ACK_WAIT),
    ),
    (
        "initiator-session-ack-wait-timer-runs-beside-open-session",
        "MQQB-3.1.3.2-09",
        "While another session is open, the initiator begins a session with a running Session Ack Wait Timer.",
        _is_initiated_session_while_other_is_open,
        _start_timer(TimerName.SESSION_ACK_WAIT),
    ),
    (
        "acceptor-session-begins-with-transactional-ack-wait-timer",
        "MQQB-3.1.3.2-11",
        "The acceptor begins a session with a running Transactional Ack Wait Timer.",
        _is_accepted_session,
        _start_timer(TimerName.TRANSACTIONAL_ACK_WAIT),
    ),
    (
        "initiator-retry-with-transactional-messages-starts-transactional-ack-wait-timer",
        "MQQB-3.1.3.2-11",
        "The initiator starts the Transactional Ack Wait Timer when it initializes a session for which transactional "
        "messages wait.",
        _has_transactional_messages,
        _start_timer(TimerName.TRANSACTIONAL_ACK_WAIT),
    ),
    (
        "initiator-transactional-ack-wait-timer-runs-in-retry",
        "MQQB-3.1.3.2-11",
        "The initiator begins a retried session with a running Transactional Ack Wait Timer.",
        _is_session_of_retry,
        _start_timer(TimerName.TRANSACTIONAL_ACK_WAIT),
    ),
    (
        "initiator-session-begins-with-order-ack-send-timer",
        "MQQB-3.1.3.2-12",
        "The initiator begins a session with a running Order Ack Send Timer.",
        _is_initiated_session,
        _start_timer(TimerName.ORDER_ACK_SEND),
    ),
    (
        "acceptor-order-ack-send-timer-runs-beside-open-session",
        "MQQB-3.1.3.2-12",
        "While another session is open, the acceptor begins a session with a running Order Ack Send Timer.",
        _is_accepted_session_while_other_is_open,
        _start_timer(TimerName.ORDER_ACK_SEND),
    ),
    (
        "initiator-order-ack-send-timer-runs-in-retry",
        "MQQB-3.1.3.2-12",
        "The initiator begins a retried session with a running Order Ack Send Timer.",
        _is_session_of_retry,
        _start_timer(TimerName.ORDER_ACK_SEND),
    ),
    (
        "initiator-retry-connect-timer-not-started-for-express-messages",
        "MQQB-3.1.3.2-14",
        "The initiator does not start the Session Retry Connect Timer of a session for which only express messages "
        "wait.",
        _has_only_express_messages,
        _stop_session_retry_connect_timer,
    ),
    (
        "initiator-retry-connect-timer-not-started-in-retry",
        "MQQB-3.1.3.2-14",
        "The initiator does not start the Session Retry Connect Timer when a retried session begins.",
        _is_session_of_retry,
        _stop_session_retry_connect_timer,
    ),
    (
        "initiator-retry-connect-timer-not-started-beside-open-session",
        "MQQB-3.1.3.2-14",
        "While another session is open, the initiator does not start the Session Retry Connect Timer of a session.",
        _is_initiated_session_while_other_is_open,
        _stop_session_retry_connect_timer,
    ),
    (
        "acceptor-session-without-outgoing-sequence",
        "MQQB-3.1.3.2-15",
        "The acceptor begins a session without a TxOutgoingSequence.",
        _is_accepted_session,
        _remove_outgoing_sequence,
    ),
    (
        "acceptor-outgoing-sequence-of-other-session",
        "MQQB-3.1.3.2-15",
        "While another session is open, the acceptor begins a session with an unacknowledged message in its "
        "TxOutgoingSequence.",
        _is_accepted_session_while_other_is_open,
        _add_unacknowledged_message,
    ),
    (
        "initiator-unacknowledged-message-in-sequence-of-retry",
        "MQQB-3.1.3.2-15",
        "The initiator begins a retried session with an unacknowledged message in its TxOutgoingSequence.",
        _is_session_of_retry,
        _add_unacknowledged_message,
    ),
    (
        "acceptor-time-of-last-ack-zero-in-new-session",
        "MQQB-3.1.3.2-17",
        "The acceptor begins a session with TimeOfLastAck 0.",
        _is_accepted_session,
        _set_sequence_element("TimeOfLastAck", 0),
    ),
    (
        "initiator-time-of-last-ack-zero-in-retry",
        "MQQB-3.1.3.2-17",
        "The initiator begins a retried session with TimeOfLastAck 0.",
        _is_session_of_retry,
        _set_sequence_element("TimeOfLastAck", 0),
    ),
    (
        "initiator-time-of-last-ack-counted-from-start-beside-open-session",
        "MQQB-3.1.3.2-17",
        "While another session is open, the initiator begins a session whose TimeOfLastAck counts from the start of "
        "the system.",
        _is_initiated_session_while_other_is_open,
        _set_time_of_last_ack_to_uptime,
    ),
    (
        "acceptor-resend-time-not-zero-in-new-session",
        "MQQB-3.1.3.2-21",
        "The acceptor begins a session with the time of the next resending as ResendTime.",
        _is_accepted_session,
        _set_resend_time_from_clock,
    ),
    (
        "initiator-resend-time-not-zero-in-retry",
        "MQQB-3.1.3.2-21",
        "The initiator begins a retried session with the time of the next resending as ResendTime.",
        _is_session_of_retry,
        _set_resend_time_from_clock,
    ),
    (
        "initiator-resend-time-set-for-transactional-messages",
        "MQQB-3.1.3.2-21",
        "The initiator begins a session for which transactional messages wait with the time of the next resending as "
        "ResendTime.",
        _has_transactional_messages,
        _set_resend_time_from_clock,
    ),
    (
        "initiator-ack-wait-timeout-doubled-in-retry",
        "MQQB-3.1.3.2-27",
        "The initiator begins a retried session with twice the configured AckWaitTimeout.",
        _is_session_of_retry,
        lambda qm, session, now: setattr(session, "AckWaitTimeout", 2 * session.AckWaitTimeout),
    ),
    (
        "initiator-ack-wait-timeout-of-other-session",
        "MQQB-3.1.3.2-27",
        "While another session is open, the initiator begins a session with the AckWaitTimeout of that session.",
        _is_initiated_session_while_other_is_open,
        _copy_element_of_other_session("AckWaitTimeout"),
    ),
    (
        "initiator-ack-wait-timeout-halved-for-express-messages",
        "MQQB-3.1.3.2-27",
        "The initiator begins a session for which only express messages wait with three quarters of the configured "
        "AckWaitTimeout.",
        _has_only_express_messages,
        lambda qm, session, now: setattr(session, "AckWaitTimeout", session.AckWaitTimeout * 3 // 4),
    ),
    (
        "initiator-order-ack-timeout-5-s",
        "MQQB-3.1.3.2-28",
        "The initiator begins a session with OrderAckTimeout 5 s.",
        _is_initiated_session,
        _set_session_element("OrderAckTimeout", 5_000),
    ),
    (
        "acceptor-order-ack-timeout-5-s-beside-open-session",
        "MQQB-3.1.3.2-28",
        "While another session is open, the acceptor begins a session with OrderAckTimeout 5 s.",
        _is_accepted_session_while_other_is_open,
        _set_session_element("OrderAckTimeout", 5_000),
    ),
    (
        "acceptor-last-order-ack-send-time-counted-from-start",
        "MQQB-3.1.3.2-31",
        "The acceptor begins a session whose LastOrderAckSendTime counts from the start of the system.",
        _is_accepted_session,
        _set_last_order_ack_send_time_to_uptime,
    ),
    (
        "initiator-last-order-ack-send-time-zero-in-retry",
        "MQQB-3.1.3.2-31",
        "The initiator begins a retried session with LastOrderAckSendTime 0.",
        _is_session_of_retry,
        _set_session_element("LastOrderAckSendTime", 0),
    ),
    (
        "acceptor-last-order-ack-send-time-of-other-session",
        "MQQB-3.1.3.2-31",
        "While another session is open, the acceptor begins a session with the LastOrderAckSendTime of that session.",
        _is_accepted_session_while_other_is_open,
        _copy_element_of_other_session("LastOrderAckSendTime"),
    ),
    (
        "acceptor-recoverable-ack-send-timeout-of-other-session",
        "MQQB-3.1.3.2-32",
        "While another session is open, the acceptor begins a session with the RecoverableAckSendTimeout of that "
        "session.",
        _is_accepted_session_while_other_is_open,
        _copy_element_of_other_session("RecoverableAckSendTimeout"),
    ),
    (
        "initiator-recoverable-ack-send-timeout-zero-at-first",
        "MQQB-3.1.3.2-32",
        "The initiator begins a session with RecoverableAckSendTimeout 0.",
        _is_initiated_session,
        _set_session_element("RecoverableAckSendTimeout", 0),
    ),
    (
        "initiator-recoverable-ack-send-timeout-500-in-retry",
        "MQQB-3.1.3.2-32",
        "The initiator begins a retried session with RecoverableAckSendTimeout 500 ms.",
        _is_session_of_retry,
        _set_session_element("RecoverableAckSendTimeout", 500),
    ),
    (
        "acceptor-remote-public-key-not-zero",
        "MQQB-3.1.3.2-33",
        "The acceptor begins a session with a RemoteQMPublicKey that is not zero.",
        _is_accepted_session,
        _set_session_element("RemoteQMPublicKey", _NONZERO_PUBLIC_KEY),
    ),
    (
        "initiator-remote-public-key-not-zero-in-retry",
        "MQQB-3.1.3.2-33",
        "The initiator begins a retried session with a RemoteQMPublicKey that is not zero.",
        _is_session_of_retry,
        _set_session_element("RemoteQMPublicKey", _NONZERO_PUBLIC_KEY),
    ),
    (
        "initiator-remote-public-key-not-zero-beside-open-session",
        "MQQB-3.1.3.2-33",
        "While another session is open, the initiator begins a session with a RemoteQMPublicKey that is not zero.",
        _is_initiated_session_while_other_is_open,
        _set_session_element("RemoteQMPublicKey", _NONZERO_PUBLIC_KEY),
    ),
):
    add(_name, _rule, _says, _change_initialized_session(_which, _change), blind=True)


@fault("acceptor-session-beside-open-session-begins-in-waiting-cp-msg", breaks="MQQB-3.1.3.2-36", blind=True)
class AcceptorSessionBesideOpenSessionBeginsInWaitingCpMsg(SessionOpening):
    """While another session is open, the acceptor begins an accepted session in state WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        if list_open_sessions(self.qm, session):
            session.SessionState = SessionState.WAITING_CP_MSG


@fault("acceptor-session-with-known-address-open-at-once", breaks="MQQB-3.1.3.2-36", blind=True)
class AcceptorSessionWithKnownAddressOpenAtOnce(SessionOpening):
    """The acceptor begins an accepted session in state OPEN if the same address has another open session."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        others = list_open_sessions(self.qm, session)
        if any(one.RemoteQMAddress == session.RemoteQMAddress for one in others):
            session.SessionState = SessionState.OPEN


@fault("acceptor-later-session-begins-in-state-waiting-cp-msg", breaks="MQQB-3.1.3.2-36", blind=True)
class AcceptorLaterSessionBeginsInStateWaitingCpMsg(SessionOpening):
    """The acceptor begins each accepted session except the first in state WAITING_CP_MSG."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        if any(not one.initiator for one in self.qm.closed_sessions):
            session.SessionState = SessionState.WAITING_CP_MSG
