from __future__ import annotations

from reference_qm.codec import FormatName, parse_format_name
from reference_qm.codec.format_names import (
    ConnectorName,
    MachineName,
    MachineQueuePath,
    MulticastName,
    MultipleElementName,
)
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

SEND_ACCESS, RECEIVE_ACCESS = QueueAccessType.SEND, QueueAccessType.RECEIVE
DENY_NONE, DENY_RECEIVE = QueueShareMode.DENY_NONE, QueueShareMode.DENY_RECEIVE
PEEK_ACCESSES = (QueueAccessType.PEEK, QueueAccessType.PEEK_ADMIN)

OpenQueueResult = tuple[Status, OpenQueueDescriptor | None]
"""The return values of Open Queue: rStatus, and rOpenQueueDescriptor if rStatus is MQ_OK."""


OPEN_DESCRIPTORS_LIMIT = 16_384
"""The maximum number of open descriptors. The same number limits the cursors of a descriptor."""


class QueueOpening(QueueManagerPart):
    """Opens and closes queues, and closes cursors. Spec: MS-MQDMPR 3.1.7.1.2, 3.1.7.1.5, 3.1.7.1.6, 3.1.1.16."""

    __slots__ = ()

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        """Open a queue. If the access is for sending, several queues can be opened. Spec: MS-MQDMPR 3.1.7.1.5.

        A list of format names that expands to a single queue, for example because it repeats one name, counts as the
        name of that queue.
        """
        name = self.qm.queue_names.expand_format_name(format_name)
        if name is None:
            return Status.MQ_ERROR_ILLEGAL_FORMATNAME, None
        if isinstance(name, MultipleElementName):
            return self._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        if parse_format_name(format_name) != name:
            format_name = str(name)
        if not self.admits_access(name, required_access):
            return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
        queue = self.qm.queue_names.find_queue_by_format_name(name)
        if queue is None:
            queue = self.qm.adm.OutgoingQueues.get(str(name).lower()) or self.qm.adm.OutgoingQueues.get(
                format_name.lower()
            )
        if queue is None:
            if required_access is not SEND_ACCESS or self.qm.queue_names.is_queue_on_this_computer(name):
                return Status.MQ_ERROR_QUEUE_NOT_FOUND, None
            queue = self.qm.destination_resolving.open_outgoing_queue(format_name, now)
        return self.open_found_queue(queue, format_name, required_access, shared_mode)

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        """Return whether a format name may be opened with the requested access. Spec: MS-MQDMPR 3.1.7.1.5.

        HTTP and multicast names can only be opened for sending. Names of machine queues cannot be opened for
        sending. MS-MQMQ 2.1.2 also defines direct names for machine queues: these names cannot be opened for
        sending either, nor can the names of journals, which are read-only (2.1.7). A connector name cannot be
        opened, because there is no connector.
        """
        if isinstance(name, MulticastName | ConnectorName) or getattr(name, "Protocol", "") in ("HTTP", "HTTPS"):
            return required_access is SEND_ACCESS
        if isinstance(name, MachineName | MachineQueuePath) or getattr(name, "Journal", False):
            return required_access is not SEND_ACCESS
        return True

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = DENY_NONE,
    ) -> OpenQueueResult:
        """Open a local queue, unless it is already open with a descriptor that does not allow the queue to be shared.
        Spec: MS-MQDMPR 3.1.7.1.5.
        """
        if not self.may_share_queue(queue, required_access, shared_mode):
            return Status.MQ_ERROR_SHARING_VIOLATION, None
        descriptor = self._add_descriptor(queue, format_name, required_access, shared_mode)
        queue.OpenQueueDescriptorCollection[descriptor.Handle] = descriptor
        return Status.MQ_OK, descriptor

    def may_share_queue(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        """Return whether a queue can be opened once more: its open descriptors must permit the requested access, and
        the new descriptor must permit the access of the open ones.

        Spec: MS-MQDMPR 3.1.7.1.5.
        """
        if not queue.OpenQueueDescriptorCollection:
            return True
        opened = {(one.ShareMode, one.AccessType) for one in queue.OpenQueueDescriptorCollection.values()}
        if (DENY_RECEIVE, RECEIVE_ACCESS) in opened:
            return shared_mode is not DENY_RECEIVE and required_access is not RECEIVE_ACCESS
        if any((DENY_RECEIVE, peek) in opened for peek in PEEK_ACCESSES):
            return required_access is not RECEIVE_ACCESS
        return (DENY_NONE, RECEIVE_ACCESS) not in opened or shared_mode is not DENY_RECEIVE

    def close_queue(self, queue_desc: OpenQueueDescriptor) -> None:
        """Close a descriptor and its cursors, and end the reads that wait on the descriptor. Spec: MS-MQDMPR
        3.1.7.1.6.

        This method differs from the document in two points. The document does nothing for a descriptor without a
        QueueReference. However, the descriptor of a multiple-element name has none, and the queues that were opened for
        it must be closed. In the document, a waiting read without a tag also keeps waiting after its descriptor is
        removed.
        """
        self.qm.descriptors.pop(queue_desc.Handle, None)
        for one in queue_desc.OpenQueueDescriptorCollection:
            self.close_queue(one)
        if queue_desc.QueueReference is None:
            return
        for reader in list(queue_desc.WaitingMessageReadOperationCollection):
            if reader.number in self.qm.readers:
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        for cursor in list(queue_desc.CursorCollection.values()):
            self.close_cursor(cursor)
        queue_desc.QueueReference.OpenQueueDescriptorCollection.pop(queue_desc.Handle, None)

    def close_cursor(self, cursor: Cursor) -> None:
        """Close a cursor, and end the read that waits with the cursor. Spec: MS-MQDMPR 3.1.7.1.2.

        The document removes the waiting read without answering it, so that its caller would wait forever. This method
        informs the caller that the read was cancelled.
        """
        descriptor = cursor.OpenQueueDescriptorReference
        for reader in [*descriptor.WaitingMessageReadOperationCollection]:
            if reader.CursorReference is cursor:
                self.qm.waiting_reads.end_wait_without_message(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
        descriptor.CursorCollection.pop(cursor.Handle, None)
        self.qm.queue_cursors.move_cursor_to_start(cursor)

    def _open_queues_of_multiple_element_name(
        self,
        name: MultipleElementName,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode,
        now: Now,
    ) -> OpenQueueResult:
        """Open all queues of a multiple-element name. If one of the queues cannot be opened, open none. Spec:
        MS-MQDMPR 3.1.7.1.5.
        """
        if required_access is not SEND_ACCESS:
            return Status.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, None
        if shared_mode is not DENY_NONE:
            return Status.MQ_ERROR_UNSUPPORTED_ACCESS_MODE, None
        several = self._add_descriptor(None, str(name), SEND_ACCESS, DENY_NONE)
        several.Multiple = True
        for element in name.Elements:
            status, one = self.open_queue(str(element), SEND_ACCESS, DENY_NONE, now)
            if one is None:
                self.close_queue(several)
                return status, None
            several.OpenQueueDescriptorCollection.append(one)
        return Status.MQ_OK, several

    def _add_descriptor(
        self, queue: Queue | None, format_name: str, access: QueueAccessType, share: QueueShareMode
    ) -> OpenQueueDescriptor:
        handle = self.qm.assign_handle()
        descriptor = OpenQueueDescriptor(
            Handle=handle,
            AccessType=access,
            ShareMode=share,
            QueueReference=queue,
            FormatName=format_name,
        )
        self.qm.descriptors[handle] = descriptor
        return descriptor
