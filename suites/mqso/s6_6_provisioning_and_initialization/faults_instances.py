"""Faults that break rules of MS-MQSO 6.6.1 and 6.6.2 for one way of access, or for repeated requests or errors only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.rpc.events import RpcEvent
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint


@fault("queue-manager-answers-no-remote-calls-after-start", breaks="MQSO-6.6.1-D07")
class QueueManagerAnswersNoRemoteCallsAfterStart(RpcEventDispatching):
    """The queue manager accepts the connections of remote readers, but answers none of their calls."""

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        """Ignore the event."""


@fault("queue-manager-answers-only-first-ping", breaks="MQSO-6.6.1-D07")
class QueueManagerAnswersOnlyFirstPing(PingHandling):
    """The queue manager answers only the first ping after its start."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if not self.__dict__.get("answered"):
            super().receive_request(remote, data)
        self.__dict__["answered"] = True


@fault("queue-manager-fails-to-start-again-after-second-error", breaks="MQSO-6.6.2-04")
class QueueManagerFailsToStartAgainAfterSecondError(QueueManagerInitialization):
    """The queue manager does not repeat its initialization after a second failure."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        if self.qm.adm.InitializationRetryTimerDuration < 900:
            super().start_initialization_retry_timer(now)
