from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reference_qm.core.part import QM, QueueManagerPart
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

ReadDescription = dict[str, Any]
"""A REMOTEREADDESC as it was read from a stub: the fields of MS-MQQP 2.2.2.1 by name."""


class RemoteReadStarting(QueueManagerPart):
    """Checks and starts remote reads. Spec: MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11.

    The documents leave two points open, which this class resolves as follows. A receive with a handle that was opened
    to peek is refused with MQ_ERROR_ACCESS_DENIED, because MS-MQMP 3.1.4.2 forbids it and MS-MQQP has no rule. The
    status for an action that a method does not support is MQ_ERROR_INVALID_PARAMETER.
    """

    __slots__ = ()

    def remote_qm_start_receive(self, call: Call, now: Now) -> None:
        """Handle RemoteQMStartReceive, which reads a message. Spec: MS-MQQP 3.1.4.1."""
        self._start_read(call, call.arguments["lpRemoteReadDesc"], REMOTE_READ_START_CHECKS, now)

    def remote_qm_start_receive2(self, call: Call, now: Now) -> None:
        """Handle RemoteQMStartReceive2, which reads a message and returns its SequentialId. Spec: MS-MQQP 3.1.4.10."""
        self._start_read(call, call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"], REMOTE_READ_START_CHECKS, now)

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        """Read the message with the given LookupIdentifier, or the message before or after that message. Spec:
        MS-MQQP 3.1.4.11.
        """
        self._start_read(
            call, call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"], REMOTE_LOOKUP_READ_START_CHECKS, now
        )

    def _start_read(self, call: Call, desc: ReadDescription, checks: tuple[RemoteReadCheck, ...], now: Now) -> None:
        refuse = partial(self.qm.remote_reads.answer_read, call)
        for check in checks:
            if status := check(self)(desc):
                refuse(status)
                return
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        if descriptor is None:
            refuse(Status.MQ_ERROR_INVALID_PARAMETER)
            return
        cursor = None
        if desc["hCursor"]:
            cursor = self.find_remote_cursor(descriptor, desc["hCursor"])
            if cursor is None:
                refuse(Status.STATUS_INVALID_PARAMETER)
                return
        if status := self.check_read_access(descriptor, desc):
            refuse(status)
            return
        entry = self.create_remote_read_entry(call, desc)
        if entry.Action in READ_STARTER_BY_ACTION:
            READ_STARTER_BY_ACTION[entry.Action](self.qm)(entry, descriptor, cursor, now)
        else:
            self.qm.remote_reads.remote_read_by_lookup(entry, descriptor, call.arguments["LookupId"])

    # -- checks of calls -----------------------------------------------------------------------------------------------

    def check_read_description(self, desc: ReadDescription | None) -> Status:
        """Return an error status if the description is NULL, otherwise MQ_OK. Spec: MS-MQQP 3.1.4.10.

        3.1.4.11 does not specify this check for lpRemoteReadDesc2.pRemoteReadDesc, but a read without a description
        is impossible. The outer pointers are [ref] and cannot be NULL.
        """
        return Status.MQ_ERROR_INVALID_HANDLE if desc is None else Status.MQ_OK

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        """Return an error status if dwQueue is 0 or differs from hRemoteQueue, otherwise MQ_OK. Spec: MS-MQQP
        3.1.4.1.
        """
        return _require_access_right(0 != desc["dwQueue"] == desc["hRemoteQueue"])

    def check_request_id(self, desc: ReadDescription) -> Status:
        """Return an error status if a pending read of the queue has the same dwRequestID, otherwise MQ_OK. Spec:
        MS-MQQP 3.1.4.1, note <10>.
        """
        pending = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        return _require_access_right(all(entry.RequestId != desc["dwRequestID"] for entry in pending))

    def check_peek_next_cursor(self, desc: ReadDescription) -> Status:
        """Return an error status if a request peeks at the next message but names no cursor, otherwise MQ_OK. Spec:
        MS-MQQP 3.1.4.1.
        """
        wrong = desc["hCursor"] == 0 and desc["ulAction"] == ReadAction.MQ_ACTION_PEEK_NEXT
        return Status.STATUS_INVALID_PARAMETER if wrong else Status.MQ_OK

    def check_start_action(self, desc: ReadDescription) -> Status:
        """Return MQ_OK for the three actions that these methods support, otherwise an error status. Spec: MS-MQQP
        3.1.4.1, 3.1.4.10.
        """
        return _require_access_right(desc["ulAction"] in READ_STARTER_BY_ACTION)

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        """Return an error status if hRemoteQueue is 0, otherwise MQ_OK. Spec: MS-MQQP 3.1.4.11."""
        return _require_access_right(desc["hRemoteQueue"] != 0)

    def check_lookup_timeout(self, desc: ReadDescription) -> Status:
        """Return an error status if a read by lookup identifier has a timeout, otherwise MQ_OK. Spec: MS-MQQP
        3.1.4.11.
        """
        return _require_access_right(desc["ulTimeout"] == 0)

    def check_lookup_cursor(self, desc: ReadDescription) -> Status:
        """Return an error status if a read by lookup identifier has a cursor, otherwise MQ_OK. Spec: MS-MQQP
        3.1.4.11.
        """
        return _require_access_right(desc["hCursor"] == 0)

    def check_lookup_action(self, desc: ReadDescription) -> Status:
        """Return MQ_OK for the six actions that read by lookup identifier, otherwise an error status. Spec: MS-MQQP
        3.1.4.11.
        """
        return _require_access_right(desc["ulAction"] in LOOKUP_ACTIONS)

    def check_open_queue(self, desc: ReadDescription) -> Status:
        """Return MQ_OK if a client has opened the queue by RemoteQMOpenQueue, otherwise an error status. Spec:
        MS-MQQP 3.1.4.1, 3.1.4.11.
        """
        return _require_access_right(
            bool(self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(desc["hRemoteQueue"]))
        )

    def check_read_access(self, descriptor: OpenQueueDescriptor, desc: ReadDescription) -> Status:
        """Return an error status if a receive uses a handle that was opened only to peek, otherwise MQ_OK. Spec:
        MS-MQMP 3.1.4.2.
        """
        receives = desc["ulAction"] in RECEIVE_ACTIONS
        if receives and descriptor.AccessType is not QueueAccessType.RECEIVE:
            return Status.MQ_ERROR_ACCESS_DENIED
        return Status.MQ_OK

    # -- queues and cursors --------------------------------------------------------------------------------------------

    def find_remote_descriptor(self, handle: int) -> OpenQueueDescriptor | None:
        """Return the descriptor with the given handle if R_QMOpenRemoteQueue opened it, otherwise None. Descriptors
        of local applications are not returned.

        Spec: MS-MQQP 3.1.4.1. RemoteQMOpenQueue accepts any value as a handle. Therefore the first call that uses the
        handle of an unknown descriptor returns an error status: the status that the document specifies for a missing
        OpenQueueEntry, or the status that the called method specifies for an unknown handle. The descriptor of a
        deleted queue is also returned, because the events that use the descriptor report the deletion.
        """
        descriptor = self.qm.descriptors.get(handle)
        remote = descriptor is not None and descriptor.RemoteReadState is not RemoteReadState.NONE
        return descriptor if remote else None

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        """Return the cursor of an open queue with the given handle, or None. Spec: MS-MQQP 3.1.4.1."""
        return descriptor.CursorCollection.get(handle)

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        """Add the entry of a new read. Spec: MS-MQQP 3.1.4.1, 3.1.1.2."""
        entry = RemoteReadEntry(
            OpenQueueDescriptorHandle=desc["hRemoteQueue"],
            Timeout=desc["ulTimeout"],
            Action=ReadAction(desc["ulAction"]),
            RequestId=desc["dwRequestID"],
            call=call,
        )
        self.qm.remote.RemoteReadEntryCollection.add(entry)
        self.qm.remote.reads[call] = entry
        return entry


RemoteReadCheck = Callable[[RemoteReadStarting], Callable[[ReadDescription], Status]]
RemoteReadStarter = Callable[[RemoteReadEntry, OpenQueueDescriptor, Cursor | None, Now], None]

REMOTE_READ_START_CHECKS: tuple[RemoteReadCheck, ...] = (
    lambda part: part.check_read_description,
    lambda part: part.check_dw_queue,
    lambda part: part.check_request_id,
    lambda part: part.check_peek_next_cursor,
    lambda part: part.check_start_action,
    lambda part: part.check_open_queue,
)
REMOTE_LOOKUP_READ_START_CHECKS: tuple[RemoteReadCheck, ...] = (
    lambda part: part.check_read_description,
    lambda part: part.check_lookup_queue,
    lambda part: part.check_lookup_timeout,
    lambda part: part.check_lookup_cursor,
    lambda part: part.check_lookup_action,
    lambda part: part.check_open_queue,
)
"""The checks for a read by lookup identifier, in the order of the documents."""

READ_STARTER_BY_ACTION: Mapping[ReadAction, Callable[[QM], RemoteReadStarter]] = {
    ReadAction.MQ_ACTION_RECEIVE: lambda qm: qm.remote_reads.remote_receive,
    ReadAction.MQ_ACTION_PEEK_CURRENT: lambda qm: qm.remote_reads.remote_peek,
    ReadAction.MQ_ACTION_PEEK_NEXT: lambda qm: qm.remote_reads.remote_peek_next,
}
"""For each action of RemoteQMStartReceive and RemoteQMStartReceive2: the method that carries out the action."""

LOOKUP_ACTIONS = frozenset(ReadAction) - READ_STARTER_BY_ACTION.keys()


def _require_access_right(right: bool) -> Status:
    return Status.MQ_OK if right else Status.MQ_ERROR_INVALID_PARAMETER
