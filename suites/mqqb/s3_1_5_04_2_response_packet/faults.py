"""Faults of MS-MQQB 3.1.5.4.2 Response Packet (of ConnectionParameters)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import entries_changed, entries_left_out
from harness.faults.events import after_events
from harness.faults.made_up import ELSEWHERE
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.connecting import Connecting, outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("received-window-of-initiator", breaks="MQQB-3.1.5.4.2-01")
class ReceivedWindowOfInitiator(SessionOpening):
    """ReceivedWindowSize of an initiated session is the own WindowSize."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize = 64


def _hops_when_open(change: Callable[[list[str]], list[str]]) -> Install:
    """Change NextHops of the outgoing queue once the session is open."""

    class HopsWhenOpen(SessionOpening):
        def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            super().receive_parameters_response(session, packet, now)
            hops = outgoing_queue(session).NextHops
            hops[:] = change(hops)

    return replace_part(HopsWhenOpen)


add(
    "open-session-keeps-next-hops",
    "MQQB-3.1.5.4.2-03",
    "NextHops keeps what was possible before.",
    _hops_when_open(lambda hops: [f"IP={ELSEWHERE}", *hops]),
)
add(
    "open-session-other-next-hop",
    "MQQB-3.1.5.4.2-04",
    "NextHops has another address than the one connected to.",
    _hops_when_open(lambda hops: [f"IP={ELSEWHERE}"]),
)
add(
    "open-session-bare-next-hop",
    "MQQB-3.1.5.4.2-05",
    "NextHops has the address without IP=.",
    _hops_when_open(lambda hops: [hop.partition("=")[2] for hop in hops]),
)


@fault("initialization-timer-goes-on-in-initiated-session", breaks="MQQB-3.1.5.4.2-06")
class InitializationTimerGoesOnInInitiatedSession(SessionTimers):
    """The initiator does not stop the timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("session-open-but-nothing-sent", breaks=("MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-D01"))
class SessionOpenButNothingSent(Sending):
    """The initiator's session is open, but its messages stay."""

    def may_send(self, session: Session) -> bool:
        return False


add(
    "history-without-established",
    "MQQB-3.1.5.4.2-08",
    "ConnectionHistory gets no entry Established.",
    entries_left_out({ConnectionStatus.ESTABLISHED}),
)
add(
    "history-established-with-error",
    "MQQB-3.1.5.4.2-08",
    "The entry Established has an Error.",
    entries_changed({ConnectionStatus.ESTABLISHED}, Error=0x80004005),
)


@fault("outgoing-queue-not-connected", breaks="MQQB-3.1.5.4.2-09")
class OutgoingQueueNotConnected(SessionOpening):
    """State is still Waiting when the session is open."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        after_events(self.qm, lambda: setattr(outgoing_queue(session), "State", OutgoingQueueState.WAITING))


@fault("history-names-the-host", breaks="MQQB-3.1.5.4.2-08")
class HistoryNamesTheHost(Connecting):
    """Entries of ConnectionHistory have the host name in the place of the address."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = outgoing_queue(session).ConnectionHistory
        entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)
