"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10: the size and the status that a successful read returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from suites.mqqp.s3_1_4_01_start_receive.fault_steps import CollectorOfReadsThatWaited

MESSAGE_SIZE_RULES = ("MQQP-3.1.4.1-20", "MQQP-3.1.4.10-51")
MESSAGE_SIZE_RULES_OF_ALL_READS = (*MESSAGE_SIZE_RULES, "MQQP-3.1.4.11-54")


def _resize_packet(
    found: dict[str, Any], change: Callable[[int, MessagePosition], int], position: MessagePosition
) -> dict[str, Any]:
    """Return the fields for a message with a wrong dwSize. The packet in lpBuffer is cut or padded to this size."""
    size = change(found["dwSize"], position)
    return found | {"dwSize": size, "lpBuffer": found["lpBuffer"].ljust(size, bytes(1))[:size]}


class WrongDwSizeSetterOfReturnedMessages(RemoteReads):
    """Set a wrong dwSize in the answers to some reads; a subclass selects which."""

    def change(self, size: int, position: MessagePosition) -> int:
        """Return the wrong size of a message."""
        raise NotImplementedError

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return _resize_packet(super().describe_remote_message(position), self.change, position)


@fault("server-dw-size-of-read-omits-body-padding", breaks=MESSAGE_SIZE_RULES_OF_ALL_READS, blind=True)
class ServerDwSizeOfReadOmitsBodyPadding(WrongDwSizeSetterOfReturnedMessages):
    """The dwSize of a read omits the bytes that pad the body of the message to a multiple of 4."""

    def change(self, size: int, position: MessagePosition) -> int:
        return size - -len(position.MessageReference.Body or b"") % 4


@fault("server-dw-size-of-read-has-only-low-16-bits", breaks=MESSAGE_SIZE_RULES_OF_ALL_READS, blind=True)
class ServerDwSizeOfReadHasOnlyLow16Bits(WrongDwSizeSetterOfReturnedMessages):
    """The dwSize of a read contains only the low 16 bits of PacketSize."""

    def change(self, size: int, position: MessagePosition) -> int:
        return size & 0xFFFF


@fault("server-read-dwsize-is-size-of-earlier-message", breaks=MESSAGE_SIZE_RULES_OF_ALL_READS, blind=True)
class ServerReadDwsizeIsSizeOfEarlierMessage(WrongDwSizeSetterOfReturnedMessages):
    """The dwSize of a read is the PacketSize of the first message that was read from the queue."""

    def change(self, size: int, position: MessagePosition) -> int:
        sizes: dict[int, int] = self.__dict__.setdefault("sizes", {})
        return sizes.setdefault(id(position.QueueReference), size)


@fault("server-returns-dw-size-4-too-large-for-peek-next", breaks=MESSAGE_SIZE_RULES, blind=True)
class ServerReturnsDwSize4TooLargeForPeekNext(RemoteReads):
    """The dwSize of a successful PEEK_NEXT is PacketSize plus 4."""

    is_answering_peek_next = False

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        self.is_answering_peek_next = entry is not None and entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        super().answer_read(call, status, entry)

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return _resize_packet(found, lambda size, _: size + 4, position) if self.is_answering_peek_next else found


@fault("server-returns-dw-size-4-too-large-for-read-that-waited", breaks=MESSAGE_SIZE_RULES, blind=True)
class ServerReturnsDwSize4TooLargeForReadThatWaited(CollectorOfReadsThatWaited):
    """The dwSize of a read that had to wait for its message is PacketSize plus 4."""

    is_answering_waited_read = False

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        self.is_answering_waited_read = entry in self.waited
        super().answer_read(call, status, entry)

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return _resize_packet(found, lambda size, _: size + 4, position) if self.is_answering_waited_read else found


class StatusChangerOfSuccessfulReads(CollectorOfReadsThatWaited):
    """Return a status other than MQ_OK for some successful reads; a subclass selects which."""

    def is_success_status_changed(self, entry: RemoteReadEntry) -> bool:
        """Return whether the status of a read is changed."""
        raise NotImplementedError

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        changed = entry is not None and status is Status.MQ_OK and self.is_success_status_changed(entry)
        super().answer_read(call, Status.MQ_ERROR if changed else status, entry)


@fault("server-read-that-waited-returns-error-status-with-message", breaks="MQQP-3.1.4.10-09", blind=True)
class ServerReadThatWaitedReturnsErrorStatusWithMessage(StatusChangerOfSuccessfulReads):
    """A read that had to wait for its message returns MQ_ERROR with the message."""

    def is_success_status_changed(self, entry: RemoteReadEntry) -> bool:
        return entry in self.waited


@fault("server-peek-next-returns-error-status-with-message", breaks="MQQP-3.1.4.10-09", blind=True)
class ServerPeekNextReturnsErrorStatusWithMessage(StatusChangerOfSuccessfulReads):
    """A successful PEEK_NEXT returns MQ_ERROR with the message."""

    def is_success_status_changed(self, entry: RemoteReadEntry) -> bool:
        return entry.Action is ReadAction.MQ_ACTION_PEEK_NEXT


@fault("server-read-of-large-message-returns-error-status-with-message", breaks="MQQP-3.1.4.10-09", blind=True)
class ServerReadOfLargeMessageReturnsErrorStatusWithMessage(StatusChangerOfSuccessfulReads):
    """A read of a message whose body has more than 8 KB returns MQ_ERROR with the message."""

    def is_success_status_changed(self, entry: RemoteReadEntry) -> bool:
        position = entry.UserMessagePacket
        return position is not None and len(position.MessageReference.Body or b"") > 0x2000
