from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.model import OpenQueueEntry
from reference_qm.core.remote.remote_read_ending import CANCELED_STATUS
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, RemoteReadState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import Endpoint


class RemoteQueueOpening(QueueManagerPart):
    """Opens, closes and purges queues for remote readers, and answers the calls that prepare remote reading.

    Spec: MS-MQQP 3.1.4.3 to 3.1.4.5, 3.1.4.7 to 3.1.4.9.
    """

    __slots__ = ()

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        """Open a queue for remote reading. Spec: MS-MQQP 3.1.4.3.

        dwMQS is ignored (note <12>). The document does not specify the result for an invalid handle: here the
        handle is accepted, and the first read is refused. pLicGuid cannot be NULL, because it is a [ref] pointer.
        """
        given = call.arguments
        status = self.check_open_handle_values(given["pQueue"], given["dwpContext"])
        if not status:
            status = self.check_open_handle_values_equal(given["pQueue"], given["dwpContext"])
        if not status:
            status = self.check_open_handle(given["hQueue"])
        if status:
            self.qm.remote.carry_out_outputs(call.respond(Return=status, phContext=None))
            return
        handle = self.choose_descriptor_handle(given["hQueue"], given["dwpContext"])
        entry = OpenQueueEntry(OpenQueueDescriptorHandle=handle, ClientId=given["pLicGuid"])
        self.qm.remote.OpenQueueEntryCollection.add(entry)
        self.take_over_queue_descriptor(entry)
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phContext=call.make_context_handle(entry)))

    def check_open_handle_values(self, p_queue: int, dwp_context: int) -> Status:
        """Return an error status if pQueue or dwpContext is 0, otherwise MQ_OK. Spec: MS-MQQP 3.1.4.3."""
        return Status.MQ_OK if p_queue and dwp_context else Status.MQ_ERROR_INVALID_PARAMETER

    def check_open_handle_values_equal(self, p_queue: int, dwp_context: int) -> Status:
        """Return an error status if pQueue differs from dwpContext, otherwise MQ_OK. Spec: MS-MQQP 3.1.4.3, note
        <14>.
        """
        return Status.MQ_OK if p_queue == dwp_context else Status.MQ_ERROR_INVALID_PARAMETER

    def check_open_handle(self, h_queue: int) -> Status:
        """Return MQ_OK for any hQueue, because hQueue is ignored. Spec: MS-MQQP 3.1.4.3, note <13>."""
        return Status.MQ_OK

    def choose_descriptor_handle(self, h_queue: int, dwp_context: int) -> int:
        """Return the handle that identifies the descriptor in later calls. Spec: MS-MQQP 3.1.4.3, note <15>."""
        return dwp_context

    def take_over_queue_descriptor(self, entry: OpenQueueEntry) -> None:
        """Set the RemoteReadState of a queue descriptor to ReadyForRead, because RemoteQMOpenQueue now owns the
        descriptor. Spec: MS-MQDMPR 3.1.1.16.

        The document does not say when RemoteReadState leaves Opened. Clients call R_QMCloseRemoteQueueContext when
        the queue is open (MS-MQMP 4.2). In the state Opened, this call would close the queue.
        """
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ

    def remote_qm_close_queue(self, call: Call, now: Now) -> None:
        """Close a queue. Spec: MS-MQQP 3.1.4.4."""
        if call.handle is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE, pphContext=None))
            return
        self.close_open_queue_entry(call.handle.state)
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, pphContext=None))

    def close_open_queue_entry(self, entry: OpenQueueEntry) -> None:
        """Remove the entry of an open queue, cancel the reads of the queue, and close the queue.

        Spec: MS-MQQP 3.1.4.4, 3.1.6.1.
        """
        self.qm.remote.OpenQueueEntryCollection.remove(entry)
        self.cancel_remote_reads(entry)
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            self.qm.queue_opening.close_queue(descriptor)

    def cancel_remote_reads(self, entry: OpenQueueEntry) -> None:
        """Cancel every read of a queue that is being closed. Spec: MS-MQQP 3.1.4.4."""
        for read in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
            self.qm.remote_read_ending.cancel_remote_read(read, CANCELED_STATUS)

    def run_down_session(self, entry: OpenQueueEntry) -> None:
        """Close a queue whose client has disconnected. Spec: MS-MQQP 3.1.6.1."""
        self.close_open_queue_entry(entry)

    def remote_qm_close_cursor(self, call: Call, now: Now) -> None:
        """Close a cursor. Spec: MS-MQQP 3.1.4.5."""
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        cursor = None
        if descriptor is not None:
            cursor = self.qm.remote_read_starting.find_remote_cursor(descriptor, call.arguments["hCursor"])
        if cursor is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_INVALID_HANDLE))
            return
        self.qm.queue_opening.close_cursor(cursor)
        self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))

    def remote_qm_purge_queue(self, call: Call, now: Now) -> None:
        """Delete every message of a queue. Spec: MS-MQQP 3.1.4.7.

        Errors are returned and not thrown, as note <18> permits. A handle that was opened to peek cannot be used
        for a purge (MS-MQMP 3.1.4.2).
        """
        if not self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(call.arguments["hQueue"]):
            self.refuse_purge(call, Status.MQ_ERROR_INVALID_HANDLE)
            return
        descriptor = self.qm.remote_read_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is None or descriptor.QueueReference is None:
            self.refuse_purge(call, Status.MQ_ERROR_INVALID_HANDLE)
        elif descriptor.AccessType is not QueueAccessType.RECEIVE:
            self.refuse_purge(call, Status.MQ_ERROR_ACCESS_DENIED)
        else:
            self.purge_remote_queue(call, descriptor.QueueReference)

    def refuse_purge(self, call: Call, status: Status) -> None:
        """Answer a refused purge with an error as its return value. Other implementations answer with an RPC fault.

        Spec: MS-MQQP 3.1.4.7, note <18>.
        """
        self.qm.remote.carry_out_outputs(call.respond(Return=status))

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        """Raise the event Purge Queue, and answer the call when the purge is on disk. Spec: MS-MQQP 3.1.4.7,
        MS-MQDMPR 3.1.7.1.7.
        """

        def answer_purge(number: int) -> Result:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK))
            return Result()

        def refuse_unsaved() -> None:
            self.refuse_purge(call, Status.MQ_ERROR_MESSAGE_STORAGE_FAILED)

        self.qm.queue_lifecycle.purge(queue, None, answer_purge, refuse_unsaved)

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        """Answer a call with the port of an interface. Spec: MS-MQQP 3.1.4.8."""
        self.qm.remote.carry_out_outputs(call.respond(Return=self.get_server_port(call.arguments["dwPortType"])))

    def get_server_port(self, port_type: int) -> int:
        """Return the port of an interface, or 0 if the server does not offer the interface.

        Spec: MS-MQQP 3.1.4.8, MS-MQMP 3.1.4.24.

        SPX is not supported (note <19>).
        """
        if self.qm.rpc_listening is None:
            return 0
        ports: dict[int, Endpoint] = {
            PortType.IP_HANDSHAKE: self.qm.rpc_listening.handshake,
            PortType.IP_READ: self.qm.rpc_listening.read,
        }
        return ports[port_type].port if port_type in ports else 0

    def remote_qm_get_version(self, call: Call, now: Now) -> None:
        """Answer a call with the server's version. Spec: MS-MQQP 3.1.4.9."""
        major, minor, build = self.get_remote_version()
        self.qm.remote.carry_out_outputs(call.respond(pMajor=major, pMinor=minor, pBuildNumber=build))

    def get_remote_version(self) -> tuple[int, int, int]:
        """Return pMajor, pMinor and pBuildNumber. Spec: MS-MQQP 3.1.4.9."""
        return self.qm.config.version_for_remote_readers
