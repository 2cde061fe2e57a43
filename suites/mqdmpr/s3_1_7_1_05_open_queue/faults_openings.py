"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue about attributes of OpenQueueDescriptors and of outgoing
queues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step_during
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


def _make_attribute_setter(**values: Any) -> Callable[[Any], None]:
    def set_attributes_of_element(element: Any) -> None:
        for name, value in values.items():
            setattr(element, name, value(element) if callable(value) else value)

    return set_attributes_of_element


# -- several queues ---------------------------------------------------------------------------------------------------


def _change_descriptor_of_several_queues(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Build a fault that changes each descriptor for several queues."""

    class SeveralQueueDescriptorChanger(QueueOpening):
        def _open_queues_of_multiple_element_name(
            self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
        ) -> OpenQueueResult:
            status, descriptor = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
            if descriptor is not None:
                change(descriptor)
            return status, descriptor

    return replace_part(SeveralQueueDescriptorChanger)


def _get_first_queue(descriptor: OpenQueueDescriptor) -> Queue | None:
    return descriptor.OpenQueueDescriptorCollection[0].QueueReference


def _get_first_format_name(descriptor: OpenQueueDescriptor) -> str:
    return descriptor.OpenQueueDescriptorCollection[0].FormatName


for _name, _rules, _says, _change in (
    (
        "receive-access",
        "MQDMPR-3.1.7.1.5-15",
        "The descriptor for several queues has the AccessType ReceiveAccess.",
        _make_attribute_setter(AccessType=QueueAccessType.RECEIVE),
    ),
    (
        "deny-receive",
        "MQDMPR-3.1.7.1.5-16",
        "The descriptor for several queues has the ShareMode DenyReceive.",
        _make_attribute_setter(ShareMode=QueueShareMode.DENY_RECEIVE),
    ),
    (
        "first-name-only",
        "MQDMPR-3.1.7.1.5-17",
        "The FormatName of the descriptor for several queues contains only the name of the first queue.",
        _make_attribute_setter(FormatName=_get_first_format_name),
    ),
    (
        "name-with-semicolons",
        ("MQDMPR-3.1.7.1.5-17", "MQDMPR-3.1.7.3.8-23"),
        "The FormatName of the descriptor for several queues separates the names with semicolons.",
        _make_attribute_setter(FormatName=lambda one: one.FormatName.replace(",", ";")),
    ),
    (
        "not-multiple",
        "MQDMPR-3.1.7.1.5-18",
        "The attribute Multiple of the descriptor for several queues is False.",
        _make_attribute_setter(Multiple=False),
    ),
    (
        "queue-reference",
        "MQDMPR-3.1.7.1.5-19",
        "The descriptor for several queues refers to the first queue in QueueReference.",
        _make_attribute_setter(QueueReference=_get_first_queue),
    ),
    (
        "remote-read-state",
        "MQDMPR-3.1.7.1.5-20",
        "The descriptor for several queues has the RemoteReadState Opened.",
        _make_attribute_setter(RemoteReadState=RemoteReadState.OPENED),
    ),
    (
        "collection-empty",
        "MQDMPR-3.1.7.1.5-32",
        "The descriptor for several queues does not contain the descriptors of the single queues.",
        lambda one: one.OpenQueueDescriptorCollection.clear(),
    ),
):
    add(f"open-several-queues-{_name}", _rules, _says, _change_descriptor_of_several_queues(_change))


@fault("opening-of-several-queues-creates-no-common-descriptor", breaks="MQDMPR-3.1.7.1.5-14")
class OpeningOfSeveralQueuesCreatesNoCommonDescriptor(QueueOpening):
    """The queue manager keeps no common descriptor for queues that are opened together."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, descriptor = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        if descriptor is not None:
            del self.qm.descriptors[descriptor.Handle]
        return status, descriptor


@fault("open-of-three-queues-returns-error", breaks="MQDMPR-3.1.7.1.5-33")
class OpenOfThreeQueuesReturnsError(QueueOpening):
    """The queue manager opens more than two queues together, but returns an error."""

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        opened = super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        return opened if len(name.Elements) < 3 else (Status.MQ_ERROR, None)


add(
    "several-queues-left-open-after-failure",
    "MQDMPR-3.1.7.1.5-29",
    "When one of several queues cannot be opened, the queue manager leaves the other queues open.",
    omit_step_during(QueueOpening._open_queues_of_multiple_element_name, QueueOpening.close_queue),
)

# -- one queue --------------------------------------------------------------------------------------------------------


def _change_single_queue_descriptor(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Build a fault that changes each descriptor for a single queue."""

    class SingleQueueDescriptorChanger(QueueOpening):
        def open_found_queue(
            self,
            queue: Queue,
            format_name: str,
            required_access: QueueAccessType,
            shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
        ) -> OpenQueueResult:
            status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
            if descriptor is not None:
                change(descriptor)
            return status, descriptor

    return replace_part(SingleQueueDescriptorChanger)


add(
    "descriptor-format-name-without-computer",
    "MQDMPR-3.1.7.1.5-119",
    "The FormatName of an OpenQueueDescriptor does not contain the computer.",
    _change_single_queue_descriptor(_make_attribute_setter(FormatName=lambda one: one.FormatName.rpartition("\\")[2])),
)
add(
    "open-queue-descriptor-of-single-element-name-marked-multiple",
    "MQDMPR-3.1.7.1.5-120",
    "The attribute Multiple of a single queue that is opened for sending is True.",
    _change_single_queue_descriptor(_make_attribute_setter(Multiple=True)),
)

# -- outgoing queues --------------------------------------------------------------------------------------------------


def _change_outgoing_queue(change: Callable[[OutgoingQueue], None]) -> Install:
    """Build a fault that changes each new outgoing queue."""

    class NewOutgoingQueueChanger(DestinationResolving):
        def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
            known = text.lower() in self.qm.adm.OutgoingQueues
            queue = super().open_outgoing_queue(text, now)
            if not known:
                change(queue)
            return queue

    return replace_part(NewOutgoingQueueChanger)


for _name, _rule, _says, _changed in (
    (
        "identifier-zero",
        "MQDMPR-3.1.7.1.5-80",
        "The Identifier of a new outgoing queue is zero.",
        _make_attribute_setter(Identifier=NULL_GUID),
    ),
    (
        "label-empty",
        "MQDMPR-3.1.7.1.5-81",
        "A new outgoing queue has an empty Label.",
        _make_attribute_setter(Label=""),
    ),
    (
        "destination-name-without-kind",
        "MQDMPR-3.1.7.1.5-82",
        "The DestinationFormatName of a new outgoing queue does not begin with the kind of the format name.",
        _make_attribute_setter(DestinationFormatName=lambda one: one.DestinationFormatName.partition("=")[2]),
    ),
    (
        "next-hops-not-empty",
        "MQDMPR-3.1.7.1.5-83",
        "A new outgoing queue has an address in NextHops.",
        lambda one: one.NextHops.append("IP=0.0.0.0"),
    ),
    (
        "state-waiting",
        "MQDMPR-3.1.7.1.5-84",
        "A new outgoing queue has the State Waiting.",
        _make_attribute_setter(State=OutgoingQueueState.WAITING),
    ),
    (
        "not-locked-when-hardened",
        "MQDMPR-3.1.7.1.5-97",
        "A new outgoing queue has the State Inactive in hardened security mode.",
        _make_attribute_setter(State=OutgoingQueueState.INACTIVE),
    ),
    (
        "base-priority-0",
        "MQDMPR-3.1.7.1.5-92",
        "A new outgoing queue has BasePriority 0 instead of the value in the directory.",
        _make_attribute_setter(BasePriority=0),
    ),
    (
        "not-multicast",
        "MQDMPR-3.1.7.1.5-99",
        "The attribute Multicast of a new outgoing queue for a multicast address is False.",
        _make_attribute_setter(Multicast=False),
    ),
):
    add(f"outgoing-queue-{_name}", _rule, _says, _change_outgoing_queue(_changed))


@fault("outgoing-queue-created-at-first-send", breaks="MQDMPR-3.1.7.1.5-79")
class OutgoingQueueCreatedAtFirstSend(QueueOpening):
    """The queue manager creates an outgoing queue only when a message is sent, not when the queue is opened."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        before = set(self.qm.adm.OutgoingQueues)
        opened = super().open_queue(format_name, required_access, shared_mode, now)
        for name in set(self.qm.adm.OutgoingQueues) - before:
            del self.qm.adm.OutgoingQueues[name]
        return opened


# -- two readers -------------------------------------------------------------------------------------------------------


@fault("open-queue-checks-last-opening-only", breaks=("MQDMPR-3.1.7.1.5-103", "MQDMPR-3.1.7.1.5-106"))
class OpenQueueChecksLastOpeningOnly(QueueOpening):
    """Only the last of several readers who open a queue excludes other readers."""

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        openings = queue.OpenQueueDescriptorCollection
        queue.OpenQueueDescriptorCollection = dict(list(openings.items())[-1:])
        try:
            return bool(super().may_share_queue(queue, required_access, shared_mode))
        finally:
            queue.OpenQueueDescriptorCollection = openings


@fault("close-of-descriptor-removes-equal-descriptors-of-queue", breaks="MQDMPR-3.1.7.1.5-123")
class CloseOfDescriptorRemovesEqualDescriptorsOfQueue(QueueOpening):
    """When a descriptor is closed, the queue manager removes it from its queue, together with every descriptor that has
    the same access and share modes.
    """

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        super().close_queue(queue_desc)
        if queue_desc.QueueReference is None:
            return
        openings = queue_desc.QueueReference.OpenQueueDescriptorCollection
        for handle, one in list(openings.items()):
            if (one.AccessType, one.ShareMode) == (queue_desc.AccessType, queue_desc.ShareMode):
                del openings[handle]


@fault("queue-manager-multiple-false-in-descriptor-of-distribution-list", breaks="MQDMPR-3.1.7.1.5-18", blind=True)
class QueueManagerMultipleFalseInDescriptorOfDistributionList(QueueOpening):
    """Multiple of the descriptor for a distribution list with several queues is False."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, made = super().open_queue(format_name, required_access, shared_mode, now)
        if made is not None and format_name.upper().startswith("DL="):
            made.Multiple = False
        return status, made
