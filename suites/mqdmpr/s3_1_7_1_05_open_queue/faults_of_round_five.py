"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue."""

from __future__ import annotations

from ipaddress import IPv4Address

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.codec.format_names import MulticastName, MultipleElementName, PublicName
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.core.remote.enums import DesiredAccess
from reference_qm.core.remote.qmcomm_methods import QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS, QmcommMethods
from reference_qm.directory import Queue as PublishedQueue
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

MULTICAST_QUEUE_FORMAT_TYPE = 7


@fault("queue-manager-descriptor-of-several-queues-open-queue-missing", breaks="MQDMPR-3.1.7.1.5-32", blind=True)
class QueueManagerDescriptorOfSeveralQueuesOpenQueueMissing(QueueOpening):
    """The OpenQueueDescriptor for several queues does not contain the descriptor of a queue that was already open."""

    def _open_queues_of_multiple_element_name(
        self,
        name: MultipleElementName,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode,
        now: Now,
    ) -> OpenQueueResult:
        status, several = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        for one in [] if several is None else list(several.OpenQueueDescriptorCollection):
            queue = one.QueueReference
            if several is not None and queue is not None and len(queue.OpenQueueDescriptorCollection) > 1:
                several.OpenQueueDescriptorCollection.remove(one)
                self.close_queue(one)
        return status, several


@fault("queue-manager-descriptor-format-name-of-local-queue-private", breaks="MQDMPR-3.1.7.1.5-119", blind=True)
class QueueManagerDescriptorFormatNameOfLocalQueuePrivate(QueueOpening):
    """The FormatName of the OpenQueueDescriptor of a local private queue that was opened by a direct format name is the
    private format name of the queue.
    """

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> OpenQueueResult:
        number = queue.PrivateQueueNumber
        if number is not None and format_name.upper().startswith("DIRECT="):
            format_name = str(PrivateName(self.qm.adm.Identifier, number))
        return super().open_found_queue(queue, format_name, required_access, shared_mode)


@fault("queue-manager-outgoing-queue-base-priority-of-namesake", breaks="MQDMPR-3.1.7.1.5-86", blind=True)
class QueueManagerOutgoingQueueBasePriorityOfNamesake(DestinationResolving):
    """The queue manager identifies the public queue of an outgoing queue by its queue name without the computer, so
    that the outgoing queue gets the BasePriority of the first published queue with this name.
    """

    def _get_base_priority(self, text: str) -> int:
        name = parse_format_name_of_command(text)
        published = self.qm.enterprise.find_queue(name.QueueGuid) if isinstance(name, PublicName) else None
        _, elements = self.qm.enterprise.directory.contents()
        if published is None or published.Pathname is None:
            return super()._get_base_priority(text)
        wanted = published.Pathname.lower().partition("\\")[2]
        for one in elements or ():
            if isinstance(one, PublishedQueue) and (one.Pathname or "").lower().partition("\\")[2] == wanted:
                return one.BasePriority
        return super()._get_base_priority(text)


@fault("queue-manager-multicast-queue-open-to-send-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class QueueManagerMulticastQueueOpenToSendOpenedToPeek(QmcommMethods):
    """The queue manager opens a multicast format name with PeekAccess if an outgoing queue for this name exists."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        given = call.arguments
        queue_format = given["pQueueFormat"]
        if (
            queue_format is not None
            and queue_format["m_qft"] == MULTICAST_QUEUE_FORMAT_TYPE
            and given["dwDesiredAccess"] == DesiredAccess.MQ_PEEK_ACCESS
        ):
            queue = self._find_multicast_queue(queue_format["union"]["m_address"], queue_format["union"]["m_port"])
            if queue is not None:
                return self.qm.queue_opening.open_found_queue(
                    queue, queue.DestinationFormatName, QueueAccessType.PEEK, QueueShareMode.DENY_NONE
                )
        return super().open_remote_queue(call, now)

    def _find_multicast_queue(self, address: int, port: int) -> OutgoingQueue | None:
        for queue in self.qm.adm.OutgoingQueues.values():
            name = parse_format_name(queue.DestinationFormatName)
            if isinstance(name, MulticastName) and name.Port == port:
                number = int(IPv4Address(name.Address))
                if address in (number, int.from_bytes(number.to_bytes(4, "big"), "little")):
                    return queue
        return None


@fault("queue-manager-http-queue-open-to-send-opened-to-read", breaks="MQDMPR-3.1.7.1.5-38")
class QueueManagerHttpQueueOpenToSendOpenedToRead(QmcommMethods):
    """The queue manager opens an HTTP or HTTPS name for reading if an outgoing queue for this name exists."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        given = call.arguments
        queue_format = given["pQueueFormat"]
        name = None if queue_format is None else self.qm.queue_formats.build_format_name(queue_format)
        access = QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS.get(given["dwDesiredAccess"])
        if name is not None and access is not None and name.upper().startswith("DIRECT=HTTP"):
            queue = self.qm.adm.OutgoingQueues.get(name.lower())
            if queue is not None:
                return self.qm.queue_opening.open_found_queue(queue, name, access, QueueShareMode.DENY_NONE)
        return super().open_remote_queue(call, now)
