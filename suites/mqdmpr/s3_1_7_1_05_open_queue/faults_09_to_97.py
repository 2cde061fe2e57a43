"""Faults that break the rules MQDMPR-3.1.7.1.5-09 to MQDMPR-3.1.7.1.5-97."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address
from uuid import uuid5

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.codec import FormatName, MultipleElementName
from reference_qm.codec.format_names import MachineName, PrivateName
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.names.queue_formats import QueueFormatType
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_lifecycle import make_queue_with_defaults
from reference_qm.core.queueing.queue_opening import DENY_NONE, SEND_ACCESS, OpenQueueResult, QueueOpening
from reference_qm.core.remote.enums import DesiredAccess
from reference_qm.core.remote.qmcomm_methods import QUEUE_SHARE_MODE_BY_WIRE_VALUE, QmcommMethods
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("several-queues-opened-to-read", breaks="MQDMPR-3.1.7.1.5-09")
class SeveralQueuesOpenedToRead(QueueOpening):
    """When a reader requests to open several queues for reading, the queue manager opens the first of these queues
    instead of refusing the request.
    """

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if required_access is not SEND_ACCESS:
            return self.open_queue(str(name.Elements[0]), required_access, shared_mode, now)
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)


@fault("several-queues-are-opened-for-peeking", breaks="MQDMPR-3.1.7.1.5-09")
class SeveralQueuesAreOpenedForPeeking(QueueOpening):
    """The queue manager opens several queues together with PeekAccess."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        access = SEND_ACCESS if required_access is QueueAccessType.PEEK else required_access
        return super()._open_queues_of_multiple_element_name(name, access, shared_mode, now)


@fault("queue-manager-three-queues-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-09", blind=True)
class QueueManagerThreeQueuesOpenedToPeek(QueueOpening):
    """When a reader requests to open three queues together with PeekAccess, the queue manager opens the first of these
    queues instead of refusing the request.
    """

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if required_access is not SEND_ACCESS and len(name.Elements) > 2:
            return self.open_queue(str(name.Elements[0]), required_access, shared_mode, now)
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)


@fault("queue-manager-several-local-queues-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12")
class QueueManagerSeveralLocalQueuesOpenedWithDenyReceive(QueueOpening):
    """The queue manager opens several local queues in one call, although the sharing mode is DenyReceive."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if all(self.qm.queue_names.find_queue_by_format_name(one) is not None for one in name.Elements):
            shared_mode = QueueShareMode.DENY_NONE
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)


@fault("queue-manager-local-and-remote-queue-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12", blind=True)
class QueueManagerLocalAndRemoteQueueOpenedWithDenyReceive(QueueOpening):
    """The queue manager opens several queues with DenyReceive in one call, although one of the queues is remote."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        if any(self.qm.queue_names.find_queue_by_format_name(one) is None for one in name.Elements):
            shared_mode = QueueShareMode.DENY_NONE
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)


@fault("third-of-several-queues-is-not-opened", breaks="MQDMPR-3.1.7.1.5-24")
class ThirdOfSeveralQueuesIsNotOpened(QueueOpening):
    """The queue manager opens only the first two queues of a format name with more than two elements."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        kept = type(name)(name.Elements[:2])
        return super()._open_queues_of_multiple_element_name(kept, required_access, shared_mode, now)


def _close_only_last_descriptor(
    original: Callable[[QM, OpenQueueDescriptor], None], *_: object
) -> Callable[[QM, OpenQueueDescriptor], None]:
    def close_last_descriptor(qm: QM, several: OpenQueueDescriptor) -> None:
        del several.OpenQueueDescriptorCollection[:-1]
        original(qm, several)

    return close_last_descriptor


add(
    "queue-manager-several-queues-only-last-one-closed-after-failure",
    "MQDMPR-3.1.7.1.5-29",
    "When one of several queues cannot be opened, the queue manager closes only the queue that it opened last.",
    replace_method_during(
        QueueOpening._open_queues_of_multiple_element_name, QueueOpening.close_queue, _close_only_last_descriptor
    ),
    blind=True,
)


@fault("missing-later-queue-of-several-skipped-at-opening", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class MissingLaterQueueOfSeveralSkippedAtOpening(QueueOpening):
    """If a queue other than the first of several queues is missing, the queue manager opens the other queues."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        found = [
            one
            for number, one in enumerate(name.Elements)
            if not number
            or self.qm.queue_names.find_queue_by_format_name(one) is not None
            or not self.qm.queue_names.is_queue_on_this_computer(one)
        ]
        return super()._open_queues_of_multiple_element_name(
            MultipleElementName(tuple(found)), required_access, shared_mode, now
        )


