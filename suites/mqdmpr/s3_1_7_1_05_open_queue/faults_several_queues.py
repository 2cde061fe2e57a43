"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about several queues that are opened together."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.codec.format_names import DistributionListName, MultipleElementName, SingleElementName
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import PEEK_ACCESSES, OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now
from suites.mqdmpr.s3_1_7_1_05_open_queue.fault_steps import (
    SeveralQueueDescriptorChanger,
    is_descriptor_of_local_queue,
    list_earlier_descriptors_of_several_queues,
)


@fault(
    "queue-manager-second-opening-of-several-queues-returns-first-descriptor", breaks="MQDMPR-3.1.7.1.5-14", blind=True
)
class QueueManagerSecondOpeningOfSeveralQueuesReturnsFirstDescriptor(SeveralQueueDescriptorChanger):
    """When an application opens the same queues together again, the queue manager creates no OpenQueueDescriptor."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in list_earlier_descriptors_of_several_queues(self, several):
            if one.FormatName == several.FormatName:
                self.close_queue(several)
                return one
        return several


@fault("queue-manager-three-queues-split-into-two-descriptors", breaks="MQDMPR-3.1.7.1.5-14", blind=True)
class QueueManagerThreeQueuesSplitIntoTwoDescriptors(SeveralQueueDescriptorChanger):
    """The queue manager creates a second OpenQueueDescriptor for the third and the later of several queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        rest = several.OpenQueueDescriptorCollection[2:]
        if rest:
            other = self._add_descriptor(None, several.FormatName, several.AccessType, several.ShareMode)
            other.Multiple = True
            other.OpenQueueDescriptorCollection.extend(rest)
            del several.OpenQueueDescriptorCollection[2:]
        return several


@fault("queue-manager-several-local-queues-have-no-common-descriptor", breaks="MQDMPR-3.1.7.1.5-14", blind=True)
class QueueManagerSeveralLocalQueuesHaveNoCommonDescriptor(SeveralQueueDescriptorChanger):
    """The queue manager removes the common OpenQueueDescriptor of several queues if all of them are local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if all(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection):
            del self.qm.descriptors[several.Handle]
        return several


@fault("queue-manager-receive-access-in-descriptor-of-mixed-queues", breaks="MQDMPR-3.1.7.1.5-15", blind=True)
class QueueManagerReceiveAccessInDescriptorOfMixedQueues(SeveralQueueDescriptorChanger):
    """The AccessType of the OpenQueueDescriptor for several queues is ReceiveAccess if one of the queues is local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if any(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection):
            several.AccessType = QueueAccessType.RECEIVE
        return several


@fault("queue-manager-second-descriptor-of-several-queues-has-peek-access", breaks="MQDMPR-3.1.7.1.5-15", blind=True)
class QueueManagerSecondDescriptorOfSeveralQueuesHasPeekAccess(SeveralQueueDescriptorChanger):
    """The AccessType of the second OpenQueueDescriptor for several queues is PeekAccess."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if list_earlier_descriptors_of_several_queues(self, several):
            several.AccessType = PEEK_ACCESSES[0]
        return several


@fault("queue-manager-distribution-list-descriptor-has-move-access", breaks="MQDMPR-3.1.7.1.5-15", blind=True)
class QueueManagerDistributionListDescriptorHasMoveAccess(SeveralQueueDescriptorChanger):
    """The AccessType of the OpenQueueDescriptor for the members of a distribution list is MoveAccess."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if isinstance(parse_format_name_of_command(format_name), DistributionListName):
            several.AccessType = QueueAccessType.MOVE
        return several


@fault("queue-manager-descriptor-of-three-queues-denies-receive", breaks="MQDMPR-3.1.7.1.5-16", blind=True)
class QueueManagerDescriptorOfThreeQueuesDeniesReceive(SeveralQueueDescriptorChanger):
    """The ShareMode of the OpenQueueDescriptor for three or more queues is DenyReceive."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if len(several.OpenQueueDescriptorCollection) > 2:
            several.ShareMode = QueueShareMode.DENY_RECEIVE
        return several


@fault("queue-manager-deny-receive-in-descriptor-of-mixed-queues", breaks="MQDMPR-3.1.7.1.5-16", blind=True)
class QueueManagerDenyReceiveInDescriptorOfMixedQueues(SeveralQueueDescriptorChanger):
    """The ShareMode of the OpenQueueDescriptor for several queues is DenyReceive if one of the queues is local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if any(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection):
            several.ShareMode = QueueShareMode.DENY_RECEIVE
        return several


