"""Faults of MS-MQQP 3.1.4.11 in a read by LookupIdentifier, which only special cases reveal."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.rpc_calls import change_answer_values
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus

Found = tuple[Status, MessagePosition | None]


def _is_lookup(call: Call) -> bool:
    return call.method.name == "RemoteQMStartReceiveByLookupId"


@fault("server-lookup-timeout-of-high-16-bits-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerLookupTimeoutOfHigh16BitsAccepted(RemoteStarting):
    """The server accepts a read by LookupIdentifier with a nonzero ulTimeout if the low 16 bits of
    ulTimeout are zero.
    """

    def check_lookup_timeout(self, desc: Desc) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["ulTimeout"] & 0xFFFF else Status.MQ_OK


@fault("server-lookup-infinite-timeout-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerLookupInfiniteTimeoutAccepted(RemoteStarting):
    """The server accepts a read by LookupIdentifier with ulTimeout 0xFFFFFFFF."""

    def check_lookup_timeout(self, desc: Desc) -> Status:
        return Status.MQ_OK if desc["ulTimeout"] == 0xFFFFFFFF else super().check_lookup_timeout(desc)


@fault("server-lookup-timeout-of-receive-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"))
class ServerLookupTimeoutOfReceiveAccepted(RemoteStarting):
    """The server checks ulTimeout only for the peek actions of a read by LookupIdentifier."""

    def check_lookup_timeout(self, desc: Desc) -> Status:
        return Status.MQ_OK if desc["ulAction"] in RECEIVE_ACTIONS else super().check_lookup_timeout(desc)


@fault("server-lookup-open-cursor-accepted", breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"))
class ServerLookupOpenCursorAccepted(RemoteStarting):
    """The server accepts an open cursor of the queue in a read by LookupIdentifier."""

    def check_lookup_cursor(self, desc: Desc) -> Status:
        descriptor = self.find_remote_descriptor(desc["hRemoteQueue"])
        known = descriptor is not None and self.find_remote_cursor(descriptor, desc["hCursor"]) is not None
        return Status.MQ_OK if known else super().check_lookup_cursor(desc)


@fault("server-lookup-without-remote-qm-open-queue-accepted", breaks=("MQQP-3.1.4.11-25", "MQQP-3.1.4.11-26"))
class ServerLookupWithoutRemoteQmOpenQueueAccepted(RemoteStarting):
    """The server reads by LookupIdentifier from a queue that only R_QMOpenRemoteQueue has opened."""

    def check_open_queue(self, desc: Desc) -> Status:
        known = self.find_remote_descriptor(desc["hRemoteQueue"]) is not None
        lookup = desc["ulAction"] & 0x40000000
        return Status.MQ_OK if known and lookup else super().check_open_queue(desc)


@fault("server-lookup-finds-message-of-other-queue", breaks=("MQQP-3.1.4.11-29", "MQQP-3.1.4.11-39"))
class ServerLookupFindsMessageOfOtherQueue(Seeking):
    """The server finds a message by its LookupIdentifier in any queue, not only in the queue of the request."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        if lookup_action is MessageSeekAction.CURRENT and queue.MessagePositionList.find(lookup_id) is None:
            for other in self.qm.adm.QueueCollection.values():
                if other.MessagePositionList.find(lookup_id) is not None:
                    return super().seek_with_identifier(other, lookup_id, peek_operation, lookup_action)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


class _Seek(Seeking):
    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        changed = self.change(queue, lookup_id, lookup_action)
        return super().seek_with_identifier(queue, changed[0], peek_operation, changed[1])

    def change(self, queue: Queue, lookup_id: int, action: MessageSeekAction) -> tuple[int, MessageSeekAction]:
        """Return the wrong iLookupId and iLookupOperation."""
        return lookup_id, action


