"""The procedures of remote reading: part of the table in ``reference_qm.core.protocol.procedures``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from reference_qm.core.protocol.fate_procedures import FateProcedures
from reference_qm.core.queueing.opening import Opened
from reference_qm.core.remote import ending, opening, properties, qmcomm, reading, serving, starting
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import OpenQueueEntry, RemoteQueueOpenContextHandle, RemoteReadEntry
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction, QueueAccessType
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
OnCall = Callable[[QM, Call, Now], None]
OnDesc = Callable[[QM, starting.Desc], Status]
OnRead = Callable[[QM, RemoteReadEntry, OpenQueueDescriptor, Cursor | None, Now], None]


@dataclass(slots=True)
class RemoteProcedures(FateProcedures):
    """One field for each method, and for each step of it that bears a rule."""

    carry_out_rpc: Callable[[QM, Now], None] = serving.carry_out

    # MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11 Reading
    remote_qm_start_receive: OnCall = starting.remote_qm_start_receive
    remote_qm_start_receive2: OnCall = starting.remote_qm_start_receive2
    remote_qm_start_receive_by_lookup_id: OnCall = starting.remote_qm_start_receive_by_lookup_id
    check_description: OnDesc = starting.check_description
    check_dw_queue: OnDesc = starting.check_dw_queue
    check_request_id: OnDesc = starting.check_request_id
    check_peek_next_cursor: OnDesc = starting.check_peek_next_cursor
    check_start_action: OnDesc = starting.check_start_action
    check_lookup_queue: OnDesc = starting.check_lookup_queue
    check_lookup_timeout: OnDesc = starting.check_lookup_timeout
    check_lookup_cursor: OnDesc = starting.check_lookup_cursor
    check_lookup_action: OnDesc = starting.check_lookup_action
    check_open_queue: OnDesc = starting.check_open_queue
    check_read_access: Callable[[QM, OpenQueueDescriptor, starting.Desc], Status] = starting.check_read_access
    find_remote_descriptor: Callable[[QM, int], OpenQueueDescriptor | None] = starting.find_remote_descriptor
    find_remote_cursor: Callable[[QM, OpenQueueDescriptor, int], Cursor | None] = starting.find_remote_cursor
    create_remote_read_entry: Callable[[QM, Call, starting.Desc], RemoteReadEntry] = starting.create_remote_read_entry
    remote_receive: OnRead = reading.remote_receive
    remote_peek: OnRead = reading.remote_peek
    remote_peek_next: OnRead = reading.remote_peek_next
    remote_read_by_lookup: Callable[[QM, RemoteReadEntry, OpenQueueDescriptor, int], None] = (
        reading.remote_read_by_lookup
    )
    get_lookup_operation: Callable[[QM, ReadAction, int], MessageSeekAction] = reading.get_lookup_operation
    complete_remote_read: Callable[[QM, RemoteReadEntry, Status, MessagePosition | None], None] = (
        reading.complete_remote_read
    )
    remove_remote_read_entry: Callable[[QM, RemoteReadEntry], None] = reading.remove_remote_read_entry
    answer_read: Callable[..., None] = reading.answer_read
    describe_remote_message: Callable[[QM, MessagePosition], dict[str, Any]] = reading.describe_remote_message
    serialize_remote_message: Callable[[QM, MessagePosition], bytes] = reading.serialize_remote_message
    get_sequential_id: Callable[[QM, MessagePosition], int] = reading.get_sequential_id

    # MS-MQQP 3.1.4.2, 3.1.4.6, 3.1.6.2 Ending and cancelling reads
    remote_qm_end_receive: OnCall = ending.remote_qm_end_receive
    is_delivered: Callable[[QM, int], bool] = ending.is_delivered
    end_remote_read: Callable[[QM, RemoteReadEntry, bool, Callable[[Status], None]], None] = ending.end_remote_read
    run_down_remote_read: Callable[[QM, RemoteReadEntry], None] = ending.run_down_remote_read
    get_rundown_ack: Callable[[QM], bool] = ending.get_rundown_ack
    remote_qm_cancel_receive: OnCall = ending.remote_qm_cancel_receive
    check_cancel_queue: Callable[[QM, int, int], Status] = ending.check_cancel_queue
    find_read_to_cancel: Callable[[QM, int, int], tuple[Status, RemoteReadEntry | None]] = ending.find_read_to_cancel
    cancel_remote_read: Callable[[QM, RemoteReadEntry, Status], Status] = ending.cancel_remote_read
    cancel_call: Callable[[QM, Call], None] = ending.cancel_call
    orphan_call: Callable[[QM, Call], None] = ending.orphan_call

    # MS-MQQP 3.1.4.3 to 3.1.4.5, 3.1.4.7 to 3.1.4.9, 3.1.6.1 Opening, closing, purging, ports, version
    remote_qm_open_queue: OnCall = opening.remote_qm_open_queue
    check_open_values: Callable[[QM, int, int], Status] = opening.check_open_values
    check_open_values_equal: Callable[[QM, int, int], Status] = opening.check_open_values_equal
    take_over_descriptor: Callable[[QM, OpenQueueEntry], None] = opening.take_over_descriptor
    remote_qm_close_queue: OnCall = opening.remote_qm_close_queue
    close_open_queue_entry: Callable[[QM, OpenQueueEntry], None] = opening.close_open_queue_entry
    cancel_remote_reads: Callable[[QM, OpenQueueEntry], None] = opening.cancel_remote_reads
    run_down_session: Callable[[QM, OpenQueueEntry], None] = opening.run_down_session
    remote_qm_close_cursor: OnCall = opening.remote_qm_close_cursor
    remote_qm_purge_queue: OnCall = opening.remote_qm_purge_queue
    purge_remote_queue: Callable[[QM, Call, Queue], None] = opening.purge_remote_queue
    remote_qm_get_qmqm_server_port: OnCall = opening.remote_qm_get_qmqm_server_port
    get_server_port: Callable[[QM, int], int] = opening.get_server_port
    remote_qm_get_version: OnCall = opening.remote_qm_get_version
    get_remote_version: Callable[[QM], tuple[int, int, int]] = opening.get_remote_version

    # MS-MQMP 3.1.4.2 to 3.1.4.4, 3.1.4.9, 3.1.4.24, 3.1.7.2 Handles to read with, properties
    r_qm_open_remote_queue: OnCall = qmcomm.r_qm_open_remote_queue
    open_remote_queue: Callable[[QM, dict[str, Any], Now], Opened] = qmcomm.open_remote_queue
    check_reader: Callable[[QM, Queue, QueueAccessType], Status] = qmcomm.check_reader
    get_open_failure: Callable[[QM, Status], Status] = qmcomm.get_open_failure
    get_open_values: Callable[[QM, OpenQueueDescriptor], dict[str, int]] = qmcomm.get_open_values
    r_qm_close_remote_queue_context: OnCall = qmcomm.r_qm_close_remote_queue_context
    close_open_context: Callable[[QM, RemoteQueueOpenContextHandle], None] = qmcomm.close_open_context
    run_down_open_remote: Callable[[QM, RemoteQueueOpenContextHandle], None] = qmcomm.run_down_open_remote
    r_qm_create_remote_cursor: OnCall = qmcomm.r_qm_create_remote_cursor
    r_qm_get_object_properties: OnCall = properties.r_qm_get_object_properties
    find_described_queue: Callable[[QM, properties.ObjectFormat], Queue | None] = properties.find_described_queue
    check_property_type: Callable[[QM, int, int], bool] = properties.check_property_type
    get_queue_property: Callable[[QM, Queue, int], properties.Propvariant] = properties.get_queue_property
    r_qm_get_rtqm_server_port: OnCall = qmcomm.r_qm_get_rtqm_server_port
