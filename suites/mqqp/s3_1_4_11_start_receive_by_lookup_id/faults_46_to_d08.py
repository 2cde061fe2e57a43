"""Faults that break the rules MQQP-3.1.4.11-46 to MQQP-3.1.4.11-D08."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from harness.faults.rpc_calls import change_answer_values, throw_refusals_as_rpc_faults
from reference_qm.codec import parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from suites.mqqp.s3_1_4_11_start_receive_by_lookup_id.fault_steps import (
    MESSAGE_NOT_FOUND_RESULT,
    ReadAnswerChanger,
    SeekResult,
    is_lookup_call,
)


@fault("server-lookup-next-of-last-message-starts-again", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"))
class ServerLookupNextOfLastMessageStartsAgain(MessageSearch):
    """The server reads the first message for a NEXT action with the LookupId of the last message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        if found is None and lookup_action is MessageSeekAction.NEXT:
            return super().seek_with_identifier(queue, lookup_id, peek_operation, MessageSeekAction.FIRST)
        return status, found


@fault("server-lookup-next-ends-at-locked-message", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"))
class ServerLookupNextEndsAtLockedMessage(MessageSearch):
    """The server finds no message for a NEXT action when the next message is locked."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        found = queue.MessagePositionList.find(lookup_id)
        if lookup_action is MessageSeekAction.NEXT and found is not None:
            following = found.Next
            if isinstance(following, MessagePosition) and following.State is MessagePositionState.LOCKED:
                return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("server-lookup-next-of-locked-message-not-found", breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"), blind=True)
class ServerLookupNextOfLockedMessageNotFound(MessageSearch):
    """The server finds no message for a NEXT action with the LookupId of a locked message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        start = queue.MessagePositionList.find(lookup_id)
        is_locked = start is not None and start.State is MessagePositionState.LOCKED
        if is_locked and lookup_action is MessageSeekAction.NEXT:
            return MESSAGE_NOT_FOUND_RESULT
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault(
    "server-lookup-receive-next-finds-no-message-of-other-priority",
    breaks=("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D05"),
    blind=True,
)
class ServerLookupReceiveNextFindsNoMessageOfOtherPriority(MessageSearch):
    """A RECEIVE_NEXT finds no message when the next message has a different priority."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> SeekResult:
        status, found = super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)
        start = queue.MessagePositionList.find(lookup_id)
        if lookup_action is not MessageSeekAction.NEXT or found is None or start is None or peek_operation:
            return status, found
        same = found.MessageReference.Priority == start.MessageReference.Priority
        return (status, found) if same else MESSAGE_NOT_FOUND_RESULT


@fault("server-lookup-packet-of-more-than-64-kb-cut-off", breaks=("MQQP-3.1.4.11-50", "MQQP-3.1.4.11-47"))
class ServerLookupPacketOfMoreThan64KbCutOff(ReadAnswerChanger):
    """The server returns only the first 65,536 bytes of a longer packet in a read by LookupIdentifier."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        def cut_off_large_packet(given: dict[str, Any]) -> dict[str, Any]:
            desc = given["pRemoteReadDesc"]
            if desc is None or desc["lpBuffer"] is None or len(desc["lpBuffer"]) <= 0x10000:
                return given
            return {**given, "pRemoteReadDesc": {**desc, "lpBuffer": desc["lpBuffer"][:0x10000], "dwSize": 0x10000}}

        return change_answer_values(call, lpRemoteReadDesc2=cut_off_large_packet)


class _LookupPacketChanger(RemoteReads):
    def change_looked_up_packet(self, packet: Any) -> Any:
        """Return the changed packet of a read by LookupIdentifier."""
        return packet

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        def change_packet_of_lookup(given: dict[str, Any]) -> dict[str, Any]:
            desc = given["pRemoteReadDesc"]
            if desc is None or desc["lpBuffer"] is None:
                return given
            built = self.change_looked_up_packet(parse_packet(bytes(desc["lpBuffer"]))).build()
            return {**given, "pRemoteReadDesc": {**desc, "lpBuffer": built, "dwSize": len(built)}}

        wrong = change_answer_values(call, lpRemoteReadDesc2=change_packet_of_lookup)
        super().answer_read(wrong if is_lookup_call(call) else call, status, entry)


@fault(
    "server-lookup-packet-priority-3",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupPacketPriority3(_LookupPacketChanger):
    """The server returns every packet of a read by LookupIdentifier with priority 3."""

    def change_looked_up_packet(self, packet: Any) -> Any:
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~7 | 3))


