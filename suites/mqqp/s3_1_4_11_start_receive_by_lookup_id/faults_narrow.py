"""Faults of MS-MQQP 3.1.4.11 that affect only one action, one cause of a failure or one state of the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import parse_packet
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, Ack, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

Found = tuple[Status, MessagePosition | None]
NOT_FOUND: Found = (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)


def _is_lookup(call: Call) -> bool:
    return call.method.name == "RemoteQMStartReceiveByLookupId"


class _Answer(RemoteReads):
    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        """Return the call with a changed answer."""
        return call

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(self.change(call, status, entry) if _is_lookup(call) else call, status, entry)


@fault("server-lookup-second-receive-context-handle-null", breaks=("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57"), blind=True)
class ServerLookupSecondReceiveContextHandleNull(_Answer):
    """If another receive has locked a message of the queue, the server returns the context handle NULL for a receive by
    LookupIdentifier.
    """

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None:
            return call
        others = [one for one in position.QueueReference.MessagePositionList if one is not position]
        locked = any(one.State is MessagePositionState.LOCKED for one in others)
        return change_answer_values(call, pphContext=None) if locked else call


@fault(
    "server-lookup-receive-of-locked-message-context-handle-set",
    breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"),
    blind=True,
)
class ServerLookupReceiveOfLockedMessageContextHandleSet(_Answer):
    """If RECEIVE_CURRENT fails because the message is locked, the server returns a context handle."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = status is Status.MQ_ERROR_TRANSACTION_USAGE
        return change_answer_values(call, pphContext=call.new_handle(entry or object())) if wrong else call


@fault("server-lookup-refused-receive-context-handle-set", breaks="MQQP-3.1.4.11-03", blind=True)
class ServerLookupRefusedReceiveContextHandleSet(_Answer):
    """The server returns a context handle when it refuses a receive by LookupIdentifier with a nonzero ulTimeout."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        wrong = entry is None and desc and desc["ulTimeout"] and desc["ulAction"] in RECEIVE_ACTIONS
        return change_answer_values(call, pphContext=call.new_handle(object())) if wrong else call


@fault("server-lookup-sequentialid-of-8-bytes", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"), blind=True)
class ServerLookupSequentialidOf8Bytes(_Answer):
    """The server returns all 8 bytes of the LookupIdentifier in SequentialId of a receive."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None or entry is None or entry.Action not in RECEIVE_ACTIONS:
            return call
        whole = position.LookupIdentifier
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": whole})


@fault(
    "server-lookup-sequentialid-of-peek-prev-of-next-message",
    breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"),
    blind=True,
)
class ServerLookupSequentialidOfPeekPrevOfNextMessage(_Answer):
    """The server returns the SequentialId of the following message in the answer to a PEEK_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        position = None if entry is None else entry.UserMessagePacket
        if position is None or entry is None or entry.Action is not ReadAction.MQ_LOOKUP_PEEK_PREV:
            return call
        following = position.Next
        if not isinstance(following, MessagePosition):
            return call
        stale = self.get_sequential_id(following)
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": stale})


@fault(
    "server-lookup-receive-current-of-missing-message-returns-mq-ok",
    breaks=("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"),
    blind=True,
)
class ServerLookupReceiveCurrentOfMissingMessageReturnsMqOk(_Answer):
    """The server returns MQ_OK for a RECEIVE_CURRENT whose LookupId belongs to no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        missing = entry is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        wrong = missing and status is Status.MQ_ERROR_MESSAGE_NOT_FOUND
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault(
    "server-lookup-receive-of-locked-message-returns-mq-ok",
    breaks=("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"),
    blind=True,
)
class ServerLookupReceiveOfLockedMessageReturnsMqOk(_Answer):
    """The server returns MQ_OK without a message when RECEIVE_CURRENT names a locked message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = status is Status.MQ_ERROR_TRANSACTION_USAGE
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault(
    "server-lookup-hremotequeue-0-of-receive-invalid-handle",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
    blind=True,
)
class ServerLookupHremotequeue0OfReceiveInvalidHandle(_Answer):
    """The server returns MQ_ERROR_INVALID_HANDLE for a receive by LookupIdentifier with hRemoteQueue 0."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        wrong = desc and desc["hRemoteQueue"] == 0 and desc["ulAction"] in RECEIVE_ACTIONS
        return change_answer_values(call, Return=Status.MQ_ERROR_INVALID_HANDLE) if wrong else call


