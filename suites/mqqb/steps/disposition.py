"""Steps that open a session to the SUT, send messages, and read how the SUT stores and acknowledges them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations.protocol import get_class_name
from harness.peer.conversation import Conversation
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from harness.wire import MessageIdentifier
from suites.mqqb.steps.opening import format_guid
from suites.mqqb.steps.ordering import Receiver, is_order_or_final_ack


class AckClass(IntEnum):
    """The message classes of acknowledgments, MESSAGE_CLASS_VALUES of MS-MQMQ 2.2.18.1.6."""

    NORMAL = 0x0000
    REPORT = 0x0001
    REACH_QUEUE = 0x0002
    ORDER_ACK = 0x00FF
    RECEIVE = 0x4000
    BAD_DST_Q = 0x8000
    Q_EXCEED_QUOTA = 0x8003
    ACCESS_DENIED = 0x8004
    HOP_COUNT_EXCEEDED = 0x8005
    NOT_TRANSACTIONAL_Q = 0x8009
    NOT_TRANSACTIONAL_MSG = 0x800A
    Q_DELETED = 0xC000
    Q_PURGED = 0xC001
    RECEIVE_TIMEOUT = 0xC002


class QueueType(IntEnum):
    """Types of queues in UserHeader.Flags (MS-MQMQ 2.2.19.2)."""

    QUEUE_ON_DESTINATION = 3
    PUBLIC = 5
    DIRECT = 7


NORMAL, REPORT, REACH_QUEUE, ORDER_ACK, RECEIVE = 0x0000, 0x0001, 0x0002, 0x00FF, 0x4000
BAD_DST_Q, Q_EXCEED_QUOTA, HOP_COUNT_EXCEEDED = 0x8000, 0x8003, 0x8005
NOT_TRANSACTIONAL_Q, NOT_TRANSACTIONAL_MSG = 0x8009, 0x800A
Q_DELETED, Q_PURGED, RECEIVE_TIMEOUT = 0xC000, 0xC001, 0xC002
QUEUE_ON_DESTINATION, PUBLIC, DIRECT = 3, 5, 7
ADMINISTRATION_QUEUE_NAME = "mqc-acks"
OFFSET_OF_IDENTIFIER_IN_FINAL_ACK = 16
"""The offset of the message's identifier in the body of a FinalAck (MS-MQQB 2.2.5). The identifier
follows the sequence.
"""
MISSING_QUEUE = "private$\\mqc-nowhere"
"""A queue that the SUT does not have."""


def get_message_class(frame: Frame) -> int:
    """Return MessageClass of a message."""
    return int((frame.message or frame["MessagePropertiesHeader"]).MessageClass)


def list_message_class_names(frames: list[Frame]) -> list[str]:
    """Return the names of the classes of acknowledgments as text for ``observed``."""
    return [get_class_name(get_message_class(frame)) for frame in frames]


def format_message_classes(*values: int) -> list[str]:
    """Return the names of the given classes in the form of ``list_message_class_names``, for ``expected``."""
    return [get_class_name(value) for value in values]


def get_correlation_id(frame: Frame) -> str:
    """Return the CorrelationID of a message as hexadecimal text."""
    return bytes((frame.message or frame["MessagePropertiesHeader"]).CorrelationID).hex()


def get_final_ack_identifier(frame: Frame) -> str:
    """Return the MessageIdentifier in the body of a FinalAck, in the form that ``identifier`` returns."""
    return bytes(frame["MessagePropertiesHeader"].MessageBody)[OFFSET_OF_IDENTIFIER_IN_FINAL_ACK:].hex()[:40]


def identifier(message: Frame) -> str:
    """Return the identifier of a message in the form of a CorrelationID, which consists of Lineage and Uniquifier."""
    user = message["UserHeader"]
    whole = MessageIdentifier(QueueManagerGuid=user.SourceQueueManager, Ordinal=user.MessageID)
    return bytes(whole).hex()


def receive_first_message(sut: Sut, queue: str) -> None:
    """Let an application receive the first message of a queue."""
    sut.control.call("receive", queue=queue, timeout_ms=0)


def purge_queue(sut: Sut, queue: str) -> None:
    """Let an application purge a queue."""
    sut.control.call("purge", queue=queue)


def delete(sut: Sut, queue: str) -> None:
    """Let an application delete a queue."""
    sut.delete_queue(queue)


class AcknowledgingReceiver(Receiver):
    """Send messages to the SUT on one session, with an administration queue at the peer, and store the acknowledgments
    that the SUT sends.
    """

    def __init__(self, peer: Peer, sut: Sut, ordinal: int = 1) -> None:
        super().__init__(peer, sut, ordinal)

    def build_message(
        self, user: Mapping[str, Any] = NO_CHANGED_FIELDS, *, queue: str = "plain", **headers: Any
    ) -> Any:
        """Build a message with an administration queue, for a queue of the SUT (plain, transactional, admin)."""
        return self.peer.message(self.add_admin_queue_fields(user), queue=queue, **headers)

    def add_admin_queue_fields(self, user: Mapping[str, Any] = NO_CHANGED_FIELDS) -> dict[str, Any]:
        """Return the given fields of UserHeader and the fields that name an administration queue of the peer."""
        return {"AdminQueue": rf"TCP:{self.peer.address}\private$\{ADMINISTRATION_QUEUE_NAME}", **user}

    def send_packet(self, packet: Any) -> Frame:
        """Send a packet on the session of the peer."""
        return self.session.send(packet)

    def list_admin_acks(self) -> list[Frame]:
        """Return the administration acknowledgments that have arrived, regardless of their destination."""
        found = [frame for frame in self.messages if get_message_class(frame) not in (NORMAL, REPORT, ORDER_ACK)]
        return [frame for frame in found if not is_order_or_final_ack(frame)]

    def list_acks_of_class(self, value: int, *sent: Frame) -> list[Frame]:
        """Return the administration acknowledgments of a class that have arrived for the given messages."""
        wanted = {identifier(message) for message in sent}
        return [
            ack
            for ack in self.list_admin_acks()
            if get_message_class(ack) == value and get_correlation_id(ack) in wanted
        ]

    def list_final_acks(self) -> list[Frame]:
        """Return the FinalAcks that have arrived."""
        return [frame for frame in self.list_acknowledgments(final=True) if is_order_or_final_ack(frame)]

    @staticmethod
    def is_report(frame: Frame) -> bool:
        """Return whether a message is a report on a traced message: its class is MQMSG_CLASS_REPORT, or its destination
        is a public queue.
        """
        return get_message_class(frame) == REPORT or bool(frame["UserHeader"].DQ == PUBLIC)

    def list_forwarded_messages(self) -> list[Frame]:
        """Return the messages that the peer sent and that the SUT has forwarded back to the peer."""
        return [frame for frame in self.messages if frame["UserHeader"].SourceQueueManager == self.peer.identifier]

    def list_reports(self) -> list[Frame]:
        """Return the reports about traced messages that have arrived."""
        return [frame for frame in self.messages if self.is_report(frame)]

    def await_acks(self, count: int) -> list[Frame]:
        """Wait for the given number of administration acknowledgments; return all acknowledgments that arrived."""
        return self.await_messages_of_sut(self.list_admin_acks, count)

    def await_messages_of_sut(self, wanted: Callable[[], list[Frame]], count: int) -> list[Frame]:
        """Wait for the given number of messages of the SUT, and then for a short time for further messages; return all
        messages that arrived.
        """
        while len(wanted()) < count and self.poll(wanted) is not None:
            pass
        inbox, environment = self.peer.inbox, self.peer.environment
        inbox.acknowledge(spare=self.session)  # otherwise the SUT could repeat its messages during a long wait
        environment.run_until(
            lambda: len(wanted()) > count or bool(inbox.connections_without_session), self.sut.quiet_ms
        )
        if inbox.connections_without_session and environment.run_until(
            lambda: not inbox.connections_without_session, self.sut.response_timeout_ms
        ):
            environment.run_until(lambda: len(wanted()) > count, self.sut.quiet_ms)
        inbox.acknowledge(spare=self.session)
        return wanted()

    def require_session_ack(self) -> Frame:
        """Return a SessionAck from the SUT on the peer's session; raise ConformanceFailure if none arrives. Without
        this SessionAck, the silence of the SUT would prove nothing, because the SUT might receive no message on the
        session.
        """
        return self.session.require_session_ack_for_message()

    def acknowledge_all(self) -> None:
        """Acknowledge all messages of the SUT, including the messages on the peer's session, where FinalAcks may
        arrive. After this step, the peer must not send further packets (erratum E19).
        """
        self.peer.inbox.acknowledge()

    def send_and_await_acks(self, packet: Any, count: int = 1) -> tuple[Frame, Frame]:
        """Send a packet; return the packet and the last of ``count`` administration acknowledgments. Raise
        ConformanceFailure if fewer acknowledgments arrive.
        """
        sent = self.send_packet(packet)
        came = self.await_acks(count)
        if len(came) < count:
            raise ConformanceFailure("no acknowledgment arrived in the administration queue")
        return sent, came[count - 1]


def private_queue(guid: UUID, number: int) -> dict[str, Any]:
    """Return the UserHeader fields of a message to a private queue of a queue manager."""
    return Peer.build_fields_for_private_destination(guid, number)


DEAD_LETTERS = ("system$;deadletter", "system$;deadxact")
IN_NO_QUEUE_OUTCOME = "in no queue"


def find_queues_with_message(sut: Sut, sent: Iterable[Frame], *kinds: str) -> str:
    """Describe which messages of the peer are in the queues of the check, by kind, or in the SUT's
    dead-letter queues.

    Return ``IN_NONE`` also if the control channel shows no queues. In this case, only other effects of a message show
    whether the SUT accepted it.
    """
    if not sut.has("receive"):
        return IN_NO_QUEUE_OUTCOME
    wanted = {f"{frame['UserHeader'].SourceQueueManager}\\{frame['UserHeader'].MessageID}" for frame in sent}
    places = {kind: sut.messages(kind) for kind in kinds} | {queue: sut.kept(queue) for queue in DEAD_LETTERS}
    found = [
        f"{one['label'] or one['message_id']} in {place}"
        for place, there in places.items()
        for one in there
        if format_guid(str(one["message_id"]).replace("}", "")) in wanted
    ]
    return ", ".join(found) or IN_NO_QUEUE_OUTCOME


def await_arrival(sut: Sut, conversation: Conversation, label: str, queue: str) -> str:
    """Wait for a message in the queue of the SUT with the given path name; return a description of
    whether the message has arrived.
    """
    return "stored in its queue" if conversation.peer.await_label(label, queue) else "not stored in its queue"


def find_history_entry(sut: Sut, message: Frame) -> dict[str, Any] | None:
    """Return the MessageIDHistoryEntry of a message (MS-MQQB 3.1.1.3)."""
    user = message["UserHeader"]
    wanted = (format_guid(user.SourceQueueManager), user.MessageID)
    for entry in sut.inspect()["QueueManager"]["MessageIDHistoryTable"]:
        found = entry["MessageIdentifier"]
        if (format_guid(found["QueueManagerGuid"]), found["Ordinal"]) == wanted:
            return dict(entry)
    return None
