"""Steps that checks of transactional sequences share: the SUT sends a sequence, and the steps read its abstract data
model and its queues.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.conversation import Conversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import find_outgoing_queue
from suites.mqqb.steps.ordering import build_final_ack, build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender

SYSTEM_JOURNAL = "system$;journal"
DEAD_LETTERS = "system$;deadxact"
RESENT_OUTCOME, NOT_RESENT_OUTCOME = "resent", "not resent"
"""The two outcomes of a resend, as text for verdicts."""
FIRST_RESEND_INTERVAL_MS = 30_000
"""The first entry of ResendTimerTable, in ms (MS-MQQB 3.1.1.3, note <24>)."""


class SequenceSentBySut:
    """Lets the SUT send one sequence to the peer, whose core does not receive the sequence. ``queue``: a separate queue
    for a check that needs the whole sequence.
    """

    def __init__(self, peer: Peer, sut: Sut, queue: str = "mqc-peer") -> None:
        self.peer = peer
        self.sut = sut
        self.to = peer.direct_name(queue)
        self.sender = Sender(peer, sut, self.to)
        self.sent: list[Frame] = []
        self.identifiers: list[str] = []
        """The identifiers of the sent messages, as the control channel returns them."""
        self.tags: list[int] = []
        """The ApplicationTags of the sent messages. Messages of other tests have different tags."""

    def send(self, count: int = 1, delivery: str = "transactional", **fields: Any) -> list[Frame]:
        """Let the SUT send messages; return the packets that arrived. Raise ConformanceFailure if a
        message is missing.
        """
        first = len(self.tags)
        self.tags += [self.peer.next_message_id() for _ in range(count)]
        self.identifiers += self.sender.send(*self.tags[first:], delivery=delivery, **fields)
        for number in range(first + 1, len(self.tags) + 1):
            self._await_copy_of_message(number)
            copies = self.copies(number)
            if not copies or bool(copies[0]["UserHeader"].TH) != (delivery == "transactional"):
                raise ConformanceFailure("the SUT's message did not arrive with the requested properties")
            self.sent.append(copies[0])
        return self.sent[first:]

    def _await_copy_of_message(self, number: int) -> None:
        self.peer.environment.run_until(lambda: bool(self.copies(number)), self.sut.connect_timeout_ms)

    def start_second_sequence(self, queue: str) -> SequenceSentBySut:
        """Return an object with which the SUT sends a second sequence, to a different queue of the peer."""
        other = copy(self)
        other.sender = copy(self.sender)
        other.sent, other.identifiers, other.tags = [], [], []
        other.set_destination_queue(queue)
        return other

    def set_destination_queue(self, queue: str) -> None:
        """Let the SUT send to a different queue of the peer from now on."""
        self.to = self.sender.to = self.peer.direct_name(queue)

    @property
    def session(self) -> Conversation:
        """Return the session on which the SUT sent the last message of the sequence. Raise ConformanceFailure if that
        session is closed.
        """
        found = self._list_open_sessions()
        if not found:
            raise ConformanceFailure("the SUT has no session to the peer")
        return found[-1]

    def _list_open_sessions(self) -> list[Conversation]:
        """Return the open sessions on which messages of the sequence arrived."""
        open_ = [one for one in self.peer.open_conversations if one.record.closed_by is None]
        return [one for one in open_ if self.list_sequence_numbers_on_session(one)]

    def await_session(self) -> Conversation:
        """Wait until the SUT sends the messages of the sequence on a new session after the end of the earlier session;
        return the new session.
        """
        self.peer.environment.run_until(lambda: bool(self._list_open_sessions()), self.sut.connect_timeout_ms)
        return self.session

    def list_sequence_numbers_on_session(self, session: Conversation) -> list[int]:
        """Return the numbers of the messages that arrived on a session, in order. The first message that
        the SUT sent has number 1.
        """
        return [self.tags.index(tag) + 1 for tag in Sender.list_tags(session.messages) if tag in self.tags]

    def copies(self, number: int) -> list[Frame]:
        """Return all packets, on any session, that contain the message with the given number."""
        return [frame for frame in self.peer.inbox.copies if Sender.list_tags([frame]) == [self.tags[number - 1]]]

    def await_resend(self, number: int) -> str:
        """Wait for the longest time after which the SUT may resend the message with the given number; return a
        description of whether the SUT resent the message.
        """
        known = len(self.copies(number))
        within_ms = (
            self.sut.duration_ms(FIRST_RESEND_INTERVAL_MS)
            + self.sut.slack_ms(FIRST_RESEND_INTERVAL_MS)
            + self.sut.connect_timeout_ms
        )
        self.peer.environment.run_until(lambda: len(self.copies(number)) > known, within_ms)
        return RESENT_OUTCOME if len(self.copies(number)) > known else NOT_RESENT_OUTCOME

    def send_order_ack(self, number: int, **changes: Any) -> Frame:
        """Send the OrderAck of the message with the given number. The first message has number 1."""
        return self.session.send(build_order_ack(self.peer, self.sent[number - 1], **changes))

    def send_final_ack(self, number: int, **changes: Any) -> Frame:
        """Send the FinalAck that refuses the message with the given number; ``changes``: see ``build_final_ack``."""
        return self.session.send(build_final_ack(self.peer, self.sent[number - 1], **changes))

    def send_session_ack(self) -> Frame:
        """Send the SessionAck of all messages that have arrived on the session, without an OrderAck."""
        frame = self.session.acknowledge_all()
        self.peer.settle()
        return frame

    def acknowledge_all(self) -> None:
        """Send the SessionAck and the OrderAck of all messages, so that the SUT resends no message."""
        self.session.acknowledge_all()
        self.session.send(build_order_ack(self.peer, self.sent[-1]))
        self.peer.settle()

    # -- elements of the abstract data model ----------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """Return the elements that the SUT shows of the session on which it sends the sequence."""
        found = [one for one in self.sut.inspect()["Sessions"] if one.get("OutgoingQueueReference") == self.to]
        if not found:
            raise ConformanceFailure(f"the SUT shows no session whose OutgoingQueueReference is {self.to}")
        return dict(found[-1])

    def read_sequence(self) -> dict[str, Any]:
        """Return TxOutgoingSequence of the session."""
        found = read_data_model_element(self.shown(), "TxOutgoingSequence")
        if found is None:
            raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
        return dict(found)

    def read_transfer_info(self) -> dict[str, Any]:
        """Return OutgoingTransferInfo of the queue (MS-MQDMPR 3.1.1.4)."""
        return dict(read_data_model_element(find_outgoing_queue(self.sut, self.to), "OutgoingTransferInfo"))

    def await_transfer_info_value(self, name: str, value: int) -> bool:
        """Wait until an element of OutgoingTransferInfo has the given value; return whether the element
        has this value.
        """
        return self.peer.eventually(lambda: read_data_model_element(self.read_transfer_info(), name) == value)

    def list_unacknowledged_numbers(self) -> list[int]:
        """Return the numbers in UnackedSequence, in its order."""
        return [int(one["SeqNo"]) for one in read_data_model_element(self.read_sequence(), "UnackedSequence")]


SequenceInfoTuple = tuple[int, int, int]
"""SeqID, SeqNo and PrevNo of a SEQUENCE_INFO (MS-MQMQ 2.2.5)."""


def read_sequence_info_of_transfer(info: dict[str, Any], name: str) -> SequenceInfoTuple:
    """Return an element of OutgoingTransferInfo whose type is SEQUENCE_INFO, as a Place."""
    found = read_data_model_element(info, name)
    seq_id, number, previous = (int(read_data_model_element(found, one)) for one in ("SeqID", "SeqNo", "PrevNo"))
    return seq_id, number, previous


def get_sequence_info(frame: Frame, further: int = 0) -> SequenceInfoTuple:
    """Return the SEQUENCE_INFO of a message, or that of the message ``further`` positions later in the sequence."""
    number = int(get_transaction_header(frame).TxSequenceNumber) + further
    return get_sequence_id_number(frame), number, number - 1


def get_transaction_header(frame: Frame) -> Any:
    """Return the TransactionHeader of a message."""
    return frame["TransactionHeader"]


def read_sequence_id(frame: Frame) -> tuple[int, int]:
    """Return the TxSequenceID of a message as TimeStamp and Ordinal. A later sequence has a greater value."""
    identifier = get_transaction_header(frame).TxSequenceID
    return identifier.TimeStamp, identifier.Ordinal


def get_sequence_id_number(frame: Frame) -> int:
    """Return the TxSequenceID of a message as the 64-bit number that a SEQUENCE_INFO contains."""
    stamp, ordinal = read_sequence_id(frame)
    return stamp << 32 | ordinal


def list_sequence_numbers(frames: list[Frame]) -> list[int]:
    """Return the TxSequenceNumbers of messages."""
    return [int(get_transaction_header(frame).TxSequenceNumber) for frame in frames]


def find_positions_of_messages_in_queue(sut: Sut, queue: str, identifiers: list[str]) -> list[int]:
    """Return which messages are in a queue of the SUT, as positions in the list of identifiers; the first position is
    1. The result contains a position once for each copy of its message in the queue.
    """
    found = Counter(one["message_id"] for one in sut.kept(queue))
    return [number for number, identifier in enumerate(identifiers, 1) for _ in range(found[identifier])]
