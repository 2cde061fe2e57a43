"""MS-MQDMPR 3.1.7.1.15, 3.2.7.2 to 3.2.7.4: reads of messages that differ in size, priority and delivery mode, by
several cursors of a queue, while another queue is open.
"""

from __future__ import annotations

import pytest

from harness.expectations import each, facts, holds
from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Action
from harness.wire.rpc_qmcomm import PEEK_ACCESS
from suites import messages

pytestmark = needs("qm2qm")

SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 400, 600_000
"""Two timeouts in ms: the first expires during a check; the second is longer than any check, even on a system that
stalls.
"""
LARGE_BODY = BODY_OF_MESSAGES_FROM_PEER * 400
ILLEGAL_CURSOR_STATUS, NOT_FOUND_STATUS = "MQ_ERROR_ILLEGAL_CURSOR_ACTION", "MQ_ERROR_MESSAGE_NOT_FOUND"
ALREADY_RECEIVED_STATUS, TIMEOUT_STATUS = "MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_IO_TIMEOUT"
PRIORITY_BY_LABEL = {"a": 6, "b": 3, "c": 3, "d": 0, "e": 0}
"""The priority of each message of a nontransactional queue; the labels are in the order of the queue."""
LABELS_OF_LARGE_MESSAGES, LABELS_OF_EXPRESS_MESSAGES = "acd", "ad"
parametrize_queue_kind = pytest.mark.parametrize("kind", ["plain", "transactional"])


class MessagesOfPeer:
    """The messages that the peer sends to one queue of the SUT."""

    def __init__(self, remote, kind):
        self.remote, self.kind = remote, kind
        self.sessions = 0

    def send(self, labels):
        """Send messages with the given labels, in a new session and, to a transactional queue, in a new sequence. In a
        nontransactional queue, each label has its own priority.
        """
        self.sessions += 1
        sequence = messages.Sequence(self.remote.peer, self.sessions)
        self.remote.send_messages_and_require_acks([self._build_message_to_queue(label, sequence) for label in labels])

    def _build_message_to_queue(self, label, sequence):
        body = LARGE_BODY if label in LABELS_OF_LARGE_MESSAGES else BODY_OF_MESSAGES_FROM_PEER
        if self.kind == "transactional":
            return sequence.message(label=label, body=body)
        base, delivery = {"PR": PRIORITY_BY_LABEL[label]}, {"DM": 0 if label in LABELS_OF_EXPRESS_MESSAGES else 1}
        return self.remote.peer.message(delivery, base=base, queue=self.kind, label=label, body=body)


def open_filled_queue(remote, kind):
    """Open a queue with the messages a, b, c and d, and a second queue with other messages; return the first queue."""
    remote.open("admin")
    remote.deliver(["elsewhere", "elsewhere too"], queue="admin")
    queue = remote.open(kind)
    MessagesOfPeer(remote, kind).send("abcd" if kind == "transactional" else "bcad")
    return queue


def receive_message_and_return_it_to_queue(queue, cursor):
    """Receive a message by a cursor and return it to the queue; return the receive."""
    read = queue.start_receive(hCursor=cursor)
    if read.outcome == "MQ_OK":
        queue.put_message_back(read)
    return read


