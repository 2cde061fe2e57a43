"""Faults that break the rules MQQP-3.1.4.1-14 to MQQP-3.1.4.1-D01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserHeader, UserMessagePacket, parse_packet
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


def _change_serialized_message(change: Callable[[UserMessagePacket], UserMessagePacket]) -> type[RemoteReads]:
    class SerializedMessageChanger(RemoteReads):
        def serialize_remote_message(self, position: MessagePosition) -> bytes:
            packet = parse_packet(super().serialize_remote_message(position))
            assert isinstance(packet, UserMessagePacket)
            return change(replace(packet, BaseHeader=replace(packet.BaseHeader, PacketSize=0))).build()

    return SerializedMessageChanger


def _clear_journaling_flags(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(JN=1, JP=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags))


add(
    "server-answer-packet-without-jn-and-jp",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "The server returns a packet with JN and JP clear.",
    replace_part(_change_serialized_message(_clear_journaling_flags)),
    blind=True,
)


def _remove_transaction_header(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.UserHeader.Flags & ~UserHeader.flags(TH=1)
    return replace(packet, UserHeader=replace(packet.UserHeader, Flags=flags), TransactionHeader=None)


add(
    "server-answer-packet-without-transaction-header",
    ("MQQP-3.1.4.1-14", "MQQP-3.1.4.10-45", "MQQP-3.1.4.11-48"),
    "The server returns a transactional message without its TransactionHeader.",
    replace_part(_change_serialized_message(_remove_transaction_header)),
    blind=True,
)


class _AnswerPacketChanger(RemoteReads):
    """Change the packet that the server returns."""

    def change_answer_packet(self, packet):
        raise NotImplementedError

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet = parse_packet(super().serialize_remote_message(position))
        changed = self.change_answer_packet(packet)
        return replace(changed, BaseHeader=replace(changed.BaseHeader, PacketSize=0)).build()


_SERIALIZED_MESSAGE_RULES = ("MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16", "MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47")


@fault("server-answer-packet-without-security-header", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketWithoutSecurityHeader(_AnswerPacketChanger):
    """The server returns an authenticated message without its SecurityHeader."""

    def change_answer_packet(self, packet):
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 19))
        return packet if packet.SecurityHeader is None else replace(packet, UserHeader=flags, SecurityHeader=None)


@fault("server-answer-packet-without-multi-queue-format-header", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketWithoutMultiQueueFormatHeader(_AnswerPacketChanger):
    """The server returns a message to several destinations without its MultiQueueFormatHeader."""

    def change_answer_packet(self, packet):
        if packet.MultiQueueFormatHeader is None:
            return packet
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 23))
        return replace(packet, UserHeader=flags, MultiQueueFormatHeader=None)


@fault("server-answer-packet-without-debug-header", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketWithoutDebugHeader(_AnswerPacketChanger):
    """The server returns a traced message without its DebugHeader."""

    def change_answer_packet(self, packet):
        if packet.DebugHeader is None:
            return packet
        return replace(
            packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~0x30), DebugHeader=None
        )


@fault("server-answer-packet-priority-3", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketPriority3(_AnswerPacketChanger):
    """The server returns every message with priority 3."""

    def change_answer_packet(self, packet):
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~7 | 3))


@fault("server-answer-packet-without-response-queue", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketWithoutResponseQueue(_AnswerPacketChanger):
    """The server returns a message without its ResponseQueue."""

    def change_answer_packet(self, packet):
        header = packet.UserHeader
        if header.ResponseQueue is None:
            return packet
        return replace(packet, UserHeader=replace(header, Flags=header.Flags & ~(7 << 16), ResponseQueue=None))


@fault("server-answer-packet-time-to-be-received-infinite", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketTimeToBeReceivedInfinite(_AnswerPacketChanger):
    """The server returns every message with an infinite TimeToBeReceived."""

    def change_answer_packet(self, packet):
        return replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=0xFFFFFFFF))


@fault("server-clears-acknowledgment-bits-of-returned-message", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerClearsAcknowledgmentBitsOfReturnedMessage(_AnswerPacketChanger):
    """The server clears the acknowledgment bits of MessagePropertiesHeader.Flags in every message that it returns."""

    def change_answer_packet(self, packet):
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, Flags=0))


@fault("server-answer-packet-label-cut-at-124", breaks=_SERIALIZED_MESSAGE_RULES, blind=True)
class ServerAnswerPacketLabelCutAt124(_AnswerPacketChanger):
    """The server cuts the label of a message that it returns to 124 characters."""

    def change_answer_packet(self, packet):
        header = packet.MessagePropertiesHeader
        cut = header.Label[:124] if header.Label else header.Label
        return replace(packet, MessagePropertiesHeader=replace(header, Label=cut))


@fault("server-read-packet-transaction-header-missing", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerReadPacketTransactionHeaderMissing(RemoteReads):
    """The server returns a transactional message without its TransactionHeader."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        if packet.TransactionHeader is None:
            return packet.build()
        flags = replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(1 << 20))
        base = replace(packet.BaseHeader, PacketSize=0)
        return replace(packet, BaseHeader=base, UserHeader=flags, TransactionHeader=None).build()