@fault("queue-manager-second-descriptor-of-several-queues-denies-receive", breaks="MQDMPR-3.1.7.1.5-16", blind=True)
class QueueManagerSecondDescriptorOfSeveralQueuesDeniesReceive(SeveralQueueDescriptorChanger):
    """The ShareMode of the second OpenQueueDescriptor for several queues is DenyReceive."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if list_earlier_descriptors_of_several_queues(self, several):
            several.ShareMode = QueueShareMode.DENY_RECEIVE
        return several


@fault("queue-manager-descriptor-of-list-has-unexpanded-format-name", breaks="MQDMPR-3.1.7.1.5-17", blind=True)
class QueueManagerDescriptorOfListHasUnexpandedFormatName(SeveralQueueDescriptorChanger):
    """The FormatName of the OpenQueueDescriptor for a distribution list is the name of the list itself."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if isinstance(parse_format_name_of_command(format_name), DistributionListName):
            several.FormatName = format_name
        return several


@fault("queue-manager-descriptor-of-queues-names-only-first-two-queues", breaks="MQDMPR-3.1.7.1.5-17", blind=True)
class QueueManagerDescriptorOfQueuesNamesOnlyFirstTwoQueues(SeveralQueueDescriptorChanger):
    """The FormatName of the OpenQueueDescriptor for several queues contains only the first two queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        several.FormatName = ",".join(several.FormatName.split(",")[:2])
        return several


@fault("queue-manager-second-descriptor-of-queues-has-format-name-of-first", breaks="MQDMPR-3.1.7.1.5-17", blind=True)
class QueueManagerSecondDescriptorOfQueuesHasFormatNameOfFirst(SeveralQueueDescriptorChanger):
    """The FormatName of a second OpenQueueDescriptor for several queues is that of the first one."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in list_earlier_descriptors_of_several_queues(self, several)[:1]:
            several.FormatName = one.FormatName
        return several


@fault("queue-manager-multiple-false-in-descriptor-of-mixed-queues", breaks="MQDMPR-3.1.7.1.5-18", blind=True)
class QueueManagerMultipleFalseInDescriptorOfMixedQueues(SeveralQueueDescriptorChanger):
    """The attribute Multiple of the OpenQueueDescriptor for several queues is False if one of the queues is local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        several.Multiple = not any(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection)
        return several


@fault("queue-manager-multiple-false-in-second-descriptor-of-queues", breaks="MQDMPR-3.1.7.1.5-18", blind=True)
class QueueManagerMultipleFalseInSecondDescriptorOfQueues(SeveralQueueDescriptorChanger):
    """The attribute Multiple of the second OpenQueueDescriptor for several queues is False."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        several.Multiple = not list_earlier_descriptors_of_several_queues(self, several)
        return several


@fault("queue-manager-multiple-false-in-descriptor-of-three-queues", breaks="MQDMPR-3.1.7.1.5-18", blind=True)
class QueueManagerMultipleFalseInDescriptorOfThreeQueues(SeveralQueueDescriptorChanger):
    """The attribute Multiple of the OpenQueueDescriptor for three or more queues is False."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        several.Multiple = len(several.OpenQueueDescriptorCollection) == 2
        return several


@fault("queue-manager-descriptor-of-queues-refers-to-local-queue-among-them", breaks="MQDMPR-3.1.7.1.5-19", blind=True)
class QueueManagerDescriptorOfQueuesRefersToLocalQueueAmongThem(SeveralQueueDescriptorChanger):
    """The QueueReference of the OpenQueueDescriptor for several queues is the local queue among them."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in several.OpenQueueDescriptorCollection:
            if is_descriptor_of_local_queue(one):
                several.QueueReference = one.QueueReference
        return several


@fault(
    "queue-manager-second-descriptor-of-several-queues-refers-to-last-queue", breaks="MQDMPR-3.1.7.1.5-19", blind=True
)
class QueueManagerSecondDescriptorOfSeveralQueuesRefersToLastQueue(SeveralQueueDescriptorChanger):
    """The QueueReference of a second OpenQueueDescriptor for several queues is the last of these queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if list_earlier_descriptors_of_several_queues(self, several):
            several.QueueReference = several.OpenQueueDescriptorCollection[-1].QueueReference
        return several


@fault("queue-manager-descriptor-of-three-queues-refers-to-third-queue", breaks="MQDMPR-3.1.7.1.5-19", blind=True)
class QueueManagerDescriptorOfThreeQueuesRefersToThirdQueue(SeveralQueueDescriptorChanger):
    """The QueueReference of the OpenQueueDescriptor for three or more queues is the third of these queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in several.OpenQueueDescriptorCollection[2:3]:
            several.QueueReference = one.QueueReference
        return several


