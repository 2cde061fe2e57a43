"""Faults in the initialization that fails and is repeated, and in flow control."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.enterprise.initialization import LATER_RETRY_INTERVAL_S, Initialization
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.model.adm import Message, Queue
from reference_qm.model.attributes import INITIALIZATION_RETRY_S, ServiceState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import GetQueue
from reference_qm.surface.inputs import Command, Input, ResourcesChanged, RpcAccepted, RpcBytes

STATES_OF_FAILED_STARTS = ("MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02")
RETRY_TIMER = TimerKey(TimerName.INITIALIZATION_RETRY, 0)


@fault("queue-manager-remote-call-after-failed-start-answered", breaks=STATES_OF_FAILED_STARTS[0], blind=True)
class QueueManagerRemoteCallAfterFailedStartAnswered(Inputs):
    """A queue manager whose initialization has failed accepts connections for remote calls."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, RpcAccepted):
            self.qm.remote.associations.accept(event, now)
        elif isinstance(event, RpcBytes):
            self.on_rpc_bytes(event, now)
        else:
            super().on_anything_while_stopped(event, now)


@fault("queue-manager-query-of-queue-after-failed-start-answered", breaks=STATES_OF_FAILED_STARTS[0], blind=True)
class QueueManagerQueryOfQueueAfterFailedStartAnswered(Inputs):
    """A queue manager whose initialization has failed answers queries of the properties of a queue."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if isinstance(event.request, GetQueue) and self.qm.adm.QueueManagerState is ServiceState.STOPPED:
            self.qm.halted = None
        super().on_command(event, now)
        self.qm.halted = halted


@fault("queue-manager-state-after-directory-error-ready", breaks=STATES_OF_FAILED_STARTS, blind=True)
class QueueManagerStateAfterDirectoryErrorReady(Initialization):
    """The state of a queue manager whose initialization fails because of the directory is Ready."""

    def give_up(self, why: str, now: Now) -> None:
        super().give_up(why, now)
        self.qm.halted = None
        self.qm.adm.QueueManagerState = ServiceState.READY


@fault("queue-manager-state-after-later-failed-start-initializing", breaks=STATES_OF_FAILED_STARTS, blind=True)
class QueueManagerStateAfterLaterFailedStartInitializing(Initialization):
    """The state of a queue manager whose initialization fails again is Initializing."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration != INITIALIZATION_RETRY_S:
            self.qm.adm.QueueManagerState = ServiceState.INITIALIZING
        super().start_initialization_retry_timer(now)


@fault(
    "queue-manager-initialization-after-directory-error-not-repeated",
    breaks=("MQSO-5.1.1.1-03", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-D08"),
    blind=True,
)
class QueueManagerInitializationAfterDirectoryErrorNotRepeated(Initialization):
    """A queue manager does not repeat an initialization that failed because of the directory."""

    def give_up(self, why: str, now: Now) -> None:
        super().give_up(why, now)
        self.qm.timers.stop(RETRY_TIMER)


@fault("queue-manager-initialization-retry-timer-stopped-by-request", breaks="MQSO-5.1.1.1-03", blind=True)
class QueueManagerInitializationRetryTimerStoppedByRequest(Inputs):
    """A request that a queue manager refuses after a failed initialization stops the Initialization Retry Timer."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        super().on_anything_while_stopped(event, now)
        if isinstance(event, Command) and type(event.request).__name__ not in ("Identity", "ListQueues", "Inspect"):
            self.qm.timers.stop(RETRY_TIMER)


@fault("queue-manager-throttled-reset-by-refused-message", breaks="MQSO-5.1.1.1-06", blind=True)
class QueueManagerThrottledResetByRefusedMessage(Quotas):
    """A queue manager sets Throttled to FALSE after it has refused a message."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        self.qm.adm.Throttled = False
        return status


@fault("queue-manager-throttled-with-open-session-false", breaks="MQSO-5.1.1.1-06", blind=True)
class QueueManagerThrottledWithOpenSessionFalse(Quotas):
    """A queue manager does not set Throttled to TRUE while a session is open."""

    def on_resources_changed(self, event: ResourcesChanged, now: Now) -> None:
        if not (event.low and self.qm.sessions):
            super().on_resources_changed(event, now)


@fault(
    "queue-manager-first-repetition-after-directory-error-after-900-seconds",
    breaks=("MQSO-5.1.1.1-D02", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-D08"),
    blind=True,
)
class QueueManagerFirstRepetitionAfterDirectoryErrorAfter900Seconds(Initialization):
    """A queue manager repeats an initialization that failed because of the directory after 900 seconds."""

    def give_up(self, why: str, now: Now) -> None:
        self.qm.adm.InitializationRetryTimerDuration = LATER_RETRY_INTERVAL_S
        super().give_up(why, now)


@fault("queue-manager-initialization-retry-timer-restarted-by-request", breaks="MQSO-5.1.1.1-D02", blind=True)
class QueueManagerInitializationRetryTimerRestartedByRequest(Inputs):
    """A request that a queue manager refuses after a failed initialization restarts the Initialization Retry Timer."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        super().on_anything_while_stopped(event, now)
        if isinstance(event, Command) and self.qm.timers.is_running(RETRY_TIMER):
            duration_ms = INITIALIZATION_RETRY_S * 1_000 // self.qm.settings.scale
            self.qm.timers.start(RETRY_TIMER, now.monotonic_ms, duration_ms)


@fault("queue-manager-later-repetition-interval-doubled", breaks=("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09"), blind=True)
class QueueManagerLaterRepetitionIntervalDoubled(Initialization):
    """A queue manager doubles the duration of the Initialization Retry Timer after each later failure."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        duration_s = self.qm.adm.InitializationRetryTimerDuration
        super().start_initialization_retry_timer(now)
        if duration_s != INITIALIZATION_RETRY_S:
            self.qm.adm.InitializationRetryTimerDuration = 2 * duration_s


@fault("queue-manager-later-repetition-after-directory-error-after-120-seconds", breaks="MQSO-5.1.1.1-D03", blind=True)
class QueueManagerLaterRepetitionAfterDirectoryErrorAfter120Seconds(Initialization):
    """A queue manager repeats an initialization that failed again because of the directory after 120 seconds."""

    def give_up(self, why: str, now: Now) -> None:
        self.qm.adm.InitializationRetryTimerDuration = INITIALIZATION_RETRY_S
        super().give_up(why, now)
