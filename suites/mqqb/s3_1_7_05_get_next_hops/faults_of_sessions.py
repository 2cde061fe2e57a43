"""Faults that break rules of MS-MQQB 3.1.7.5 Get Next Hops in some sessions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.opening_sessions import (
    OpeningCondition,
    has_other_outgoing_queue,
    is_later_attempt,
    sends_express_message,
    sends_transactional_message,
)
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.directory import QueueManager as DirectoryQueueManager
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

NextHopTuple = tuple[DirectoryQueueManager, ...]
NextHopsChange = Callable[[QueueManager, UUID, NextHopTuple], NextHopTuple]


def change_next_hops(when: OpeningCondition, change: NextHopsChange) -> Install:
    """Return an installer of a fault that changes the next hops of the sessions for which a condition is true."""

    def make_changed_hops(
        original: Callable[..., NextHopTuple], qm: QueueManager, session: Session, now: Now
    ) -> Callable[..., NextHopTuple]:
        def get_changed_hops(qm: QueueManager, guid: UUID) -> NextHopTuple:
            found = original(qm, guid)
            return change(qm, guid, found) if when(qm, session) else found

        return get_changed_hops

    return replace_method_during(
        SessionAddressResolving.resolve_host_address, NextHops.get_next_hops, make_changed_hops
    )


def return_no_next_hops(qm: QueueManager, guid: UUID, found: NextHopTuple) -> NextHopTuple:
    """Return no next hop."""
    return ()


def replace_next_hops_by_destination(qm: QueueManager, guid: UUID, found: NextHopTuple) -> NextHopTuple:
    """Return the queue manager of the destination instead of the next hops that routing returned."""
    machine = qm.enterprise.find_queue_manager("Identifier", guid)
    return found if machine is None or not found else (machine,)


def replace_guids_of_next_hops(qm: QueueManager, guid: UUID, found: NextHopTuple) -> NextHopTuple:
    """Return next hops whose GUIDs no queue manager has."""
    return tuple(replace(one, Identifier=MADE_UP_GUID) for one in found)


def return_hosts_of_sessions_without_route(qm: QueueManager, guid: UUID, found: NextHopTuple) -> NextHopTuple:
    """Return the hosts of the present sessions as next hops if routing returns no next hop."""
    if found:
        return found
    addresses = {one.RemoteQMAddress for one in qm.sessions.values() if one.RemoteQMAddress}
    return tuple(DirectoryQueueManager(Identifier=guid, QualifiedComputerName=one) for one in sorted(addresses))


for _name, _rule, _says, _when, _change in (
    (
        "initiator-next-hops-at-later-attempt-not-computed",
        "MQQB-3.1.7.5-D01",
        "The initiator finds no next hop at a later attempt to connect.",
        is_later_attempt,
        return_no_next_hops,
    ),
    (
        "initiator-next-hops-beside-other-queue-not-routed",
        "MQQB-3.1.7.5-D01",
        "The initiator connects to the destination instead of the next hops if another outgoing queue exists.",
        has_other_outgoing_queue,
        replace_next_hops_by_destination,
    ),
    (
        "initiator-next-hop-of-transactional-message-has-other-guid",
        "MQQB-3.1.7.5-D02",
        "The initiator uses a next hop with a wrong GUID if a transactional message waits.",
        sends_transactional_message,
        replace_guids_of_next_hops,
    ),
    (
        "initiator-next-hop-at-later-attempt-has-other-guid",
        "MQQB-3.1.7.5-D02",
        "The initiator uses a next hop with a wrong GUID at a later attempt to connect.",
        is_later_attempt,
        replace_guids_of_next_hops,
    ),
    (
        "initiator-next-hop-beside-other-queue-has-other-guid",
        "MQQB-3.1.7.5-D02",
        "The initiator uses a next hop with a wrong GUID if another outgoing queue exists.",
        has_other_outgoing_queue,
        replace_guids_of_next_hops,
    ),
    (
        "initiator-transactional-message-without-route-uses-open-sessions",
        "MQQB-3.1.7.5-D03",
        "If routing returns no next hop for a transactional message, the initiator connects to the hosts of its "
        "sessions.",
        sends_transactional_message,
        return_hosts_of_sessions_without_route,
    ),
    (
        "initiator-express-message-without-route-uses-open-sessions",
        "MQQB-3.1.7.5-D03",
        "If routing returns no next hop for an express message, the initiator connects to the hosts of its sessions.",
        sends_express_message,
        return_hosts_of_sessions_without_route,
    ),
):
    add(_name, _rule, _says, change_next_hops(_when, _change), blind=True)