@fault(
    "server-read-packet-of-more-than-64-kb-cut-off", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47", "MQQP-3.1.4.1-13")
)
class ServerReadPacketOfMoreThan64KbCutOff(RemoteReads):
    """The server returns only the first 65,536 bytes of the packet of a longer message."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        return super().serialize_remote_message(position)[:0x10000]


@fault("server-peeked-packet-without-extension", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerPeekedPacketWithoutExtension(RemoteReads):
    """The server omits the extension of a message in the answer to a read."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        changes = {"BaseHeader.PacketSize": 0, "MessagePropertiesHeader.ExtensionData": b""}
        return set_fields(packet, changes).build()


@fault("server-returns-arrival-time-as-sent-time-of-message", breaks=("MQQP-3.1.4.1-16", "MQQP-3.1.4.10-47"))
class ServerReturnsArrivalTimeAsSentTimeOfMessage(RemoteReads):
    """The server returns the arrival time of a message as its SentTime."""

    def serialize_remote_message(self, position: MessagePosition) -> bytes:
        packet: Any = parse_packet(super().serialize_remote_message(position))
        changed: bytes = set_fields(packet, {"UserHeader.SentTime": position.MessageReference.ArrivalTime}).build()
        return changed


add(
    "server-dw-queue-not-checked",
    ("MQQP-3.1.4.10-14", "MQQP-3.1.4.1-D07"),
    "The server does not compare dwQueue with hRemoteQueue.",
    omit_step(RemoteReadStarting.check_dw_queue),
)


