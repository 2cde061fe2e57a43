from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from reference_qm import directory
from reference_qm.codec import (
    NULL_GUID,
    DirectName,
    DirectQueueFormatName,
    FormatError,
    FormatName,
    MachineQueuePath,
    PrivateQueueFormatNameId,
    PrivateQueuePath,
    PublicQueuePath,
    UserMessagePacket,
    parse_format_name,
)
from reference_qm.codec.format_names import (
    DistributionListName,
    MachineName,
    MultipleElementName,
    PrivateName,
    PublicName,
    SingleElementName,
)
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.properties import list_distribution_list_members
from reference_qm.model.adm import Queue

ORDER_QUEUE_NUMBER = 4
"""The PrivateQueueIdentifier of order_queue$. This number is never assigned to another queue.

Spec: MS-MQQB 2.2.4.
"""
ORDER_QUEUE_PATH = "private$\\order_queue$"
OWN_QUEUE_PATHS = frozenset({ORDER_QUEUE_PATH, "private$\\admin_queue$", "private$\\notify_queue$"})
"""The path names of the queue manager's own queues. Messages to these queues are not acknowledged. Spec: MS-MQQB
note <62>.
"""
JOURNAL_SUFFIX = "journal"
OWN_COMPUTER_NAMES = frozenset({".", "localhost"})
"""The host names with which every computer can refer to itself."""


class QueuePath(NamedTuple):
    r"""A parsed path name of a queue without the name of the computer: ``private$\name`` or ``name``, with suffixes
    such as ``;journal``. Spec: MS-MQMQ 2.1.1.
    """

    queue: str
    subqueue: str | None
    journal: bool

    @property
    def private(self) -> bool:
        """Whether the path name belongs to a private queue."""
        return self.queue.lower().startswith("private$\\")


def parse_path(name: str) -> QueuePath | None:
    """Parse the path name of a private or public queue of this computer. Return None for any other text."""
    try:
        path = parse_format_name(f"DIRECT=OS:localhost\\{name}")
    except FormatError:
        return None
    if not isinstance(path, PrivateQueuePath | PublicQueuePath):
        return None
    folder = "private$\\" if isinstance(path, PrivateQueuePath) else ""
    return QueuePath(folder + path.QueueName, path.Subqueue, path.Journal)


