"""Faults that break MQDMPR-3.1.4.11-D02 for one kind of session."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.surface.clock import Now


@fault("any-sessions-of-waiting-messages-opened-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class AnySessionsOfWaitingMessagesOpenedAfterReenlistmentTimeout(Coordinating):
    """After the Reenlistment Timeout, the queue manager still connects to send messages that wait."""

    def reenlistment_timeout(self, now: Now) -> None:
        super().reenlistment_timeout(now)
        self.qm.adm.ConnectionActive = True
        self.qm.administering.establish_waiting(now)


@fault("any-open-session-kept-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class AnyOpenSessionKeptAfterReenlistmentTimeout(Coordinating):
    """After the Reenlistment Timeout, the queue manager keeps its open sessions and only opens no new sessions."""

    def reenlistment_timeout(self, now: Now) -> None:
        kept = dict(self.qm.sessions)
        self.qm.sessions.clear()
        super().reenlistment_timeout(now)
        self.qm.sessions.update(kept)


@fault("any-commands-carried-out-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class AnyCommandsCarriedOutAfterReenlistmentTimeout(Coordinating):
    """After the Reenlistment Timeout, the queue manager goes offline, but carries out the requests of applications."""

    def reenlistment_timeout(self, now: Now) -> None:
        super().reenlistment_timeout(now)
        self.qm.halted = None
