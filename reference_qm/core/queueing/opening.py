"""Opening and closing queues. Spec: MS-MQDMPR 3.1.7.1.5, 3.1.7.1.6, 3.1.1.16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.codec import parse_format_name
from reference_qm.codec.format_names import (
    ConnectorName,
    MachineName,
    MachineQueuePath,
    MulticastName,
    MultipleElementName,
)
from reference_qm.core.protocol.destinations import open_outgoing
from reference_qm.core.queueing.names import find_by_format_name, means_this_computer
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status

if TYPE_CHECKING:
    from reference_qm.codec import FormatName
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Queue
    from reference_qm.surface.clock import Now

SEND, RECEIVE = QueueAccessType.SEND, QueueAccessType.RECEIVE
DENY_NONE, DENY_RECEIVE = QueueShareMode.DENY_NONE, QueueShareMode.DENY_RECEIVE
PEEKS = (QueueAccessType.PEEK, QueueAccessType.PEEK_ADMIN)

Opened = tuple[Status, OpenQueueDescriptor | None]
"""rStatus, and rOpenQueueDescriptor if it is MQ_OK."""


def open_queue(
    qm: QueueManager, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
) -> Opened:
    """Open a queue, or several at once to send to them. Spec: MS-MQDMPR 3.1.7.1.5.

    What lists one queue only, such as a name with the same queue twice, is as the name of that queue.
    """
    name = qm.procedures.expand_format_name(qm, format_name)
    if name is None:
        return Status.MQ_ERROR_ILLEGAL_FORMATNAME, None
    if isinstance(name, MultipleElementName):
        return _open_several(qm, name, required_access, shared_mode, now)
    if parse_format_name(format_name) != name:
        format_name = str(name)
    if not qm.procedures.admits_access(qm, name, required_access):
        return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
    queue = find_by_format_name(qm, name)
    if queue is None:
        queue = qm.adm.OutgoingQueues.get(str(name).lower()) or qm.adm.OutgoingQueues.get(format_name.lower())
    if queue is None:
        if required_access is not SEND or means_this_computer(qm, name):
            return Status.MQ_ERROR_QUEUE_NOT_FOUND, None
        queue = open_outgoing(qm, format_name, now)
    return qm.procedures.open_found_queue(qm, queue, format_name, required_access, shared_mode)


def admits_access(qm: QueueManager, name: FormatName, required_access: QueueAccessType) -> bool:
    """May a format name be opened for this? Spec: MS-MQDMPR 3.1.7.1.5.

    HTTP and multicast names are only for sending, those of a machine are not. MS-MQMQ 2.1.2 gives the machine's queues
    direct names too: the same holds for them, and for journals, which are read-only (2.1.7). A connector name cannot be
    served, there being no connector.
    """
    if isinstance(name, MulticastName | ConnectorName) or getattr(name, "Protocol", "") in ("HTTP", "HTTPS"):
        return required_access is SEND
    if isinstance(name, MachineName | MachineQueuePath) or getattr(name, "Journal", False):
        return required_access is not SEND
    return True


def open_found_queue(
    qm: QueueManager,
    queue: Queue,
    format_name: str,
    required_access: QueueAccessType,
    shared_mode: QueueShareMode = DENY_NONE,
) -> Opened:
    """Open a queue that is here, unless those who have it open do not share it. Spec: MS-MQDMPR 3.1.7.1.5."""
    if not qm.procedures.is_shared(qm, queue, required_access, shared_mode):
        return Status.MQ_ERROR_SHARING_VIOLATION, None
    descriptor = _descriptor(qm, queue, format_name, required_access, shared_mode)
    queue.OpenQueueDescriptorCollection[descriptor.Handle] = descriptor
    return Status.MQ_OK, descriptor


def is_shared(qm: QueueManager, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
    """Do those who have a queue open share it, and does who opens it share with them? Spec: MS-MQDMPR 3.1.7.1.5."""
    if not queue.OpenQueueDescriptorCollection:
        return True
    opened = {(one.ShareMode, one.AccessType) for one in queue.OpenQueueDescriptorCollection.values()}
    if (DENY_RECEIVE, RECEIVE) in opened:
        return shared_mode is not DENY_RECEIVE and required_access is not RECEIVE
    if any((DENY_RECEIVE, peek) in opened for peek in PEEKS):
        return required_access is not RECEIVE
    return (DENY_NONE, RECEIVE) not in opened or shared_mode is not DENY_RECEIVE


def close_queue(qm: QueueManager, queue_desc: OpenQueueDescriptor) -> None:
    """Close a descriptor with its cursors, and end what waits through it. Spec: MS-MQDMPR 3.1.7.1.6.

    Printed is to do nothing without a QueueReference before those of a multiple-element name are closed, which has
    none; and to leave reads without a tag waiting, on a descriptor that is nowhere any more.
    """
    qm.descriptors.pop(queue_desc.Handle, None)
    for one in queue_desc.OpenQueueDescriptorCollection:
        qm.procedures.close_queue(qm, one)
    if queue_desc.QueueReference is None:
        return
    for reader in list(queue_desc.WaitingMessageReadOperationCollection):
        if reader.number in qm.readers:
            qm.procedures.stop_reader(qm, reader, Status.MQ_ERROR_OPERATION_CANCELLED)
    for cursor in list(queue_desc.CursorCollection.values()):
        qm.procedures.close_cursor(qm, cursor)
    queue_desc.QueueReference.OpenQueueDescriptorCollection.pop(queue_desc.Handle, None)


def _open_several(
    qm: QueueManager,
    name: MultipleElementName,
    required_access: QueueAccessType,
    shared_mode: QueueShareMode,
    now: Now,
) -> Opened:
    """Open all queues of a multiple-element name, or none. Spec: MS-MQDMPR 3.1.7.1.5."""
    if required_access is not SEND:
        return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
    if shared_mode is not DENY_NONE:
        return Status.MQ_ERROR_UNSUPPORTED_ACCESS_MODE, None
    several = _descriptor(qm, None, str(name), SEND, DENY_NONE)
    several.Multiple = True
    for element in name.Elements:
        status, one = qm.procedures.open_queue(qm, str(element), SEND, DENY_NONE, now)
        if one is None:
            qm.procedures.close_queue(qm, several)
            return status, None
        several.OpenQueueDescriptorCollection.append(one)
    return Status.MQ_OK, several


def _descriptor(
    qm: QueueManager, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
) -> OpenQueueDescriptor:
    handle = qm.next_handle()
    descriptor = OpenQueueDescriptor(
        Handle=handle,
        ContextValue=handle & 0xFFFFFFFF,
        AccessType=access,
        ShareMode=share,
        QueueReference=queue,
        FormatName=format_name,
    )
    qm.descriptors[handle] = descriptor
    return descriptor
