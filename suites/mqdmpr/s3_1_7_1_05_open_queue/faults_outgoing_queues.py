"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about outgoing queues."""

from __future__ import annotations

from uuid import uuid5

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, PrivateQueuePath
from reference_qm.codec.format_names import MulticastName, MultipleElementName
from reference_qm.core.names.destination_resolving import DestinationResolving, parse_format_name_of_command
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_05_open_queue.fault_steps import CreatedOutgoingQueueChanger


class MissingPrivateQueueOpener(QueueOpening):
    """Open an outgoing queue for a missing local queue."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        name = parse_format_name_of_command(format_name)
        if (
            isinstance(name, PrivateName)
            and required_access is QueueAccessType.SEND
            and self.qm.queue_names.find_queue_by_format_name(name) is None
            and self.is_missing_queue_opened(name)
        ):
            queue = self.qm.destination_resolving.open_outgoing_queue(format_name, now)
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return super().open_queue(format_name, required_access, shared_mode, now)

    def is_missing_queue_opened(self, name: PrivateName) -> bool:
        """Return whether the queue manager opens an outgoing queue for a missing local queue."""
        raise NotImplementedError


@fault("queue-manager-missing-private-name-of-high-number-opened-to-send", breaks="MQDMPR-3.1.7.1.5-77", blind=True)
class QueueManagerMissingPrivateNameOfHighNumberOpenedToSend(MissingPrivateQueueOpener):
    """The queue manager opens a missing local queue whose private number is greater than 65535 for sending."""

    def is_missing_queue_opened(self, name: PrivateName) -> bool:
        return name.QueueIdentifier > 0xFFFF


@fault("queue-manager-missing-private-name-of-low-number-opened-to-send", breaks="MQDMPR-3.1.7.1.5-77", blind=True)
class QueueManagerMissingPrivateNameOfLowNumberOpenedToSend(MissingPrivateQueueOpener):
    """The queue manager opens a missing local queue with a private number below that of every existing queue."""

    def is_missing_queue_opened(self, name: PrivateName) -> bool:
        numbers = [one.PrivateQueueNumber or 0 for one in self.qm.adm.QueueCollection.values()]
        return name.QueueIdentifier < max(numbers)


@fault("queue-manager-outgoing-queue-created-for-each-spelling", breaks="MQDMPR-3.1.7.1.5-79", blind=True)
class QueueManagerOutgoingQueueCreatedForEachSpelling(DestinationResolving):
    """The queue manager creates another outgoing queue if a name is written in capital letters."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        known = self.qm.adm.OutgoingQueues
        first = known.get(text.lower())
        if first is None or first.DestinationFormatName == text:
            return super().open_outgoing_queue(text, now)
        del known[text.lower()]
        queue = super().open_outgoing_queue(text, now)
        known[first.DestinationFormatName + " "] = first
        return queue


@fault("queue-manager-outgoing-queue-created-again-after-close", breaks="MQDMPR-3.1.7.1.5-79", blind=True)
class QueueManagerOutgoingQueueCreatedAgainAfterClose(DestinationResolving):
    """When an outgoing queue was closed, the queue manager creates another outgoing queue for the same format name."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        known = self.qm.adm.OutgoingQueues
        first = known.get(text.lower())
        if first is not None and not first.OpenQueueDescriptorCollection and not first.session.OutgoingMessageTable:
            del known[text.lower()]
            queue = super().open_outgoing_queue(text, now)
            known[text.lower() + " "] = first
            return queue
        return super().open_outgoing_queue(text, now)


@fault("queue-manager-outgoing-queue-created-again-for-several-queues", breaks="MQDMPR-3.1.7.1.5-79", blind=True)
class QueueManagerOutgoingQueueCreatedAgainForSeveralQueues(QueueOpening):
    """The queue manager creates another outgoing queue for a remote queue that is opened together with other queues."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        known, name = self.qm.adm.OutgoingQueues, parse_format_name_of_command(format_name)
        elements = name.Elements if isinstance(name, MultipleElementName) else ()
        hidden = {str(one).lower(): known.pop(str(one).lower(), None) for one in elements}
        opened = super().open_queue(format_name, required_access, shared_mode, now)
        for text, queue in hidden.items():
            if queue is not None:
                known[text + " "] = queue
        return opened


@fault("queue-manager-outgoing-queue-identifier-ignores-destination-host", breaks="MQDMPR-3.1.7.1.5-80", blind=True)
class QueueManagerOutgoingQueueIdentifierIgnoresDestinationHost(CreatedOutgoingQueueChanger):
    """The Identifier of an outgoing queue depends only on the name of the queue, not on its host."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        queue.Identifier = uuid5(self.qm.adm.Identifier, queue.DestinationFormatName.rpartition("\\")[2].lower())


@fault(
    "queue-manager-outgoing-queue-identifier-of-private-name-is-that-of-host", breaks="MQDMPR-3.1.7.1.5-80", blind=True
)
class QueueManagerOutgoingQueueIdentifierOfPrivateNameIsThatOfHost(CreatedOutgoingQueueChanger):
    """The Identifier of an outgoing queue for a private format name is the GUID of the remote queue manager."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, PrivateName):
            queue.Identifier = name.ComputerGuid


