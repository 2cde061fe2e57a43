"""Faults of MS-MQQB 3.1.4 Higher-Layer Triggered Events."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

add(
    "initiator-waiting-messages-not-sent-at-start",
    "MQQB-3.1.4.1-02",
    "A queue manager connects to no other queue manager when it starts, although messages wait.",
    skip(Administering.establish_waiting),
)


@fault("any-queue-manager-start-initializes-elements-partly", breaks="MQQB-3.1.4.1-01")
class AnyQueueManagerStartInitializesElementsPartly(Initialization):
    """A queue manager initializes only the first three entries of ResendTimerTable when it starts."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.ResendTimerTable = self.qm.adm.ResendTimerTable[:3]


@fault("initiator-only-first-destination-connected-at-start", breaks="MQQB-3.1.4.1-02", blind=True)
class InitiatorOnlyFirstDestinationConnectedAtStart(Initialization):
    """When a queue manager starts, it connects only to the first queue manager for which it has messages."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        begun = [one for one in self.qm.sessions.values() if one.initiator]
        for session in begun[1:]:
            self.qm.closing.close(session, "a fault", now)
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)
