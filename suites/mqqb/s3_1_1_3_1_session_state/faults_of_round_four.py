"""Faults that break rules of MS-MQQB 3.1.1.3.1 Session State, written without knowledge of the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted


@fault("sender-sequence-time-stamp-repeated-after-restart", breaks="MQQB-3.1.1.3.1-03", blind=True)
class SenderSequenceTimeStampRepeatedAfterRestart(StateRestoring):
    """The sender forgets at a restart which TimeStamp the last new sequence had, so that TimeStamp of the next new
    sequence depends only on the clock.
    """

    def _restore_last_sequence_time(self, key_suffix: str, value: Any) -> None:
        pass


@fault("acceptor-session-refers-to-outgoing-queue-of-same-host", breaks="MQQB-3.1.1.3.1-10", blind=True)
class AcceptorSessionRefersToOutgoingQueueOfSameHost(SessionOpening):
    """The acceptor sets OutgoingQueueReference of an accepted session to an outgoing queue whose session has the same
    remote address.
    """

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        super().accept_transport(event, now)
        session = self.qm.transports[event.transport]
        for queue in self.qm.adm.OutgoingQueues.values():
            if queue.session.RemoteQMAddress == event.remote.host:
                session.OutgoingQueueReference = queue
                return
