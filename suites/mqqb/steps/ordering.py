"""Steps that checks of transactional messages share. The SUT is the receiver or the sender of the messages."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.peer.conversation import RawConversation
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import Peer
from harness.peer.raw_ends import RawListener
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.sut.sut import Sut
from harness.wire import FinalAckBody, OrderAckBody, PrivateQueueFormatNameId, TxSequenceID, user_message
from suites.messages import Sequence
from suites.mqqb.steps.opening import LATEST_TIME_OF_EARLY_CLOSE_MS

ORDERING_ACK_LABEL = "QM Ordering Ack"
ORDER_ACK, ACK_RECEIVE, BAD_DST_Q = 0x00FF, 0x4000, 0x8000
FIRST_FINAL_ACK_CLASS = 0x4000
MESSAGE_CLASSES_OTHER_THAN_ORDER_AND_FINAL_ACKS = (0x0000, 0x0001, 0x0002)
"""The classes of ordinary messages, reports and acknowledgments of arrival. A message of these classes is neither an
OrderAck nor a FinalAck.
"""
BODY_SIZE = 0x24
ORDER_ACK_TIMEOUT_MS = 500
"""The value of OrderAckTimeout in ms (MS-MQQB 3.1.3.2, note <50>)."""
ORDER_QUEUE_PATH = r"PRIVATE$\order_queue$"

ADMIN_AND_RESPONSE_QUEUES_OF_PEER: Mapping[str, Any] = {
    "AQ": 2,
    "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=0x0A0B_0C0D),
    "RQ": 2,
    "ResponseQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=0x0A0B_0C0E),
}
"""UserHeader fields of a message whose administration queue and response queue are private queues of its sender."""


class AcknowledgedSequencePosition(NamedTuple):
    """The first fields of the body of an OrderAck or FinalAck, which identify a position in a sequence."""

    Ordinal: int
    TimeStamp: int
    TxSequenceNumber: int
    TxPreviousSequenceNumber: int


def read_acknowledged_sequence_position(frame: Frame) -> AcknowledgedSequencePosition:
    """Read the beginning of an acknowledgment's body."""
    body = bytes(frame["MessagePropertiesHeader"].MessageBody)
    if len(body) < struct.calcsize("<IIII"):
        raise ConformanceFailure(f"the body of the SUT's acknowledgment has {len(body)} bytes, but needs at least 16")
    return AcknowledgedSequencePosition(*struct.unpack_from("<IIII", body))


def is_order_or_final_ack(frame: Frame) -> bool:
    """Return whether a message is an OrderAck or FinalAck."""
    return ORDERING_ACK_LABEL in str(frame["MessagePropertiesHeader"].Label)


# -- the SUT as receiver -----------------------------------------------------------------------------------------


def get_private_queue_number(sut: Sut, queue: str) -> int:
    """Return the number by which a private name identifies a queue that the check made."""
    return int(sut.private_format_name(queue).rpartition("\\")[2], 16)