PEEK_RULES = (
    "MQDMPR-3.1.7.1.15-10",
    "MQDMPR-3.1.7.1.15-12",
    "MQDMPR-3.1.7.1.15-13",
    "MQDMPR-3.2.7.2-03",
    "MQDMPR-3.2.7.2-16",
    "MQDMPR-3.2.7.2-17",
    "MQDMPR-3.2.7.2-18",
    "MQDMPR-3.2.7.2-19",
    "MQDMPR-3.2.7.2-24",
)
PEEK_NEXT_RULES = (
    "MQDMPR-3.2.7.3-03",
    "MQDMPR-3.2.7.3-19",
    "MQDMPR-3.2.7.3-20",
    "MQDMPR-3.2.7.3-21",
    "MQDMPR-3.2.7.3-22",
)
RULES_OF_PEEKS_WITHOUT_CURSOR = ("MQDMPR-3.1.7.1.15-38", "MQDMPR-3.1.7.1.15-58")
ACTION_TIMEOUT_AND_LABEL_OF_PEEKS = (
    ("peek", LONG_READ_TIMEOUT_MS, "a"),
    ("peek", 0, "a"),
    ("peek", LONG_READ_TIMEOUT_MS, "a"),
    ("next", LONG_READ_TIMEOUT_MS, "b"),
    ("peek", LONG_READ_TIMEOUT_MS, "b"),
    ("next", 0, "c"),
    ("peek", 0, "c"),
    ("next", LONG_READ_TIMEOUT_MS, "d"),
    ("peek", LONG_READ_TIMEOUT_MS, "d"),
    ("peek", 0, "d"),
    ("next", 0, Call.FAILURE_HRESULT_TEXT),
)
"""The steps of a cursor through a queue with four messages: the kind of peek, its timeout and its result."""
PEEK_ACTION_BY_NAME = {"peek": Action.PEEK_CURRENT, "next": Action.PEEK_NEXT}


@parametrize_queue_kind
@covers(*PEEK_RULES, *PEEK_NEXT_RULES, *RULES_OF_PEEKS_WITHOUT_CURSOR)
def test_two_cursors_reach_each_kind_of_message(remote, judge, kind):
    """The first and the fourth of four cursors of a handle move from message to message. The messages are small and
    large, express and recoverable with three priorities, or transactional. Peeks without a cursor return the first
    message, with and without a timeout, through this handle and through a handle that was opened to peek.
    """
    queue, peeking = open_filled_queue(remote, kind), remote.open(kind, access=PEEK_ACCESS)
    early, *between, late = (queue.open_cursor() for _ in range(4))
    for cursor in (early, late):
        steps = [
            (name, queue.read(PEEK_ACTION_BY_NAME[name], hCursor=cursor, ulTimeout=timeout_ms))
            for name, timeout_ms, _ in ACTION_TIMEOUT_AND_LABEL_OF_PEEKS
        ]
        for wanted, rules in (("peek", PEEK_RULES), ("next", PEEK_NEXT_RULES)):
            reads = [read for name, read in steps if name == wanted]
            judge(
                *rules,
                expected=[label for name, _, label in ACTION_TIMEOUT_AND_LABEL_OF_PEEKS if name == wanted],
                observed=[read.label_or_failure for read in reads],
                evidence=reads,
                case=f"reads of the kind {wanted}",
            )
    for cursor in between:
        queue.peek(hCursor=cursor).expect_success()
    front = [
        reader.peek(ulTimeout=timeout_ms) for reader in (queue, peeking) for timeout_ms in (0, LONG_READ_TIMEOUT_MS, 0)
    ]
    judge(
        *RULES_OF_PEEKS_WITHOUT_CURSOR,
        expected=each("a"),
        observed=[read.label_or_outcome for read in front],
        evidence=front,
    )


RECEIVE_RULES = ("MQDMPR-3.2.7.4-04", "MQDMPR-3.2.7.4-20", "MQDMPR-3.2.7.4-21", "MQDMPR-3.2.7.4-22")
PEEK_AFTER_RECEIVE_RULES = (
    "MQDMPR-3.2.7.2-03",
    "MQDMPR-3.2.7.2-06",
    "MQDMPR-3.2.7.2-16",
    "MQDMPR-3.2.7.2-17",
    "MQDMPR-3.2.7.2-18",
    "MQDMPR-3.2.7.2-19",
)


