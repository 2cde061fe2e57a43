"""Faults in the handling of sessions, pings and remote calls beside other traffic."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, RpcBytes


@fault("queue-manager-ping-request-beside-session-unanswered", breaks="MQSO-5.1.1-01", blind=True)
class QueueManagerPingRequestBesideSessionUnanswered(Ping):
    """A queue manager does not answer a ping request of a host with which it has an open session."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        sessions = self.qm.sessions.values()
        if not any(one.RemoteQMAddress == remote.host and one.SessionState is SessionState.OPEN for one in sessions):
            super().receive_request(remote, data)


@fault("queue-manager-remote-call-on-second-connection-unanswered", breaks="MQSO-5.1.1-01", blind=True)
class QueueManagerRemoteCallOnSecondConnectionUnanswered(RpcServing):
    """A queue manager answers remote calls only on the first connection."""

    def on_bytes(self, event: RpcBytes, now: Now) -> None:
        if event.connection == self.__dict__.setdefault("first", event.connection):
            super().on_bytes(event, now)
