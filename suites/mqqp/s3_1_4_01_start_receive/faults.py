"""Faults of MS-MQQP 3.1.4.1 RemoteQMStartReceive and 3.1.4.10 RemoteQMStartReceive2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from harness.faults.rpc_calls import call_unbound
from reference_qm.codec import UserHeader, UserMessagePacket, parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.core.remote.client_steps import Binding
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.rpc.outgoing import Failed, Outgoing
from reference_qm.surface.clock import Now

# -- the call ---------------------------------------------------------------------------------------------------------

add(
    "client-start-receive-on-unknown-context",
    "MQQP-3.1.4.1-04",
    "The client calls RemoteQMStartReceive on a presentation context that the server did not accept.",
    call_unbound("RemoteQMStartReceive"),
)
add(
    "client-start-receive2-on-unknown-context",
    "MQQP-3.1.4.10-01",
    "The client calls RemoteQMStartReceive2 on a presentation context that the server did not accept.",
    call_unbound("RemoteQMStartReceive2"),
)

# -- refused calls -----------------------------------------------------------------------------------------------------


@fault("server-null-description-wrong-status", breaks="MQQP-3.1.4.10-13")
class ServerNullDescriptionWrongStatus(RemoteStarting):
    """RemoteQMStartReceive2 returns MQ_ERROR_INVALID_PARAMETER if pRemoteReadDesc is NULL."""

    def check_description(self, desc: Desc | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else super().check_description(desc)


@fault(
    "server-read-without-cursor-refused",
    breaks=(
        "MQQP-3.1.4.10-23",
        "MQQP-3.1.4.1-D13",
    ),
)
class ServerReadWithoutCursorRefused(RemoteStarting):
    """The server refuses a read without a cursor."""

    def check_description(self, desc: Desc | None) -> Status:
        if desc is not None and not desc["hCursor"]:
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_description(desc)


add(
    "server-dw-queue-not-checked",
    ("MQQP-3.1.4.10-14", "MQQP-3.1.4.1-D07"),
    "The server does not compare dwQueue with hRemoteQueue.",
    skip(RemoteStarting.check_dw_queue),
)


@fault(
    "server-dw-request-id-of-other-handle-refused",
    breaks=(
        "MQQP-3.1.4.10-16",
        "MQQP-3.1.4.1-D08",
    ),
)
class ServerDwRequestIdOfOtherHandleRefused(RemoteStarting):
    """The server refuses a dwRequestID that a read through another queue handle uses."""

    def check_request_id(self, desc: Desc) -> Status:
        used = {read.RequestId for read in self.qm.remote.reads.values()}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK


@fault("server-peek-next-without-cursor-accepted", breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"))
class ServerPeekNextWithoutCursorAccepted(RemoteStarting):
    """The server performs a PEEK_NEXT without a cursor as a PEEK_CURRENT."""

    def check_peek_next_cursor(self, desc: Desc) -> Status:
        if super().check_peek_next_cursor(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "server-read-of-unopened-queue-accepted",
    (
        "MQQP-3.1.4.1-D10",
        "MQQP-3.1.4.10-18",
        "MQQP-3.1.4.10-19",
        "MQQP-3.1.4.11-25",
        "MQQP-3.1.4.11-26",
        "MQQP-3.1.4.4-07",
    ),
    "The server accepts reads of a queue that RemoteQMOpenQueue has not opened.",
    both(skip(RemoteStarting.check_open_queue), skip(RemoteOpening.close_open_queue_entry)),
)


class _UnknownActionPeeks(RemoteStarting):
    def check_start_action(self, desc: Desc) -> Status:
        if super().check_start_action(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "server-unknown-action-peeks-tolerated",
    (),
    "Tolerated: the server performs a read with an undefined ulAction as a PEEK_CURRENT.",
    replace_part(_UnknownActionPeeks),
)


@fault("server-dw-request-id-of-any-queue-refused", breaks=("MQQP-3.1.4.10-16", "MQQP-3.1.4.1-D08"), blind=True)
class ServerDwRequestIdOfAnyQueueRefused(RemoteStarting):
    """The server refuses a dwRequestID that a read of any queue uses."""

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection:
            if entry.RequestId == desc["dwRequestID"]:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("server-dw-request-id-of-waiting-peek-accepted", breaks=("MQQP-3.1.4.10-15", "MQQP-3.1.4.1-12"), blind=True)
class ServerDwRequestIdOfWaitingPeekAccepted(RemoteStarting):
    """The server accepts a second read with the dwRequestID of a waiting peek, but refuses a second read with the
    dwRequestID of a waiting receive.
    """

    def check_request_id(self, desc: dict[str, Any]) -> Status:
        for entry in self.qm.remote.RemoteReadEntryCollection.of(desc["hRemoteQueue"]):
            if entry.RequestId == desc["dwRequestID"] and entry.Action is ReadAction.MQ_ACTION_RECEIVE:
                return Status.MQ_ERROR_INVALID_PARAMETER
        return Status.MQ_OK


@fault("server-h-cursor-of-other-handle-accepted", breaks=("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12"), blind=True)
class ServerHCursorOfOtherHandleAccepted(RemoteStarting):
    """The server accepts an hCursor that was opened with a different queue handle."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = (one.CursorCollection.get(handle) for one in self.qm.descriptors.values())
        return next((cursor for cursor in found if cursor is not None), None)


