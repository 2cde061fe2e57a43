from __future__ import annotations

from functools import partial
from typing import Any

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.store.messages import serialize_message
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call, FaultStatus
from reference_qm.surface.clock import Now

FIRST_LOOKUP_ID, LAST_LOOKUP_ID = 0, 0xFFFFFFFFFFFFFFFF
"""The LookupIds for the place before the first message and the place after the last message."""
LOOKUP_ID_WITHOUT_PRIORITY_BITS = (1 << 56) - 1
RESERVED_FIELD_VALUE_OF_SERVER = 1
"""The value of REMOTEREADDESC.Reserved in an answer. Spec: MS-MQQP 2.2.2.1."""

SEEK_BY_READ_ACTION = {
    ReadAction.MQ_LOOKUP_PEEK_CURRENT: MessageSeekAction.CURRENT,
    ReadAction.MQ_LOOKUP_PEEK_NEXT: MessageSeekAction.NEXT,
    ReadAction.MQ_LOOKUP_PEEK_PREV: MessageSeekAction.PREVIOUS,
    ReadAction.MQ_LOOKUP_RECEIVE_CURRENT: MessageSeekAction.CURRENT,
    ReadAction.MQ_LOOKUP_RECEIVE_NEXT: MessageSeekAction.NEXT,
    ReadAction.MQ_LOOKUP_RECEIVE_PREV: MessageSeekAction.PREVIOUS,
}
SEEK_ACTION_AT_EDGE_LOOKUP_ID = {
    (MessageSeekAction.NEXT, FIRST_LOOKUP_ID): MessageSeekAction.FIRST,
    (MessageSeekAction.PREVIOUS, LAST_LOOKUP_ID): MessageSeekAction.LAST,
}


class RemoteReads(QueueManagerPart):
    """Reads messages for remote readers and answers their calls. Spec: MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11.

    The documents leave several points open, which this class resolves as follows. A peek has a tag, like a receive;
    otherwise RemoteQMCancelReceive could not cancel a peek as 3.2.4.7 describes. The tag includes the queue handle,
    because different clients use the same request numbers. ulTimeout is in ms, like the Call Timer (3.1.2), although
    MS-MQDMPR states seconds. A read by LookupIdentifier is a two-phase read, although 3.1.4.11 has no iTwoPhaseRead,
    because otherwise RemoteQMEndReceive would find no read to end.
    """

    __slots__ = ()

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        """Raise the event Dequeue Message Begin. Spec: MS-MQQP 3.1.4.1."""
        answered, timeout_ms = self._build_completion(entry), _get_read_timeout_ms(entry)
        self.qm.two_phase_reading.dequeue_message_begin(descriptor, answered, now, timeout_ms, cursor, entry.tag)

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        """Raise the event Peek Message. Spec: MS-MQQP 3.1.4.1."""
        answered, timeout_ms = self._build_completion(entry), _get_read_timeout_ms(entry)
        self.qm.message_reading.peek_message(descriptor, answered, now, timeout_ms, cursor, entry.tag)

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        """Raise the event Peek Next Message. Spec: MS-MQQP 3.1.4.1."""
        assert cursor is not None  # ``check_peek_next_cursor`` refused a peek without cursor
        answered, timeout_ms = self._build_completion(entry), _get_read_timeout_ms(entry)
        self.qm.message_reading.peek_next_message(descriptor, answered, now, cursor, timeout_ms, entry.tag)

    def remote_read_by_lookup(self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, lookup_id: int) -> None:
        """Raise the event Read Message By Lookup Identifier. Spec: MS-MQQP 3.1.4.11."""
        operation = self.get_lookup_operation(entry.Action, lookup_id)
        peek = entry.Action not in RECEIVE_ACTIONS
        answered = self._build_completion(entry)
        self.qm.message_reading.read_by_lookup_identifier(
            descriptor, lookup_id, operation, answered, peek, two_phase_read=True
        )

    def get_lookup_operation(self, action: ReadAction, lookup_id: int) -> MessageSeekAction:
        """Return the iLookupOperation for an action and a LookupId. Spec: MS-MQQP 3.1.4.11."""
        seek = SEEK_BY_READ_ACTION[action]
        return SEEK_ACTION_AT_EDGE_LOOKUP_ID.get((seek, lookup_id), seek)

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        """Answer the call of a read that has ended, and remove the entry of the read.

        Spec: MS-MQQP 3.1.4.1.
        """
        del self.qm.remote.reads[entry.call]
        entry.UserMessagePacket = position
        self.remove_remote_read_entry(entry)
        if entry.cancelled:
            self.qm.remote.carry_out_outputs(entry.call.fault(FaultStatus.NCA_S_FAULT_CANCEL))
        else:
            self.answer_read(entry.call, status, entry)

    def remove_remote_read_entry(self, entry: RemoteReadEntry) -> None:
        """Remove a read that has ended from the collection. Spec: MS-MQQP 3.1.4.1."""
        self.qm.remote.RemoteReadEntryCollection.remove(entry)

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        """Answer the call of a read. If the entry has a message, the answer contains the message. Spec: MS-MQQP
        3.1.4.1.
        """
        results: dict[str, Any] = {"Return": status, "pphContext": None}
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        answer = (
            None
            if desc is None
            else {**desc, "Reserved": RESERVED_FIELD_VALUE_OF_SERVER, "dwSize": 0, "lpBuffer": None}
        )
        sequential_id = 0
        if answer is not None and entry is not None and (position := entry.UserMessagePacket) is not None:
            answer |= self.describe_remote_message(position)
            sequential_id = self.get_sequential_id(position)
            if entry.Action in RECEIVE_ACTIONS:
                results["pphContext"] = call.make_context_handle(entry)
        if second is None:
            results["lpRemoteReadDesc"] = answer
        else:
            results["lpRemoteReadDesc2"] = {"pRemoteReadDesc": answer, "SequentialId": sequential_id}
        self.qm.remote.carry_out_outputs(call.respond(**results))

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        """Return the values of the REMOTEREADDESC fields for a message: the packet, its size and the arrival time.
        Spec: MS-MQQP 2.2.2.1, 3.1.4.1.
        """
        packet = self.serialize_remote_message(position)
        return {"lpBuffer": packet, "dwSize": len(packet), "dwArriveTime": position.MessageReference.ArrivalTime}

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        """Return the bytes of the UserMessage Packet of a message. PacketSize is the number of these bytes.

        Spec: MS-MQDMPR 3.1.7.1.30, 3.1.7.1.32.
        """
        return serialize_message(position.MessageReference).build()

    def get_sequential_id(self, position: MessagePosition) -> int:
        """Return the SequentialId, which is the 7 low bytes of the LookupIdentifier. Spec: MS-MQQP 3.1.4.10,
        3.1.4.11.
        """
        return position.LookupIdentifier & LOOKUP_ID_WITHOUT_PRIORITY_BITS

    def _build_completion(self, entry: RemoteReadEntry) -> OnReadAnswered:
        return partial(self.complete_remote_read, entry)


def _get_read_timeout_ms(entry: RemoteReadEntry) -> int | None:
    return None if entry.Timeout == INFINITE_MS else entry.Timeout
