"""Faults of MS-MQQB 3.1.5.4.2 Response Packet (of ConnectionParameters)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.connection_history import change_history_entries, omit_history_entries
from harness.faults.events import after_events
from harness.faults.made_up import UNUSED_ADDRESS
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


@fault("initiator-received-window-size-set-to-own-value", breaks="MQQB-3.1.5.4.2-01")
class InitiatorReceivedWindowSizeSetToOwnValue(SessionOpening):
    """The initiator sets ReceivedWindowSize to its own WindowSize."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize = 64


def _change_hops_when_open(change: Callable[[list[str]], list[str]]) -> Install:
    """Change NextHops of the outgoing queue when the session is open."""

    class HopsWhenOpen(SessionOpening):
        def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
            super().receive_parameters_response(session, packet, now)
            hops = outgoing_queue(session).NextHops
            hops[:] = change(hops)

    return replace_part(HopsWhenOpen)


add(
    "initiator-next-hops-keep-unused-addresses-when-session-opens",
    "MQQB-3.1.5.4.2-03",
    "The initiator's NextHops keeps other addresses when the session is open.",
    _change_hops_when_open(lambda hops: [f"IP={UNUSED_ADDRESS}", *hops]),
)
add(
    "initiator-next-hops-wrong-address-when-open",
    "MQQB-3.1.5.4.2-04",
    "The initiator's NextHops has an address other than the address of the open session.",
    _change_hops_when_open(lambda hops: [f"IP={UNUSED_ADDRESS}"]),
)
add(
    "initiator-next-hops-address-without-prefix-when-open",
    "MQQB-3.1.5.4.2-05",
    "The initiator's NextHops has the address of the open session without IP=.",
    _change_hops_when_open(lambda hops: [hop.partition("=")[2] for hop in hops]),
)


@fault("initiator-initialization-timer-runs-in-open-session", breaks="MQQB-3.1.5.4.2-06")
class InitiatorInitializationTimerRunsInOpenSession(SessionTimers):
    """The initiator does not stop its Session Initialization Timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("initiator-messages-not-sent-on-open-session", breaks=("MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-D01"))
class InitiatorMessagesNotSentOnOpenSession(Sending):
    """The initiator sends none of its messages on an open session."""

    def may_send(self, session: Session) -> bool:
        return False


add(
    "initiator-connection-history-established-missing",
    "MQQB-3.1.5.4.2-08",
    "The initiator adds no entry with Status Established to ConnectionHistory.",
    omit_history_entries({ConnectionStatus.ESTABLISHED}),
)
add(
    "initiator-connection-history-established-with-error",
    "MQQB-3.1.5.4.2-08",
    "The initiator's ConnectionHistory entry with Status Established has an Error.",
    change_history_entries({ConnectionStatus.ESTABLISHED}, Error=0x80004005),
)


@fault("initiator-outgoing-queue-state-waiting-when-open", breaks="MQQB-3.1.5.4.2-09")
class InitiatorOutgoingQueueStateWaitingWhenOpen(SessionOpening):
    """The initiator sets State of the outgoing queue to Waiting when the session is open."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        after_events(self.qm, lambda: setattr(outgoing_queue(session), "State", OutgoingQueueState.WAITING))


@fault("initiator-connection-history-address-is-host-name", breaks="MQQB-3.1.5.4.2-08")
class InitiatorConnectionHistoryAddressIsHostName(Connecting):
    """AddressList of the initiator's ConnectionHistory entries contains the host name instead of the address."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = outgoing_queue(session).ConnectionHistory
        entries[-1] = replace(entries[-1], AddressList=session.RemoteQMHostName)