@fault("server-lookup-timeout-below-one-second-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"), blind=True)
class ServerLookupTimeoutBelowOneSecondAccepted(RemoteStarting):
    """The server accepts a read by LookupIdentifier with an ulTimeout below 1000."""

    def check_lookup_timeout(self, desc: Desc) -> Status:
        return Status.MQ_OK if desc["ulTimeout"] < 1000 else super().check_lookup_timeout(desc)


@fault("server-lookup-timeout-of-prev-actions-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"), blind=True)
class ServerLookupTimeoutOfPrevActionsAccepted(RemoteStarting):
    """The server accepts a read by LookupIdentifier with a PREV action and a nonzero ulTimeout."""

    def check_lookup_timeout(self, desc: Desc) -> Status:
        previous = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        return Status.MQ_OK if desc["ulAction"] in previous else super().check_lookup_timeout(desc)


@fault("server-lookup-cursor-of-receive-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"), blind=True)
class ServerLookupCursorOfReceiveAccepted(RemoteStarting):
    """In a receive by LookupIdentifier, the server ignores a nonzero hCursor that is not the handle of a cursor."""

    def remote_qm_start_receive_by_lookup_id(self, call: Call, now: Now) -> None:
        second = call.arguments["lpRemoteReadDesc2"]
        desc = second["pRemoteReadDesc"]
        descriptor = None if desc is None else self.find_remote_descriptor(desc["hRemoteQueue"])
        unknown = descriptor is not None and desc["hCursor"] not in descriptor.CursorCollection
        if unknown and desc["ulAction"] in RECEIVE_ACTIONS:
            desc["hCursor"] = 0
        super().remote_qm_start_receive_by_lookup_id(call, now)