@fault("queue-manager-read-state-opened-in-descriptor-of-remote-queues", breaks="MQDMPR-3.1.7.1.5-20", blind=True)
class QueueManagerReadStateOpenedInDescriptorOfRemoteQueues(SeveralQueueDescriptorChanger):
    """The RemoteReadState of the OpenQueueDescriptor for several remote queues is Opened."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if not any(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection):
            several.RemoteReadState = RemoteReadState.OPENED
        return several


@fault("queue-manager-read-state-ready-in-descriptor-of-mixed-queues", breaks="MQDMPR-3.1.7.1.5-20", blind=True)
class QueueManagerReadStateReadyInDescriptorOfMixedQueues(SeveralQueueDescriptorChanger):
    """The RemoteReadState of the OpenQueueDescriptor for several queues is ReadyForRead if one of them is local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if any(is_descriptor_of_local_queue(one) for one in several.OpenQueueDescriptorCollection):
            several.RemoteReadState = RemoteReadState.READY_FOR_READ
        return several


@fault("queue-manager-read-state-opened-in-second-descriptor-of-queues", breaks="MQDMPR-3.1.7.1.5-20", blind=True)
class QueueManagerReadStateOpenedInSecondDescriptorOfQueues(SeveralQueueDescriptorChanger):
    """The RemoteReadState of a second OpenQueueDescriptor for several queues is Opened."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        if list_earlier_descriptors_of_several_queues(self, several):
            several.RemoteReadState = RemoteReadState.OPENED
        return several


@fault("queue-manager-second-descriptor-of-queues-has-handle-of-first", breaks="MQDMPR-3.1.7.1.5-21", blind=True)
class QueueManagerSecondDescriptorOfQueuesHasHandleOfFirst(SeveralQueueDescriptorChanger):
    """The Handle of a second OpenQueueDescriptor for several queues is that of the first one."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in list_earlier_descriptors_of_several_queues(self, several)[:1]:
            del self.qm.descriptors[several.Handle]
            several.Handle = one.Handle
            self.qm.descriptors[several.Handle] = several
        return several


@fault(
    "queue-manager-descriptor-of-several-queues-has-handle-of-open-local-queue",
    breaks="MQDMPR-3.1.7.1.5-21",
    blind=True,
)
class QueueManagerDescriptorOfSeveralQueuesHasHandleOfOpenLocalQueue(SeveralQueueDescriptorChanger):
    """The Handle of an OpenQueueDescriptor for several queues is that of a queue which was opened to read before."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        reading = (QueueAccessType.RECEIVE, QueueAccessType.PEEK)
        for one in [each for each in self.qm.descriptors.values() if each.AccessType in reading][:1]:
            del self.qm.descriptors[several.Handle]
            several.Handle = one.Handle
            self.qm.descriptors[several.Handle] = several
        return several


@fault("queue-manager-descriptor-of-several-queues-has-handle-of-last-queue", breaks="MQDMPR-3.1.7.1.5-21", blind=True)
class QueueManagerDescriptorOfSeveralQueuesHasHandleOfLastQueue(SeveralQueueDescriptorChanger):
    """The Handle of an OpenQueueDescriptor for several queues is also the Handle of the last of these queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        last = several.OpenQueueDescriptorCollection[-1]
        del self.qm.descriptors[several.Handle]
        several.Handle = last.Handle
        self.qm.descriptors[several.Handle] = several
        return several


@fault("queue-manager-local-queue-among-several-opened-to-receive", breaks="MQDMPR-3.1.7.1.5-24", blind=True)
class QueueManagerLocalQueueAmongSeveralOpenedToReceive(SeveralQueueDescriptorChanger):
    """The queue manager opens a local queue among several queues with ReceiveAccess."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in several.OpenQueueDescriptorCollection:
            if is_descriptor_of_local_queue(one):
                one.AccessType = QueueAccessType.RECEIVE
        return several


@fault("queue-manager-second-of-several-queues-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-24", blind=True)
class QueueManagerSecondOfSeveralQueuesOpenedWithDenyReceive(SeveralQueueDescriptorChanger):
    """The queue manager opens the second of several queues with DenyReceive."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        several.OpenQueueDescriptorCollection[1].ShareMode = QueueShareMode.DENY_RECEIVE
        return several