@fault("failed-opening-of-several-queues-leaves-first-queue-open", breaks="MQDMPR-3.1.7.1.5-30", blind=True)
class FailedOpeningOfSeveralQueuesLeavesFirstQueueOpen(QueueOpening):
    """When the queue manager cannot open one of several queues, the queues before it stay open."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        if queue_desc.Multiple and queue_desc.Handle == max(self.qm.descriptors, default=0) - len(
            queue_desc.OpenQueueDescriptorCollection
        ):
            self.qm.descriptors.pop(queue_desc.Handle, None)
            return
        super().close_queue(queue_desc)


@fault("queue-manager-descriptor-of-several-queues-limited-to-four-queues", breaks="MQDMPR-3.1.7.1.5-32")
class QueueManagerDescriptorOfSeveralQueuesLimitedToFourQueues(QueueOpening):
    """The OpenQueueDescriptor for several queues contains at most four OpenQueueDescriptors."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, several = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        if several is not None:
            del several.OpenQueueDescriptorCollection[4:]
        return status, several


@fault("local-and-remote-queues-not-opened-together", breaks="MQDMPR-3.1.7.1.5-33", blind=True)
class LocalAndRemoteQueuesNotOpenedTogether(QueueOpening):
    """The queue manager does not open local and remote queues together."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        here = {self.qm.queue_names.is_queue_on_this_computer(one) for one in name.Elements}
        if len(here) > 1:
            return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
        return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)


@fault("http-format-name-of-local-queue-opened-to-read", breaks="MQDMPR-3.1.7.1.5-38")
class HttpFormatNameOfLocalQueueOpenedToRead(QueueOpening):
    """The queue manager opens an HTTP format name of a local queue for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        protocol, separator, rest = format_name.partition("://")
        if separator and protocol.upper().startswith("DIRECT=HTTP"):
            address, _, path = rest.partition("/")
            format_name = f"DIRECT=TCP:{address}\\{path.partition(chr(92))[2]}"
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("queue-manager-open-http-name-to-peek", breaks="MQDMPR-3.1.7.1.5-38")
class QueueManagerOpenHttpNameToPeek(QueueOpening):
    """The queue manager opens an HTTP format name of a local queue with PeekAccess."""

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        by_http = getattr(name, "Protocol", "") in ("HTTP", "HTTPS")
        return (by_http and required_access is QueueAccessType.PEEK) or super().admits_access(name, required_access)


@fault("queue-manager-opens-dead-letter-machine-format-name-to-send", breaks="MQDMPR-3.1.7.1.5-42", blind=True)
class QueueManagerOpensDeadLetterMachineFormatNameToSend(QueueOpening):
    """An application can open the machine format name of the local dead-letter queue for sending."""

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        return isinstance(name, MachineName) or super().admits_access(name, required_access)


@fault("multicast-format-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-46")
class MulticastFormatNameOpenedToRead(QmcommMethods):
    """When a reader opens a multicast format name, the queue manager opens the first queue in its QueueCollection."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        form = call.arguments["pQueueFormat"]
        if form is None or form["m_qft"] != QueueFormatType.MULTICAST:
            return super().open_remote_queue(call, now)
        first = next(iter(self.qm.adm.QueueCollection.values()))
        return self.qm.queue_opening.open_found_queue(first, first.Pathname, QueueAccessType.PEEK)


@fault(
    "queue-names-compared-by-16-characters",
    breaks=("MQDMPR-3.1.7.1.5-48", "MQDMPR-3.1.7.1.5-118"),
)
class QueueNamesComparedBy16Characters(QueueOpening):
    """The queue manager compares only the first 16 characters of queue names."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> OpenQueueResult:
        alike = (one for one in self.qm.adm.QueueCollection.values() if one.Pathname[:16] == queue.Pathname[:16])
        return super().open_found_queue(next(alike, queue), format_name, required_access, shared_mode)


