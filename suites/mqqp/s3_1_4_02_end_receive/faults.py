"""Faults of MS-MQQP 3.1.4.2 RemoteQMEndReceive."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import answering, called_unbound, change_request, error_for_success, throwing
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import Ack
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

RR_NACK, RR_ACK = bytes([1, 0, 0, 0]), bytes([2, 0, 0, 0])
ACKS = (RR_NACK, RR_ACK)

add(
    "rpc-unbound-RemoteQMEndReceive",
    "MQQP-3.1.4.2-05",
    "RemoteQMEndReceive is called on a context that was never agreed on.",
    called_unbound("RemoteQMEndReceive"),
)


@fault("remote-end-never-delivered", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"))
class NeverDelivered(RemoteEnding):
    """RR_ACK leaves the message."""

    def is_delivered(self, ack: int) -> bool:
        return False


@fault("remote-end-always-delivered", breaks="MQQP-3.1.4.2-06")
class AlwaysDelivered(RemoteEnding):
    """RR_NACK takes the message."""

    def is_delivered(self, ack: int) -> bool:
        return True


@fault("remote-end-not-ended", breaks="MQQP-3.1.4.2-12")
class NotEnded(RemoteEnding):
    """The message stays locked."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        entry.ended = True
        ended(Status.MQ_OK)


@fault("remote-end-other-read", breaks="MQQP-3.1.4.2-11")
class OtherReadEnded(RemoteEnding):
    """The first receive of the queue is ended."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            positions = descriptor.QueueReference.MessagePositionList
            locked = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(locked, entry.UserMessagePacket)
        super().end_remote_read(entry, delete_message, ended)


@fault(
    "remote-end-status-wrong",
    breaks=(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
    ),
)
class StatusWrong(RemoteEnding):
    """Success returns an error."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(answering(call, Return=error_for_success), now)


@fault(
    "remote-end-null-taken",
    breaks="MQQP-3.1.4.2-10",
)
class NullTaken(RemoteEnding):
    """NULL is ended with success."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(answering(call, Return=Status.MQ_OK), now)


@fault("remote-end-handle-kept", breaks=("MQQP-3.1.4.2-16", "MQQP-2.2.1.2-01"))
class HandleKept(RemoteEnding):
    """The handle stays."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(answering(call, pphContext=call.handle), now)


add(
    "remote-end-any-ack",
    "MQQP-3.1.4.2-D02",
    "A dwAck that is neither 1 nor 2 is RR_NACK.",
    change_request("RemoteQMEndReceive", 24, lambda stub: stub[:20] + (stub[20:] if stub[20:] in ACKS else RR_NACK)),
)
add(
    "remote-end-throws",
    "MQQP-3.1.4.2-D03",
    "RemoteQMEndReceive throws what it refuses.",
    throwing(RemoteEnding.remote_qm_end_receive),
)

# -- the client -------------------------------------------------------------------------------------------------------


@fault("remote-read-ended-first", breaks="MQQP-3.1.4.2-04")
class EndedFirst(ClientReading):
    """A receive is ended before it is begun."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.end_receive(read.entry, Ack.RR_ACK)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.end_receive(read.entry, Ack.RR_ACK)
        return (yield from super().start_receive2(read))


@fault("message-given-back-goes-to-the-end", breaks="MQQP-3.1.4.2-06", blind=True)
class MessageGivenBackGoesToTheEnd(RemoteEnding):
    """A message that its reader gives back is put behind the others."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position is not None and position.State is MessagePositionState.AVAILABLE:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.AVAILABLE
            positions.insert(position)


@fault("end-receive-ends-the-first-that-is-held", breaks="MQQP-3.1.4.2-11", blind=True)
class EndReceiveEndsTheFirstThatIsHeld(RemoteEnding):
    """Whatever the handle, the first message of the queue that is held is taken out, or given back."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            positions = position.QueueReference.MessagePositionList
            held = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(held, position)
        super().end_remote_read(entry, delete_message, ended)
