"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about public queues in the directory."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, FormatName, PublicName
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.names.next_hops import Destination, NextHops, build_next_hop
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.directory import Queue as PublishedQueue
from reference_qm.directory import QueueManager
from reference_qm.model.adm import Message, OutgoingQueue, Queue, Session
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_05_open_queue.fault_steps import CreatedOutgoingQueueChanger


def list_published_queues(part: DestinationResolving | NextHops | QueueNames) -> list[PublishedQueue]:
    """Return the public queues in the directory."""
    _, elements = part.qm.enterprise.directory.contents()
    return [one for one in elements or () if isinstance(one, PublishedQueue)]


class WrongHostOfPublicQueueFinder(NextHops):
    """Find the host of a public queue by another published queue."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        name = parse_format_name_of_command(format_name)
        if isinstance(name, PublicName) and self.qm.enterprise.state.DirectoryIntegrated:
            machine = self._find_host(self.choose_public_queue_of_host(name.QueueGuid))
            return (
                None
                if machine is None
                else Destination(build_next_hop(machine).HostName, build_next_hop(machine).QMGuid)
            )
        return super().get_destination_info(format_name)

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        """Return the published queue whose host is the destination."""
        raise NotImplementedError


@fault("queue-manager-public-queue-compared-by-last-half-of-guid", breaks=("MQDMPR-3.1.7.1.5-64"), blind=True)
class QueueManagerPublicQueueComparedByLastHalfOfGuid(WrongHostOfPublicQueueFinder):
    """The queue manager compares only the last eight bytes of the GUID in a public format name."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        return next(
            (
                one
                for one in list_published_queues(self)
                if one.Identifier and one.Identifier.bytes[8:] == guid.bytes[8:]
            ),
            None,
        )


@fault("queue-manager-second-public-name-identified-by-guid-of-first", breaks="MQDMPR-3.1.7.1.5-64", blind=True)
class QueueManagerSecondPublicNameIdentifiedByGuidOfFirst(WrongHostOfPublicQueueFinder):
    """The queue manager identifies the queue of a second public format name by the GUID of the first one."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        self.first = getattr(self, "first", guid)
        return self.qm.enterprise.find_queue(self.first)


@fault("queue-manager-public-name-with-end-of-local-guid-opens-local-queue", breaks="MQDMPR-3.1.7.1.5-64", blind=True)
class QueueManagerPublicNameWithEndOfLocalGuidOpensLocalQueue(QueueNames):
    """The queue manager compares only the last eight bytes of a GUID, so that any public format name with these eight
    bytes opens a local queue.
    """

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        if found is None and isinstance(name, PublicName):
            local = self.qm.adm.QueueCollection.values()
            return next(
                (one for one in local if one.Identifier and one.Identifier.bytes[8:] == name.QueueGuid.bytes[8:]), None
            )
        return found


@fault("queue-manager-directory-asked-for-first-public-name-only", breaks="MQDMPR-3.1.7.1.5-65", blind=True)
class QueueManagerDirectoryAskedForFirstPublicNameOnly(WrongHostOfPublicQueueFinder):
    """The queue manager queries the directory only for the first public format name."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        self.first = getattr(self, "first", guid)
        return self.qm.enterprise.find_queue(guid) if self.first == guid else None


@fault("queue-manager-directory-not-asked-for-public-name-in-list", breaks="MQDMPR-3.1.7.1.5-65", blind=True)
class QueueManagerDirectoryNotAskedForPublicNameInList(QueueOpening):
    """The queue manager does not query the directory for a public format name among several queues: the message to this
    queue is never sent.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        for one in descriptor.OpenQueueDescriptorCollection if descriptor is not None else ():
            if isinstance(one.QueueReference, OutgoingQueue) and one.FormatName.upper().startswith("PUBLIC"):
                one.QueueReference.DestinationFormatName = "PUBLIC=00000000-0000-0000-0000-000000000001"
        return status, descriptor


@fault("queue-manager-public-queue-not-found-never-queried-again", breaks="MQDMPR-3.1.7.1.5-65", blind=True)
class QueueManagerPublicQueueNotFoundNeverQueriedAgain(WrongHostOfPublicQueueFinder):
    """When the directory did not contain a public queue, the queue manager never queries the directory for this queue
    again.
    """

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        self.unknown: set[UUID] = getattr(self, "unknown", set())
        found = None if guid in self.unknown else self.qm.enterprise.find_queue(guid)
        if found is None:
            self.unknown.add(guid)
        return found


@fault("queue-manager-queries-public-queue-by-label-instead-of-guid", breaks="MQDMPR-3.1.7.1.5-68", blind=True)
class QueueManagerQueriesPublicQueueByLabelInsteadOfGuid(WrongHostOfPublicQueueFinder):
    """The queue manager queries the directory for a public queue by its Label, which other queues can also have."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        found = self.qm.enterprise.find_queue(guid)
        label = None if found is None else found.Label
        return next((one for one in list_published_queues(self) if one.Label == label), found)