@fault("queue-manager-only-first-of-several-names-of-host-opened", breaks="MQDMPR-3.1.7.1.5-24", blind=True)
class QueueManagerOnlyFirstOfSeveralNamesOfHostOpened(SeveralQueueDescriptorChanger):
    """The queue manager opens only the first of several private or direct format names of one host."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        hosts, opened = set(), several.OpenQueueDescriptorCollection
        for one in list(opened):
            host = one.FormatName.partition("\\")[0].lower()
            if host in hosts:
                opened.remove(one)
                self.close_queue(one)
            hosts.add(host)
        return several


class _FailedOpeningLeftoverKeeper(QueueOpening):
    """Change which descriptors stay open after a failed opening of several queues."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        before = set(self.qm.descriptors)
        status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
        if descriptor is None and isinstance(parse_format_name_of_command(format_name), MultipleElementName):
            self.keep_descriptors_open(before)
        return status, descriptor

    def keep_descriptors_open(self, before: set[int]) -> None:
        """Leave open some descriptors that the failed opening of several queues should have closed."""

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        """Close a descriptor, unless the fault keeps this descriptor open."""
        failing = queue_desc.Multiple and not self.is_opening_complete(queue_desc)
        kept = self.choose_kept_descriptors(queue_desc) if failing else []
        for one in kept:
            queue_desc.OpenQueueDescriptorCollection.remove(one)
        super().close_queue(queue_desc)

    def is_opening_complete(self, queue_desc: OpenQueueDescriptor) -> bool:
        """Return whether every queue of the descriptor was opened."""
        name = parse_format_name_of_command(queue_desc.FormatName)
        wanted = len(name.Elements) if isinstance(name, MultipleElementName) else 1
        return len(queue_desc.OpenQueueDescriptorCollection) == wanted

    def choose_kept_descriptors(self, queue_desc: OpenQueueDescriptor) -> list[OpenQueueDescriptor]:
        """Return the descriptors of single queues that stay open."""
        return []


@fault("queue-manager-failed-open-of-list-leaves-local-queues-open", breaks="MQDMPR-3.1.7.1.5-29", blind=True)
class QueueManagerFailedOpenOfListLeavesLocalQueuesOpen(_FailedOpeningLeftoverKeeper):
    """When one of several queues cannot be opened, the queue manager leaves the local queues among them open."""

    def choose_kept_descriptors(self, queue_desc: OpenQueueDescriptor) -> list[OpenQueueDescriptor]:
        return [one for one in queue_desc.OpenQueueDescriptorCollection if is_descriptor_of_local_queue(one)]


@fault("queue-manager-failed-open-of-list-leaves-remote-queues-open", breaks="MQDMPR-3.1.7.1.5-29", blind=True)
class QueueManagerFailedOpenOfListLeavesRemoteQueuesOpen(_FailedOpeningLeftoverKeeper):
    """When one of several queues cannot be opened, the queue manager leaves the remote queues among them open."""

    def choose_kept_descriptors(self, queue_desc: OpenQueueDescriptor) -> list[OpenQueueDescriptor]:
        return [one for one in queue_desc.OpenQueueDescriptorCollection if not is_descriptor_of_local_queue(one)]


@fault("queue-manager-failed-open-of-list-closes-only-first-queue", breaks="MQDMPR-3.1.7.1.5-29", blind=True)
class QueueManagerFailedOpenOfListClosesOnlyFirstQueue(_FailedOpeningLeftoverKeeper):
    """When the third of several queues cannot be opened, the queue manager closes only the first queue."""

    def choose_kept_descriptors(self, queue_desc: OpenQueueDescriptor) -> list[OpenQueueDescriptor]:
        return queue_desc.OpenQueueDescriptorCollection[1:]


@fault("queue-manager-list-descriptor-lacks-part-for-third-queue", breaks="MQDMPR-3.1.7.1.5-32", blind=True)
class QueueManagerListDescriptorLacksPartForThirdQueue(SeveralQueueDescriptorChanger):
    """The OpenQueueDescriptor for several queues contains only the OpenQueueDescriptors of the first two queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        del several.OpenQueueDescriptorCollection[2:]
        return several


@fault("queue-manager-list-descriptor-lacks-parts-for-local-queues", breaks="MQDMPR-3.1.7.1.5-32", blind=True)
class QueueManagerListDescriptorLacksPartsForLocalQueues(SeveralQueueDescriptorChanger):
    """The OpenQueueDescriptor for several queues does not contain the OpenQueueDescriptors of local queues."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        opened = several.OpenQueueDescriptorCollection
        opened[:] = [one for one in opened if not is_descriptor_of_local_queue(one)] or opened
        return several


