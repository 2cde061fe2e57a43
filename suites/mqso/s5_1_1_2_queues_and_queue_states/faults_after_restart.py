"""Faults in cursors after a restart, and in outgoing queues of one kind."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, only_if, replace_part
from harness.faults.primitives import at_restart, both
from harness.faults.registry import add
from reference_qm.codec import PrivateName, parse_format_name
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class _CursorsAtSecondMessageAfterRestart(Cursors):
    """After a restart, opens a cursor at the second message, where a cursor stood before the restart."""

    restarted = False

    def open(self, queue_desc: OpenQueueDescriptor) -> Cursor | None:
        cursor = super().open(queue_desc)
        if cursor is not None and self.restarted:
            self.get_message_for_peek(cursor)
            self.get_next_message_for_peek(cursor)
        return cursor


def _note_restart(qm: QueueManager) -> None:
    qm.cursors.__dict__["restarted"] = True


add(
    "restarted-queue-manager-new-cursor-at-place-of-old-cursor",
    "MQSO-5.1.1-D01",
    "After a restart, a new cursor stands at the second message, where a cursor stood before the restart.",
    both(replace_part(_CursorsAtSecondMessageAfterRestart), at_restart(_note_restart)),
)


@fault("restarted-queue-manager-closes-cursor-of-earlier-run", breaks="MQSO-5.1.1-D01")
class RestartedQueueManagerClosesCursorOfEarlierRun(QueueCommands):
    """After a restart, the queue manager closes a cursor that was opened before the restart, without an error."""

    def close_cursor(self, request: commands.CloseCursor, token: int, now: Now) -> Any:
        if not any(request.cursor in one.CursorCollection for one in self.qm.descriptors.values()):
            return Result()
        return super().close_cursor(request, token, now)


@fault("restarted-queue-manager-reads-with-cursor-of-earlier-run", breaks="MQSO-5.1.1-D01")
class RestartedQueueManagerReadsWithCursorOfEarlierRun(QueueCommands):
    """After a restart, the queue manager reads with a cursor of the earlier run from the first queue with messages."""

    def _find_cursor(self, handle: int) -> Cursor:
        known = any(handle in one.CursorCollection for one in self.qm.descriptors.values())
        queue = next((one for one in self.qm.adm.QueueCollection.values() if len(one.MessagePositionList)), None)
        if known or queue is None:
            return super()._find_cursor(handle)
        descriptor = self._open_descriptor(queue.Pathname, QueueAccessType.RECEIVE, QueueShareMode.DENY_NONE)
        cursor = self.qm.cursors.open(descriptor)
        assert cursor is not None
        return cursor


@fault("sender-private-queues-of-one-host-share-outgoing-queue", breaks="MQSO-5.1.1.2-D07")
class SenderPrivateQueuesOfOneHostShareOutgoingQueue(Destinations):
    """The sender has one outgoing queue for all queues of a queue manager that are addressed by private names."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName):
            for known in self.qm.adm.OutgoingQueues.values():
                other = parse_format_name(known.DestinationFormatName)
                if isinstance(other, PrivateName) and other.ComputerGuid == name.ComputerGuid:
                    return known
        return super().open_outgoing(text, now)


@fault("sender-direct-queues-of-one-host-share-outgoing-queue", breaks="MQSO-5.1.1.2-D07")
class SenderDirectQueuesOfOneHostShareOutgoingQueue(Destinations):
    """The sender has one outgoing queue for all queues of an address that are addressed by direct names."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        host = text.partition("\\")[0].lower()
        found = [one for name, one in self.qm.adm.OutgoingQueues.items() if name.startswith("direct=")]
        shared = next((one for one in found if one.Pathname.partition("\\")[0].lower() == host), None)
        return super().open_outgoing(text, now) if shared is None else shared


@fault("sender-outgoing-queue-not-connected-again-after-second-loss", breaks="MQSO-5.1.1.2-D09")
class SenderOutgoingQueueNotConnectedAgainAfterSecondLoss(Closing):
    """The sender does not wait to connect an outgoing queue again if its connection is lost a second time."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        lost = self.__dict__.setdefault("lost", set())
        self.__dict__["again"] = session.number in lost
        lost.add(session.number)
        super().on_transport_lost(session, reason, now)
        self.__dict__["again"] = False

    def await_reconnect(self, session: Session, now: Now) -> None:
        if not self.__dict__.get("again"):
            super().await_reconnect(session, now)


@fault("sender-one-lost-outgoing-queue-connected-again", breaks="MQSO-5.1.1.2-D09")
class SenderOneLostOutgoingQueueConnectedAgain(Closing):
    """The sender does not wait to connect an outgoing queue again while a different outgoing queue waits."""

    @only_if(
        lambda self, session, now: any(
            one.SessionState.value == "WAITING_RECONNECT" for one in self.qm.sessions.values() if one is not session
        )
    )
    def await_reconnect(self, session: Session, now: Now) -> None:
        pass


@fault("receiver-order-acknowledgment-of-private-name-to-admin-queue", breaks="MQSO-5.1.1.2-D14")
class ReceiverOrderAcknowledgmentOfPrivateNameToAdminQueue(OrderAcks):
    """The receiver sends an OrderAck to queue 1 of the sender if the message was addressed by a private name."""

    def name_order_queue(self, session: Session, source: Any) -> str:
        name = super().name_order_queue(session, source)
        return f"PRIVATE={source}\\00000001" if name.startswith("PRIVATE=") else name