@fault("queue-manager-public-queue-queried-by-queue-name", breaks="MQDMPR-3.1.7.1.5-68", blind=True)
class QueueManagerPublicQueueQueriedByQueueName(WrongHostOfPublicQueueFinder):
    """The queue manager queries the directory for a public queue by the name of the queue, without its computer."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        found = self.qm.enterprise.find_queue(guid)
        if found is None:
            return None
        ending = (found.Pathname or "").partition("\\")[2].lower()
        return next(
            (one for one in list_published_queues(self) if (one.Pathname or "").lower().endswith("\\" + ending)), found
        )


@fault("queue-manager-unknown-public-name-resolves-to-newest-queue", breaks="MQDMPR-3.1.7.1.5-68", blind=True)
class QueueManagerUnknownPublicNameResolvesToNewestQueue(WrongHostOfPublicQueueFinder):
    """The queue manager takes the newest queue of another computer if no queue in the directory has the Identifier of
    the public format name.
    """

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        own = self.qm.adm.ComputerName.lower() + "\\"
        others = [one for one in list_published_queues(self) if not (one.Pathname or "").lower().startswith(own)]
        return self.qm.enterprise.find_queue(guid) or next(iter(others[::-1]), None)


@fault("queue-manager-message-to-deleted-public-queue-goes-to-last-host", breaks="MQDMPR-3.1.7.1.5-70", blind=True)
class QueueManagerMessageToDeletedPublicQueueGoesToLastHost(WrongHostOfPublicQueueFinder):
    """When the directory does not contain a public queue, the queue manager sends the message to the last host that it
    found for any public queue.
    """

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        self.last = self.qm.enterprise.find_queue(guid) or getattr(self, "last", None)
        return self.last


@fault("queue-manager-message-to-unknown-public-queue-dropped", breaks="MQDMPR-3.1.7.1.5-70", blind=True)
class QueueManagerMessageToUnknownPublicQueueDropped(SessionAddressResolving):
    """When the directory does not contain a public queue, the queue manager drops the messages to this queue."""

    def set_need_validation_state(self, session: Session) -> None:
        super().set_need_validation_state(session)
        queue = session.OutgoingQueueReference
        if queue is not None and isinstance(parse_format_name_of_command(queue.DestinationFormatName), PublicName):
            for position in list(session.OutgoingMessageTable):
                self.qm.message_sending.remove_unsent_message(session, position)


@fault("queue-manager-unknown-public-name-opened-to-send-as-local", breaks="MQDMPR-3.1.7.1.5-70", blind=True)
class QueueManagerUnknownPublicNameOpenedToSendAsLocal(QueueNames):
    """The queue manager opens its first public queue if the directory does not contain the queue of a public name."""

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        if found is None and isinstance(name, PublicName) and self.qm.enterprise.find_queue(name.QueueGuid) is None:
            local = self.qm.adm.QueueCollection.values()
            return next((one for one in local if one.PrivateQueueNumber is None), None)
        return found


@fault("queue-manager-second-public-queue-sent-to-host-of-first", breaks="MQDMPR-3.1.7.1.5-71", blind=True)
class QueueManagerSecondPublicQueueSentToHostOfFirst(WrongHostOfPublicQueueFinder):
    """The queue manager sends messages for a second public queue to the computer of the first one."""

    def choose_public_queue_of_host(self, guid: UUID) -> PublishedQueue | None:
        found = self.qm.enterprise.find_queue(guid)
        self.known = getattr(self, "known", None) or found
        return None if found is None else self.known


@fault("queue-manager-public-queue-sent-to-first-machine-of-directory", breaks="MQDMPR-3.1.7.1.5-71", blind=True)
class QueueManagerPublicQueueSentToFirstMachineOfDirectory(NextHops):
    """The queue manager sends a message for a public queue to the first queue manager in alphabetical order."""

    def _find_host(self, queue: PublishedQueue | None) -> QueueManager | None:
        found = super()._find_host(queue)
        if found is None:
            return None
        _, elements = self.qm.enterprise.directory.contents()
        others = [
            one for one in elements or () if type(one) is type(found) and one.Identifier != self.qm.adm.Identifier
        ]
        return min(others, key=lambda one: one.ComputerName or "", default=found)


@fault("queue-manager-opens-missing-local-public-queue-as-outgoing-queue", breaks="MQDMPR-3.1.7.1.5-73", blind=True)
class QueueManagerOpensMissingLocalPublicQueueAsOutgoingQueue(QueueOpening):
    """When an application opens a public queue of the local computer that does not exist, the queue manager opens an
    outgoing queue instead of refusing the request.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        name = parse_format_name_of_command(format_name)
        if isinstance(name, PublicName) and self.qm.queue_names.find_queue_by_format_name(name) is None:
            queue = self.qm.destination_resolving.open_outgoing_queue(format_name, now)
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)