@fault("server-lookup-cursor-status-invalid-parameter", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"), blind=True)
class ServerLookupCursorStatusInvalidParameter(RemoteStarting):
    """The server returns STATUS_INVALID_PARAMETER for a read by LookupIdentifier with an open cursor."""

    def check_lookup_cursor(self, desc: Desc) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        known = descriptor is not None and self.find_remote_cursor(descriptor, desc["hCursor"]) is not None
        return Status.STATUS_INVALID_PARAMETER if known else super().check_lookup_cursor(desc)


@fault("server-lookup-of-closed-queue-invalid-handle", breaks="MQQP-3.1.4.11-26", blind=True)
class ServerLookupOfClosedQueueInvalidHandle(RemoteStarting):
    """The server returns MQ_ERROR_INVALID_HANDLE for a read by LookupIdentifier through a closed handle."""

    def check_open_queue(self, desc: Desc) -> Status:
        status = super().check_open_queue(desc)
        seen = self.__dict__.setdefault("seen", set())
        if not status:
            seen.add(desc["hRemoteQueue"])
        lookup = desc["ulAction"] & 0x40000000
        return Status.MQ_ERROR_INVALID_HANDLE if status and lookup and desc["hRemoteQueue"] in seen else status


@fault("server-lookup-uses-last-opened-queue", breaks="MQQP-3.1.4.11-29", blind=True)
class ServerLookupUsesLastOpenedQueue(RemoteReads):
    """The server reads by LookupIdentifier from the queue that a client opened last."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        last = list(self.qm.remote.OpenQueueEntryCollection)[-1]
        used = self.qm.remote_starting.find_remote_descriptor(last.OpenQueueDescriptorHandle)
        super().remote_read_by_lookup(entry, used or descriptor, lookup_id)


@fault("server-second-lookup-receive-unlocks-first", breaks=("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36"), blind=True)
class ServerSecondLookupReceiveUnlocksFirst(RemoteReads):
    """When a second receive by LookupIdentifier from a queue begins, the server makes the message of the first one
    available.
    """

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        super().remote_read_by_lookup(entry, descriptor, lookup_id)
        position = entry.UserMessagePacket
        if position is None or entry.Action not in RECEIVE_ACTIONS:
            return
        kept = self.__dict__.setdefault("kept", [])
        for one in kept:
            same = one.QueueReference is position.QueueReference
            if same and one is not position and one.State is MessagePositionState.LOCKED:
                self.qm.positions.unlock_message(one)
        kept[:] = [position]


@fault("server-lookup-prev-receives-locked-message", breaks="MQQP-3.1.4.11-36", blind=True)
class ServerLookupPrevReceivesLockedMessage(Seeking):
    """A RECEIVE_PREV receives a message that another receive has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and start is not None and not peek_operation:
            before = start.Previous
            if isinstance(before, MessagePosition) and before.State is MessagePositionState.LOCKED:
                return Status.MQ_OK, before
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-id-compared-in-7-bytes", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"), blind=True)
class ServerLookupIdComparedIn7Bytes(Seeking):
    """The server compares only the low 7 bytes of LookupId."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        if lookup_action is MessageSeekAction.CURRENT:
            for one in queue.MessagePositionList:
                if not (one.LookupIdentifier ^ lookup_id) << 8 & 0xFFFFFFFFFFFFFFFF:
                    lookup_id = one.LookupIdentifier
                    break
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


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
            self.qm.positions.unlock_message(position)


@fault("server-lookup-receive-next-removes-named-message", breaks="MQQP-3.1.4.11-D05", blind=True)
class ServerLookupReceiveNextRemovesNamedMessage(RemoteReads):
    """RECEIVE_NEXT also removes the message that LookupId names."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if position is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            positions = position.QueueReference.MessagePositionList
            named = positions.find(entry.call.arguments["LookupId"])
            if named is not None and named is not position:
                positions.remove(named)


@fault("server-lookup-receive-prev-of-all-ones-removes-first-message", breaks="MQQP-3.1.4.11-D06", blind=True)
class ServerLookupReceivePrevOfAllOnesRemovesFirstMessage(RemoteReads):
    """If a message of the queue is locked, a RECEIVE_PREV with all bits of LookupId set reads the first message."""

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        queue = descriptor.QueueReference
        if entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV and lookup_id == 0xFFFFFFFFFFFFFFFF and queue is not None:
            found = [one.LookupIdentifier for one in queue.MessagePositionList]
            lookup_id = found[-1] if len(found) > 1 else lookup_id
        super().remote_read_by_lookup(entry, descriptor, lookup_id)


class _Edge(Seeking):
    action = MessageSeekAction.FIRST

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        positions = list(queue.MessagePositionList)
        if lookup_action is self.action and positions:
            edge = positions[0 if self.action is MessageSeekAction.FIRST else -1]
            return NOT_FOUND if edge.State is MessagePositionState.LOCKED else found
        return found


@fault("server-lookup-first-of-locked-message-not-found", breaks="MQQP-3.1.4.11-42", blind=True)
class ServerLookupFirstOfLockedMessageNotFound(_Edge):
    """The server finds no message for a NEXT action with LookupId 0 if the first message of the queue is locked."""


@fault("server-lookup-last-of-locked-message-not-found", breaks="MQQP-3.1.4.11-43", blind=True)
class ServerLookupLastOfLockedMessageNotFound(_Edge):
    """The server finds no message for a PREV action with all bits of LookupId set if the last message is locked."""

    action = MessageSeekAction.LAST