@fault("queue-manager-second-list-descriptor-reuses-parts-of-first", breaks="MQDMPR-3.1.7.1.5-32", blind=True)
class QueueManagerSecondListDescriptorReusesPartsOfFirst(SeveralQueueDescriptorChanger):
    """A second OpenQueueDescriptor for the same queues contains the single OpenQueueDescriptors of the first one."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in list_earlier_descriptors_of_several_queues(self, several)[:1]:
            several.OpenQueueDescriptorCollection[:] = one.OpenQueueDescriptorCollection
        return several


class _MultipleElementFormatNameRefuser(QueueNames):
    """Refuse some format names for several queues; a subclass selects which."""

    def expand_format_name(self, text: str) -> FormatName | None:
        name = super().expand_format_name(text)
        return None if isinstance(name, MultipleElementName) and self.is_refused(name.Elements) else name

    def is_refused(self, elements: tuple[SingleElementName, ...]) -> bool:
        """Return whether the queue manager refuses a list of format names."""
        raise NotImplementedError


@fault("queue-manager-more-than-four-queues-refused", breaks="MQDMPR-3.1.7.1.5-33", blind=True)
class QueueManagerMoreThanFourQueuesRefused(_MultipleElementFormatNameRefuser):
    """The queue manager refuses to open more than four queues together."""

    def is_refused(self, elements: tuple[SingleElementName, ...]) -> bool:
        return len(elements) > 4


@fault("queue-manager-several-queues-of-local-and-remote-refused", breaks="MQDMPR-3.1.7.1.5-33", blind=True)
class QueueManagerSeveralQueuesOfLocalAndRemoteRefused(_MultipleElementFormatNameRefuser):
    """The queue manager refuses to open a local and a remote queue together."""

    def is_refused(self, elements: tuple[SingleElementName, ...]) -> bool:
        return len({self.is_queue_on_this_computer(one) for one in elements}) > 1


@fault("queue-manager-several-queues-refused-while-one-is-open", breaks="MQDMPR-3.1.7.1.5-33", blind=True)
class QueueManagerSeveralQueuesRefusedWhileOneIsOpen(QueueOpening):
    """The queue manager refuses to open several queues while one of these queues is already open for sending."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        asked = parse_format_name_of_command(format_name)
        for one in asked.Elements if isinstance(asked, MultipleElementName) else ():
            queue = self.qm.adm.OutgoingQueues.get(str(one).lower())
            if isinstance(queue, OutgoingQueue) and queue.OpenQueueDescriptorCollection:
                return Status.MQ_ERROR_SHARING_VIOLATION, None
        return super().open_queue(format_name, required_access, shared_mode, now)


@fault("queue-manager-open-several-queues-returns-last-single-descriptor", breaks="MQDMPR-3.1.7.1.5-34", blind=True)
class QueueManagerOpenSeveralQueuesReturnsLastSingleDescriptor(SeveralQueueDescriptorChanger):
    """The queue manager returns the OpenQueueDescriptor of the last of several queues to the application."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        return several.OpenQueueDescriptorCollection[-1]


@fault("queue-manager-open-local-queues-together-returns-descriptor-of-one", breaks="MQDMPR-3.1.7.1.5-34", blind=True)
class QueueManagerOpenLocalQueuesTogetherReturnsDescriptorOfOne(SeveralQueueDescriptorChanger):
    """The queue manager returns the OpenQueueDescriptor of a local queue if one of several queues is local."""

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        return next(
            (one for one in several.OpenQueueDescriptorCollection if is_descriptor_of_local_queue(one)), several
        )


@fault("queue-manager-opening-of-other-queues-returns-earlier-descriptor", breaks="MQDMPR-3.1.7.1.5-34", blind=True)
class QueueManagerOpeningOfOtherQueuesReturnsEarlierDescriptor(SeveralQueueDescriptorChanger):
    """When an application opens other queues together, the queue manager returns the OpenQueueDescriptor of the queues
    that were opened together before.
    """

    def change_descriptor(self, several: OpenQueueDescriptor, format_name: str) -> OpenQueueDescriptor:
        for one in list_earlier_descriptors_of_several_queues(self, several):
            if one.FormatName != several.FormatName:
                return one
        return several
