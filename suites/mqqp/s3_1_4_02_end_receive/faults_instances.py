"""Faults of MS-MQQP 3.1.4.2 RemoteQMEndReceive that concern only one of several receives, queues or message kinds."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.remote.enums import RemoteReadAck
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

EndReceiveCallback = Callable[[Status], None]


@fault("server-end-receive-with-ack-keeps-large-message", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"), blind=True)
class ServerEndReceiveWithAckKeepsLargeMessage(RemoteReadEnding):
    """RemoteQMEndReceive with RR_ACK returns a message whose body has more than 4 KB to the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        large = position is not None and len(position.MessageReference.Body or b"") > 0x1000
        super().end_remote_read(entry, delete_message and not large, ended)


@fault("server-end-receive-with-ack-keeps-express-message", breaks=("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"), blind=True)
class ServerEndReceiveWithAckKeepsExpressMessage(RemoteReadEnding):
    """RemoteQMEndReceive with RR_ACK returns an express message to the queue."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        express = position is not None and position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS
        super().end_remote_read(entry, delete_message and not express, ended)


@fault("server-second-nack-of-message-removes-message", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerSecondNackOfMessageRemovesMessage(RemoteReadEnding):
    """RemoteQMEndReceive with RR_NACK removes a message that was already returned to the queue once."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        returned: set[int] = self.__dict__.setdefault("returned", set())
        again = position is not None and position.LookupIdentifier in returned
        if position is not None and not delete_message:
            returned.add(position.LookupIdentifier)
        super().end_remote_read(entry, delete_message or again, ended)


@fault("server-nack-leaves-message-locked-while-another-is-locked", breaks="MQQP-3.1.4.2-06", blind=True)
class ServerNackLeavesMessageLockedWhileAnotherIsLocked(TwoPhaseReading):
    """RemoteQMEndReceive with RR_NACK leaves the message locked while another message of its queue is locked."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: EndReceiveCallback,
        transactional: bool = False,
    ) -> None:
        queue = position.QueueReference
        others = [one for one in queue.MessagePositionList if one is not position]
        if not delete_message and any(one.State is MessagePositionState.LOCKED for one in others):
            ended(Status.MQ_OK)
            return
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("server-end-receive-ends-oldest-receive-of-handle", breaks="MQQP-3.1.4.2-11", blind=True)
class ServerEndReceiveEndsOldestReceiveOfHandle(RemoteReadEnding):
    """RemoteQMEndReceive ends the oldest receive of the queue handle that has not ended, instead of the receive of the
    context handle.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        if position is not None:
            locked = [
                one for one in position.QueueReference.MessagePositionList if one.State is MessagePositionState.LOCKED
            ]
            entry.UserMessagePacket = locked[0] if locked else position
        super().end_remote_read(entry, delete_message, ended)


@fault("server-even-dw-ack-counts-as-nack", breaks="MQQP-3.1.4.2-D02", blind=True)
class ServerEvenDwAckCountsAsNack(RemoteReadEnding):
    """RemoteQMEndReceive accepts every even dwAck as RR_NACK."""

    def remote_qm_end_receive(self, call: Call, now: Now) -> None:
        ack = call.arguments["dwAck"]
        if ack % 2 == 0 and call.handle is not None:
            call.arguments["dwAck"] = RemoteReadAck.RR_NACK
        super().remote_qm_end_receive(call, now)


@fault("server-nack-of-purged-message-restores-message", breaks="MQQP-3.1.4.2-12", blind=True)
class ServerNackOfPurgedMessageRestoresMessage(RemoteReadEnding):
    """When a receive ends with RR_NACK, RemoteQMEndReceive makes the message available again although the message was
    purged meanwhile.
    """

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: EndReceiveCallback) -> None:
        position = entry.UserMessagePacket
        if position is not None and position.State is MessagePositionState.PURGE_PENDING and not delete_message:
            position.State = MessagePositionState.LOCKED
        super().end_remote_read(entry, delete_message, ended)
