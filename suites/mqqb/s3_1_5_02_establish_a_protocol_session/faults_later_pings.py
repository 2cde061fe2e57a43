"""Faults of MS-MQQB 3.1.5.2.2 Ping Mechanism: with several sessions and in later attempts."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-connects-without-ping-while-session-is-open", breaks="MQQB-3.1.5.2.2-02")
class InitiatorConnectsWithoutPingWhileSessionIsOpen(PingHandling):
    """The initiator connects without a Ping Request while another session that it initiated is open."""

    def ping_before_session(self, session: Session, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one.initiator and one is not session]
        if any(one.SessionState is SessionState.OPEN for one in others):
            session.is_ping_sent_before_session = False
            self.qm.session_connecting.connect_transport(session)
        else:
            super().ping_before_session(session, now)


@fault("initiator-history-entry-of-refused-ping-added-to-first-queue", breaks="MQQB-3.1.5.2.2-06")
class InitiatorHistoryEntryOfRefusedPingAddedToFirstQueue(PingHandling):
    """The initiator adds the entry for a refused ping to ConnectionHistory of the outgoing queue that was created
    first.
    """

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().on_ping_response_processed(session, response, now)
        queue, first = session.OutgoingQueueReference, next(iter(self.qm.adm.OutgoingQueues.values()))
        if queue is None or first is queue or not queue.ConnectionHistory:
            return
        if queue.ConnectionHistory[-1].Status is ConnectionStatus.PING_FAILURE:
            first.ConnectionHistory.append(queue.ConnectionHistory.pop())