@fault("server-start-receive-dwqueue-compared-in-low-16-bits", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"))
class ServerStartReceiveDwqueueComparedInLow16Bits(RemoteReadStarting):
    """The server accepts a read whose dwQueue differs from hRemoteQueue only in the upper 16 bits."""

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        low = desc["dwQueue"] != 0 and desc["dwQueue"] & 0xFFFF == desc["hRemoteQueue"] & 0xFFFF
        return Status.MQ_OK if low else super().check_dw_queue(desc)


@fault("server-start-receive-dwqueue-of-other-open-queue-accepted", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"))
class ServerStartReceiveDwqueueOfOtherOpenQueueAccepted(RemoteReadStarting):
    """The server accepts a read whose dwQueue is the handle of a different open queue."""

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        status = super().check_dw_queue(desc)
        return (
            Status.MQ_OK if self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(desc["dwQueue"]) else status
        )


@fault("server-start-receive-dwqueue-0-accepted", breaks=("MQQP-3.1.4.1-D07", "MQQP-3.1.4.10-14"), blind=True)
class ServerStartReceiveDwqueue0Accepted(RemoteReadStarting):
    """The server reads from hRemoteQueue when dwQueue is 0."""

    def check_dw_queue(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["dwQueue"] == 0 else super().check_dw_queue(desc)


@fault("server-peek-next-without-cursor-accepted", breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"))
class ServerPeekNextWithoutCursorAccepted(RemoteReadStarting):
    """The server performs a PEEK_NEXT without a cursor as a PEEK_CURRENT."""

    def check_peek_next_cursor(self, desc: ReadDescription) -> Status:
        if super().check_peek_next_cursor(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


@fault(
    "server-returns-invalid-parameter-for-peek-next-without-cursor",
    breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"),
    blind=True,
)
class ServerReturnsInvalidParameterForPeekNextWithoutCursor(RemoteReadStarting):
    """The server returns MQ_ERROR_INVALID_PARAMETER for a PEEK_NEXT without a cursor."""

    def check_peek_next_cursor(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if super().check_peek_next_cursor(desc) else Status.MQ_OK


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
    combine_installers(
        omit_step(RemoteReadStarting.check_open_queue), omit_step(RemoteQueueOpening.close_open_queue_entry)
    ),
)


@fault("server-read-without-remote-qm-open-queue-accepted", breaks=("MQQP-3.1.4.1-D10", "MQQP-3.1.4.10-19"))
class ServerReadWithoutRemoteQmOpenQueueAccepted(RemoteReadStarting):
    """The server accepts reads through a queue handle for which only R_QMOpenRemoteQueue, but not RemoteQMOpenQueue,
    was called.
    """

    def check_open_queue(self, desc: ReadDescription) -> Status:
        opened = self.find_remote_descriptor(desc["hRemoteQueue"]) is not None
        return Status.MQ_OK if opened else super().check_open_queue(desc)


@fault(
    "server-returns-invalid-handle-for-read-of-closed-queue",
    breaks=("MQQP-3.1.4.1-D10", "MQQP-3.1.4.10-19"),
    blind=True,
)
class ServerReturnsInvalidHandleForReadOfClosedQueue(RemoteReadStarting):
    """The server returns MQ_ERROR_INVALID_HANDLE for a read through a closed handle."""

    def check_open_queue(self, desc: ReadDescription) -> Status:
        status = super().check_open_queue(desc)
        seen = self.__dict__.setdefault("seen", set())
        if not status:
            seen.add(desc["hRemoteQueue"])
        return Status.MQ_ERROR_INVALID_HANDLE if status and desc["hRemoteQueue"] in seen else status


@fault("server-h-cursor-of-other-handle-accepted", breaks=("MQQP-3.1.4.10-22", "MQQP-3.1.4.1-D12"), blind=True)
class ServerHCursorOfOtherHandleAccepted(RemoteReadStarting):
    """The server accepts an hCursor that was opened with a different queue handle."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = (one.CursorCollection.get(handle) for one in self.qm.descriptors.values())
        return next((cursor for cursor in found if cursor is not None), None)


@fault("server-hcursor-compared-in-low-16-bits", breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"))
class ServerHcursorComparedInLow16Bits(RemoteReadStarting):
    """The server compares only the low 16 bits of hCursor with the handles of open cursors."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = [one for key, one in descriptor.CursorCollection.items() if not (key ^ handle) & 0xFFFF]
        return found[0] if found else None


@fault("server-reads-by-closed-cursor", breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"), blind=True)
class ServerReadsByClosedCursor(RemoteReadStarting):
    """The server reads by a closed cursor if another cursor of the same handle is open."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        known = self.__dict__.setdefault("known", {})
        if found is not None:
            known[handle] = found
        elif descriptor.CursorCollection:
            return known.get(handle)
        return found


@fault(
    "server-returns-invalid-handle-for-receive-by-unknown-cursor",
    breaks=("MQQP-3.1.4.1-D12", "MQQP-3.1.4.10-22"),
    blind=True,
)
class ServerReturnsInvalidHandleForReceiveByUnknownCursor(RemoteReads):
    """The server returns MQ_ERROR_INVALID_HANDLE for a receive by a cursor that is not open."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        second = call.arguments.get("lpRemoteReadDesc2")
        desc = call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        if status is Status.STATUS_INVALID_PARAMETER and desc["hCursor"] and desc["ulAction"] in RECEIVE_ACTIONS:
            status = Status.MQ_ERROR_INVALID_HANDLE
        super().answer_read(call, status, entry)


@fault("server-peek-keeps-message-locked", breaks=("MQQP-3.1.4.1-D01", "MQQP-3.1.4.1-D04"))
class ServerPeekKeepsMessageLocked(RemoteReads):
    """If a PEEK_CURRENT had to wait for its message, the server locks the message until the connection of the client is
    lost.
    """

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            entry.Timeout |= 1 << 40

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        if entry.Timeout >> 40 and position is not None:
            position.State = MessagePositionState.LOCKED


@fault("server-cursor-of-other-handle-of-same-queue-accepted", breaks="MQQP-3.1.4.10-22", blind=True)
class ServerCursorOfOtherHandleOfSameQueueAccepted(RemoteReadStarting):
    """The server accepts an hCursor that was created with a different handle of the same queue."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        queue = descriptor.QueueReference
        opened = () if queue is None else queue.OpenQueueDescriptorCollection.values()
        found = (one.CursorCollection[handle] for one in opened if handle in one.CursorCollection)
        return super().find_remote_cursor(descriptor, handle) or next(found, None)
