"""Faults that break rules of MS-MQSO 5.1.1 about cursors at a restart."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_cursors import QueueCursors
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState


class _CursorOpenedBeforeRestart(NamedTuple):
    """A local cursor and the descriptor of its queue, as they were before the restart."""

    pathname: str
    descriptor_handle: int
    access: QueueAccessType
    share_mode: QueueShareMode
    format_name: str
    cursor_handle: int


_RECORDS_BY_QUEUE_MANAGER: dict[UUID, list[_CursorOpenedBeforeRestart]] = {}


class OpenedCursorRecorder(QueueCursors):
    """The queue manager records the local cursors that it opens, so that a restart can open them again."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.records: list[_CursorOpenedBeforeRestart] = []

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        queue = queue_desc.QueueReference
        if cursor is not None and queue is not None and queue_desc.RemoteReadState is RemoteReadState.NONE:
            self.records.append(
                _CursorOpenedBeforeRestart(
                    queue.Pathname,
                    queue_desc.Handle,
                    queue_desc.AccessType,
                    queue_desc.ShareMode,
                    queue_desc.FormatName,
                    cursor.Handle,
                )
            )
            _RECORDS_BY_QUEUE_MANAGER[self.qm.adm.Identifier] = self.records
        return cursor


def _open_recorded_cursors(qm: QueueManager) -> None:
    for record in _RECORDS_BY_QUEUE_MANAGER.pop(qm.adm.Identifier, []):
        queue = qm.queue_names.find_queue_by_path(record.pathname)
        if queue is None:
            continue
        descriptor = qm.descriptors.get(record.descriptor_handle)
        if descriptor is None:
            descriptor = OpenQueueDescriptor(
                Handle=record.descriptor_handle,
                AccessType=record.access,
                ShareMode=record.share_mode,
                QueueReference=queue,
                FormatName=record.format_name,
            )
            qm.descriptors[descriptor.Handle] = descriptor
            queue.OpenQueueDescriptorCollection[descriptor.Handle] = descriptor
        cursor = Cursor(record.cursor_handle, descriptor, queue.MessagePositionList.Start)
        descriptor.CursorCollection[cursor.Handle] = cursor


add(
    "queue-manager-local-cursors-opened-again-after-restart",
    "MQSO-5.1.1-D01",
    "The restarted queue manager opens the cursors of its local applications again, so that their former numbers can "
    "still be used.",
    combine_installers(replace_part(OpenedCursorRecorder), change_core_at_restart(_open_recorded_cursors)),
    blind=True,
)