class Receiver:
    """Send a transactional sequence to the SUT as its receiver. The SUT may send its acknowledgments on
    any session.

    ``session``: the session on which the peer sends its messages.
    """

    def __init__(self, peer: Peer, sut: Sut, ordinal: int = 1) -> None:
        self.peer = peer
        self.sut = sut
        self.listener: RawListener = peer.inbox.listen()
        self.session: RawConversation = peer.open_raw()
        self.sequence = Sequence(peer, ordinal)
        self._begun = self.sequence.identifier
        self._polled = {False: 0, True: 0}
        """The number of OrderAcks (key False) and FinalAcks (key True) that earlier calls have returned."""

    def send(self, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **message: Any) -> Frame:
        """Send the next message of the sequence."""
        return self.session.send(self.sequence.message(user, **message))

    @property
    def messages(self) -> list[Frame]:
        """Return every message of the SUT without repetitions, except messages about earlier tests."""
        return self.peer.inbox.messages

    def list_acknowledgments(self, *, final: bool = False, among: list[Frame] | None = None) -> list[Frame]:
        """Return the OrderAcks, or the FinalAcks, that have arrived; ``among``: the packets to search instead of all
        messages without repetitions.
        """
        came = self.messages if among is None else among
        found = [(frame, int((frame.message or frame["MessagePropertiesHeader"]).MessageClass)) for frame in came]
        return [
            frame
            for frame, value in found
            if value not in MESSAGE_CLASSES_OTHER_THAN_ORDER_AND_FINAL_ACKS
            and (value >= FIRST_FINAL_ACK_CLASS) == final
            and not self._is_ack_of_sequence_of_earlier_test(frame)
        ]

    def _is_ack_of_sequence_of_earlier_test(self, frame: Frame) -> bool:
        """Return whether an acknowledgment is about a sequence of a test in the last hour. The SUT may send such an
        acknowledgment late, because it keeps unsent acknowledgments.
        """
        body = bytes(frame["MessagePropertiesHeader"].MessageBody)
        if len(body) < struct.calcsize("<II"):
            return False
        ordinal, stamp = struct.unpack_from("<II", body)
        begun = self._begun
        return begun.TimeStamp - 3_600 < stamp and (stamp, ordinal) < (begun.TimeStamp, begun.Ordinal)

    def await_acknowledgment(self, *, final: bool = False) -> Frame:
        """Call ``poll_acknowledgment``; raise ConformanceFailure if no acknowledgment arrives."""
        frame = self.poll_acknowledgment(final=final)
        if frame is None:
            raise ConformanceFailure(f"no {'FinalAck' if final else 'OrderAck'} arrived for the transactional messages")
        return frame

    def poll_acknowledgment(self, *, final: bool = False) -> Frame | None:
        """Wait for OrderAcks or FinalAcks that no earlier call has returned; return the last acknowledgment, or None if
        none arrives.
        """
        frame = self.poll(lambda: self.list_acknowledgments(final=final), self._polled[final])
        self._polled[final] = len(self.list_acknowledgments(final=final))
        return frame

    def await_last_acknowledgment(self, number: int) -> Frame | None:
        """Wait for the OrderAck of the last message, even if each message has its own OrderAck; return the last
        OrderAck.
        """
        known = self._polled[False]
        frame = self.poll_acknowledgment()
        while frame is not None and read_acknowledged_sequence_position(frame).TxSequenceNumber < number:
            frame = self.poll_acknowledgment()
        self.peer.environment.run_until(lambda: False, 3 * self.sut.duration_ms(ORDER_ACK_TIMEOUT_MS))
        came = self.list_acknowledgments()
        self._polled[False] = len(came)
        return came[-1] if len(came) > known else None

    def poll(self, wanted: Callable[[], list[Frame]], known: int | None = None) -> Frame | None:
        """Wait for new messages on any session; return the last message, or None if no message arrives."""
        within_ms = self.sut.duration_ms(ACK_TIMEOUT_MS) + self.sut.slack_ms(ACK_TIMEOUT_MS)
        known = len(wanted()) if known is None else known
        accepted, environment = self.peer.inbox.accepted, self.peer.environment
        sessions = len(accepted)
        environment.run_until(lambda: len(wanted()) > known or len(accepted) > sessions, within_ms)
        if len(accepted) > sessions:
            environment.run_until(lambda: len(wanted()) > known, within_ms)
        found = wanted()
        return found[-1] if len(found) > known else None


# -- the SUT as sender -------------------------------------------------------------------------------------------


def build_order_ack(peer: Peer, sent: Frame, *, base: Mapping[str, Any] = NO_CHANGED_FIELDS, **changes: Any) -> Any:
    """Build the OrderAck of a message of the SUT; ``changes``: fields with changed values."""
    header = sent["TransactionHeader"]
    body = OrderAckBody(
        TxSequenceID=_copy_sequence_identifier(sent),
        TxSequenceNumber=header.TxSequenceNumber,
        TxPreviousSequenceNumber=header.TxSequenceNumber - 1,
    )
    return _build_acknowledgment(peer, ORDER_ACK, bytes(body), base, 0, changes)


