"""Faults that break rules of MS-MQSO 5.1.1.1 and 6.6.1 for one way of access or for repeated requests only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.core.sessions.ping import Ping
from reference_qm.rpc.events import RpcEvent
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint


@fault("queue-manager-answers-no-remote-calls-after-start", breaks="MQSO-6.6.1-D07")
class QueueManagerAnswersNoRemoteCallsAfterStart(RpcServing):
    """The queue manager accepts the connections of remote readers, but answers none of their calls."""

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        """Ignore the event."""


@fault("queue-manager-answers-only-first-ping", breaks="MQSO-6.6.1-D07")
class QueueManagerAnswersOnlyFirstPing(Ping):
    """The queue manager answers only the first ping after its start."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if not self.__dict__.get("answered"):
            super().receive_request(remote, data)
        self.__dict__["answered"] = True