@fault("server-multicast-name-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class ServerMulticastNameOpenedToPeek(QmcommMethods):
    """The server opens the outgoing queue of a multicast format name for a remote reader with PeekAccess."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        given = call.arguments
        wanted, share = given["pQueueFormat"], QUEUE_SHARE_MODE_BY_WIRE_VALUE.get(given["dwShareMode"])
        peek = given["dwDesiredAccess"] == DesiredAccess.MQ_PEEK_ACCESS
        if not peek or share is None or wanted is None or wanted["m_qft"] != QueueFormatType.MULTICAST:
            return super().open_remote_queue(call, now)
        address, port = wanted["union"]["m_address"], wanted["union"]["m_port"]
        for group in (IPv4Address(address), IPv4Address(address.to_bytes(4, "little"))):
            if group.is_multicast and port <= 0xFFFF:
                name = f"MULTICAST={group}:{port}"
                queue = self.qm.destination_resolving.open_outgoing_queue(name, now)
                return self.qm.queue_opening.open_found_queue(queue, name, QueueAccessType.PEEK, share)
        return super().open_remote_queue(call, now)


@fault("queue-manager-open-compares-queue-names-case-sensitively", breaks="MQDMPR-3.1.7.1.5-48")
class QueueManagerOpenComparesQueueNamesCaseSensitively(QueueNames):
    """The queue manager finds no local queue for a direct format name whose letters differ in case from the path name
    of the queue.
    """

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        written = getattr(name, "QueueName", None)
        if found is None or written is None or found.QueueType.value == "System":
            return found
        return found if written in found.Pathname or found.parent is not None else None


@fault("missing-queue-created-when-opened", breaks="MQDMPR-3.1.7.1.5-51")
class MissingQueueCreatedWhenOpened(QueueOpening):
    """The queue manager creates a missing queue when a reader opens it."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        opened = super().open_queue(format_name, required_access, shared_mode, now)
        if opened[0] is Status.MQ_ERROR_QUEUE_NOT_FOUND and required_access is not SEND_ACCESS:
            self.qm.queue_lifecycle.create_without_directory(
                make_queue_with_defaults(format_name.partition("\\")[2]), now.utc_s
            )
            return super().open_queue(format_name, required_access, shared_mode, now)
        return opened


@fault("queue-manager-open-missing-subqueue-opens-queue", breaks="MQDMPR-3.1.7.1.5-51")
class QueueManagerOpenMissingSubqueueOpensQueue(QueueNames):
    """The queue manager opens the main queue when a format name refers to a subqueue that does not exist."""

    def find_queue_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_queue_by_format_name(name)
        if found is None and getattr(name, "Subqueue", None):
            path = str(name).partition("\\")[2].partition(";")[0]
            return self.qm.adm.QueueCollection.get(path.lower())
        return found


@fault("queue-manager-missing-queue-by-private-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-51", blind=True)
class QueueManagerMissingQueueByPrivateNameOpenedToRead(QueueOpening):
    """If a private format name matches no local queue, the queue manager opens another private queue for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        if status is not Status.MQ_ERROR_QUEUE_NOT_FOUND or not format_name.upper().startswith("PRIVATE="):
            return status, opened
        queue = next(iter(self.qm.adm.QueueCollection.values()))
        return self.open_found_queue(queue, format_name, required_access, shared_mode)


@fault("queue-manager-journal-of-missing-queue-opened-to-read", breaks="MQDMPR-3.1.7.1.5-51", blind=True)
class QueueManagerJournalOfMissingQueueOpenedToRead(QueueOpening):
    """If the name of a journal matches no local queue, the queue manager opens the system journal for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        if status is not Status.MQ_ERROR_QUEUE_NOT_FOUND or not format_name.upper().endswith(";JOURNAL"):
            return status, opened
        return self.open_found_queue(self.qm.adm.SystemJournalQueue, format_name, required_access, shared_mode)


@fault("queue-manager-open-compares-own-host-name-case-sensitively", breaks="MQDMPR-3.1.7.1.5-61")
class QueueManagerOpenComparesOwnHostNameCaseSensitively(QueueNames):
    """The queue manager treats its own computer name in a direct format name as the name of another computer if the
    name differs in letter case.
    """

    def is_own_host(self, protocol: str, address: str) -> bool:
        found = super().is_own_host(protocol, address)
        known = {self.qm.config.host_name, self.qm.adm.ComputerName, "localhost", "."}
        return found and (protocol.upper() != "OS" or address in known or address == address.lower())


@fault("missing-local-queue-is-opened-for-sending-by-address", breaks="MQDMPR-3.1.7.1.5-61")
class MissingLocalQueueIsOpenedForSendingByAddress(QueueNames):
    """The queue manager opens an outgoing queue for a missing local queue that the format name gives by IP address."""

    def is_queue_on_this_computer(self, name: FormatName) -> bool:
        return super().is_queue_on_this_computer(name) and getattr(name, "Protocol", "") != "TCP"


@fault("queue-manager-missing-queue-by-own-address-treated-as-remote", breaks="MQDMPR-3.1.7.1.5-61", blind=True)
class QueueManagerMissingQueueByOwnAddressTreatedAsRemote(QueueNames):
    """The queue manager treats a direct format name with its own IP address as the name of another computer if no local
    queue matches.
    """

    def is_own_host(self, protocol: str, address: str) -> bool:
        return super().is_own_host(protocol, address) and protocol.upper() != "TCP"


@fault("queue-manager-outgoing-queue-opened-for-missing-localhost-queue", breaks="MQDMPR-3.1.7.1.5-61", blind=True)
class QueueManagerOutgoingQueueOpenedForMissingLocalhostQueue(QueueOpening):
    """The queue manager opens an outgoing queue for a missing local queue whose direct format name contains
    "localhost".
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        missing = status is Status.MQ_ERROR_QUEUE_NOT_FOUND and required_access is SEND_ACCESS
        if missing and "OS:localhost" in format_name:
            queue = self.qm.destination_resolving.open_outgoing_queue(format_name, now)
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return status, opened


@fault("private-format-name-of-deleted-queue-opens-previous-queue", breaks="MQDMPR-3.1.7.1.5-77", blind=True)
class PrivateFormatNameOfDeletedQueueOpensPreviousQueue(DestinationResolving):
    """A private format name with the number of a deleted queue refers to the queue with the next lower number."""

    def find_local_queue(self, text: str) -> Queue | None:
        try:
            return super().find_local_queue(text)
        except CommandError:
            name = parse_format_name_of_command(text)
            neighbour = None
            if isinstance(name, PrivateName):
                neighbour = self.qm.adm.QueueCollection.find_private_queue(name.QueueIdentifier - 1)
            if neighbour is None:
                raise
            return neighbour


@fault("queue-manager-outgoing-queues-of-one-host-have-same-identifier", breaks="MQDMPR-3.1.7.1.5-80", blind=True)
class QueueManagerOutgoingQueuesOfOneHostHaveSameIdentifier(DestinationResolving):
    """The queue manager assigns the same Identifier to all outgoing queues whose destination queues are on the same
    computer.
    """

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        queue = super().open_outgoing_queue(text, now)
        queue.Identifier = uuid5(self.qm.adm.Identifier, text.lower().partition("\\")[0])
        return queue


@fault("hardened-security-new-outgoing-queue-to-second-host-not-locked", breaks="MQDMPR-3.1.7.1.5-97", blind=True)
class HardenedSecurityNewOutgoingQueueToSecondHostNotLocked(DestinationResolving):
    """In hardened security mode, a new outgoing queue is not Locked if another outgoing queue exists."""

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        return (
            OutgoingQueueState.INACTIVE
            if self.qm.adm.OutgoingQueues
            else super().get_initial_outgoing_queue_state(text)
        )
