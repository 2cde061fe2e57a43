"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue: attributes of openings and of outgoing queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip_during
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now


def _set(**values: Any) -> Callable[[Any], None]:
    def change(element: Any) -> None:
        for name, value in values.items():
            setattr(element, name, value(element) if callable(value) else value)

    return change


# -- several queues ---------------------------------------------------------------------------------------------------


def _several(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Change the opening of several queues."""

    class Several(QueueOpening):
        def _open_several(
            self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
        ) -> Opened:
            status, descriptor = super()._open_several(name, required_access, shared_mode, now)
            if descriptor is not None:
                change(descriptor)
            return status, descriptor

    return replace_part(Several)


def _first_queue(descriptor: OpenQueueDescriptor) -> Queue | None:
    return descriptor.OpenQueueDescriptorCollection[0].QueueReference


def _first_name(descriptor: OpenQueueDescriptor) -> str:
    return descriptor.OpenQueueDescriptorCollection[0].FormatName


for _name, _rules, _says, _change in (
    ("access", "MQDMPR-3.1.7.1.5-15", "AccessType is ReceiveAccess.", _set(AccessType=QueueAccessType.RECEIVE)),
    ("share", "MQDMPR-3.1.7.1.5-16", "ShareMode is DenyReceive.", _set(ShareMode=QueueShareMode.DENY_RECEIVE)),
    ("name", "MQDMPR-3.1.7.1.5-17", "FormatName is that of the first.", _set(FormatName=_first_name)),
    (
        "semicolons",
        ("MQDMPR-3.1.7.1.5-17", "MQDMPR-3.1.7.3.8-23"),
        "The names in FormatName have semicolons between them.",
        _set(FormatName=lambda one: one.FormatName.replace(",", ";")),
    ),
    ("multiple", "MQDMPR-3.1.7.1.5-18", "Multiple is false.", _set(Multiple=False)),
    ("queue", "MQDMPR-3.1.7.1.5-19", "QueueReference is the first queue.", _set(QueueReference=_first_queue)),
    ("state", "MQDMPR-3.1.7.1.5-20", "RemoteReadState is Opened.", _set(RemoteReadState=RemoteReadState.OPENED)),
    (
        "collection",
        "MQDMPR-3.1.7.1.5-32",
        "The openings of each are not with that of all.",
        lambda one: one.OpenQueueDescriptorCollection.clear(),
    ),
):
    add(f"open-several-{_name}", _rules, f"Of the opening of several queues {_says}", _several(_change))


@fault("open-several-not-kept", breaks="MQDMPR-3.1.7.1.5-14")
class SeveralNotKept(QueueOpening):
    """Several queues are opened each by itself, and there is nothing for all of them."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        status, descriptor = super()._open_several(name, required_access, shared_mode, now)
        if descriptor is not None:
            del self.qm.descriptors[descriptor.Handle]
        return status, descriptor


@fault("open-several-fails-when-done", breaks="MQDMPR-3.1.7.1.5-33")
class SeveralFailsWhenDone(QueueOpening):
    """To open more than two queues returns an error."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        opened = super()._open_several(name, required_access, shared_mode, now)
        return opened if len(name.Elements) < 3 else (Status.MQ_ERROR, None)


add(
    "open-several-left-open",
    "MQDMPR-3.1.7.1.5-29",
    "Those of several queues that could be opened stay open when another could not.",
    skip_during(QueueOpening._open_several, QueueOpening.close_queue),
)

# -- one queue --------------------------------------------------------------------------------------------------------


def _one(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Change the opening of one queue."""

    class One(QueueOpening):
        def open_found_queue(
            self,
            queue: Queue,
            format_name: str,
            required_access: QueueAccessType,
            shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
        ) -> Opened:
            status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
            if descriptor is not None:
                change(descriptor)
            return status, descriptor

    return replace_part(One)


add(
    "open-name-is-path",
    "MQDMPR-3.1.7.1.5-119",
    "FormatName of an opening is the name of the queue without its computer.",
    _one(_set(FormatName=lambda one: one.FormatName.rpartition("\\")[2])),
)
add(
    "open-one-is-multiple",
    "MQDMPR-3.1.7.1.5-120",
    "Multiple is true of the opening of one queue.",
    _one(_set(Multiple=True)),
)

# -- outgoing queues --------------------------------------------------------------------------------------------------


def _outgoing(change: Callable[[OutgoingQueue], None]) -> Install:
    """Change a new outgoing queue."""

    class Outgoing(Destinations):
        def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
            known = text.lower() in self.qm.adm.OutgoingQueues
            queue = super().open_outgoing(text, now)
            if not known:
                change(queue)
            return queue

    return replace_part(Outgoing)


for _name, _rule, _says, _changed in (
    ("identifier", "MQDMPR-3.1.7.1.5-80", "Identifier is zero.", _set(Identifier=NULL_GUID)),
    ("label", "MQDMPR-3.1.7.1.5-81", "Label is empty.", _set(Label="")),
    (
        "destination",
        "MQDMPR-3.1.7.1.5-82",
        "DestinationFormatName is without its kind.",
        _set(DestinationFormatName=lambda one: one.DestinationFormatName.partition("=")[2]),
    ),
    ("hops", "MQDMPR-3.1.7.1.5-83", "NextHops has an address already.", lambda one: one.NextHops.append("IP=0.0.0.0")),
    ("state", "MQDMPR-3.1.7.1.5-84", "State is Waiting.", _set(State=OutgoingQueueState.WAITING)),
    ("locked", "MQDMPR-3.1.7.1.5-97", "State is Inactive in any mode.", _set(State=OutgoingQueueState.INACTIVE)),
    ("priority", "MQDMPR-3.1.7.1.5-92", "BasePriority is 0, whatever the directory has.", _set(BasePriority=0)),
    ("multicast", "MQDMPR-3.1.7.1.5-99", "Multicast is false.", _set(Multicast=False)),
):
    add(f"open-outgoing-{_name}", _rule, f"Of a new outgoing queue {_says}", _outgoing(_changed))


@fault("open-outgoing-when-sent-to", breaks="MQDMPR-3.1.7.1.5-79")
class OutgoingWhenSentTo(QueueOpening):
    """An outgoing queue is made when something is sent, not when it is opened."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        before = set(self.qm.adm.OutgoingQueues)
        opened = super().open_queue(format_name, required_access, shared_mode, now)
        for name in set(self.qm.adm.OutgoingQueues) - before:
            del self.qm.adm.OutgoingQueues[name]
        return opened
