"""Faults that break rules of MS-MQSO 5.1.1.1 and 6.6.2 about a failed initialization in some respects only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.model.attributes import ServiceState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Command, Input, RpcAccepted, TransportAccepted


def _has_failed_to_start(part: Inputs) -> bool:
    """Return whether the queue manager is Stopped because its initialization failed."""
    return "could not start" in (part.qm.halted or "")


@fault("queue-manager-with-failed-start-accepts-connections", breaks="MQSO-5.1.1.1-01")
class QueueManagerWithFailedStartAcceptsConnections(Inputs):
    """A queue manager whose initialization failed does not close the connections of other queue managers."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        if not (isinstance(event, TransportAccepted) and _has_failed_to_start(self)):
            super().on_anything_while_stopped(event, now)


@fault("queue-manager-with-failed-start-accepts-remote-readers", breaks="MQSO-5.1.1.1-01")
class QueueManagerWithFailedStartAcceptsRemoteReaders(Inputs):
    """A queue manager whose initialization failed does not close the connections of remote readers."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        if not (isinstance(event, RpcAccepted) and _has_failed_to_start(self)):
            super().on_anything_while_stopped(event, now)


@fault("queue-manager-with-failed-start-carries-out-commands", breaks="MQSO-5.1.1.1-01")
class QueueManagerWithFailedStartCarriesOutCommands(Inputs):
    """A queue manager whose initialization failed carries out the requests of local applications."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, Command) and _has_failed_to_start(self):
            halted, self.qm.halted = self.qm.halted, None
            self.on_command(event, now)
            self.qm.halted = halted
        else:
            super().on_anything_while_stopped(event, now)


@fault("queue-manager-with-failed-start-becomes-ready", breaks="MQSO-5.1.1.1-02")
class QueueManagerWithFailedStartBecomesReady(Initialization):
    """A queue manager whose initialization failed is Ready, but refuses the requests of applications."""

    def fail(self, why: str) -> None:
        super().fail(why)
        self.qm.adm.QueueManagerState = ServiceState.READY


@fault("queue-manager-without-directory-object-becomes-ready", breaks="MQSO-5.1.1.1-02")
class QueueManagerWithoutDirectoryObjectBecomesReady(Initialization):
    """A queue manager whose object cannot be created in a new domain is Ready."""

    def give_up(self, why: str, now: Now) -> None:
        super().give_up(why, now)
        self.qm.halted = None
        self.qm.adm.QueueManagerState = ServiceState.READY


@fault("queue-manager-fails-to-start-again-after-second-error", breaks="MQSO-6.6.2-04")
class QueueManagerFailsToStartAgainAfterSecondError(Initialization):
    """The queue manager does not repeat its initialization after a second failure."""

    def await_retry(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration < 900:
            super().await_retry(now)


@fault("queue-manager-does-not-retry-creation-of-object", breaks="MQSO-6.6.2-04")
class QueueManagerDoesNotRetryCreationOfObject(Initialization):
    """The queue manager does not repeat an initialization that failed because its object could not be created."""

    def give_up(self, why: str, now: Now) -> None:
        self.fail(why)
        self.qm.begun = True