class WrongBasePrioritySetter(CreatedOutgoingQueueChanger):
    """Change the BasePriority of an outgoing queue for a public queue."""

    def begin(self, queue: OutgoingQueue, now: Now) -> None:
        super().begin(queue, now)
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, PublicName):
            self.change_base_priority(queue, name.QueueGuid)

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        """Leave the other attributes of the outgoing queue unchanged."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        """Change the BasePriority of the new queue."""
        raise NotImplementedError


@fault("queue-manager-base-priority-read-with-guid-of-first-public-name", breaks="MQDMPR-3.1.7.1.5-86", blind=True)
class QueueManagerBasePriorityReadWithGuidOfFirstPublicName(WrongBasePrioritySetter):
    """The queue manager reads the BasePriority of each public queue with the GUID of the first public name."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        self.first = getattr(self, "first", guid)
        found = self.qm.enterprise.find_queue(self.first)
        queue.BasePriority = 0 if found is None else found.BasePriority


@fault("queue-manager-base-priority-not-found-for-uppercase-guid", breaks="MQDMPR-3.1.7.1.5-86", blind=True)
class QueueManagerBasePriorityNotFoundForUppercaseGuid(WrongBasePrioritySetter):
    """The queue manager does not find the queue of a public format name whose GUID has capital letters."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        digits = queue.DestinationFormatName.partition("=")[2]
        if digits != digits.lower():
            queue.BasePriority = 0


@fault("queue-manager-directory-asked-for-priority-of-first-queue-only", breaks="MQDMPR-3.1.7.1.5-87", blind=True)
class QueueManagerDirectoryAskedForPriorityOfFirstQueueOnly(WrongBasePrioritySetter):
    """The queue manager queries the directory only when it creates the first outgoing queue for a public queue."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        if getattr(self, "asked", False):
            queue.BasePriority = 0
        self.asked = True


@fault("queue-manager-directory-not-asked-for-priority-of-several-queues", breaks="MQDMPR-3.1.7.1.5-87", blind=True)
class QueueManagerDirectoryNotAskedForPriorityOfSeveralQueues(QueueOpening):
    """The queue manager queries the directory for the BasePriority of a public queue only if the queue is opened
    alone.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        known = set(self.qm.adm.OutgoingQueues)
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None and descriptor.Multiple:
            for name in self.qm.adm.OutgoingQueues.keys() - known:
                self.qm.adm.OutgoingQueues[name].BasePriority = 0
        return status, descriptor


@fault("queue-manager-queries-base-priority-by-label-of-public-queue", breaks="MQDMPR-3.1.7.1.5-90", blind=True)
class QueueManagerQueriesBasePriorityByLabelOfPublicQueue(WrongBasePrioritySetter):
    """The queue manager queries the directory by the Label of the public queue, which other queues can also have."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        found = self.qm.enterprise.find_queue(guid)
        label = None if found is None else found.Label
        same = [one for one in list_published_queues(self) if one.Label == label]
        queue.BasePriority = same[0].BasePriority if found is not None and same else 0


