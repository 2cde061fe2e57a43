"""Faults that break rules of MS-MQSO 5.1.1.1 about a failed initialization in some respects only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.model.attributes import ServiceState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Command, Input


def _has_failed_to_start(part: InputDispatching) -> bool:
    """Return whether the queue manager is Stopped because its initialization failed."""
    return "could not start" in (part.qm.halted or "")


@fault("queue-manager-with-failed-start-carries-out-commands", breaks="MQSO-5.1.1.1-01")
class QueueManagerWithFailedStartCarriesOutCommands(InputDispatching):
    """A queue manager whose initialization failed carries out the requests of local applications."""

    def refuse_input_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, Command) and _has_failed_to_start(self):
            halted, self.qm.halted = self.qm.halted, None
            self.on_command(event, now)
            self.qm.halted = halted
        else:
            super().refuse_input_while_stopped(event, now)


@fault("queue-manager-with-failed-start-becomes-ready", breaks="MQSO-5.1.1.1-02")
class QueueManagerWithFailedStartBecomesReady(QueueManagerInitialization):
    """A queue manager whose initialization failed is Ready, but refuses the requests of applications."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        super().start_initialization_retry_timer(now)
        self.initialize_globally(now)
        self.qm.adm.QueueManagerState = ServiceState.READY
