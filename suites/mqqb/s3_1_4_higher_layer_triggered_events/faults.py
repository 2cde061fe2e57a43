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
    "start-initializes-nothing",
    "MQQB-3.1.4.1-01",
    "A queue manager that starts does not initialize itself.",
    skip(Initialization.initialize_globally),
)
add(
    "start-connects-to-nobody",
    "MQQB-3.1.4.1-02",
    "A queue manager that starts leaves its messages where they are.",
    skip(Administering.establish_waiting),
)


@fault("start-connects-to-one-queue-manager", breaks="MQQB-3.1.4.1-02", blind=True)
class StartConnectsToOneQueueManager(Initialization):
    """A queue manager that starts connects to the first queue manager for which it has messages, and to no other."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        begun = [one for one in self.qm.sessions.values() if one.initiator]
        for session in begun[1:]:
            self.qm.closing.close(session, "a fault", now)
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)
