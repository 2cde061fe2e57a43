"""Faults of MS-MQQP 3.1.4.2 RemoteQMEndReceive."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import (
    call_unbound,
    change_answer_values,
    change_request,
    error_for_success,
    throw_refusals,
)
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
END_RECEIVE_ACKS = (RR_NACK, RR_ACK)

add(
    "client-end-receive-on-unknown-context",
    "MQQP-3.1.4.2-05",
    "The client calls RemoteQMEndReceive on a presentation context that the server did not accept.",
    call_unbound("RemoteQMEndReceive"),
)


@fault("server-end-receive-ack-leaves-message", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"))
class ServerEndReceiveAckLeavesMessage(RemoteEnding):
    """RemoteQMEndReceive with RR_ACK leaves the message in the queue."""

    def is_delivered(self, ack: int) -> bool:
        return False


@fault("server-end-receive-nack-removes-message", breaks="MQQP-3.1.4.2-06")
class ServerEndReceiveNackRemovesMessage(RemoteEnding):
    """RemoteQMEndReceive with RR_NACK removes the message."""

    def is_delivered(self, ack: int) -> bool:
        return True


@fault("server-end-receive-leaves-message-locked", breaks="MQQP-3.1.4.2-12")
class ServerEndReceiveLeavesMessageLocked(RemoteEnding):
    """RemoteQMEndReceive leaves the message locked."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        entry.ended = True
        ended(Status.MQ_OK)


@fault("server-end-receive-ends-first-receive", breaks="MQQP-3.1.4.2-11")
class ServerEndReceiveEndsFirstReceive(RemoteEnding):
    """RemoteQMEndReceive ends the receive of the first locked message of the queue instead of the receive of its
    context handle.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        descriptor = self.qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None and descriptor.QueueReference is not None:
            positions = descriptor.QueueReference.MessagePositionList
            locked = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(locked, entry.UserMessagePacket)
        super().end_remote_read(entry, delete_message, ended)


@fault(
    "server-end-receive-success-returns-error",
    breaks=(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
    ),
)
class ServerEndReceiveSuccessReturnsError(RemoteEnding):
    """RemoteQMEndReceive returns an error status instead of MQ_OK when it succeeds."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, Return=error_for_success), now)


@fault(
    "server-end-receive-null-handle-accepted",
    breaks="MQQP-3.1.4.2-10",
)
class ServerEndReceiveNullHandleAccepted(RemoteEnding):
    """RemoteQMEndReceive with the context handle NULL returns MQ_OK."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, Return=Status.MQ_OK), now)


@fault("server-end-receive-returns-its-handle", breaks=("MQQP-3.1.4.2-16", "MQQP-2.2.1.2-01"))
class ServerEndReceiveReturnsItsHandle(RemoteEnding):
    """RemoteQMEndReceive returns its context handle instead of NULL."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        super().remote_qm_end_receive(change_answer_values(call, pphContext=call.handle), now)


add(
    "server-end-receive-unlisted-ack-accepted",
    "MQQP-3.1.4.2-D02",
    "RemoteQMEndReceive treats a dwAck other than 1 and 2 as RR_NACK.",
    change_request(
        "RemoteQMEndReceive", 24, lambda stub: stub[:20] + (stub[20:] if stub[20:] in END_RECEIVE_ACKS else RR_NACK)
    ),
)
add(
    "server-end-receive-throws-errors",
    "MQQP-3.1.4.2-D03",
    "RemoteQMEndReceive throws its errors instead of returning them.",
    throw_refusals(RemoteEnding.remote_qm_end_receive),
)

# -- the client -------------------------------------------------------------------------------------------------------


@fault("client-end-receive-before-receive", breaks="MQQP-3.1.4.2-04")
class ClientEndReceiveBeforeReceive(ClientReading):
    """The client calls RemoteQMEndReceive before it calls the method that starts the receive."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.end_receive(read.entry, Ack.RR_ACK)
        return (yield from super().start_receive(read))

    def start_receive2(self, read: RemoteRead) -> Sequence:
        assert read.entry is not None
        yield from self.end_receive(read.entry, Ack.RR_ACK)
        return (yield from super().start_receive2(read))


@fault("server-nacked-message-moved-to-end", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackedMessageMovedToEnd(RemoteEnding):
    """RemoteQMEndReceive with RR_NACK puts the message at the end of its queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        super().end_remote_read(entry, delete_message, ended)
        position = entry.UserMessagePacket
        if not delete_message and position is not None and position.State is MessagePositionState.AVAILABLE:
            positions = position.QueueReference.MessagePositionList
            positions.remove(position)
            position.State = MessagePositionState.AVAILABLE
            positions.insert(position)


@fault("server-end-receive-ends-first-locked-message", breaks="MQQP-3.1.4.2-11", blind=True)
class ServerEndReceiveEndsFirstLockedMessage(RemoteEnding):
    """RemoteQMEndReceive ignores its context handle, and deletes or keeps the first locked message of the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            positions = position.QueueReference.MessagePositionList
            held = (one for one in positions if one.State is MessagePositionState.LOCKED)
            entry.UserMessagePacket = next(held, position)
        super().end_remote_read(entry, delete_message, ended)
