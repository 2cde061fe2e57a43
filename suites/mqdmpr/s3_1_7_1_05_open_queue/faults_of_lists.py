"""Faults in the opening of several queues, of distribution lists, and of queues of other computers."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import FormatName, PublicName, parse_format_name
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, PrivateName, SingleElementName
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import DENY_NONE, SEND_ACCESS, OpenQueueResult, QueueOpening
from reference_qm.directory import Queue, build_equality_filter, events
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


@fault("queue-manager-unknown-list-beside-other-queues-left-out", breaks="MQDMPR-3.1.7.1.5-05", blind=True)
class QueueManagerUnknownListBesideOtherQueuesLeftOut(QueueNames):
    """If a format name of several elements contains an unknown distribution list, the queue manager opens the queues
    of the other elements.
    """

    def expand_format_name(self, text: str) -> FormatName | None:
        self.__dict__["several"] = "," in text
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        found = super().resolve_distribution_list(name)
        return [] if found is None and self.__dict__.get("several") else found


@fault("queue-manager-unknown-list-within-list-left-out", breaks="MQDMPR-3.1.7.1.5-05", blind=True)
class QueueManagerUnknownListWithinListLeftOut(QueueNames):
    """If a distribution list contains an unknown distribution list, the queue manager opens the other members."""

    def expand_format_name(self, text: str) -> FormatName | None:
        self.__dict__["text"] = text.lower()
        return super().expand_format_name(text)

    def resolve_distribution_list(self, name: DistributionListName) -> list[SingleElementName] | None:
        found = super().resolve_distribution_list(name)
        within = str(name.DistributionListGuid).lower() not in self.__dict__.get("text", "")
        return [] if found is None and within else found


class FirstOfSeveralQueuesOpener(QueueOpening):
    """A part of the queue manager that opens the first of several queues in some cases in which it must refuse them; a
    subclass selects which.
    """

    def is_first_queue_opened(self, text: str, access: QueueAccessType, share: QueueShareMode) -> bool:
        raise NotImplementedError

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        name = self.qm.queue_names.expand_format_name(format_name)
        if isinstance(name, MultipleElementName) and self.is_first_queue_opened(
            format_name, required_access, shared_mode
        ):
            if required_access is SEND_ACCESS:
                return super().open_queue(format_name, SEND_ACCESS, DENY_NONE, now)
            return super().open_queue(str(name.Elements[0]), required_access, shared_mode, now)
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("queue-manager-several-queues-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-09", blind=True)
class QueueManagerSeveralQueuesOpenedToPeek(FirstOfSeveralQueuesOpener):
    """If several queues are opened with PeekAccess, the queue manager opens the first of them."""

    def is_first_queue_opened(self, text: str, access: QueueAccessType, share: QueueShareMode) -> bool:
        return access is QueueAccessType.PEEK


@fault("queue-manager-queues-of-list-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12", blind=True)
class QueueManagerQueuesOfListOpenedWithDenyReceive(FirstOfSeveralQueuesOpener):
    """If a distribution list of several queues is opened with DenyReceive, the queue manager opens its members with
    DenyNone.
    """

    def is_first_queue_opened(self, text: str, access: QueueAccessType, share: QueueShareMode) -> bool:
        return share is not DENY_NONE and text.upper().startswith("DL=")


@fault("queue-manager-several-remote-queues-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12", blind=True)
class QueueManagerSeveralRemoteQueuesOpenedWithDenyReceive(FirstOfSeveralQueuesOpener):
    """If several queues of other computers are opened with DenyReceive, the queue manager opens them with DenyNone."""

    def is_first_queue_opened(self, text: str, access: QueueAccessType, share: QueueShareMode) -> bool:
        elements = [parse_format_name(one) for one in text.split(",")]
        remote = not any(self.qm.queue_names.is_queue_on_this_computer(one) for one in elements)
        return share is not DENY_NONE and remote


class UnopenableFormatNameElementSkipper(QueueOpening):
    """A part of the queue manager that leaves out elements that it cannot open, if they are of a certain kind; a
    subclass selects which.
    """

    def is_element_skipped(self, text: str, element: SingleElementName) -> bool:
        raise NotImplementedError

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        name = self.qm.queue_names.expand_format_name(format_name)
        if isinstance(name, MultipleElementName) and required_access is SEND_ACCESS and shared_mode is DENY_NONE:
            left = [one for one in name.Elements if self._is_element_kept(format_name, one, now)]
            if left:
                format_name = ",".join(map(str, left))
        return super().open_queue(format_name, required_access, shared_mode, now)

    def _is_element_kept(self, text: str, element: SingleElementName, now: Now) -> bool:
        if not self.is_element_skipped(text, element):
            return True
        status, opened = super().open_queue(str(element), SEND_ACCESS, DENY_NONE, now)
        if opened is not None:
            self.close_queue(opened)
        return status is Status.MQ_OK


@fault("queue-manager-member-of-list-that-cannot-be-opened-left-out", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class QueueManagerMemberOfListThatCannotBeOpenedLeftOut(UnopenableFormatNameElementSkipper):
    """If a member of a distribution list cannot be opened, the queue manager opens the other members."""

    def is_element_skipped(self, text: str, element: SingleElementName) -> bool:
        return text.upper().startswith("DL=")


@fault("queue-manager-skips-private-list-element-that-cannot-be-opened", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class QueueManagerSkipsPrivateListElementThatCannotBeOpened(UnopenableFormatNameElementSkipper):
    """If an element that is a private format name cannot be opened, the queue manager opens the other elements."""

    def is_element_skipped(self, text: str, element: SingleElementName) -> bool:
        return isinstance(element, PrivateName)


@fault("queue-manager-address-of-direct-name-cut-at-first-dot", breaks="MQDMPR-3.1.7.1.5-55", blind=True)
class QueueManagerAddressOfDirectNameCutAtFirstDot(NextHops):
    """The queue manager takes only the part before the first dot of the DNS name in a direct format name as the
    address.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or not found.HostName or found.HostName[0].isdigit() or ":" in found.HostName:
            return found
        return replace(found, HostName=found.HostName.partition(".")[0])


