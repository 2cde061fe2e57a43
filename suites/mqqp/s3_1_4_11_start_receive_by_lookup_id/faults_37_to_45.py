"""Faults that break the rules MQQP-3.1.4.11-37 to MQQP-3.1.4.11-45."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from suites.mqqp.s3_1_4_11_start_receive_by_lookup_id.fault_steps import MESSAGE_NOT_FOUND_RESULT, SeekResult


def _replace_seek_operation(found: MessageSeekAction, other: MessageSeekAction) -> Install:
    """Build a fault in which the server replaces one seek operation of a lookup with a different one."""

    class SeekOperationReplacer(RemoteReads):
        def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
            operation = super().get_lookup_operation(action, lookup_id)
            return other if operation is found else operation

    return replace_part(SeekOperationReplacer)


for _name, _breaks, _says, _found, _other in (
    (
        "server-lookup-current-reads-next-message",
        (
            *("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-41", "MQQP-3.1.4.11-45"),
            *("MQQP-3.1.4.11-D01", "MQQP-3.1.4.11-D04"),
        ),
        "A CURRENT lookup reads the message after the message with the given LookupId.",
        MessageSeekAction.CURRENT,
        MessageSeekAction.NEXT,
    ),
    (
        "server-lookup-next-of-zero-finds-no-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "A NEXT lookup with LookupId 0 finds no message, because no message has the LookupIdentifier 0.",
        MessageSeekAction.FIRST,
        MessageSeekAction.NEXT,
    ),
    (
        "server-lookup-prev-of-all-ones-finds-no-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "A PREV lookup with the maximum LookupId finds no message, because no message has that identifier.",
        MessageSeekAction.LAST,
        MessageSeekAction.PREVIOUS,
    ),
    (
        "server-lookup-prev-reads-current-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"),
        "A PREV lookup reads the message with the given LookupId instead of the message before it.",
        MessageSeekAction.PREVIOUS,
        MessageSeekAction.CURRENT,
    ),
    (
        "server-lookup-next-reads-current-message",
        ("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D05"),
        "A NEXT lookup reads the message with the given LookupId instead of the message after it.",
        MessageSeekAction.NEXT,
        MessageSeekAction.CURRENT,
    ),
):
    add(_name, _breaks, _says, _replace_seek_operation(_found, _other))


class _LookupSeekChanger(MessageSearch):
    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        changed = self.change(queue, lookup_id, lookup_action)
        return super().seek_with_identifier(queue, changed[0], peek_operation, changed[1])

    def change(self, queue: Queue, lookup_id: int, action: MessageSeekAction) -> tuple[int, MessageSeekAction]:
        """Return the wrong iLookupId and iLookupOperation."""
        return lookup_id, action


@fault("server-lookup-id-compared-in-32-bits", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"))
class ServerLookupIdComparedIn32Bits(_LookupSeekChanger):
    """The server compares only the low 32 bits of LookupId."""

    def change(self, queue: Queue, lookup_id: int, action: MessageSeekAction) -> tuple[int, MessageSeekAction]:
        for one in queue.MessagePositionList:
            if not (one.LookupIdentifier ^ lookup_id) & 0xFFFFFFFF:
                return one.LookupIdentifier, action
        return lookup_id, action


@fault("server-message-given-back-has-new-lookup-identifier", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"))
class ServerMessageGivenBackHasNewLookupIdentifier(RemoteReadEnding):
    """The server assigns a new LookupIdentifier to a message whose receive ends with RR_NACK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None and not delete_message:
            del position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier]
            position.LookupIdentifier = self.qm.message_positions.assign_lookup_identifier(position.MessageReference)
            position.QueueReference.MessagePositionList._by_identifier[position.LookupIdentifier] = position
        super().end_remote_read(entry, delete_message, ended)


@fault("server-lookup-id-compared-in-7-bytes", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"), blind=True)
class ServerLookupIdComparedIn7Bytes(MessageSearch):
    """The server compares only the low 7 bytes of LookupId."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        if lookup_action is MessageSeekAction.CURRENT:
            for one in queue.MessagePositionList:
                if not (one.LookupIdentifier ^ lookup_id) << 8 & 0xFFFFFFFFFFFFFFFF:
                    lookup_id = one.LookupIdentifier
                    break
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "server-lookup-peek-removes-message-from-queue",
    breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D03"),
)
class ServerLookupPeekRemovesMessageFromQueue(RemoteReads):
    """A PEEK lookup removes the message from the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action not in RECEIVE_ACTIONS:
            entry.Action = ReadAction(entry.Action + 0x10)
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("server-lookup-peek-current-takes-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D01"))
class ServerLookupPeekCurrentTakesMessage(RemoteReads):
    """A LOOKUP_PEEK_CURRENT removes the message from the queue."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        if entry.Action is ReadAction.MQ_LOOKUP_PEEK_CURRENT:
            entry.Action = ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


@fault("server-lookup-peek-prev-removes-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D03"))
class ServerLookupPeekPrevRemovesMessage(RemoteReads):
    """The server removes the message of a PEEK_PREV from the queue."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is not None and entry.Action is ReadAction.MQ_LOOKUP_PEEK_PREV:
            position.QueueReference.MessagePositionList.remove(position)