@fault("server-lookup-next-of-last-message-starts-again", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"))
class ServerLookupNextOfLastMessageStartsAgain(Seeking):
    """The server reads the first message for a NEXT action with the LookupId of the last message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.NEXT:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found


@fault("server-lookup-prev-of-first-message-returns-it", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"))
class ServerLookupPrevOfFirstMessageReturnsIt(Seeking):
    """The server reads the first message for a PREV action with the LookupId of the first message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.PREVIOUS:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found


@fault("server-lookup-current-of-missing-message-returns-first", breaks=("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D01"))
class ServerLookupCurrentOfMissingMessageReturnsFirst(Seeking):
    """The server reads the first message for a CURRENT action whose LookupId belongs to no message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.CURRENT:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found


@fault("server-lookup-receive-current-of-locked-message", breaks="MQQP-3.1.4.11-36")
class ServerLookupReceiveCurrentOfLockedMessage(Seeking):
    """A receive by LookupIdentifier receives a message that another receive has locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        found = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.CURRENT and found is not None and not peek_operation:
            found.State = MessagePositionState.AVAILABLE
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-next-ends-at-locked-message", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"))
class ServerLookupNextEndsAtLockedMessage(Seeking):
    """The server finds no message for a NEXT action when the next message is locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        found = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.NEXT and found is not None:
            following = found.Next
            if isinstance(following, MessagePosition) and following.State is MessagePositionState.LOCKED:
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-id-compared-in-32-bits", breaks=("MQQP-3.1.4.11-39", "MQQP-3.1.4.11-45"))
class ServerLookupIdComparedIn32Bits(_Seek):
    """The server compares only the low 32 bits of LookupId."""

    def change(self, queue: Queue, lookup_id: int, action: MessageSeekAction) -> tuple[int, MessageSeekAction]:
        for one in queue.MessagePositionList:
            if not (one.LookupIdentifier ^ lookup_id) & 0xFFFFFFFF:
                return one.LookupIdentifier, action
        return lookup_id, action


@fault("server-lookup-receive-prev-of-all-ones-reads-no-message", breaks="MQQP-3.1.4.11-43")
class ServerLookupReceivePrevOfAllOnesReadsNoMessage(RemoteReads):
    """The server does not read the last message for RECEIVE_PREV with LookupId 0xFFFFFFFFFFFFFFFF."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_PREV:
            return MessageSeekAction.PREVIOUS
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-receive-next-of-0-reads-no-message", breaks="MQQP-3.1.4.11-42")
class ServerLookupReceiveNextOf0ReadsNoMessage(RemoteReads):
    """The server does not read the first message for RECEIVE_NEXT with LookupId 0."""

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        if action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            return MessageSeekAction.NEXT
        return super().get_lookup_operation(action, lookup_id)


@fault("server-lookup-prev-ends-at-priority", breaks=("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D06"))
class ServerLookupPrevEndsAtPriority(Seeking):
    """The server finds no message for a PREV action when the previous message has a different priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is not MessageSeekAction.PREVIOUS or found is None or start is None:
            return status, found
        same = found.MessageReference.Priority == start.MessageReference.Priority
        return (status, found) if same else (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)


@fault("server-lookup-last-returns-last-arrived", breaks=("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.11-D06"))
class ServerLookupLastReturnsLastArrived(Seeking):
    """If all bits of LookupId are set, the server reads the message that arrived last instead of the last message of
    the queue.
    """

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> Found:
        if lookup_action is MessageSeekAction.LAST:
            found = [one for one in queue.MessagePositionList if self.is_readable(one, peek_operation)]
            if found:
                return Status.MQ_OK, max(found, key=lambda one: one.order)
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


class _Answer(RemoteReads):
    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        """Return the call with a changed answer."""
        return call

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(self.change(call, status, entry) if _is_lookup(call) else call, status, entry)


@fault("server-lookup-sequentialid-copied-from-lookup-id", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"))
class ServerLookupSequentialidCopiedFromLookupId(_Answer):
    """The server returns the lower 7 bytes of the request's LookupId in SequentialId."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        copied = call.arguments["LookupId"] & (1 << 56) - 1
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": copied})


@fault("server-lookup-sequentialid-of-receive-missing", breaks=("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55"))
class ServerLookupSequentialidOfReceiveMissing(_Answer):
    """The server returns SequentialId 0 for the receive actions."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        if entry is None or entry.Action not in RECEIVE_ACTIONS:
            return call
        return change_answer_values(call, lpRemoteReadDesc2=lambda given: {**given, "SequentialId": 0})


@fault("server-lookup-receive-prev-context-handle-null", breaks=("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57"))
class ServerLookupReceivePrevContextHandleNull(_Answer):
    """The server returns the context handle NULL for RECEIVE_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV
        return change_answer_values(call, pphContext=None) if wrong else call


