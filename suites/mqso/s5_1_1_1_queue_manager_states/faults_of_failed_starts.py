"""Faults in the repetition of a failed initialization, and in flow control."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.model.adm import Message, Queue
from reference_qm.model.attributes import INITIALIZATION_RETRY_S, ServiceState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import BeginTransaction
from reference_qm.surface.inputs import Command, Input, ResourcesChanged, RpcAccepted, RpcBytesReceived

RULES_OF_STATE_AFTER_FAILED_START = ("MQSO-5.1.1.1-01", "MQSO-5.1.1.1-02")
INITIALIZATION_RETRY_TIMER = TimerKey(TimerName.INITIALIZATION_RETRY, 0)


@fault("queue-manager-remote-call-after-failed-start-answered", breaks=RULES_OF_STATE_AFTER_FAILED_START[0], blind=True)
class QueueManagerRemoteCallAfterFailedStartAnswered(InputDispatching):
    """A queue manager whose initialization has failed accepts connections for remote calls."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, RpcAccepted):
            self.qm.remote.associations.accept(event, now)
        elif isinstance(event, RpcBytesReceived):
            self.on_rpc_bytes(event, now)
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-begins-transaction-after-failed-start", breaks=RULES_OF_STATE_AFTER_FAILED_START[0], blind=True)
class QueueManagerBeginsTransactionAfterFailedStart(InputDispatching):
    """A queue manager whose initialization has failed begins transactions for applications."""

    def on_command(self, event: Command, now: Now) -> None:
        halted = self.qm.halted
        if isinstance(event.request, BeginTransaction) and self.qm.adm.QueueManagerState is ServiceState.STOPPED:
            self.qm.halted = None
        super().on_command(event, now)
        self.qm.halted = halted


@fault(
    "queue-manager-initialization-retry-timer-stopped-by-request",
    breaks=("MQSO-5.1.1.1-03", "MQSO-5.5.5-03", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01"),
    blind=True,
)
class QueueManagerInitializationRetryTimerStoppedByRequest(InputDispatching):
    """A request that a queue manager refuses after a failed initialization stops the Initialization Retry Timer."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        super().refuse_input_while_stopped(event, now)
        if isinstance(event, Command) and type(event.request).__name__ not in ("Identity", "ListQueues", "Inspect"):
            self.qm.timers.stop(INITIALIZATION_RETRY_TIMER)


@fault(
    "queue-manager-resets-element-throttled-when-it-refuses-message",
    breaks=("MQSO-5.1.1.1-06", "MQSO-5.1.1.1-05", "MQDMPR-3.1.7.1.9-04"),
    blind=True,
)
class QueueManagerResetsElementThrottledWhenItRefusesMessage(QueueQuotas):
    """A queue manager sets Throttled to FALSE after it has refused a message."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        self.qm.adm.Throttled = False
        return status


@fault(
    "queue-manager-element-throttled-stays-false-during-open-session",
    breaks=("MQSO-5.1.1.1-06", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.5-03", "MQDMPR-3.1.7.2.6-03"),
    blind=True,
)
class QueueManagerElementThrottledStaysFalseDuringOpenSession(QueueQuotas):
    """A queue manager does not set Throttled to TRUE while a session is open."""

    def on_resources_changed(self, event: ResourcesChanged, now: Now) -> None:
        if not (event.low and self.qm.sessions):
            super().on_resources_changed(event, now)


@fault(
    "queue-manager-initialization-retry-timer-restarted-by-request",
    breaks=("MQSO-5.1.1.1-D02", "MQSO-6.6.2-D08"),
    blind=True,
)
class QueueManagerInitializationRetryTimerRestartedByRequest(InputDispatching):
    """A request that a queue manager refuses after a failed initialization restarts the Initialization Retry Timer."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        super().refuse_input_while_stopped(event, now)
        if isinstance(event, Command) and self.qm.timers.is_running(INITIALIZATION_RETRY_TIMER):
            duration_ms = INITIALIZATION_RETRY_S * 1_000 // self.qm.settings.scale
            self.qm.timers.start(INITIALIZATION_RETRY_TIMER, now.monotonic_ms, duration_ms)


@fault(
    "queue-manager-initialization-retry-timer-doubled-after-failures",
    breaks=("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09"),
    blind=True,
)
class QueueManagerInitializationRetryTimerDoubledAfterFailures(QueueManagerInitialization):
    """A queue manager doubles the duration of the Initialization Retry Timer after each later failure."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        duration_s = self.qm.adm.InitializationRetryTimerDuration
        super().start_initialization_retry_timer(now)
        if duration_s != INITIALIZATION_RETRY_S:
            self.qm.adm.InitializationRetryTimerDuration = 2 * duration_s


class RepeatedInitializationFailureRecorder(QueueManagerInitialization):
    """A part of the queue manager that records whether a failed initialization was a repetition."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        is_repetition = self.qm.adm.InitializationRetryTimerDuration != INITIALIZATION_RETRY_S
        self.qm.__dict__["failed_repetition"] = is_repetition
        super().start_initialization_retry_timer(now)


class StateOfFailedStartShownAsInitializing(DataModelInspection):
    """A part of the queue manager that shows the state Initializing after a failed initialization of one kind."""

    is_for_repeated_initialization = False

    def inspect(self, now: Now) -> dict[str, Any]:
        tree = super().inspect(now)
        if self.qm.__dict__.get("failed_repetition") is self.is_for_repeated_initialization:
            tree["QueueManager"]["QueueManagerState"] = ServiceState.INITIALIZING.value
        return tree


class StateOfFailedRepetitionShownAsInitializing(StateOfFailedStartShownAsInitializing):
    """A part of the queue manager that shows the state Initializing after a repeated initialization that failed."""

    is_for_repeated_initialization = True


add(
    "queue-manager-state-after-failed-start-initializing",
    RULES_OF_STATE_AFTER_FAILED_START,
    "The state of a queue manager whose initialization has failed is Initializing.",
    combine_installers(
        replace_part(RepeatedInitializationFailureRecorder), replace_part(StateOfFailedStartShownAsInitializing)
    ),
    blind=True,
)
add(
    "queue-manager-state-after-later-failed-start-initializing",
    RULES_OF_STATE_AFTER_FAILED_START,
    "The state of a queue manager whose initialization fails again is Initializing.",
    combine_installers(
        replace_part(RepeatedInitializationFailureRecorder), replace_part(StateOfFailedRepetitionShownAsInitializing)
    ),
    blind=True,
)