@parametrize_queue_kind
@covers(*RECEIVE_RULES, *PEEK_AFTER_RECEIVE_RULES, "MQDMPR-3.2.7.3-06", "MQDMPR-3.2.7.4-26", "MQDMPR-3.2.7.4-28")
def test_receives_by_later_cursor_reach_each_kind_of_message(remote, judge, kind):
    """A cursor receives four messages one after another, and each is returned to the queue. Another cursor receives
    messages at which it has peeked. A third cursor stays at the first message. Then all messages are purged, and reads
    by new cursors find no message.
    """
    queue = open_filled_queue(remote, kind)
    early, receiving, at_message = (queue.open_cursor() for _ in range(3))
    queue.peek(hCursor=early).expect_success()
    receives = [receive_message_and_return_it_to_queue(queue, receiving) for _ in range(5)]
    judge(
        *RECEIVE_RULES,
        expected=[*"abcd", NOT_FOUND_STATUS],
        observed=[read.label_or_outcome for read in receives],
        evidence=receives,
        case="receives by the cursor",
    )
    taken, peeks, refused = [], [], [queue.peek_next(hCursor=queue.open_cursor())]
    for moves in (["peek"], ["peek", "peek", "next"], ["peek", "peek"]):
        steps = [queue.read(PEEK_ACTION_BY_NAME[name], hCursor=at_message) for name in moves]
        peeks += steps
        taken.append(receive_message_and_return_it_to_queue(queue, at_message))
        refused.append(queue.peek_next(hCursor=at_message))
    peeks.append(queue.peek(hCursor=at_message))
    judge(
        *PEEK_AFTER_RECEIVE_RULES,
        expected=[*"abbcdd", Call.FAILURE_HRESULT_TEXT],
        observed=[read.label_or_failure for read in peeks],
        evidence=peeks,
        case="peeks by the cursor before and after its receives",
    )
    judge(
        "MQDMPR-3.2.7.4-28",
        expected=[*"acd"],
        observed=[read.label_or_outcome for read in taken],
        evidence=taken,
        case="receives of messages at which the cursor has peeked",
    )
    judge(
        "MQDMPR-3.2.7.4-26",
        expected=each(ILLEGAL_CURSOR_STATUS),
        observed=[read.outcome for read in refused[1:]],
        evidence=refused[1:],
        case="peeks at the next message after these receives",
    )
    queue.purge().expect_success()
    fresh = [queue.open_cursor() for _ in range(3)]
    refused += [queue.peek_next(hCursor=fresh[0], ulTimeout=timeout_ms) for timeout_ms in (0, LONG_READ_TIMEOUT_MS)]
    peek, receive = queue.peek(hCursor=fresh[1]), queue.start_receive(hCursor=fresh[2])
    judge(
        "MQDMPR-3.2.7.3-06",
        expected=each(ILLEGAL_CURSOR_STATUS),
        observed=[read.outcome for read in (refused[0], *refused[-2:])],
        evidence=refused,
        case="peeks at the next message by new cursors of the full and the empty queue",
    )
    case = "read of the empty queue"
    judge(
        "MQDMPR-3.2.7.2-03",
        expected=Call.FAILURE_HRESULT_TEXT,
        observed=peek.label_or_failure,
        evidence=peek,
        case=case,
    )
    judge(
        "MQDMPR-3.2.7.4-04",
        expected=Call.FAILURE_HRESULT_TEXT,
        observed=receive.label_or_failure,
        evidence=receive,
        case=case,
    )


WAITING_PEEK_RULES = ("MQDMPR-3.1.7.1.15-18", "MQDMPR-3.1.7.1.15-19", "MQDMPR-3.2.7.2-12", "MQDMPR-3.2.7.2-13")
ARRIVAL_DURING_WAIT_RULES = ("MQDMPR-3.1.7.1.15-26", "MQDMPR-3.1.7.1.15-29", "MQDMPR-3.1.7.1.15-31")
MOVED_CURSOR_RULES = ("MQDMPR-3.1.7.1.15-27", "MQDMPR-3.2.7.2-12")
SKIPPED_MESSAGE_RULES = ("MQDMPR-3.2.7.2-06", "MQDMPR-3.2.7.2-17")


