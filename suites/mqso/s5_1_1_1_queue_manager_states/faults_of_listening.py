"""Faults in the handling of sessions, pings and remote calls beside other traffic."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, RpcBytesReceived


@fault("queue-manager-ping-request-beside-session-unanswered", breaks="MQSO-5.1.1-01", blind=True)
class QueueManagerPingRequestBesideSessionUnanswered(PingHandling):
    """A queue manager does not answer a ping request of a host with which it has an open session."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        sessions = self.qm.sessions.values()
        if not any(one.RemoteQMAddress == remote.host and one.SessionState is SessionState.OPEN for one in sessions):
            super().receive_request(remote, data)


@fault("queue-manager-remote-call-on-second-connection-unanswered", breaks="MQSO-5.1.1-01", blind=True)
class QueueManagerRemoteCallOnSecondConnectionUnanswered(RpcEventDispatching):
    """A queue manager answers remote calls only on the first connection."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        if event.connection == self.__dict__.setdefault("first", event.connection):
            super().on_bytes(event, now)


def _replace_part_at_restart(part: type[QueueManagerPart]) -> Install:
    """Return an installer of a fault that replaces a part of each queue manager that starts again."""

    def install_at_restart(faulty: FaultyCore) -> None:
        faulty.actions_at_restart.append(replace_part(part))

    return install_at_restart


class PingThatAnswersNoRequest(PingHandling):
    """A part of the queue manager that answers no ping request."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        """Ignore a ping request."""


class RpcServingThatIgnoresBytes(RpcEventDispatching):
    """A part of the queue manager that ignores the bytes of remote calls."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        """Ignore bytes that were received on a connection for remote calls."""


add(
    "queue-manager-ping-request-after-restart-unanswered",
    "MQSO-5.1.1-01",
    "After a restart, a queue manager answers no ping request.",
    _replace_part_at_restart(PingThatAnswersNoRequest),
    blind=True,
)
add(
    "queue-manager-remote-call-after-restart-unanswered",
    "MQSO-5.1.1-01",
    "After a restart, a queue manager answers no remote call.",
    _replace_part_at_restart(RpcServingThatIgnoresBytes),
    blind=True,
)
