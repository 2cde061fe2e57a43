"""Faults of MS-MQQB 3.1.3.1 Global Initialization, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("sender-third-resend-timeout-medium", breaks="MQQB-3.1.3.1-02", blind=True)
class SenderThirdResendTimeoutMedium(Initialization):
    """The queue manager initializes the third entry of ResendTimerTable with ResendTimeoutsMedium."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[2] = table[3]
        self.qm.adm.ResendTimerTable = tuple(table)


@fault("sender-sixth-resend-timeout-long", breaks="MQQB-3.1.3.1-03", blind=True)
class SenderSixthResendTimeoutLong(Initialization):
    """The queue manager initializes the sixth entry of ResendTimerTable with ResendTimeoutsLong."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[5] = table[6]
        self.qm.adm.ResendTimerTable = tuple(table)


@fault("sender-ninth-resend-timeout-final", breaks="MQQB-3.1.3.1-04", blind=True)
class SenderNinthResendTimeoutFinal(Initialization):
    """The queue manager initializes the ninth entry of ResendTimerTable with ResendTimeoutsFinal."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = list(self.qm.adm.ResendTimerTable)
        table[8] = table[9]
        self.qm.adm.ResendTimerTable = tuple(table)


@fault("sender-last-resend-timeout-long", breaks="MQQB-3.1.3.1-05", blind=True)
class SenderLastResendTimeoutLong(Initialization):
    """The queue manager initializes the last entry of ResendTimerTable with ResendTimeoutsLong."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        table = self.qm.adm.ResendTimerTable
        self.qm.adm.ResendTimerTable = (*table[:9], table[8])


@fault("receiver-history-timer-not-running-after-start-with-one-entry", breaks="MQQB-3.1.3.1-07", blind=True)
class ReceiverHistoryTimerNotRunningAfterStartWithOneEntry(Initialization):
    """The receiver does not start the MessageIDHistory Cleanup Timer when it starts with exactly one entry in the
    history.
    """

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        if len(self.qm.adm.MessageIDHistoryTable) < 2:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
