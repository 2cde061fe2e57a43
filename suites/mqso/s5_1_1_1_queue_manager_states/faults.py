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
    "session-request-not-answered",
    ("MQSO-5.1.1-01", "MQSO-6.6.1-D07"),
    "The queue manager accepts connections, but answers no request on them.",
    skip(SessionOpening.accept_transport),
)
add("ping-not-answered", "MQSO-5.1.1-01", "The queue manager does not answer pings.", skip(Ping.receive_request))
add(
    "offline-request-ignored",
    "MQSO-5.1.1.1-D05",
    "The queue manager stays online when an administrator takes it offline.",
    skip(Administering.take_offline),
)
add(
    "online-request-ignored",
    "MQSO-5.1.1.1-D05",
    "The queue manager stays offline when an administrator brings it online.",
    skip(Administering.bring_online),
)


@fault("offline-directory-last-answer-used", breaks="MQSO-5.1.1.1-D07")
class OfflineDirectoryLastAnswerUsed(DirectoryClient):
    """While the directory cannot be reached, the queue manager sends messages to the last address that the directory
    returned.
    """

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_answered(event, now)
        if event.elements is None:
            self.qm.enterprise.directory = before

    def watch(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().watch(now)


@fault("offline-directory-messages-refused", breaks="MQSO-5.1.1.1-D07")
class OfflineDirectoryMessagesRefused(Commands):
    """While the directory cannot be reached, the queue manager refuses applications' messages to remote queues."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and self.qm.destinations.find_local(request.to) is None:
            raise CommandError("no message is sent while the directory is unavailable")
        return super().send_message(request, token, now)


@fault("stopped-queue-manager-serves", breaks="MQSO-5.1.1.1-D01")
class StoppedQueueManagerServes(Inputs):
    """A stopped queue manager continues to serve requests."""

    def on_stopped(self, event: Stopped, now: Now) -> None:
        super().on_stopped(event, now)
        self.qm.adm.QueueManagerState, self.qm.halted = ServiceState.READY, None


add(
    "stop-leaves-sessions-open",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close its sessions.",
    skip_during(Inputs.on_stopped, Closing.close),
)
add(
    "stop-leaves-remote-queues-open",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close the queues that it has opened on other queue managers.",
    skip_during(Inputs.on_stopped, ClientTasks.abandon),
)


def _keep_reader_connections(faulty: FaultyCore) -> None:
    def close(effect: Effect) -> Iterator[Effect]:
        if not isinstance(effect, RpcClose) or faulty.core.halted is None:
            yield effect

    faulty.effect_filters.append(close)


add(
    "stop-leaves-remote-readers-connected",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close the connections of remote readers.",
    _keep_reader_connections,
)
add(
    "queue-manager-never-throttled",
    ("MQSO-5.1.1.1-06", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.5-03"),
    "The queue manager never sets Throttled, and accepts all messages while resources are short.",
    skip(Quotas.begin_flow_control),
)
add(
    "queue-manager-throttled-forever",
    ("MQSO-5.1.1.1-05", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.6-03"),
    "The queue manager leaves Throttled TRUE when resources are sufficient again.",
    skip(Quotas.end_flow_control),
)


@fault("throttled-queue-manager-accepts-express-message", breaks="MQSO-5.1.1.1-05")
class ThrottledQueueManagerAcceptsExpressMessage(Quotas):
    """The queue manager accepts express messages while Throttled is TRUE."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        status = super().check(queue, message)
        self.qm.adm.Throttled = throttled
        return status


add(
    "failed-initialization-not-retried",
    ("MQSO-5.1.1.1-03", "MQSO-5.1.1.1-D02", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-D08"),
    "The queue manager does not retry a failed initialization.",
    skip(Initialization.await_retry),
)


@fault("failed-initialization-retried-every-120-s", breaks=("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09"))
class FailedInitializationRetriedEvery120S(Initialization):
    """The queue manager retries a failed initialization every 120 seconds."""

    def await_retry(self, now: Now) -> None:
        before = self.qm.adm.InitializationRetryTimerDuration
        super().await_retry(now)
        self.qm.adm.InitializationRetryTimerDuration = before