@parametrize_queue_kind
@covers(*WAITING_PEEK_RULES, *ARRIVAL_DURING_WAIT_RULES, *MOVED_CURSOR_RULES, *SKIPPED_MESSAGE_RULES)
@covers("MQDMPR-3.1.7.1.15-35", "MQDMPR-3.1.7.1.15-52", "MQDMPR-3.1.7.1.15-55", "MQDMPR-3.2.7.4-20")
def test_pending_peeks_beside_locked_message_return_arriving_message(remote, judge, kind):
    """The only message of a queue is locked. Two peeks by a cursor find no message while another peek waits. Then peeks
    by four cursors, one of which has received a message, and peeks without a cursor wait, with and without a time
    limit, through two handles, one of which was opened to peek. A large message of low priority arrives: all these
    peeks return it, and their cursors move to it.
    """
    queue, other, peeking = remote.open(kind), remote.open(kind), remote.open(kind, access=PEEK_ACCESS)
    arrivals = MessagesOfPeer(remote, kind)
    arrivals.send("ab")
    vain, taker, later = (queue.open_cursor() for _ in range(3))
    apart, fresh, receiver = peeking.open_cursor(), peeking.open_cursor(), other.open_cursor()
    queue.peek(hCursor=taker).expect_success()
    queue.receive(hCursor=taker)
    locked = other.start_receive().expect_success()
    pending = [queue.begin(Action.PEEK_CURRENT, hCursor=later, ulTimeout=LONG_READ_TIMEOUT_MS)]
    in_vain, durations = [], []
    for _ in range(2):
        began_ms = remote.peer.recorder.elapsed_ms()
        in_vain.append(queue.begin(Action.PEEK_CURRENT, hCursor=vain, ulTimeout=SHORT_READ_TIMEOUT_MS))
        in_vain[-1].wait(
            SHORT_READ_TIMEOUT_MS + remote.sut.slack_ms(SHORT_READ_TIMEOUT_MS) + remote.sut.response_timeout_ms
        )
        durations.append(remote.peer.measure_duration(began_ms).ms)
    at_once = queue.peek(ulTimeout=0)
    judge(
        "MQDMPR-3.1.7.1.15-35",
        expected=each(TIMEOUT_STATUS),
        observed=[read.outcome for read in in_vain],
        evidence=in_vain,
        case="peeks by a cursor that find no message",
    )
    judge(
        "MQDMPR-3.1.7.1.15-55",
        expected=TIMEOUT_STATUS,
        observed=at_once.outcome,
        evidence=at_once,
        case="peek with timeout 0",
    )
    pending += [
        reader.begin(Action.PEEK_CURRENT, hCursor=cursor, ulTimeout=timeout_ms)
        for reader, cursor, timeout_ms in (
            (queue, vain, LONG_READ_TIMEOUT_MS),
            (queue, taker, INFINITE_TIMEOUT_MS),
            (peeking, apart, LONG_READ_TIMEOUT_MS),
            (queue, 0, LONG_READ_TIMEOUT_MS),
            (peeking, 0, INFINITE_TIMEOUT_MS),
        )
    ]
    states = [read.state_after_silence() for read in pending]
    judge(
        *WAITING_PEEK_RULES,
        expected=facts(
            peeks_in_vain=each(TIMEOUT_STATUS),
            durations=holds("at least the timeout"),
            pending_peeks=each(Call.WAITING),
        ),
        observed={
            "peeks_in_vain": [read.outcome for read in in_vain],
            "durations": all(one >= SHORT_READ_TIMEOUT_MS * 3 // 4 for one in durations) or durations,
            "pending_peeks": states,
        },
        evidence=[*in_vain, *pending],
    )
    arrivals.send("d")
    labels = [read.wait().label_or_outcome for read in pending]
    judge(
        *ARRIVAL_DURING_WAIT_RULES,
        expected=["d"] * 4,
        observed=labels[:4],
        evidence=pending[:4],
        case="peeks by cursors",
    )
    judge(
        "MQDMPR-3.1.7.1.15-52",
        expected=["d"] * 2,
        observed=labels[4:],
        evidence=pending[4:],
        case="peeks without a cursor",
    )
    passing = [peeking.peek(hCursor=fresh) for _ in range(2)]
    case = "peeks by a new cursor past the locked message"
    judge(
        *SKIPPED_MESSAGE_RULES,
        expected=["d"] * 2,
        observed=[read.label_or_outcome for read in passing],
        evidence=passing,
        case=case,
    )
    receives = [other.start_receive(hCursor=receiver).expect_success()]
    for one in (receives[0], locked):
        other.put_message_back(one)
    arrivals.send("e")
    moved = {
        name: [reader.read(action, hCursor=cursor) for action in PEEK_ACTION_BY_NAME.values()]
        for name, reader, cursor in (
            ("cursor after vain waits", queue, vain),
            ("cursor after a receive", queue, taker),
            ("last cursor of the handle", queue, later),
            ("cursor of the handle that was opened to peek", peeking, apart),
        )
    }
    judge(
        *MOVED_CURSOR_RULES,
        expected={name: [*"de"] for name in moved},
        observed={name: [read.label_or_outcome for read in reads] for name, reads in moved.items()},
        evidence=[read for reads in moved.values() for read in reads],
    )
    receives.append(other.start_receive(hCursor=receiver))
    case = "receives by a cursor past the locked message"
    judge(
        "MQDMPR-3.2.7.4-20",
        expected=[*"de"],
        observed=[read.label_or_outcome for read in receives],
        evidence=receives,
        case=case,
    )


PEEK_NEXT_SEQUENCE_RULES = ("MQDMPR-3.2.7.3-19", "MQDMPR-3.2.7.3-20", "MQDMPR-3.2.7.3-21", "MQDMPR-3.2.7.3-22")


@covers(*PEEK_NEXT_SEQUENCE_RULES, "MQDMPR-3.2.7.3-16", "MQDMPR-3.2.7.4-30")
def test_cursor_walks_past_messages_that_other_reader_locks(remote, judge):
    """Another reader locks the message at a cursor, and later the message after it. The cursor reaches the messages
    behind them. At the end of the queue, it waits for a new message, even if its last message is locked too.
    """
    queue, other = remote.open_with_messages(), remote.open()
    arrivals = MessagesOfPeer(remote, "plain")
    arrivals.send("abcde")
    early, walking, waiting, receiving = (queue.open_cursor() for _ in range(4))
    taker = other.open_cursor()
    queue.peek(hCursor=early).expect_success()
    for reader, cursor in ((queue, walking), (queue, receiving), (other, taker)):
        reader.peek(hCursor=cursor).expect_success()
        reader.peek_next(hCursor=cursor).expect_success()
    locked = [other.start_receive(hCursor=taker).expect_success()]
    receive = queue.begin(Action.RECEIVE, hCursor=receiving, ulTimeout=LONG_READ_TIMEOUT_MS)
    refusal = receive.state_after_silence()
    walk = [queue.read(action, hCursor=walking) for action in (Action.PEEK_NEXT, Action.PEEK_CURRENT)]
    other.peek(hCursor=taker).expect_success()
    other.peek_next(hCursor=taker).expect_success()
    locked.append(other.start_receive(hCursor=taker).expect_success())
    walk += [queue.read(action, hCursor=walking) for action in (Action.PEEK_NEXT, Action.PEEK_CURRENT)]
    judge(
        "MQDMPR-3.2.7.4-30",
        expected=facts(locked=[*"bd"], receive_by_the_cursor=ALREADY_RECEIVED_STATUS),
        observed={"locked": [one.label_or_outcome for one in locked], "receive_by_the_cursor": refusal},
        evidence=[*locked, receive],
    )
    judge(
        *PEEK_NEXT_SEQUENCE_RULES,
        expected=[*"ccee"],
        observed=[read.label_or_outcome for read in walk],
        evidence=walk,
        case="peeks by the cursor",
    )
    for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.PEEK_NEXT):
        queue.read(action, hCursor=waiting).expect_success()
    ends = [queue.begin(Action.PEEK_NEXT, hCursor=walking, ulTimeout=LONG_READ_TIMEOUT_MS)]
    locked.append(other.start_receive(hCursor=taker).expect_success())
    ends.append(queue.begin(Action.PEEK_NEXT, hCursor=waiting, ulTimeout=LONG_READ_TIMEOUT_MS))
    states = [read.state_after_silence() for read in ends]
    arrivals.send("d")
    judge(
        "MQDMPR-3.2.7.3-16",
        expected={"before an arrival": each(Call.WAITING), "after an arrival": each("d")},
        observed={"before an arrival": states, "after an arrival": [read.wait().label_or_outcome for read in ends]},
        evidence=ends,
    )