@fault("queue-manager-third-outgoing-queue-identifier-is-that-of-first", breaks="MQDMPR-3.1.7.1.5-80", blind=True)
class QueueManagerThirdOutgoingQueueIdentifierIsThatOfFirst(CreatedOutgoingQueueChanger):
    """The Identifier of the third outgoing queue is that of the first one."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if len(known) >= 2:
            queue.Identifier = known[0].Identifier


@fault("queue-manager-outgoing-queue-label-is-only-queue-path", breaks="MQDMPR-3.1.7.1.5-81", blind=True)
class QueueManagerOutgoingQueueLabelIsOnlyQueuePath(CreatedOutgoingQueueChanger):
    """The Label of an outgoing queue for a direct format name is only the path name of the queue."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        queue.Label = queue.Label.partition("\\")[2] or queue.Label


@fault("queue-manager-outgoing-queue-label-empty-for-private-name", breaks="MQDMPR-3.1.7.1.5-81", blind=True)
class QueueManagerOutgoingQueueLabelEmptyForPrivateName(CreatedOutgoingQueueChanger):
    """The Label of an outgoing queue for a private format name is empty."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if isinstance(parse_format_name_of_command(queue.DestinationFormatName), PrivateName):
            queue.Label = ""


@fault("queue-manager-second-outgoing-queue-label-is-that-of-first", breaks="MQDMPR-3.1.7.1.5-81", blind=True)
class QueueManagerSecondOutgoingQueueLabelIsThatOfFirst(CreatedOutgoingQueueChanger):
    """The Label of a second outgoing queue is that of the first one."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if known:
            queue.Label = known[0].Label


@fault("queue-manager-outgoing-queue-has-format-name-of-all-opened-queues", breaks="MQDMPR-3.1.7.1.5-82", blind=True)
class QueueManagerOutgoingQueueHasFormatNameOfAllOpenedQueues(QueueOpening):
    """The DestinationFormatName of an outgoing queue that is opened together with other queues contains the names of
    all these queues.
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        known = set(self.qm.adm.OutgoingQueues)
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is not None and descriptor.Multiple:
            for name in self.qm.adm.OutgoingQueues.keys() - known:
                self.qm.adm.OutgoingQueues[name].DestinationFormatName = descriptor.FormatName
        return status, descriptor


@fault("queue-manager-destination-format-name-cuts-private-number", breaks="MQDMPR-3.1.7.1.5-82", blind=True)
class QueueManagerDestinationFormatNameCutsPrivateNumber(CreatedOutgoingQueueChanger):
    """The DestinationFormatName of an outgoing queue for a private format name contains only the low byte of the queue
    number.
    """

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, PrivateName):
            queue.DestinationFormatName = str(PrivateName(name.ComputerGuid, name.QueueIdentifier & 0xFF, name.Journal))


@fault("queue-manager-destination-format-name-has-tcp-instead-of-os", breaks="MQDMPR-3.1.7.1.5-82", blind=True)
class QueueManagerDestinationFormatNameHasTcpInsteadOfOs(CreatedOutgoingQueueChanger):
    """The DestinationFormatName of an outgoing queue for DIRECT=OS has DIRECT=TCP."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        queue.DestinationFormatName = queue.DestinationFormatName.replace("DIRECT=OS:", "DIRECT=TCP:")


@fault("queue-manager-next-hops-of-new-outgoing-queue-copied-from-earlier", breaks="MQDMPR-3.1.7.1.5-83", blind=True)
class QueueManagerNextHopsOfNewOutgoingQueueCopiedFromEarlier(CreatedOutgoingQueueChanger):
    """The attribute NextHops of a new outgoing queue already contains the next hops of an earlier outgoing queue."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        queue.NextHops.extend(hop for one in known for hop in one.NextHops)


@fault("queue-manager-next-hops-of-new-direct-tcp-queue-not-empty", breaks="MQDMPR-3.1.7.1.5-83", blind=True)
class QueueManagerNextHopsOfNewDirectTcpQueueNotEmpty(CreatedOutgoingQueueChanger):
    """The attribute NextHops of a new outgoing queue for DIRECT=TCP already contains the address in the format name."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, PrivateQueuePath) and name.Protocol == "TCP":
            queue.NextHops.append(f"IP={name.ProtocolAddressSpecification}")


@fault("queue-manager-next-hops-of-new-private-name-queue-not-empty", breaks="MQDMPR-3.1.7.1.5-83", blind=True)
class QueueManagerNextHopsOfNewPrivateNameQueueNotEmpty(CreatedOutgoingQueueChanger):
    """The attribute NextHops of a new outgoing queue for a private format name already contains the route to the queue
    manager.
    """

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, PrivateName):
            queue.NextHops.append("IP=192.0.2.1")


