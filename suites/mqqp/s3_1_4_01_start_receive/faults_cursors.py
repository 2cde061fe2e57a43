"""Faults of MS-MQQP 3.1.4.1, 3.1.4.10: cursors, and reads that wait."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.cursors import Cursors, Got, _move
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, WaitingMessageReadOperation
from reference_qm.model.enums import CursorState
from reference_qm.model.position_list import MessagePositionList
from reference_qm.model.statuses import CursorStatus


@fault(
    "cursor-slips-on",
    breaks=(
        "MQQP-3.1.4.1-D04",
        "MQQP-3.1.4.1-D16",
        "MQQP-3.1.4.10-36",
        "MQQP-3.1.4.10-D03",
        "MQDMPR-3.2.7.2-27",
        "MQDMPR-3.1.7.2.1-04",
    ),
)
class CursorSlipsOn(Cursors):
    """A cursor whose message is gone goes on to the next one by itself."""

    def get_message_for_peek(self, cursor: Cursor) -> Got:
        status, position = super().get_message_for_peek(cursor)
        return self._seek_for_peek(cursor) if status is CursorStatus.ALREADY_RECEIVED else (status, position)


def _list_of(cursor: Cursor) -> MessagePositionList:
    queue = cursor.OpenQueueDescriptorReference.QueueReference
    assert queue is not None
    return queue.MessagePositionList


@fault(
    "cursor-goes-back",
    breaks=("MQQP-3.1.4.1-D05", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQQP-3.1.4.10-D04", "MQDMPR-3.2.7.3-09"),
)
class CursorGoesBack(Cursors):
    """A cursor whose message is gone begins again at the front."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        if cursor.CursorState is CursorState.READ:
            status, _ = self.get_message_for_peek(cursor)
            if status is CursorStatus.ALREADY_RECEIVED:
                _move(cursor, _list_of(cursor).Start)
        return super().get_next_message_for_peek(cursor)


@fault(
    "cursor-next-of-nothing", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.3-06", "MQDMPR-3.2.7.1-08")
)
class NextOfNothing(Cursors):
    """A cursor by which nothing was read yet has a next message: the first."""

    def get_next_message_for_peek(self, cursor: Cursor) -> Got:
        return self._seek_for_peek(cursor)


@fault(
    "cursor-left-waiting", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.1.7.1.10-34", "MQDMPR-3.2.7.6-05")
)
class CursorLeftWaiting(Cursors):
    """A cursor does not learn that its wait was in vain."""

    def wait_expired(self, cursor: Cursor) -> None:
        pass


@fault("cursor-unread-after-waiting", breaks=("MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-40", "MQDMPR-3.2.7.5-04"))
class UnreadAfterWaiting(Cursors):
    """A cursor that waited has read nothing, also when it waited to peek."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        super().message_available(cursor, message_position)
        cursor.CursorState = CursorState.UNREAD


@fault(
    "cursor-stays-while-waiting",
    breaks=(
        *("MQQP-3.1.4.1-D16", "MQQP-3.1.4.10-36"),
        *("MQDMPR-3.1.7.1.10-31", "MQDMPR-3.1.7.1.14-25", "MQDMPR-3.1.7.1.15-27"),
        "MQDMPR-3.2.7.5-07",
    ),
)
class StaysWhileWaiting(Cursors):
    """A cursor does not go to the message for which it waited."""

    def message_available(self, cursor: Cursor, message_position: MessagePosition) -> None:
        cursor.CursorState = CursorState.UNREAD
        _move(cursor, _list_of(cursor).End)


@fault(
    "waiting-cursor-looks-behind-it",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-40"),
)
class LooksBehindIt(Waiting):
    """A read that waits by a cursor waits for a message behind that."""

    def _find_for(self, reader: WaitingMessageReadOperation, new: MessagePosition) -> MessagePosition | None:
        cursor = reader.CursorReference
        if cursor is None:
            return super()._find_for(reader, new)
        return self.qm.seeking.seek_available(cursor.MessagePositionReference, not reader.DestructiveRead)


add(
    "waiting-receive-without-identifier",
    ("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"),
    "A receive that waits does not have its dwRequestID.",
    with_arguments(Waiting.wait_for_new_message, tag=lambda given: None),
)


@fault(
    "waiting-receives-share",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D02", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-D01", "MQDMPR-3.1.7.2.2-11"),
)
class ReceivesShare(Waiting):
    """All receives that wait get the message that comes."""

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.satisfy_reader(reader, position)