@fault("server-lookup-first-returns-first-arrived", breaks=("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02"), blind=True)
class ServerLookupFirstReturnsFirstArrived(Seeking):
    """If LookupId is 0, the server reads the message that arrived first instead of the first message of the queue."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        if lookup_action is MessageSeekAction.FIRST:
            found = [one for one in queue.MessagePositionList if self.is_readable(one, peek_operation)]
            if found:
                return Status.MQ_OK, min(found, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-prev-ends-at-locked-message", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"), blind=True)
class ServerLookupPrevEndsAtLockedMessage(Seeking):
    """The server finds no message for a PREV action when the previous message is locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.PREVIOUS and start is not None:
            before = start.Previous
            if isinstance(before, MessagePosition) and before.State is MessagePositionState.LOCKED:
                return NOT_FOUND
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-next-of-locked-message-not-found", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"), blind=True)
class ServerLookupNextOfLockedMessageNotFound(Seeking):
    """The server finds no message for a NEXT action with the LookupId of a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if is_locked and lookup_action is MessageSeekAction.NEXT:
            return NOT_FOUND
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-prev-of-locked-message-not-found", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"), blind=True)
class ServerLookupPrevOfLockedMessageNotFound(Seeking):
    """The server finds no message for a PREV action with the LookupId of a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if is_locked and lookup_action is MessageSeekAction.PREVIOUS:
            return NOT_FOUND
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-receive-next-ends-at-priority", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D05"), blind=True)
class ServerLookupReceiveNextEndsAtPriority(Seeking):
    """A RECEIVE_NEXT finds no message when the next message has a different priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is not MessageSeekAction.NEXT or found is None or start is None or peek_operation:
            return status, found
        same = found.MessageReference.Priority == start.MessageReference.Priority
        return (status, found) if same else NOT_FOUND


@fault("server-lookup-completion-removes-reads-of-handle", breaks="MQQP-3.1.4.11-56", blind=True)
class ServerLookupCompletionRemovesReadsOfHandle(RemoteReads):
    """At the end of a read by LookupIdentifier, the server removes the entries of all reads of the handle."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if _is_lookup(entry.call):
            for one in self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle):
                self.qm.remote.RemoteReadEntryCollection.remove(one)


@fault("server-lookup-completion-removes-same-request-id", breaks="MQQP-3.1.4.11-56", blind=True)
class ServerLookupCompletionRemovesSameRequestId(RemoteReads):
    """At the end of a read by LookupIdentifier, the server also removes the entry of another handle with the same
    dwRequestID.
    """

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if _is_lookup(entry.call):
            for one in list(self.qm.remote.RemoteReadEntryCollection):
                if one.RequestId == entry.RequestId:
                    self.qm.remote.RemoteReadEntryCollection.remove(one)


class _Packet(RemoteReads):
    def change_packet(self, packet: Any) -> Any:
        """Return the changed packet of a read by LookupIdentifier."""
        return packet

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        def change(given: dict[str, Any]) -> dict[str, Any]:
            desc = given["pRemoteReadDesc"]
            if desc is None or desc["lpBuffer"] is None:
                return given
            built = self.change_packet(parse_packet(bytes(desc["lpBuffer"]))).build()
            return {**given, "pRemoteReadDesc": {**desc, "lpBuffer": built, "dwSize": len(built)}}

        wrong = change_answer_values(call, lpRemoteReadDesc2=change)
        super().answer_read(wrong if _is_lookup(call) else call, status, entry)


@fault(
    "server-lookup-packet-priority-3",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupPacketPriority3(_Packet):
    """The server returns every packet of a read by LookupIdentifier with priority 3."""

    def change_packet(self, packet: Any) -> Any:
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~7 | 3))


@fault(
    "server-lookup-packet-of-recoverable-message-express",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupPacketOfRecoverableMessageExpress(_Packet):
    """The server returns the packet of a recoverable message with DM 0 in a read by LookupIdentifier."""

    def change_packet(self, packet: Any) -> Any:
        return replace(packet, UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(3 << 5)))


@fault(
    "server-lookup-packet-time-to-be-received-infinite",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupPacketTimeToBeReceivedInfinite(_Packet):
    """The server returns every packet of a read by LookupIdentifier with TimeToBeReceived 0xFFFFFFFF."""

    def change_packet(self, packet: Any) -> Any:
        return replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=0xFFFFFFFF))