@fault("queue-manager-state-of-new-outgoing-queue-already-connected", breaks="MQDMPR-3.1.7.1.5-84", blind=True)
class QueueManagerStateOfNewOutgoingQueueAlreadyConnected(CreatedOutgoingQueueChanger):
    """The State of a new outgoing queue is Connected if another outgoing queue is connected."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if any(one.State is OutgoingQueueState.CONNECTED for one in known):
            queue.State = OutgoingQueueState.CONNECTED


@fault("queue-manager-new-outgoing-queue-of-private-name-needs-validation", breaks="MQDMPR-3.1.7.1.5-84", blind=True)
class QueueManagerNewOutgoingQueueOfPrivateNameNeedsValidation(CreatedOutgoingQueueChanger):
    """The State of a new outgoing queue for a private format name is NeedValidation."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if isinstance(parse_format_name_of_command(queue.DestinationFormatName), PrivateName):
            queue.State = OutgoingQueueState.NEED_VALIDATION


@fault("queue-manager-state-of-second-new-outgoing-queue-waiting", breaks="MQDMPR-3.1.7.1.5-84", blind=True)
class QueueManagerStateOfSecondNewOutgoingQueueWaiting(CreatedOutgoingQueueChanger):
    """The State of a second new outgoing queue is Waiting."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        if known:
            queue.State = OutgoingQueueState.WAITING


@fault("queue-manager-hardened-mode-private-name-queue-not-locked", breaks="MQDMPR-3.1.7.1.5-97", blind=True)
class QueueManagerHardenedModePrivateNameQueueNotLocked(DestinationResolving):
    """In hardened security mode, the State of an outgoing queue for a private format name is Inactive."""

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        if isinstance(parse_format_name_of_command(text), PrivateName):
            return OutgoingQueueState.INACTIVE
        return super().get_initial_outgoing_queue_state(text)


@fault("queue-manager-hardened-mode-direct-os-queue-not-locked", breaks="MQDMPR-3.1.7.1.5-97", blind=True)
class QueueManagerHardenedModeDirectOsQueueNotLocked(DestinationResolving):
    """In hardened security mode, the State of an outgoing queue for DIRECT=OS is Inactive."""

    def get_initial_outgoing_queue_state(self, text: str) -> OutgoingQueueState:
        return OutgoingQueueState.INACTIVE if "=OS:" in text.upper() else super().get_initial_outgoing_queue_state(text)


@fault("queue-manager-hardened-mode-queues-opened-together-not-locked", breaks="MQDMPR-3.1.7.1.5-97", blind=True)
class QueueManagerHardenedModeQueuesOpenedTogetherNotLocked(QueueOpening):
    """In hardened security mode, the outgoing queues that are opened together are not Locked."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        for one in descriptor.OpenQueueDescriptorCollection if descriptor is not None else ():
            queue = one.QueueReference
            if isinstance(queue, OutgoingQueue) and queue.State is OutgoingQueueState.LOCKED:
                queue.State = OutgoingQueueState.INACTIVE
        return status, descriptor


class WrongMulticastAttributeSetter(CreatedOutgoingQueueChanger):
    """Create an outgoing queue for a multicast address with a wrong value of Multicast."""

    def change_outgoing_queue(self, queue: OutgoingQueue, known: list[OutgoingQueue]) -> None:
        name = parse_format_name_of_command(queue.DestinationFormatName)
        if isinstance(name, MulticastName):
            queue.Multicast = not self.is_multicast_attribute_set_to_false(name, known)

    def is_multicast_attribute_set_to_false(self, name: MulticastName, known: list[OutgoingQueue]) -> bool:
        """Return whether the attribute Multicast of the outgoing queue is set to False."""
        raise NotImplementedError


@fault("queue-manager-multicast-false-in-second-multicast-outgoing-queue", breaks="MQDMPR-3.1.7.1.5-99", blind=True)
class QueueManagerMulticastFalseInSecondMulticastOutgoingQueue(WrongMulticastAttributeSetter):
    """The attribute Multicast of the outgoing queue for a second multicast address is False."""

    def is_multicast_attribute_set_to_false(self, name: MulticastName, known: list[OutgoingQueue]) -> bool:
        return any(one.Multicast for one in known)


@fault("queue-manager-multicast-false-for-addresses-of-224-and-239", breaks="MQDMPR-3.1.7.1.5-99", blind=True)
class QueueManagerMulticastFalseForAddressesOf224And239(WrongMulticastAttributeSetter):
    """The attribute Multicast of an outgoing queue is False if the multicast address begins with 224 or 239."""

    def is_multicast_attribute_set_to_false(self, name: MulticastName, known: list[OutgoingQueue]) -> bool:
        return name.Address.startswith(("224.", "239."))


@fault("queue-manager-multicast-false-for-address-among-several-queues", breaks="MQDMPR-3.1.7.1.5-99", blind=True)
class QueueManagerMulticastFalseForAddressAmongSeveralQueues(QueueOpening):
    """The attribute Multicast of an outgoing queue for a multicast address among several queues is False."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        for one in descriptor.OpenQueueDescriptorCollection if descriptor is not None else ():
            if isinstance(one.QueueReference, OutgoingQueue):
                one.QueueReference.Multicast = False
        return status, descriptor
