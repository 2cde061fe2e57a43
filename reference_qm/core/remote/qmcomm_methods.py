from __future__ import annotations

from collections.abc import Set

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.queue_opening import OPEN_DESCRIPTORS_LIMIT, OpenQueueResult
from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.core.remote.model import RemoteQueueOpenContextHandle
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.rpc.authentication import AuthLevel
from reference_qm.security import QueueAccess, is_access_granted
from reference_qm.security.sid import ANONYMOUS_SID, AUTHENTICATED_USERS_SID, EVERYONE_SID, Sid
from reference_qm.surface.clock import Now

QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS: dict[int, QueueAccessType] = {
    DesiredAccess.MQ_RECEIVE_ACCESS: QueueAccessType.RECEIVE,
    DesiredAccess.MQ_PEEK_ACCESS: QueueAccessType.PEEK,
}
QUEUE_SHARE_MODE_BY_WIRE_VALUE: dict[int, QueueShareMode] = {
    ShareMode.MQ_DENY_NONE: QueueShareMode.DENY_NONE,
    ShareMode.MQ_DENY_RECEIVE_SHARE: QueueShareMode.DENY_RECEIVE,
}
CURSORS_PER_HANDLE_LIMIT = 1_024
"""The maximum number of cursors per handle. The limit prevents a client with thousands of handles from opening
millions of cursors.
"""
ANONYMOUS_SIDS = frozenset({EVERYONE_SID, ANONYMOUS_SID})
"""The SIDs of a client without a security context."""