@fault("server-lookup-dwsize-rounded-to-16", breaks="MQQP-3.1.4.11-54", blind=True)
class ServerLookupDwsizeRoundedTo16(_Answer):
    """In a read by LookupIdentifier, the server returns a dwSize that is rounded up to a multiple of 16."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        def grow(given: dict[str, Any]) -> dict[str, Any]:
            desc = given["pRemoteReadDesc"]
            if desc is None or desc["lpBuffer"] is None:
                return given
            padding = b"\0" * (-desc["dwSize"] % 16)
            return {
                **given,
                "pRemoteReadDesc": {
                    **desc,
                    "lpBuffer": bytes(desc["lpBuffer"]) + padding,
                    "dwSize": desc["dwSize"] + len(padding),
                },
            }

        return change_answer_values(call, lpRemoteReadDesc2=grow)


@fault(
    "server-lookup-receive-current-of-missing-message-returns-queue-not-found", breaks="MQQP-3.1.4.11-D07", blind=True
)
class ServerLookupReceiveCurrentOfMissingMessageReturnsQueueNotFound(_Answer):
    """The server returns MQ_ERROR_QUEUE_NOT_FOUND when RECEIVE_CURRENT finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        return change_answer_values(call, Return=Status.MQ_ERROR_QUEUE_NOT_FOUND) if wrong else call


class _Thrown(RemoteReads):
    def is_thrown(self, desc: Desc, entry: RemoteReadEntry | None, status: Status) -> bool:
        """Return whether the server raises an RPC exception instead of returning the failure of the read."""
        return False

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if _is_lookup(call) and status:
            desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
            if desc is not None and self.is_thrown(desc, entry, status):
                self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
                return
        super().answer_read(call, status, entry)


