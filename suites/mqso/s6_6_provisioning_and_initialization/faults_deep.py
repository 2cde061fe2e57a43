"""Faults of MS-MQSO 6.6.1 and 6.6.2 that only special cases reveal: a second start, other errors, and effects that only
the network shows.
"""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, both
from harness.faults.registry import add
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.membership import Membership
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.attributes import INITIALIZATION_RETRY_S
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DatagramReceived, Endpoint, Input


class AfterRestart(DirectoryClient):
    """A directory client that records whether it runs after a restart."""

    @property
    def restarted(self) -> bool:
        """Whether the queue manager has been restarted."""
        return bool(vars(self).get("is_restarted", False))


def note_restart(qm: QueueManager) -> None:
    """Record that a queue manager was restarted."""
    vars(qm.directory_client)["is_restarted"] = True


class NoTableAfterRestart(AfterRestart):
    """After a restart, a routing server does not build its routing table."""

    def initialize_routing_table(self) -> None:
        if not self.restarted:
            super().initialize_routing_table()


add(
    "routing-server-routing-table-empty-after-restart",
    "MQSO-6.6.2-D05",
    "After a restart, a routing server does not build its routing table.",
    both(replace_part(NoTableAfterRestart), at_restart(note_restart)),
)


@fault("queue-manager-last-domain-kept-after-change-of-domain", breaks="MQSO-6.6.2-D04")
class QueueManagerLastDomainKeptAfterChangeOfDomain(Membership):
    """A queue manager that has changed its domain keeps the old domain as LastDomain."""

    def save_domain(self) -> None:
        if None in (self.qm.adm.LastDomain, self.qm.adm.MachineDomainId):
            super().save_domain()


@fault("queue-manager-ping-not-answered-after-repeated-initialization", breaks="MQSO-6.6.2-D06")
class QueueManagerPingNotAnsweredAfterRepeatedInitialization(Ping):
    """A queue manager whose initialization succeeded only at the second attempt answers no pings."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if self.qm.adm.InitializationRetryTimerDuration == INITIALIZATION_RETRY_S:
            super().receive_request(remote, data)


@fault("queue-manager-failed-initialization-answers-pings", breaks="MQSO-6.6.2-05")
class QueueManagerFailedInitializationAnswersPings(Inputs):
    """A queue manager whose initialization failed answers pings."""

    def on_anything_while_stopped(self, event: Input, now: Now) -> None:
        if isinstance(event, DatagramReceived):
            self.on_datagram(event, now)
        else:
            super().on_anything_while_stopped(event, now)


class NoPingAfterRestart(Ping):
    """A queue manager that answers no pings after a restart."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        """Answer a ping, except after a restart."""
        if not vars(self.qm.directory_client).get("is_restarted", False):
            super().receive_request(remote, data)


add(
    "queue-manager-ping-not-answered-after-restart",
    "MQSO-6.6.2-D06",
    "After a restart, the queue manager answers no pings.",
    both(replace_part(AfterRestart), both(replace_part(NoPingAfterRestart), at_restart(note_restart))),
    blind=True,
)