class QmcommMethods(QueueManagerPart):
    """Implements the methods of qmcomm that prepare remote reading.

    Spec: MS-MQMP 3.1.4.2 to 3.1.4.4, 3.1.4.24, 3.1.7.2.

    The documents specify different statuses for a sharing violation. This class returns STATUS_SHARING_VIOLATION, as in
    MS-MQMP, and not MQ_ERROR_SHARING_VIOLATION, as in MS-MQDMPR. pdwContext, dwpQueue and phQueue all contain the
    handle of the descriptor, as on every Windows release since XP (<28>).
    """

    __slots__ = ()

    def r_qm_open_remote_queue(self, call: Call, now: Now) -> None:
        """Open a queue for a remote reader. Spec: MS-MQMP 3.1.4.2."""
        status, descriptor = self.open_remote_queue(call, now)
        if descriptor is None:
            status = self.convert_status_of_failed_open(status)
            self.qm.remote.carry_out_outputs(
                call.respond(Return=status, pphContext=None, pdwContext=0, dwpQueue=0, phQueue=0)
            )
            return
        descriptor.RemoteReadState = RemoteReadState.OPENED
        context = RemoteQueueOpenContextHandle(descriptor)
        self.qm.remote.RemoteQueueOpenContextHandleTable[context] = None
        values = self.get_open_handle_values(descriptor)
        self.qm.remote.carry_out_outputs(
            call.respond(Return=Status.MQ_OK, pphContext=call.make_context_handle(context), **values)
        )

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        """Check the client's arguments, and raise the event Open Queue. Spec: MS-MQMP 3.1.4.2.

        dwCallingProcessID, pLicGuid and dwMQS are ignored (notes <15> to <25>). If the maximum number of
        descriptors is open, the status is MQ_ERROR_INSUFFICIENT_RESOURCES.
        """
        given = call.arguments
        if (
            given["dwDesiredAccess"] not in QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS
            or given["dwShareMode"] not in QUEUE_SHARE_MODE_BY_WIRE_VALUE
            or given["pQueueFormat"] is None
        ):
            return Status.MQ_ERROR_INVALID_PARAMETER, None
        format_name = self.qm.queue_formats.build_format_name(given["pQueueFormat"])
        if format_name is None:
            return Status.MQ_ERROR_ILLEGAL_FORMATNAME, None
        if len(self.qm.descriptors) >= OPEN_DESCRIPTORS_LIMIT:
            return Status.MQ_ERROR_INSUFFICIENT_RESOURCES, None
        access = QUEUE_ACCESS_TYPE_BY_DESIRED_ACCESS[given["dwDesiredAccess"]]
        status, descriptor = self.qm.queue_opening.open_queue(
            format_name, access, QUEUE_SHARE_MODE_BY_WIRE_VALUE[given["dwShareMode"]], now
        )
        if descriptor is None or descriptor.QueueReference is None:
            return status, None
        queue = descriptor.QueueReference
        refused = Status.MQ_ERROR_QUEUE_NOT_FOUND if isinstance(queue, OutgoingQueue) else Status.MQ_OK
        refused = refused or self.check_rights_of_reader(queue, access, self.find_sids_of_reader(call))
        if refused:
            self.qm.queue_opening.close_queue(descriptor)
            return refused, None
        return Status.MQ_OK, descriptor

    def check_rights_of_reader(self, queue: Queue, access: QueueAccessType, reader: Set[Sid]) -> Status:
        """Return MQ_OK if a client has the right to read from a queue, otherwise an error status.

        Spec: MS-MQMP 2.1, MS-MQMQ 2.2.24, MS-DTYP 2.5.3.2.
        """
        wanted = QueueAccess.MQSEC_PEEK_MESSAGE
        if access is QueueAccessType.RECEIVE:
            is_journal = queue.Pathname.lower().endswith(";journal")
            wanted = QueueAccess.MQSEC_RECEIVE_JOURNAL_MESSAGE if is_journal else QueueAccess.MQSEC_RECEIVE_MESSAGE
        granted = is_access_granted(self.qm.security_lookup.find_queue_security(queue), reader, wanted)
        return Status.MQ_OK if granted else Status.MQ_ERROR_ACCESS_DENIED

    def find_sids_of_reader(self, call: Call) -> Set[Sid]:
        """Return the SIDs of the user who made a call. Spec: MS-MQMP 2.1."""
        if call.level is AuthLevel.NONE:
            return ANONYMOUS_SIDS
        name = call.identity.rpartition("\\")[2].lower()
        for account in self.qm.config.security.accounts:
            if account.name.lower() == name:
                return {EVERYONE_SID, AUTHENTICATED_USERS_SID, account.SecurityIdentifier, *account.groups}
        return {EVERYONE_SID, AUTHENTICATED_USERS_SID}

    def convert_status_of_failed_open(self, status: Status) -> Status:
        """Return the status that a method of qmcomm returns to its client after the event Open Queue failed with the
        given status.

        Spec: MS-MQMP 3.1.4.2.
        """
        return Status.STATUS_SHARING_VIOLATION if status is Status.MQ_ERROR_SHARING_VIOLATION else status

    def get_open_handle_values(self, descriptor: OpenQueueDescriptor) -> dict[str, int]:
        """Return the u32 values by which a client identifies an OpenQueueDescriptor. Spec: MS-MQMP 3.1.4.2."""
        return dict.fromkeys(("pdwContext", "dwpQueue", "phQueue"), descriptor.Handle)

    def r_qm_close_remote_queue_context(self, call: Call, now: Now) -> None:
        """Close a descriptor that R_QMOpenRemoteQueue opened. Spec: MS-MQMP 3.1.4.3."""
        if call.handle is not None:
            self.close_open_remote_context(call.handle.state)
        self.qm.remote.carry_out_outputs(call.respond(pphContext=None))

    def close_open_remote_context(self, context: RemoteQueueOpenContextHandle) -> None:
        """Remove the context handle of a client, and close the queue descriptor of this handle. Do not close a
        descriptor that RemoteQMOpenQueue has taken over.

        Spec: MS-MQMP 3.1.4.3.
        """
        if context not in self.qm.remote.RemoteQueueOpenContextHandleTable:
            return
        del self.qm.remote.RemoteQueueOpenContextHandleTable[context]
        descriptor = context.OpenQueueDescriptorReference
        if descriptor.RemoteReadState is RemoteReadState.OPENED:
            self.qm.queue_opening.close_queue(descriptor)

    def run_down_open_remote(self, context: RemoteQueueOpenContextHandle) -> None:
        """Close a descriptor whose client has disconnected. Spec: MS-MQMP 3.1.7.2."""
        self.close_open_remote_context(context)

    def r_qm_create_remote_cursor(self, call: Call, now: Now) -> None:
        """Create a cursor. Spec: MS-MQMP 3.1.4.4."""
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        status, handle = Status.MQ_ERROR_INVALID_HANDLE, 0
        if descriptor is not None and len(descriptor.CursorCollection) >= CURSORS_PER_HANDLE_LIMIT:
            status = Status.MQ_ERROR_INSUFFICIENT_RESOURCES
        elif descriptor is not None and (cursor := self.qm.queue_cursors.open(descriptor)) is not None:
            status, handle = Status.MQ_OK, cursor.Handle
        self.qm.remote.carry_out_outputs(call.respond(Return=status, phCursor=handle))

    def r_qm_get_rtqm_server_port(self, call: Call, now: Now) -> None:
        """Answer a call with the port of an interface. Spec: MS-MQMP 3.1.4.24."""
        self.qm.remote.carry_out_outputs(
            call.respond(Return=self.qm.remote_queue_opening.get_server_port(call.arguments["fIP"]))
        )