class QueueNames(QueueManagerPart):
    """Finds the queue that a path name or a format name identifies. Spec: MS-MQMQ 2.1, MS-MQDMPR 3.1.7.1.26,
    3.1.7.3.8.
    """

    __slots__ = ()

    def find_queue_by_path(self, name: str) -> Queue | None:
        """Find a local queue, subqueue, journal or system queue (such as ``system$;journal``) by its path name."""
        found = self.qm.adm.QueueCollection.get(name.lower())
        if found is not None:
            return found
        if name.lower().startswith("system$;"):
            return next((queue for queue in self.qm.adm.system_queues if queue.Pathname == name.lower()), None)
        path = parse_path(name)
        return (
            None
            if path is None
            else _find_subqueue_or_journal(
                self.qm.adm.QueueCollection.get(path.queue.lower()), path.subqueue, path.journal
            )
        )

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        """Find the local queue that a format name identifies. Spec: MS-MQDMPR 3.1.7.1.5, MS-MQMQ 2.1.

        A public queue is found by its Identifier. A machine name without a suffix identifies no queue, because it
        can stand for three system queues.
        """
        match name:
            case PrivateName(computer, number, journal) if computer == self.qm.adm.Identifier:
                return _find_subqueue_or_journal(self.qm.adm.QueueCollection.find_private_queue(number), None, journal)
            case PublicName(guid):
                return self.qm.adm.QueueCollection.find_public_queue(guid)
            case MachineQueuePath() if self.is_direct_name_of_own_host(name):
                return self.find_queue_by_path(f"system$;{name.SystemQueue}")
            case PrivateQueuePath() | PublicQueuePath() if self.is_direct_name_of_own_host(name):
                folder = "private$\\" if isinstance(name, PrivateQueuePath) else ""
                base = self.qm.adm.QueueCollection.get(f"{folder}{name.QueueName}".lower())
                return _find_subqueue_or_journal(base, name.Subqueue, name.Journal)
        return None

    def is_queue_on_this_computer(self, name: FormatName) -> bool:
        """Return whether a queue is on this computer, according to its format name or, for a public queue, the
        directory.

        Spec: MS-MQDMPR 3.1.7.1.5.
        """
        match name:
            case PrivateName(computer) | MachineName(computer):
                return computer == self.qm.adm.Identifier
            case PrivateQueuePath() | PublicQueuePath() | MachineQueuePath():
                return self.is_direct_name_of_own_host(name)
            case PublicName(guid):
                return self._is_published_here(guid)
        return False

    def _is_published_here(self, guid: UUID) -> bool:
        """Return whether a public queue is on this computer according to the directory. Spec: MS-MQDMPR 3.1.7.1.5."""
        found = self.qm.enterprise.find_queue(guid)
        computer = "" if found is None else (found.Pathname or "").partition("\\")[0]
        return self.is_own_host("OS", computer)

    def is_direct_name_of_own_host(self, name: DirectName) -> bool:
        """Return whether the host in a direct format name is this queue manager. Spec: MS-MQMQ 2.1.2, MS-MQDMPR
        3.1.7.1.5.
        """
        return self.is_own_host(name.Protocol, name.ProtocolAddressSpecification)

    def is_own_host(self, protocol: str, address: str) -> bool:
        """Return whether the protocol and address of a direct name belong to this queue manager.

        The document compares the address only with ComputerName. However, a DNS name or a numeric address can also
        identify this computer, so this method compares these as well. For the protocol TCP, only numeric addresses are
        compared. Names are not resolved.
        """
        match protocol.upper():
            case "TCP":
                return address.lower() in self._list_own_addresses()
            case "OS":
                return address.lower() in self._list_own_addresses() | self._list_own_names()
            case "HTTP" | "HTTPS":
                return parse_host_of_url(address).lower() in self._list_own_addresses() | self._list_own_names()
        return False

    def _list_own_addresses(self) -> frozenset[str]:
        return frozenset(one.lower() for one in self.qm.config.addresses)

    def _list_own_names(self) -> frozenset[str]:
        local = self.qm.enterprise.state.LocalQueueManager
        known = (self.qm.config.host_name, self.qm.adm.ComputerName, local.ComputerName, local.QualifiedComputerName)
        return OWN_COMPUTER_NAMES | {one.lower() for one in known if one}

    def expand_format_name(self, text: str) -> FormatName | None:
        """Replace distribution lists by their members, and remove duplicates. Return None if the members of a
        distribution list are unknown.

        Spec: MS-MQDMPR 3.1.7.3.8. The members are read from the directory by ``resolve_distribution_list``
        (MS-MQDSSM 3.1.6.9).
        """
        try:
            name = parse_format_name(text)
        except FormatError:
            return None
        if not isinstance(name, MultipleElementName | DistributionListName):
            return name
        waiting: list[SingleElementName] = list(name.Elements) if isinstance(name, MultipleElementName) else [name]
        found: dict[str, SingleElementName] = {}
        for element in waiting:
            key = str(element).lower()
            if key in found:
                continue  # lists may contain each other
            found[key] = element
            if isinstance(element, DistributionListName):
                listed = self.resolve_distribution_list(element)
                if listed is None:
                    return None
                waiting.extend(listed)
        ordered = [found[key] for key in sorted(found) if not isinstance(found[key], DistributionListName)]
        if not ordered:
            return None
        return ordered[0] if len(ordered) == 1 else MultipleElementName(tuple(ordered))

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        """Return the members of a distribution list, or None if the members are unknown. Spec: MS-MQDSSM 3.1.6.9.

        In workgroup mode, the members are always unknown. A member that is itself a distribution list is returned
        as a distribution list and is not expanded.
        """
        listed = list_distribution_list_members(self.qm.enterprise.directory, name.DistributionListGuid)
        if listed is None:
            return None
        return [_make_format_name_of_element(one) for one in listed]

    def list_every_queue(self) -> Iterator[Queue]:
        """Yield the system queues, and all other local queues with their journals and subqueues."""
        for queue in self.qm.adm.QueueCollection.values():
            yield from list_queue_with_children(queue)
        yield from self.qm.adm.system_queues

    def find_queue(self, name: str) -> Queue:
        """Find a local queue, subqueue, journal or system queue by its path name; raise CommandError if there is no
        such queue.
        """
        queue = self.find_queue_by_path(name)
        if queue is None:
            raise CommandError(f"this queue manager has no queue {name!a}: create it first, or list the queues")
        return queue


def list_queue_with_children(queue: Queue) -> list[Queue]:
    """Return a queue with its journal and its subqueues."""
    journal = [] if queue.JournalQueueReference is None else [queue.JournalQueueReference]
    return [*queue.SubqueueCollection.values(), *journal, queue]


def is_for_order_queue(packet: UserMessagePacket) -> bool:
    """Return whether the destination of a packet is the queue order_queue$ of the receiver. Spec: MS-MQQB 2.2.4."""
    queue = packet.UserHeader.DestinationQueue
    if isinstance(queue, DirectQueueFormatName):
        return queue.DirectFormatName.partition("\\")[2].lower() == ORDER_QUEUE_PATH
    return isinstance(queue, PrivateQueueFormatNameId) and queue.PrivateQueueIdentifier == ORDER_QUEUE_NUMBER


def parse_host_of_url(address: str) -> str:
    """Return the host in an HTTP address of the form ``//host:port/msmq``. Spec: MS-MQMQ 2.1.2
    (ProtocolAddressSpecification).
    """
    return address.removeprefix("//").partition("/")[0].partition(":")[0]


def _make_format_name_of_element(element: directory.Queue | directory.DistributionList) -> SingleElementName:
    identifier = element.Identifier or NULL_GUID
    return PublicName(identifier) if isinstance(element, directory.Queue) else DistributionListName(identifier)


def _find_subqueue_or_journal(queue: Queue | None, subqueue: str | None, journal: bool) -> Queue | None:
    if queue is None or (subqueue is None and not journal):
        return queue
    if subqueue is None:
        return queue.JournalQueueReference
    return None if journal else queue.SubqueueCollection.get(subqueue.lower())
