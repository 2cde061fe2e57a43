"""Faults that break rules of MS-MQQB 3.1.5.4.2 Response Packet: window sizes and next hops of several sessions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_address_resolving import format_next_hop
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("initiator-received-window-size-set-in-all-open-sessions", breaks="MQQB-3.1.5.4.2-01", blind=True)
class InitiatorReceivedWindowSizeSetInAllOpenSessions(SessionOpening):
    """A ConnectionParameters response sets ReceivedWindowSize of every open session."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        for other in self.qm.sessions.values():
            if other.SessionState is SessionState.OPEN:
                other.ReceivedWindowSize = packet.ConnectionParametersHeader.WindowSize


@fault("initiator-received-window-size-keeps-8-bits", breaks="MQQB-3.1.5.4.2-01", blind=True)
class InitiatorReceivedWindowSizeKeeps8Bits(SessionOpening):
    """ReceivedWindowSize is the low byte of the WindowSize of the ConnectionParameters response."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize &= 0xFF


@fault("initiator-next-hops-behind-address-of-open-session-kept", breaks="MQQB-3.1.5.4.2-03", blind=True)
class InitiatorNextHopsBehindAddressOfOpenSessionKept(SessionOpening):
    """When a session opens, the initiator removes only those addresses from NextHops that precede the address of the
    session.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        later = session.NextHopCollection[session.NextHopIndexer + 1 :]
        get_outgoing_queue(session).NextHops += [format_next_hop(hop.Address) for hop in later]


@fault("initiator-next-hops-of-all-queues-cleared-by-open-session", breaks="MQQB-3.1.5.4.2-03", blind=True)
class InitiatorNextHopsOfAllQueuesClearedByOpenSession(SessionOpening):
    """When a session opens, the initiator removes the addresses from NextHops of the other outgoing queues."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue is not session.OutgoingQueueReference:
                queue.NextHops.clear()


@fault("initiator-received-window-size-never-decreases", breaks="MQQB-3.1.5.4.2-01")
class InitiatorReceivedWindowSizeNeverDecreases(SessionOpening):
    """When a session follows a lost session, the initiator keeps ReceivedWindowSize if WindowSize of the response is
    lower.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        before = session.ReceivedWindowSize
        super().receive_parameters_response(session, packet, now)
        session.ReceivedWindowSize = max(before, session.ReceivedWindowSize)