def build_final_ack(peer: Peer, sent: Frame, *, base: Mapping[str, Any] = NO_CHANGED_FIELDS, **changes: Any) -> Any:
    """Build the FinalAck that refuses a message of the SUT; ``changes``: see ``build_order_ack``."""
    header, user = sent["TransactionHeader"], sent["UserHeader"]
    body = FinalAckBody(
        TxSequenceID=_copy_sequence_identifier(sent),
        TxSequenceNumber=header.TxSequenceNumber,
        TxPreviousSequenceNumber=header.PreviousTxSequenceNumber,
        SourceGUID=user.SourceQueueManager,
        MessageID=user.MessageID,
    )
    return _build_acknowledgment(peer, BAD_DST_Q, bytes(body), base, 1, changes)


def build_unknown_ack(peer: Peer, *, final: bool = False, size: int = BODY_SIZE) -> Any:
    """Build an OrderAck or a FinalAck for an unknown sequence, which has no effect on an open session. ``size``: the
    size of its body in bytes.
    """
    identifier = TxSequenceID(Ordinal=1, TimeStamp=1)
    if final:
        refused = FinalAckBody(TxSequenceID=identifier, TxSequenceNumber=1, SourceGUID=peer.identifier, MessageID=1)
        return _build_acknowledgment(
            peer, BAD_DST_Q, bytes(refused)[:size].ljust(size, b"\0"), NO_CHANGED_FIELDS, 1, {}
        )
    ordered = OrderAckBody(TxSequenceID=identifier, TxSequenceNumber=1, TxPreviousSequenceNumber=0)
    return _build_acknowledgment(peer, ORDER_ACK, bytes(ordered)[:size].ljust(size, b"\0"), NO_CHANGED_FIELDS, 0, {})


EARLY_CLOSE_EXPECTATION = fields(
    {"SUT closed the sessions that are not open": [True, True], "SUT acknowledged a message on an open session": True}
)
"""The expected reactions to a packet that a SUT accepts only on an open session: see
``send_packet_in_states_before_open``.
"""


def send_packet_in_states_before_open(peer: Peer, packet: Any) -> tuple[dict[str, Any], list[Frame | None]]:
    """Send a packet on a session in each state before OPEN, and on an open session; return the
    reactions.

    Raise ConformanceFailure if a session without this packet also ends: in this case, the Session Initialization Timer
    may be the reason.
    """
    sut = peer.sut
    untouched = [peer.connect(), peer.request_session()]
    early, late = [peer.connect(), peer.request_session()], peer.open_raw()
    sent = [each.send(packet) for each in (*early, late)]
    within_ms = min(sut.response_timeout_ms, sut.duration_ms(LATEST_TIME_OF_EARLY_CLOSE_MS))
    closed = [each.wait_closed(within_ms) for each in early]
    if any(each.closed_by_sut for each in untouched):
        raise ConformanceFailure(
            "the SUT ends each session so early, before the session is open, that the cause cannot be determined"
        )
    answer = late.request_acknowledgment()
    observed = {
        "SUT closed the sessions that are not open": closed,
        "SUT acknowledged a message on an open session": answer is not None,
    }
    return observed, [*sent, *(each.last for each in early), answer]


def _copy_sequence_identifier(sent: Frame) -> TxSequenceID:
    identifier = sent["TransactionHeader"].TxSequenceID
    return TxSequenceID(Ordinal=identifier.Ordinal, TimeStamp=identifier.TimeStamp)


def _build_acknowledgment(
    peer: Peer, message_class: int, body: bytes, base: Mapping[str, Any], recoverable: int, changes: dict[str, Any]
) -> Any:
    usual: dict[str, Any] = {
        "destination": rf"TCP:{peer.sut.address}\{ORDER_QUEUE_PATH}",
        "MessageClass": message_class,
        "label": ORDERING_ACK_LABEL,
        "body": body,
    }
    return user_message(
        base={"PR": 0, **base},
        user={
            "SourceQueueManager": peer.identifier,
            "MessageID": peer.next_message_id(),
            "DM": recoverable,
            **changes.pop("user", {}),
        },
        **usual | changes,
    )
