"""Faults that break the rules MQDMPR-3.1.7.1.21-02 to MQDMPR-3.1.7.1.22-02 only for some of the objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.names.next_hops import NextHops
from reference_qm.directory import QueueManager
from reference_qm.routing import Topology


def _change_list_of_read_queue_managers(
    change: Callable[[list[QueueManager], Topology], list[QueueManager]],
) -> Install:
    """Build a fault that changes the list of queue managers which the queue manager reads from the directory."""

    class QueueManagersChanger(NextHops):
        def read_topology(self) -> Topology:
            read = super().read_topology()
            machines = change(list(read.queue_managers.values()), read)
            return Topology.of(machines, read.sites.values(), read.links)

    return replace_part(QueueManagersChanger)


def _place_servers_into_all_sites(machines: list[QueueManager], read: Topology) -> list[QueueManager]:
    return [replace(one, SiteIdentifierList=tuple(read.sites)) if one.RoutingServer else one for one in machines]


for _name, _rule, _says, _change in (
    (
        "queue-manager-read-of-servers-ignores-their-sites",
        "MQDMPR-3.1.7.1.21-02",
        "The queue manager's read of the routing servers of its site also returns the servers of other sites.",
        _place_servers_into_all_sites,
    ),
    (
        "queue-manager-read-of-queue-managers-returns-first-half",
        "MQDMPR-3.1.7.1.21-03",
        "The queue manager's read of all queue managers returns only the first half of them.",
        lambda machines, read: machines[: (len(machines) + 1) // 2],
    ),
    (
        "queue-manager-next-queue-manager-skips-last",
        "MQDMPR-3.1.7.1.22-02",
        "The queue manager does not get the last queue manager of the directory.",
        lambda machines, read: machines[:-1],
    ),
):
    add(_name, _rule, _says, _change_list_of_read_queue_managers(_change), blind=True)
