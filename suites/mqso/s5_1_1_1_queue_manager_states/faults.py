"""Faults of MS-MQSO 5.1.1, 5.1.1.1: states of a queue manager."""

from __future__ import annotations

from collections.abc import Iterator

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_during
from harness.faults.registry import FaultyCore, add
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.ping import Ping
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import Message, Queue
from reference_qm.model.attributes import ServiceState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Effect, RpcClose
from reference_qm.surface.inputs import DirectoryAnswered, Stopped

add(
    "so-sessions-not-served",
    ("MQSO-5.1.1-01", "MQSO-6.6.1-D07"),
    "What connects gets no answer.",
    skip(SessionOpening.accept_transport),
)
add("so-pings-not-served", "MQSO-5.1.1-01", "Pings are not answered.", skip(Ping.receive_request))
add("so-never-offline", "MQSO-5.1.1.1-D05", "It stays on the network.", skip(Administering.take_offline))
add("so-offline-for-good", "MQSO-5.1.1.1-D05", "It does not come back.", skip(Administering.bring_online))


@fault("so-sent-by-what-the-directory-said", breaks="MQSO-5.1.1.1-D07")
class SentByWhatTheDirectorySaid(DirectoryClient):
    """While the directory is away, messages go where it said last."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_answered(event, now)
        if event.elements is None:
            self.qm.enterprise.directory = before

    def watch(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().watch(now)


@fault("so-nothing-taken-without-directory", breaks="MQSO-5.1.1.1-D07")
class NothingTakenWithoutDirectory(Commands):
    """While the directory is away, no message for another queue manager is taken."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and self.qm.destinations.find_local(request.to) is None:
            raise CommandError("nothing is sent while the directory is away")
        return super().send_message(request, token, now)


@fault("so-stopped-and-running", breaks="MQSO-5.1.1.1-D01")
class StoppedAndRunning(Inputs):
    """A queue manager that was stopped goes on to serve."""

    def on_stopped(self, event: Stopped, now: Now) -> None:
        super().on_stopped(event, now)
        self.qm.adm.QueueManagerState, self.qm.halted = ServiceState.READY, None


add(
    "so-sessions-outlive-a-stop",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "Sessions stay open when the queue manager is stopped.",
    skip_during(Inputs.on_stopped, Closing.close),
)
add(
    "so-remote-reads-outlive-a-stop",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "What was opened at other queue managers stays open when the queue manager is stopped.",
    skip_during(Inputs.on_stopped, ClientTasks.abandon),
)


def _readers_stay(faulty: FaultyCore) -> None:
    def close(effect: Effect) -> Iterator[Effect]:
        if not isinstance(effect, RpcClose) or faulty.core.halted is None:
            yield effect

    faulty.effect_filters.append(close)


add(
    "so-remote-readers-outlive-a-stop",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "The connections of remote readers stay open when the queue manager is stopped.",
    _readers_stay,
)
add(
    "so-never-throttled",
    ("MQSO-5.1.1.1-06", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.5-03"),
    "However short resources are, everything is taken.",
    skip(Quotas.begin_flow_control),
)
add(
    "so-throttled-for-good",
    ("MQSO-5.1.1.1-05", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.6-03"),
    "Once throttled, nothing is taken any more.",
    skip(Quotas.end_flow_control),
)


@fault("so-throttled-in-name", breaks="MQSO-5.1.1.1-05")
class ThrottledInName(Quotas):
    """Express messages are taken while Throttled is TRUE."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        status = super().check(queue, message)
        self.qm.adm.Throttled = throttled
        return status


add(
    "so-no-second-attempt-to-start",
    ("MQSO-5.1.1.1-03", "MQSO-5.1.1.1-D02", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-D08"),
    "A queue manager that could not start does not try again.",
    skip(Initialization.await_retry),
)


@fault("so-retries-at-the-same-pace", breaks=("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09"))
class RetriesAtTheSamePace(Initialization):
    """A queue manager that could not start tries again every 120 seconds."""

    def await_retry(self, now: Now) -> None:
        before = self.qm.adm.InitializationRetryTimerDuration
        super().await_retry(now)
        self.qm.adm.InitializationRetryTimerDuration = before