@fault("queue-manager-direct-name-ipv6-address-cut-at-last-colon", breaks="MQDMPR-3.1.7.1.5-55", blind=True)
class QueueManagerDirectNameIpv6AddressCutAtLastColon(NextHops):
    """The queue manager takes the part behind the last colon of an IPv6 address in a direct format name for a port
    number.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or ":" not in found.HostName:
            return found
        return replace(found, HostName=found.HostName.rpartition(":")[0])


@fault("queue-manager-second-public-queue-at-computer-of-first", breaks="MQDMPR-3.1.7.1.5-71", blind=True)
class QueueManagerSecondPublicQueueAtComputerOfFirst(NextHops):
    """The queue manager sends the messages for every public queue to the computer of the first public queue."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if found is None or not isinstance(parse_format_name(format_name), PublicName):
            return found
        first: Destination = self.__dict__.setdefault("first", found)
        return first


class WrongPublicQueueFinder(NextHops):
    """A part of the queue manager that finds a public queue by an attribute other than its whole GUID."""

    def find_wrong_public_queue(self, queue: Queue) -> Queue | None:
        raise NotImplementedError

    def get_destination_info(self, format_name: str) -> Destination | None:
        name = parse_format_name(format_name)
        queue = self.qm.enterprise.find_queue(name.QueueGuid) if isinstance(name, PublicName) else None
        other = None if queue is None else self.find_wrong_public_queue(queue)
        if other is None or other.Identifier is None:
            return super().get_destination_info(format_name)
        return super().get_destination_info(str(PublicName(other.Identifier)))

    def list_queues(self) -> list[Queue]:
        """Return the public queues in the directory."""
        found = self.qm.enterprise.directory.contents()[1] or ()
        return [one for one in found if isinstance(one, Queue)]


@fault("queue-manager-public-queue-identified-by-queue-name", breaks="MQDMPR-3.1.7.1.5-86", blind=True)
class QueueManagerPublicQueueIdentifiedByQueueName(WrongPublicQueueFinder):
    """The queue manager sends messages to the first public queue in the directory that has the same queue name as the
    queue whose GUID is in the format name.
    """

    def find_wrong_public_queue(self, queue: Queue) -> Queue | None:
        wanted = (queue.Pathname or "").partition("\\")[2]
        return next((one for one in self.list_queues() if (one.Pathname or "").partition("\\")[2] == wanted), None)


@fault("queue-manager-public-queue-identified-by-part-of-guid", breaks="MQDMPR-3.1.7.1.5-86", blind=True)
class QueueManagerPublicQueueIdentifiedByPartOfGuid(WrongPublicQueueFinder):
    """The queue manager sends to the first public queue in the directory whose GUID begins with the same four bytes
    as the GUID in the format name.
    """

    def find_wrong_public_queue(self, queue: Queue) -> Queue | None:
        assert queue.Identifier is not None
        start = queue.Identifier.bytes[:4]
        found = (one for one in self.list_queues() if one.Identifier is not None)
        return next((one for one in found if one.Identifier is not None and one.Identifier.bytes[:4] == start), None)


@fault("queue-manager-base-priority-read-from-first-public-queue", breaks="MQDMPR-3.1.7.1.5-90", blind=True)
class QueueManagerBasePriorityReadFromFirstPublicQueue(DestinationResolving):
    """A new outgoing queue that leads to a public queue gets the BasePriority of the first public queue in the
    directory.
    """

    def begin(self, queue: OutgoingQueue, now: Now) -> None:
        super().begin(queue, now)
        if isinstance(parse_format_name(queue.DestinationFormatName), PublicName):
            enterprise = self.qm.enterprise
            found = events.read_directory(enterprise.directory, enterprise.state, "Queue").rDirectoryObject
            queue.BasePriority = found.BasePriority if isinstance(found, Queue) else queue.BasePriority


@fault("queue-manager-base-priority-read-from-public-queue-of-same-label", breaks="MQDMPR-3.1.7.1.5-90", blind=True)
class QueueManagerBasePriorityReadFromPublicQueueOfSameLabel(DestinationResolving):
    """A new outgoing queue that leads to a public queue gets the BasePriority of the first public queue with the same
    Label.
    """

    def begin(self, queue: OutgoingQueue, now: Now) -> None:
        super().begin(queue, now)
        name, enterprise = parse_format_name(queue.DestinationFormatName), self.qm.enterprise
        public = enterprise.find_queue(name.QueueGuid) if isinstance(name, PublicName) else None
        if public is not None:
            same = build_equality_filter("Label", public.Label)
            found = events.read_directory(enterprise.directory, enterprise.state, "Queue", same).rDirectoryObject
            queue.BasePriority = found.BasePriority if isinstance(found, Queue) else queue.BasePriority
