from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.attributes import INITIALIZATION_RETRY_S, ServiceState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import RestartQueueManager

LATER_INITIALIZATION_RETRY_INTERVAL_S = 900
"""The value of InitializationRetryTimerDuration after the first failed attempt, in s. Spec: MS-MQSO 6.6.2."""


class QueueManagerInitialization(QueueManagerPart):
    """Initializes the queue manager. Spec: MS-MQQB 3.1.3."""

    __slots__ = ()

    def begin(self, now: Now) -> None:
        """Set the state of the queue manager to Ready, initialize the global state, and establish the sessions with
        waiting messages. Spec: MS-MQQB 3.1.4.1.
        """
        self.qm.adm.QueueManagerState = ServiceState.READY
        retry_s = self.qm.adm.InitializationRetryTimerDuration
        if retry_s != INITIALIZATION_RETRY_S:
            self.qm.disk.save({"initialization_retry_s": retry_s})
        self.initialize_globally(now)
        self.qm.transfer_administering.establish_waiting(now)

    def fail(self, why: str) -> None:
        """End the initialization. The state of the queue manager stays Stopped. Spec: MS-MQSO 5.1.1.1, 5.5.5,
        6.6.2.
        """
        self.qm.halted = f"the queue manager could not start (MQ_ERROR_SERVICE_NOT_AVAILABLE): {why}"

    def give_up(self, why: str, now: Now) -> None:
        """End an initialization that raised an error, and start the retry timer. Spec: MS-MQSO 6.6.2."""
        self.fail(why)
        self.qm.begun = True
        self.start_initialization_retry_timer(now)

    def start_initialization_retry_timer(self, now: Now) -> None:
        """Start the retry timer. The duration is 120 s after the first failure, and 900 s after each later failure.
        Spec: MS-MQSO 5.1.1.1, 6.4.4.1, 6.6.2.
        """
        duration_ms = self.qm.adm.InitializationRetryTimerDuration * 1_000 // self.qm.settings.scale
        self.qm.timers.start(TimerKey(TimerName.INITIALIZATION_RETRY, 0), now.monotonic_ms, duration_ms)
        self.qm.adm.InitializationRetryTimerDuration = LATER_INITIALIZATION_RETRY_INTERVAL_S

    def on_initialization_retry_timer(self) -> None:
        """Make another attempt to initialize the queue manager. Spec: MS-MQSO 6.4.4.1."""
        self.qm.emit_effect(RestartQueueManager())

    def initialize_globally(self, now: Now) -> None:
        """Initialize the state that all sessions share. Spec: MS-MQQB 3.1.3.1."""
        adm = self.qm.adm
        adm.ResendTimerTable = (
            (adm.ResendTimeoutsShort,) * 3
            + (adm.ResendTimeoutsMedium,) * 3
            + (adm.ResendTimeoutsLong,) * 3
            + (adm.ResendTimeoutsFinal,)
        )
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
        if len(adm.MessageIDHistoryTable):
            self.qm.message_history.start_history_timer(now)
        for queue in adm.OutgoingQueues.values():
            self.qm.destination_resolving.begin(queue, now)
        self.qm.message_lifetimes.recover_message_deadlines()