@fault("server-lookup-peek-prev-context-handle-set", breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"))
class ServerLookupPeekPrevContextHandleSet(_Answer):
    """The server returns a context handle for PEEK_PREV."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and not status and entry.Action is ReadAction.MQ_LOOKUP_PEEK_PREV
        return change_answer_values(call, pphContext=call.new_handle(entry)) if wrong else call


@fault("server-lookup-failed-receive-context-handle-set", breaks=("MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57"))
class ServerLookupFailedReceiveContextHandleSet(_Answer):
    """The server returns a context handle for a receive by LookupIdentifier that finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action in RECEIVE_ACTIONS
        return change_answer_values(call, pphContext=call.new_handle(entry)) if wrong else call


@fault("server-lookup-missing-message-returns-mq-ok", breaks=("MQQP-3.1.4.11-58", "MQQP-3.1.4.11-18"))
class ServerLookupMissingMessageReturnsMqOk(_Answer):
    """The server returns MQ_OK without a message when PEEK_NEXT finds no further message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action is ReadAction.MQ_LOOKUP_PEEK_NEXT
        return change_answer_values(call, Return=Status.MQ_OK) if wrong else call


@fault("server-lookup-missing-message-thrown", breaks="MQQP-3.1.4.11-D08")
class ServerLookupMissingMessageThrown(RemoteReads):
    """The server raises an RPC exception when a read by LookupIdentifier finds no message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if _is_lookup(call) and status is Status.MQ_ERROR_MESSAGE_NOT_FOUND:
            self.qm.remote.note(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().answer_read(call, status, entry)


@fault("server-lookup-missing-message-returns-queue-not-found", breaks="MQQP-3.1.4.11-D07")
class ServerLookupMissingMessageReturnsQueueNotFound(_Answer):
    """The server returns MQ_ERROR_QUEUE_NOT_FOUND when a PREV action finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        previous = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        wrong = entry is not None and status and entry.Action in previous
        return change_answer_values(call, Return=Status.MQ_ERROR_QUEUE_NOT_FOUND) if wrong else call


@fault("server-lookup-failed-read-request-id-stays-in-use", breaks="MQQP-3.1.4.11-56")
class ServerLookupFailedReadRequestIdStaysInUse(RemoteReads):
    """The server keeps the dwRequestID of a failed read by LookupIdentifier in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if _is_lookup(entry.call) and status:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


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
            self.qm.positions.unlock_message(position)


@fault("server-lookup-packet-of-more-than-64-kb-cut-off", breaks=("MQQP-3.1.4.11-50", "MQQP-3.1.4.11-47"))
class ServerLookupPacketOfMoreThan64KbCutOff(_Answer):
    """The server returns only the first 65,536 bytes of a longer packet in a read by LookupIdentifier."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        def cut(given: dict[str, Any]) -> dict[str, Any]:
            desc = given["pRemoteReadDesc"]
            if desc is None or desc["lpBuffer"] is None or len(desc["lpBuffer"]) <= 0x10000:
                return given
            return {**given, "pRemoteReadDesc": {**desc, "lpBuffer": desc["lpBuffer"][:0x10000], "dwSize": 0x10000}}

        return change_answer_values(call, lpRemoteReadDesc2=cut)


class _Client(ClientReading):
    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        return given if read.LookupId is None else {**given, **self.change(read)}

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read by LookupIdentifier."""
        return {}


@fault(
    "client-lookup-hcursor-of-open-cursor",
    breaks=("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11", "MQQP-3.1.4.11-13", "MQQP-3.1.4.11-16"),
)
class ClientLookupHcursorOfOpenCursor(_Client):
    """The client sets hCursor of a read by LookupIdentifier to an open cursor of the queue."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        found = [handle for queue, handle in self.qm.remote_client.cursors.values() if queue is read.queue]
        return {"hCursor": [*found, 0][0]}


@fault("client-lookup-hremotequeue-of-last-opened-queue", breaks="MQQP-3.1.4.11-05")
class ClientLookupHremotequeueOfLastOpenedQueue(_Client):
    """The client sets hRemoteQueue of a read by LookupIdentifier to the handle of the queue that it opened last."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hRemoteQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-lookup-dwrequestid-of-other-read", breaks="MQQP-3.1.4.11-05")
class ClientLookupDwrequestidOfOtherRead(_Client):
    """The client sets dwRequestID of a read by LookupIdentifier to the dwRequestID of another pending read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[0].RequestId}


@fault("client-lookup-receive-previous-as-next", breaks="MQQP-3.1.4.11-07")
class ClientLookupReceivePreviousAsNext(_Client):
    """The client sets ulAction of a receive of the previous message to RECEIVE_NEXT."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        wrong = read.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV
        return {"ulAction": int(ReadAction.MQ_LOOKUP_RECEIVE_NEXT)} if wrong else {}