@fault("server-lookup-with-cursor-thrown", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupWithCursorThrown(_Thrown):
    """The server raises an RPC exception for a read by LookupIdentifier with a nonzero hCursor."""

    def is_thrown(self, desc: Desc, entry: RemoteReadEntry | None, status: Status) -> bool:
        return bool(desc["hCursor"])


@fault("server-lookup-with-timeout-thrown", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupWithTimeoutThrown(_Thrown):
    """The server raises an RPC exception for a read by LookupIdentifier with a nonzero ulTimeout."""

    def is_thrown(self, desc: Desc, entry: RemoteReadEntry | None, status: Status) -> bool:
        return bool(desc["ulTimeout"])


@fault("server-lookup-of-unopened-queue-thrown", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupOfUnopenedQueueThrown(_Thrown):
    """The server raises an RPC exception for a read by LookupIdentifier of a queue that is not open."""

    def is_thrown(self, desc: Desc, entry: RemoteReadEntry | None, status: Status) -> bool:
        known = self.qm.remote.OpenQueueEntryCollection.of(desc["hRemoteQueue"])
        return bool(desc["hRemoteQueue"]) and not known


@fault("server-lookup-of-locked-message-thrown", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupOfLockedMessageThrown(_Thrown):
    """The server raises an RPC exception for a RECEIVE_CURRENT of a locked message."""

    def is_thrown(self, desc: Desc, entry: RemoteReadEntry | None, status: Status) -> bool:
        return status is Status.MQ_ERROR_TRANSACTION_USAGE


class _Client(ClientReading):
    action: ReadAction

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        return {**given, **self.change(read)} if read.Action is self.action else given

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read with the action."""
        return {}


@fault("client-lookup-peek-next-ultimeout-1000", breaks="MQQP-3.1.4.11-12", blind=True)
class ClientLookupPeekNextUltimeout1000(_Client):
    """The client sets ulTimeout of a LOOKUP_PEEK_NEXT to 1000."""

    action = ReadAction.MQ_LOOKUP_PEEK_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 1000}


@fault("client-lookup-receive-next-ultimeout-1", breaks="MQQP-3.1.4.11-17", blind=True)
class ClientLookupReceiveNextUltimeout1(_Client):
    """The client sets ulTimeout of a LOOKUP_RECEIVE_NEXT to 1."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 1}


@fault("client-lookup-peek-prev-ultimeout-infinite", breaks="MQQP-3.1.4.11-15", blind=True)
class ClientLookupPeekPrevUltimeoutInfinite(_Client):
    """The client sets ulTimeout of a LOOKUP_PEEK_PREV to 0xFFFFFFFF."""

    action = ReadAction.MQ_LOOKUP_PEEK_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 0xFFFFFFFF}


@fault("client-lookup-receive-prev-hcursor-1", breaks="MQQP-3.1.4.11-13", blind=True)
class ClientLookupReceivePrevHcursor1(_Client):
    """The client sets hCursor of a LOOKUP_RECEIVE_PREV to 1."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": 1}


@fault("client-lookup-peek-next-hcursor-1", breaks="MQQP-3.1.4.11-11", blind=True)
class ClientLookupPeekNextHcursor1(_Client):
    """The client sets hCursor of a LOOKUP_PEEK_NEXT to 1."""

    action = ReadAction.MQ_LOOKUP_PEEK_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": 1}


@fault("client-lookup-receive-current-as-peek-current", breaks="MQQP-3.1.4.11-07", blind=True)
class ClientLookupReceiveCurrentAsPeekCurrent(_Client):
    """The client sets ulAction of a receive by LookupIdentifier to LOOKUP_PEEK_CURRENT."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_CURRENT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulAction": int(ReadAction.MQ_LOOKUP_PEEK_CURRENT)}


@fault("client-lookup-peek-prev-as-peek-next", breaks="MQQP-3.1.4.11-07", blind=True)
class ClientLookupPeekPrevAsPeekNext(_Client):
    """The client sets ulAction of a peek at the previous message to LOOKUP_PEEK_NEXT."""

    action = ReadAction.MQ_LOOKUP_PEEK_PREV

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulAction": int(ReadAction.MQ_LOOKUP_PEEK_NEXT)}


@fault("client-lookup-receive-next-lpbuffer-not-null", breaks="MQQP-3.1.4.11-05", blind=True)
class ClientLookupReceiveNextLpbufferNotNull(_Client):
    """The client sends an empty lpBuffer instead of NULL in a LOOKUP_RECEIVE_NEXT."""

    action = ReadAction.MQ_LOOKUP_RECEIVE_NEXT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"lpBuffer": b""}


@fault("client-lookup-peek-current-dwqueue-0", breaks="MQQP-3.1.4.11-05", blind=True)
class ClientLookupPeekCurrentDwqueue0(_Client):
    """The client sets dwQueue of a LOOKUP_PEEK_CURRENT to 0."""

    action = ReadAction.MQ_LOOKUP_PEEK_CURRENT

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwQueue": 0}


@fault("client-lookup-receive-current-lookup-id-0", breaks="MQQP-3.1.4.11-14", blind=True)
class ClientLookupReceiveCurrentLookupId0(ClientReading):
    """The client sets LookupId of a LOOKUP_RECEIVE_CURRENT to 0."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        if read.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


@fault("client-lookup-retried-after-io-timeout", breaks="MQQP-3.1.4.11-18", blind=True)
class ClientLookupRetriedAfterIoTimeout(ClientReading):
    """The client calls RemoteQMStartReceiveByLookupId again when the call returned MQ_ERROR_IO_TIMEOUT."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError as error:
            if read.LookupId is None or error.status != Status.MQ_ERROR_IO_TIMEOUT:
                raise
        return (yield from super().start_receive2(read))


@fault("client-failed-lookup-receive-prev-ended", breaks="MQQP-3.1.4.11-04", blind=True)
class ClientFailedLookupReceivePrevEnded(ClientReading):
    """The client calls RemoteQMEndReceive after a RECEIVE_PREV that failed."""

    def start_receive2(self, read: RemoteRead) -> Sequence:
        try:
            return (yield from super().start_receive2(read))
        except RemoteError:
            if read.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV and isinstance(read.entry, PendingRemoteReadEntry):
                yield from self.end_receive(read.entry, Ack.RR_NACK)
            raise
