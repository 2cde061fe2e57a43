"""Faults in the routes of a sender after a restart, and after an outage of the directory."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.next_hops import NextHops


class RestartRecorderForRouting(StateRestoring):
    """A part of the queue manager that records whether the queue manager has started before."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        self.qm.__dict__["routes_directly"] = bool(entries)


class DirectNextHopsAfterRestart(NextHops):
    """A part of the queue manager that sends each message directly to its destination after a restart."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.qm.__dict__.get("routes_directly") else super().get_next_hop_identifiers(guid)


add(
    "sender-route-after-restart-direct",
    ("MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02"),
    "After a restart, the sender sends each message directly to its destination.",
    combine_installers(replace_part(RestartRecorderForRouting), replace_part(DirectNextHopsAfterRestart)),
)


@fault("sender-sends-directly-after-first-routed-message", breaks=("MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02"))
class SenderSendsDirectlyAfterFirstRoutedMessage(NextHops):
    """The sender uses the topology only for the first route that it looks up, and later sends directly."""

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        hops = super().get_next_hop_identifiers(guid)
        used = self.__dict__.setdefault("used", set())
        if guid in used:
            return (guid,)
        if hops:
            used.add(guid)
        return hops
