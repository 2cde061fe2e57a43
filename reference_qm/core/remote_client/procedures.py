"""The procedures of remote reading, the client's side: part of the table of protocol.procedures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from reference_qm.core.queueing.procedures import QueueProcedures
from reference_qm.core.remote.enums import Ack
from reference_qm.core.remote_client import binding, cancelling, opening, reading, running
from reference_qm.core.remote_client.model import (
    PendingRemoteReadEntry,
    RemoteOpenQueueEntry,
    RemoteQueue,
    RemoteRead,
    Sequence,
)
from reference_qm.core.remote_client.reading import RemoteMessage, Version
from reference_qm.core.remote_client.running import Binding
from reference_qm.rpc import Interface
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
OnQueue = Callable[[QM, RemoteQueue], Sequence]
OnRead = Callable[[QM, RemoteRead], Sequence]
OnEntry = Callable[[QM, PendingRemoteReadEntry], None]
Values = dict[str, Any]


@dataclass(slots=True)
class RemoteClientProcedures(QueueProcedures):
    """One field for each procedure of MS-MQQP 3.2.4."""

    # 2.2, 3.1.4.1 What a method returned
    is_failure: Callable[[QM, int], bool] = binding.is_failure

    # 3.2.4.1, 3.2.4.9 Opening and closing a queue
    construct_binding: Callable[[QM, Endpoint, Interface], Sequence] = binding.construct_binding
    ask_server_port: Callable[[QM, Binding], Sequence] = binding.ask_server_port
    close_binding: Callable[[QM, Binding], Sequence] = binding.close_binding
    open_queue_at_server: OnQueue = opening.open_queue_at_server
    call_open_queue: OnQueue = opening.call_open_queue
    build_open_queue: Callable[[QM, RemoteQueue], Values] = opening.build_open_queue
    add_remote_open_queue: Callable[[QM, RemoteQueue, UUID | None], None] = opening.add_remote_open_queue
    on_remote_call_timer: Callable[[QM, int, Now], None] = running.on_remote_call_timer
    close_queue_at_server: OnQueue = opening.close_queue_at_server
    find_remote_open_queue: Callable[[QM, RemoteQueue], RemoteOpenQueueEntry] = opening.find_remote_open_queue
    cancel_every_pending_read: OnQueue = cancelling.cancel_every_pending_read
    call_close_queue: Callable[[QM, Binding, RemoteOpenQueueEntry], Sequence] = opening.call_close_queue
    remove_remote_open_queue: Callable[[QM, RemoteOpenQueueEntry], None] = opening.remove_remote_open_queue

    # 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6 Peeking and receiving
    read_remote_message: OnRead = reading.read_remote_message
    create_pending_read: Callable[[QM, RemoteRead], PendingRemoteReadEntry] = reading.create_pending_read
    new_request_id: Callable[[QM], int] = reading.new_request_id
    ask_server_version: OnRead = reading.ask_server_version
    is_old_version: Callable[[QM, Version | None], bool] = reading.is_old_version
    describe_read: Callable[[QM, RemoteRead], Values] = reading.describe_read
    describe_read2: Callable[[QM, RemoteRead], Values] = reading.describe_read2
    start_receive: OnRead = reading.start_receive
    start_receive2: OnRead = reading.start_receive2
    note_remote_read_handle: Callable[[QM, PendingRemoteReadEntry, UUID | None], None] = reading.note_remote_read_handle
    reconstruct_message: Callable[[QM, Values], RemoteMessage] = reading.reconstruct_message
    end_receive: Callable[[QM, PendingRemoteReadEntry, Ack], Sequence] = reading.end_receive
    remove_pending_read: OnEntry = reading.remove_pending_read

    # 3.2.4.4 Purging, 3.2.4.7 Canceling, 3.2.4.8 Cursors
    purge_queue_at_server: OnQueue = opening.purge_queue_at_server
    cancel_pending_read: Callable[[QM, RemoteQueue, int], Sequence] = cancelling.cancel_pending_read
    find_pending_read: Callable[[QM, RemoteQueue, int], PendingRemoteReadEntry] = cancelling.find_pending_read
    call_cancel_receive: Callable[[QM, PendingRemoteReadEntry], Sequence] = cancelling.call_cancel_receive
    build_cancel_receive: Callable[[QM, PendingRemoteReadEntry], Values] = cancelling.build_cancel_receive
    remove_cancelled_read: OnEntry = reading.remove_pending_read
    create_remote_cursor: OnQueue = cancelling.create_remote_cursor
    close_remote_cursor: Callable[[QM, RemoteQueue, int], Sequence] = cancelling.close_remote_cursor
    build_close_cursor: Callable[[QM, RemoteQueue, int], Values] = cancelling.build_close_cursor