@fault(
    "server-lookup-returns-recoverable-message-as-express",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupReturnsRecoverableMessageAsExpress(_LookupPacketChanger):
    """The server returns the packet of a recoverable message with DM 0 in a read by LookupIdentifier."""

    def change_looked_up_packet(self, packet: Any) -> Any:
        return replace(packet, UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(3 << 5)))


@fault(
    "server-lookup-packet-time-to-be-received-infinite",
    breaks=("MQQP-3.1.4.11-47", "MQQP-3.1.4.11-48", "MQQP-3.1.4.11-50", "MQQP-3.1.4.11-53"),
    blind=True,
)
class ServerLookupPacketTimeToBeReceivedInfinite(_LookupPacketChanger):
    """The server returns every packet of a read by LookupIdentifier with TimeToBeReceived 0xFFFFFFFF."""

    def change_looked_up_packet(self, packet: Any) -> Any:
        return replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=0xFFFFFFFF))


@fault("server-lookup-dw-size-rounded-up-to-multiple-of-16", breaks="MQQP-3.1.4.11-54", blind=True)
class ServerLookupDwSizeRoundedUpToMultipleOf16(ReadAnswerChanger):
    """In a read by LookupIdentifier, the server returns a dwSize that is rounded up to a multiple of 16."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        def round_up_size(given: dict[str, Any]) -> dict[str, Any]:
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

        return change_answer_values(call, lpRemoteReadDesc2=round_up_size)


@fault("server-lookup-failed-read-request-id-stays-in-use", breaks="MQQP-3.1.4.11-56")
class ServerLookupFailedReadRequestIdStaysInUse(RemoteReads):
    """The server keeps the dwRequestID of a failed read by LookupIdentifier in use."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if is_lookup_call(entry.call) and status:
            self.qm.remote.RemoteReadEntryCollection.add(entry)


@fault("server-lookup-end-removes-entries-of-all-reads-of-handle", breaks="MQQP-3.1.4.11-56", blind=True)
class ServerLookupEndRemovesEntriesOfAllReadsOfHandle(RemoteReads):
    """At the end of a read by LookupIdentifier, the server removes the entries of all reads of the handle."""

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if is_lookup_call(entry.call):
            for one in self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle):
                self.qm.remote.RemoteReadEntryCollection.remove(one)


@fault("server-lookup-end-removes-entry-with-same-request-id-of-other-handle", breaks="MQQP-3.1.4.11-56", blind=True)
class ServerLookupEndRemovesEntryWithSameRequestIdOfOtherHandle(RemoteReads):
    """At the end of a read by LookupIdentifier, the server also removes the entry of another handle with the same
    dwRequestID.
    """

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        super().remove_remote_read_entry(entry)
        if is_lookup_call(entry.call):
            for one in list(self.qm.remote.RemoteReadEntryCollection):
                if one.RequestId == entry.RequestId:
                    self.qm.remote.RemoteReadEntryCollection.remove(one)


def _seek_only_within_priority(original: Callable[..., SeekResult], *_: object) -> Callable[..., SeekResult]:
    def seek_within_priority(
        qm: QueueManager, queue: Queue, lookup_id: int, peek: bool, action: MessageSeekAction
    ) -> SeekResult:
        status, found = original(qm, queue, lookup_id, peek, action)
        start = queue.MessagePositionList.find(lookup_id)
        if not peek or action is not MessageSeekAction.NEXT or found is None or start is None:
            return status, found
        if found.MessageReference.Priority == start.MessageReference.Priority:
            return status, found
        return Status.MQ_ERROR_MESSAGE_NOT_FOUND, None

    return seek_within_priority


add(
    "server-lookup-peek-next-ends-at-priority",
    "MQQP-3.1.4.11-D02",
    "MQ_LOOKUP_PEEK_NEXT finds no message if the next message has a different priority.",
    replace_method_during(
        RemoteReads.remote_read_by_lookup, MessageSearch.seek_with_identifier, _seek_only_within_priority
    ),
    blind=True,
)


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


class _GeneralErrorReporter(RemoteReads):
    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, Status.MQ_ERROR if status >> 31 else status, position)


add(
    "server-lookup-failure-unlisted-status",
    "MQQP-3.1.4.11-D07",
    "The server returns MQ_ERROR for a lookup that finds no message.",
    replace_part(_GeneralErrorReporter),
)