@fault("queue-manager-queries-base-priority-by-name-of-public-queue", breaks="MQDMPR-3.1.7.1.5-90", blind=True)
class QueueManagerQueriesBasePriorityByNameOfPublicQueue(WrongBasePrioritySetter):
    """The queue manager queries the directory by the name of the public queue without its computer."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        found = self.qm.enterprise.find_queue(guid)
        if found is not None:
            ending = "\\" + (found.Pathname or "").partition("\\")[2].lower()
            same = [one for one in list_published_queues(self) if (one.Pathname or "").lower().endswith(ending)]
            queue.BasePriority = same[0].BasePriority if same else 0


@fault("queue-manager-second-outgoing-base-priority-is-that-of-first", breaks="MQDMPR-3.1.7.1.5-92", blind=True)
class QueueManagerSecondOutgoingBasePriorityIsThatOfFirst(WrongBasePrioritySetter):
    """The BasePriority of the outgoing queue for a second public queue is that of the first one."""

    def change_base_priority(self, queue: OutgoingQueue, guid: UUID) -> None:
        self.first = queue.BasePriority = getattr(self, "first", queue.BasePriority)


@fault("queue-manager-without-directory-sends-to-last-public-queue-host", breaks="MQDMPR-3.1.7.1.5-94", blind=True)
class QueueManagerWithoutDirectorySendsToLastPublicQueueHost(NextHops):
    """While the directory is unavailable, the queue manager sends messages for an unknown public queue to the host of
    the last public queue.
    """

    def get_destination_info(self, format_name: str) -> Destination | None:
        found = super().get_destination_info(format_name)
        if not isinstance(parse_format_name_of_command(format_name), PublicName):
            return found
        if found is None and self.qm.enterprise.state.DirectoryOffline:
            return getattr(self, "last", None)
        if found is not None:
            self.last = Destination(found.HostName, NULL_GUID)
        return found


@fault("queue-manager-without-directory-drops-public-queue-messages", breaks="MQDMPR-3.1.7.1.5-94", blind=True)
class QueueManagerWithoutDirectoryDropsPublicQueueMessages(SessionAddressResolving):
    """While the directory is unavailable, the queue manager drops the messages for a public queue."""

    def set_need_validation_state(self, session: Session) -> None:
        super().set_need_validation_state(session)
        queue = session.OutgoingQueueReference
        lost = self.qm.enterprise.state.DirectoryOffline
        if (
            lost
            and queue is not None
            and isinstance(parse_format_name_of_command(queue.DestinationFormatName), PublicName)
        ):
            for position in list(session.OutgoingMessageTable):
                self.qm.message_sending.remove_unsent_message(session, position)


@fault("queue-manager-without-directory-keeps-newest-public-message-only", breaks="MQDMPR-3.1.7.1.5-94", blind=True)
class QueueManagerWithoutDirectoryKeepsNewestPublicMessageOnly(SessionAddressResolving):
    """While the directory is unavailable, the queue manager keeps only the newest message for a public queue."""

    def set_need_validation_state(self, session: Session) -> None:
        super().set_need_validation_state(session)
        queue = session.OutgoingQueueReference
        lost = self.qm.enterprise.state.DirectoryOffline
        if (
            lost
            and queue is not None
            and isinstance(parse_format_name_of_command(queue.DestinationFormatName), PublicName)
        ):
            for position in list(session.OutgoingMessageTable)[:-1]:
                self.qm.message_sending.remove_unsent_message(session, position)


@fault("sender-acknowledgment-opens-public-queue-without-directory", breaks="MQDMPR-3.1.7.1.5-87", blind=True)
class SenderAcknowledgmentOpensPublicQueueWithoutDirectory(OwnMessageSending):
    """The queue manager does not query the directory for a public queue when it creates the outgoing queue for one of
    its own acknowledgments, so that the BasePriority of the outgoing queue stays 0.
    """

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        known = message.DestinationQueueFormatName.lower() in self.qm.adm.OutgoingQueues
        queue = super()._open_queue(message, now)
        if isinstance(queue, OutgoingQueue) and not known:
            queue.BasePriority = 0
        return queue