@fault("server-answer-sequential-id-with-highest-byte", breaks=("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52"), blind=True)
class ServerAnswerSequentialIdWithHighestByte(RemoteReads):
    """The server returns the complete LookupIdentifier in SequentialId, including its highest byte."""

    def get_sequential_id(self, position: MessagePosition) -> int:
        return position.LookupIdentifier


@fault("server-second-peek-current-moves-cursor", breaks=("MQQP-3.1.4.1-D04", "MQQP-3.1.4.10-D03"), blind=True)
class ServerSecondPeekCurrentMovesCursor(RemoteReads):
    """The server moves a cursor to the next message at the second PEEK_CURRENT by the cursor."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._peeked: set[int] = set()

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        if cursor is not None and cursor.Handle in self._peeked:
            super().remote_peek_next(entry, descriptor, cursor, now)
            return
        if cursor is not None:
            self._peeked.add(cursor.Handle)
        super().remote_peek(entry, descriptor, cursor, now)


def _change_serialized_message(change: Callable[[UserMessagePacket], UserMessagePacket]) -> type[RemoteReads]:
    class Serialized(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            packet = parse_packet(super().serialize_remote_message(position))
            assert isinstance(packet, UserMessagePacket)
            return change(replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))).build()

    return Serialized


def _clear_journaling_flags(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(JN=1, JP=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags))


def _remove_transaction_header(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), TransactionHeader=None)


add(
    "server-answer-packet-without-jn-and-jp",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "The server returns a packet with JN and JP clear.",
    replace_part(_change_serialized_message(_clear_journaling_flags)),
    blind=True,
)


add(
    "server-answer-packet-without-transaction-header",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "The server returns a transactional message without its TransactionHeader.",
    replace_part(_change_serialized_message(_remove_transaction_header)),
    blind=True,
)


@fault("server-waiting-read-ignores-transactional-message", breaks="MQQP-3.1.4.1-D02", blind=True)
class ServerWaitingReadIgnoresTransactionalMessage(Waiting):
    """The server does not deliver an arriving transactional message to a waiting read."""

    def release_readers(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().release_readers(position)


@fault(
    "client-failed-call-not-noticed",
    breaks=(
        *("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18", "MQQP-3.1.4.2-08", "MQQP-3.1.4.3-12"),
        *("MQQP-3.1.4.4-03", "MQQP-3.1.4.5-03", "MQQP-3.1.4.6-05", "MQQP-3.1.4.7-03"),
    ),
)
class ClientFailedCallNotNoticed(ClientTasks):
    """The client continues to wait for a call that ended with a fault or a lost connection."""

    def _take_events(self, binding: Binding, happened: list[Outgoing], now: Now) -> None:
        super()._take_events(binding, [one for one in happened if not isinstance(one, Failed)], now)