@fault("server-lookup-missing-message-returns-queue-not-found", breaks="MQQP-3.1.4.11-D07")
class ServerLookupMissingMessageReturnsQueueNotFound(ReadAnswerChanger):
    """The server returns MQ_ERROR_QUEUE_NOT_FOUND when a PREV action finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        previous = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)
        wrong = entry is not None and status and entry.Action in previous
        return change_answer_values(call, Return=Status.MQ_ERROR_QUEUE_NOT_FOUND) if wrong else call


@fault(
    "server-lookup-receive-current-of-missing-message-returns-queue-not-found", breaks="MQQP-3.1.4.11-D07", blind=True
)
class ServerLookupReceiveCurrentOfMissingMessageReturnsQueueNotFound(ReadAnswerChanger):
    """The server returns MQ_ERROR_QUEUE_NOT_FOUND when RECEIVE_CURRENT finds no message."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        wrong = entry is not None and status and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
        return change_answer_values(call, Return=Status.MQ_ERROR_QUEUE_NOT_FOUND) if wrong else call


add(
    "server-lookup-throws-errors",
    "MQQP-3.1.4.11-D08",
    "RemoteQMStartReceiveByLookupId throws its errors instead of returning them.",
    throw_refusals_as_rpc_faults(RemoteReadStarting.remote_qm_start_receive_by_lookup_id),
)


@fault("server-lookup-raises-exception-for-missing-message", breaks="MQQP-3.1.4.11-D08")
class ServerLookupRaisesExceptionForMissingMessage(RemoteReads):
    """The server raises an RPC exception when a read by LookupIdentifier finds no message."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if is_lookup_call(call) and status is Status.MQ_ERROR_MESSAGE_NOT_FOUND:
            self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
        else:
            super().answer_read(call, status, entry)


class _RpcExceptionRaiser(RemoteReads):
    def is_failure_thrown(self, desc: ReadDescription, entry: RemoteReadEntry | None, status: Status) -> bool:
        """Return whether the server raises an RPC exception instead of returning the failure of the read."""
        return False

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if is_lookup_call(call) and status:
            desc = call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
            if desc is not None and self.is_failure_thrown(desc, entry, status):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_FAULT_UNSPEC))
                return
        super().answer_read(call, status, entry)


@fault("server-lookup-raises-exception-for-nonzero-h-cursor", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupRaisesExceptionForNonzeroHCursor(_RpcExceptionRaiser):
    """The server raises an RPC exception for a read by LookupIdentifier with a nonzero hCursor."""

    def is_failure_thrown(self, desc: ReadDescription, entry: RemoteReadEntry | None, status: Status) -> bool:
        return bool(desc["hCursor"])


@fault("server-lookup-raises-exception-for-nonzero-ul-timeout", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupRaisesExceptionForNonzeroUlTimeout(_RpcExceptionRaiser):
    """The server raises an RPC exception for a read by LookupIdentifier with a nonzero ulTimeout."""

    def is_failure_thrown(self, desc: ReadDescription, entry: RemoteReadEntry | None, status: Status) -> bool:
        return bool(desc["ulTimeout"])


@fault("server-lookup-raises-exception-for-unopened-queue", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupRaisesExceptionForUnopenedQueue(_RpcExceptionRaiser):
    """The server raises an RPC exception for a read by LookupIdentifier of a queue that is not open."""

    def is_failure_thrown(self, desc: ReadDescription, entry: RemoteReadEntry | None, status: Status) -> bool:
        known = self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        return bool(desc["hRemoteQueue"]) and not known


@fault("server-lookup-raises-exception-for-locked-message", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupRaisesExceptionForLockedMessage(_RpcExceptionRaiser):
    """The server raises an RPC exception for a RECEIVE_CURRENT of a locked message."""

    def is_failure_thrown(self, desc: ReadDescription, entry: RemoteReadEntry | None, status: Status) -> bool:
        return status is Status.MQ_ERROR_TRANSACTION_USAGE


class _PeekerForUnknownLookupActions(RemoteReadStarting):
    def check_lookup_action(self, desc: ReadDescription) -> Status:
        if super().check_lookup_action(desc):
            desc["ulAction"] = ReadAction.MQ_LOOKUP_PEEK_NEXT
        return Status.MQ_OK


add(
    "server-lookup-unknown-action-tolerated",
    (),
    "Tolerated: the server performs a lookup with an undefined ulAction as a LOOKUP_PEEK_NEXT.",
    replace_part(_PeekerForUnknownLookupActions),
)