@fault("server-lookup-receive-next-leaves-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D05"))
class ServerLookupReceiveNextLeavesMessage(RemoteReads):
    """The server leaves the message of a RECEIVE_NEXT available in the queue."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            self.qm.message_positions.unlock_message(position)


@fault("server-lookup-peek-current-locks-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D01"), blind=True)
class ServerLookupPeekCurrentLocksMessage(RemoteReads):
    """The server locks the message of a PEEK_CURRENT."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is not None and entry.Action is ReadAction.MQ_LOOKUP_PEEK_CURRENT:
            position.State = MessagePositionState.LOCKED


@fault("server-lookup-receive-next-of-0-leaves-message", breaks=("MQQP-3.1.4.11-40", "MQQP-3.1.4.11-D05"), blind=True)
class ServerLookupReceiveNextOf0LeavesMessage(RemoteReads):
    """The server leaves the message of a RECEIVE_NEXT with LookupId 0 available in the queue."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        first = entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT and entry.call.arguments["LookupId"] == 0
        if position is not None and first:
            self.qm.message_positions.unlock_message(position)


@fault("server-lookup-receive-next-of-zero-fails", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05"), blind=True)
class ServerLookupReceiveNextOfZeroFails(RemoteReads):
    """A LOOKUP_RECEIVE_NEXT with LookupId 0 finds no message, although LOOKUP_PEEK_NEXT finds the first message."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            return MessageSeekAction.NEXT
        return super().get_lookup_operation(action, lookup_id)


class _FirstOrLastSeekChanger(MessageSearch):
    action = MessageSeekAction.FIRST

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        positions = list(queue.MessagePositionList)
        if lookup_action is self.action and positions:
            edge = positions[0 if self.action is MessageSeekAction.FIRST else -1]
            return MESSAGE_NOT_FOUND_RESULT if edge.State is MessagePositionState.LOCKED else found
        return found


@fault("server-lookup-of-first-message-fails-if-first-message-is-locked", breaks="MQQP-3.1.4.11-42", blind=True)
class ServerLookupOfFirstMessageFailsIfFirstMessageIsLocked(_FirstOrLastSeekChanger):
    """The server finds no message for a NEXT action with LookupId 0 if the first message of the queue is locked."""


@fault("server-lookup-first-returns-first-arrived", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02"), blind=True)
class ServerLookupFirstReturnsFirstArrived(MessageSearch):
    """If LookupId is 0, the server reads the message that arrived first instead of the first message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        if lookup_action is MessageSeekAction.FIRST:
            found = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
            if found:
                return Status.MQ_OK, min(found, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-receive-prev-of-all-ones-fails", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06"), blind=True)
class ServerLookupReceivePrevOfAllOnesFails(RemoteReads):
    """A LOOKUP_RECEIVE_PREV with the maximum LookupId finds no message, although LOOKUP_PEEK_PREV finds the last
    message.
    """

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV:
            return MessageSeekAction.PREVIOUS
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-last-returns-last-arrived", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"))
class ServerLookupLastReturnsLastArrived(MessageSearch):
    """If all bits of LookupId are set, the server reads the message that arrived last instead of the last message of
    the queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        if lookup_action is MessageSeekAction.LAST:
            found = [one for one in queue.MessagePositionList if self.is_message_readable(one, peek_operation)]
            if found:
                return Status.MQ_OK, max(found, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-of-last-message-fails-if-last-message-is-locked", breaks="MQQP-3.1.4.11-43", blind=True)
class ServerLookupOfLastMessageFailsIfLastMessageIsLocked(_FirstOrLastSeekChanger):
    """The server finds no message for a PREV action with all bits of LookupId set if the last message is locked."""

    action = MessageSeekAction.LAST


@fault("server-lookup-prev-of-first-message-returns-it", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"))
class ServerLookupPrevOfFirstMessageReturnsIt(MessageSearch):
    """The server reads the first message for a PREV action with the LookupId of the first message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.PREVIOUS:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found


@fault("server-lookup-prev-finds-no-message-of-other-priority", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D06"))
class ServerLookupPrevFindsNoMessageOfOtherPriority(MessageSearch):
    """The server finds no message for a PREV action when the previous message has a different priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is not MessageSeekAction.PREVIOUS or found is None or start is None:
            return status, found
        same = found.MessageReference.Priority == start.MessageReference.Priority
        return (status, found) if same else (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)


@fault("server-lookup-prev-ends-at-locked-message", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"), blind=True)
class ServerLookupPrevEndsAtLockedMessage(MessageSearch):
    """The server finds no message for a PREV action when the previous message is locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and start is not None:
            before = start.Previous
            if isinstance(before, MessagePosition) and before.State is MessagePositionState.LOCKED:
                return MESSAGE_NOT_FOUND_RESULT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-prev-of-locked-message-not-found", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"), blind=True)
class ServerLookupPrevOfLockedMessageNotFound(MessageSearch):
    """The server finds no message for a PREV action with the LookupId of a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if is_locked and lookup_action is MessageSeekAction.PREVIOUS:
            return MESSAGE_NOT_FOUND_RESULT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-current-of-missing-message-returns-first", breaks=("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D01"))
class ServerLookupCurrentOfMissingMessageReturnsFirst(MessageSearch):
    """The server reads the first message for a CURRENT action whose LookupId belongs to no message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.CURRENT:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found
