"""The procedures of the queue side: part of the table in ``reference_qm.core.protocol.procedures``."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from reference_qm.codec import FormatName, MessageClass
from reference_qm.codec.format_names import DistributionListName, SingleName
from reference_qm.core.protocol import publishing
from reference_qm.core.queueing import (
    cursors,
    enqueueing,
    names,
    opening,
    paths,
    positions,
    queues,
    quotas,
    reading,
    seeking,
    two_phase,
    waiting,
)
from reference_qm.core.queueing.cursors import Got
from reference_qm.core.queueing.opening import Opened
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import MessageSeekAction, QueueAccessType, QueueShareMode
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
TakeOut = Callable[[QM, MessagePosition, Transaction | None, bool, Answered], None]
ReadEvent = Callable[..., None]
"""Reads have optional arguments: see ``reading``."""


@dataclass(slots=True)
class QueueProcedures:
    """One field for each procedure of MS-MQDMPR 3.1.7.1, 3.1.7.2, 3.1.7.3 and 3.2.7 that concerns queues."""

    # 3.1.7.1.3 to 3.1.7.1.7 Queues and descriptors
    create_queue: Callable[[QM, Queue, int], tuple[Status, Queue | None]] = queues.create_queue
    publish_queue: Callable[[QM, Queue], Status] = publishing.publish_queue
    adopt_queue: Callable[[QM, Queue], bool] = publishing.adopt_queue
    withdraw_queue: Callable[[QM, Queue], Status] = publishing.withdraw_queue
    write_queue: Callable[[QM, Queue], Status] = publishing.write_queue
    note_public_queues: Callable[[QM], None] = publishing.note_public_queues
    take_over_published: Callable[[QM], None] = publishing.take_over_published
    expand_format_name: Callable[[QM, str], FormatName | None] = names.expand_format_name
    resolve_distribution_list: Callable[[QM, DistributionListName], list[SingleName] | None] = (
        names.resolve_distribution_list
    )
    get_queue_path: Callable[[QM, str], paths.QueuePathOf] = paths.get_queue_path
    open_queue: Callable[[QM, str, QueueAccessType, QueueShareMode, Now], Opened] = opening.open_queue
    open_found_queue: Callable[[QM, Queue, str, QueueAccessType, QueueShareMode], Opened] = opening.open_found_queue
    admits_access: Callable[[QM, FormatName, QueueAccessType], bool] = opening.admits_access
    is_shared: Callable[[QM, Queue, QueueAccessType, QueueShareMode], bool] = opening.is_shared
    close_queue: Callable[[QM, OpenQueueDescriptor], None] = opening.close_queue

    # 3.1.7.1.9, 3.1.7.1.16, 3.1.7.1.27, 3.1.7.2.1, 3.1.7.2.2, 3.1.7.2.5, 3.1.7.2.6 Messages coming and leaving
    admit_message: Callable[[QM, Queue, Message, Now], EnqueueStatus] = enqueueing.admit_message
    enqueue_message: Callable[[QM, Queue, Message, Now], tuple[EnqueueStatus, MessagePosition | None]] = (
        enqueueing.enqueue_message
    )
    enqueue_to_open_queue: Callable[..., EnqueueStatus] = enqueueing.enqueue_to_open_queue
    check_quota: Callable[[QM, Queue, Message], EnqueueStatus] = quotas.check_quota
    begin_flow_control: Callable[[QM], None] = quotas.begin_flow_control
    end_flow_control: Callable[[QM], None] = quotas.end_flow_control
    insert_message: Callable[[QM, Queue, Message], MessagePosition] = positions.insert_message
    assign_lookup_identifier: Callable[[QM, Message], int] = positions.assign_lookup_identifier
    message_available: Callable[[QM, MessagePosition], None] = positions.message_available
    unlock_message: Callable[[QM, MessagePosition], None] = positions.unlock_message
    delete_message: Callable[[QM, MessagePosition, MessageClass], None] = positions.delete_message
    take_message_out: TakeOut = positions.take_message_out
    move_message: Callable[[QM, MessagePosition, Queue], MessagePosition | None] = positions.move_message

    # 3.1.7.1.10 to 3.1.7.1.15, 3.1.7.3.2, 3.1.7.3.3 Reading
    dequeue_message: ReadEvent = reading.dequeue_message
    read_by_lookup_identifier: ReadEvent = reading.read_by_lookup_identifier
    peek_message: ReadEvent = reading.peek_message
    peek_next_message: ReadEvent = reading.peek_next_message
    dequeue_message_begin: ReadEvent = two_phase.dequeue_message_begin
    dequeue_message_end: Callable[..., None] = two_phase.dequeue_message_end
    end_with_deletion: Callable[[QM, MessagePosition, Callable[[Status], None]], None] = two_phase.end_with_deletion
    seek_available: Callable[..., MessagePosition | None] = seeking.seek_available
    is_readable: Callable[[QM, MessagePosition, bool], bool] = seeking.is_readable
    seek_with_identifier: Callable[[QM, Queue, int, bool, MessageSeekAction], tuple[Status, MessagePosition | None]] = (
        seeking.seek_with_identifier
    )

    # 3.1.6.3, 3.1.7.1.17, 3.1.7.3.1, 3.1.7.3.4 to 3.1.7.3.7 Waiting
    wait_for_new_message: Callable[..., None] = waiting.wait_for_new_message
    release_readers: Callable[[QM, MessagePosition], None] = waiting.release_readers
    satisfy_reader: Callable[[QM, WaitingMessageReadOperation, MessagePosition], None] = waiting.satisfy_reader
    stop_reader: Callable[[QM, WaitingMessageReadOperation, Status], None] = waiting.stop_reader
    on_waiting_message_read_timer: Callable[[QM, int], None] = waiting.on_waiting_message_read_timer
    cancel_waiting_read: Callable[[QM, Queue, Hashable, Status], Status] = waiting.cancel_waiting_read

    # 3.1.7.1.1, 3.1.7.1.2, 3.2.7 Cursors
    open_cursor: Callable[[QM, OpenQueueDescriptor], Cursor | None] = cursors.open_cursor
    close_cursor: Callable[[QM, Cursor], None] = cursors.close_cursor
    get_message_for_peek: Callable[[QM, Cursor], Got] = cursors.get_message_for_peek
    get_next_message_for_peek: Callable[[QM, Cursor], Got] = cursors.get_next_message_for_peek
    get_next_message_for_dequeue: Callable[[QM, Cursor, bool], Got] = cursors.get_next_message_for_dequeue
    cursor_message_available: Callable[[QM, Cursor, MessagePosition], None] = cursors.cursor_message_available
    cursor_wait_expired: Callable[[QM, Cursor], None] = cursors.cursor_wait_expired
