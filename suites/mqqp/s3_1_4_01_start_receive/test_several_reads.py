"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: several reads at the same time, and the queue
that each read reads.
"""

from __future__ import annotations

from harness.expectations import each, facts, holds
from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER
from harness.run.marks import needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.reading import read_sizes_of_response

pytestmark = needs("qm2qm")

INFINITE_TIMEOUT_MS, LONG_READ_TIMEOUT_MS, SHORT_READ_TIMEOUT_MS = 0xFFFF_FFFF, 0x0001_0000, 200
IO_TIMEOUT_STATUS = "MQ_ERROR_IO_TIMEOUT"


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"entries": ["MQQP-3.1.4.1-D14"]},
        Method.START_RECEIVE2: {"entries": ["MQQP-3.1.4.10-24", "MQQP-3.1.4.10-30"]},
    }
)
def test_each_of_several_waiting_receives_can_be_cancelled(remote, judge, by, rules):
    """Five receives wait: three through one queue handle, one of them by a cursor, and two through the handle of a
    second queue. Their timeouts are infinite or long. Their dwRequestIDs include 0, numbers with the same lower half,
    and a number that a receive of the other handle also has. RemoteQMCancelReceive cancels each receive, and no other
    receive.
    """
    queue, admin = remote.open(), remote.open("admin")
    asked = {
        "first": (queue, {"dwRequestID": 0, "ulTimeout": INFINITE_TIMEOUT_MS}),
        "by cursor": (queue, {"dwRequestID": 0x1_0001, "hCursor": queue.open_cursor()}),
        "third": (queue, {"dwRequestID": 0x8000_0001}),
        "of second queue": (admin, {"dwRequestID": 0x1_0001}),
        "last": (admin, {"dwRequestID": 0x7FFF_0001, "ulTimeout": INFINITE_TIMEOUT_MS}),
    }
    reads = {
        name: owner.begin_receive(by=by, **({"ulTimeout": LONG_READ_TIMEOUT_MS} | fields))
        for name, (owner, fields) in asked.items()
    }
    waits = [one.state_after_silence() for one in reads.values()]
    cancels, ended = [], []
    for number, name in enumerate(reversed(reads), start=1):
        owner, fields = asked[name]
        cancels.append(owner.cancel(fields["dwRequestID"]))
        reads[name].wait()
        ended.append([one.answered for one in reads.values()].count(True) == number)
    judge(
        *rules["entries"],
        expected=facts(
            receives=each(Call.WAITING),
            cancels=each("MQ_OK"),
            ended=each(holds("each cancel ends one receive")),
        ),
        observed={"receives": waits, "cancels": [one.outcome for one in cancels], "ended": ended},
        evidence=[*reads.values(), *cancels],
    )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {
            "entry": ["MQQP-3.1.4.1-D14"],
            "size": ["MQQP-3.1.4.1-20"],
            "peek": ["MQQP-3.1.4.1-D01"],
        },
        Method.START_RECEIVE2: {
            "size": ["MQQP-3.1.4.10-51"],
            "ok": ["MQQP-3.1.4.10-09"],
        },
    }
)
def test_waiting_reads_keep_their_actions_and_timeouts(remote, judge, by, rules):
    """A peek with a long timeout waits at a queue; then a peek with a short timeout and a receive also wait. The second
    peek times out, and the others still wait. Two messages of different sizes arrive: the receive returns a handle, and
    the peek does not. Peeks by a cursor, all with the same dwRequestID, return both messages.
    """
    queue = remote.open()
    peek = queue.begin(Action.PEEK_CURRENT, by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    peek.state_after_silence()
    short = queue.begin(Action.PEEK_CURRENT, by=by, ulTimeout=SHORT_READ_TIMEOUT_MS)
    receive = queue.begin_receive(by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    short.wait()
    waits = [one.state_after_silence() for one in (peek, receive)]
    remote.send_messages_and_require_acks(
        [
            remote.peer.recoverable_message(label=label, body=BODY_OF_MESSAGES_FROM_PEER * size)
            for label, size in (("first", 7), ("second", 1))
        ]
    )
    reads = [peek.wait(), receive.wait()]
    if "entry" in rules:
        observed = {
            "short_peek": short.outcome,
            "others_meanwhile": waits,
            "handles": [not one.has_null_handle for one in reads],
        }
        judge(
            *rules["entry"],
            expected=facts(short_peek=IO_TIMEOUT_STATUS, others_meanwhile=each(Call.WAITING), handles=[False, True]),
            observed=observed,
            evidence=[short, *reads],
        )
    if receive.outcome == "MQ_OK" and not receive.has_null_handle:
        queue.put_message_back(receive)
    cursor, number = queue.open_cursor(), remote.request_id()
    steps = [
        queue.read(action, by=by, hCursor=cursor, dwRequestID=number)
        for action in (Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.PEEK_CURRENT)
    ]
    if "peek" in rules:
        judge(
            *rules["peek"],
            expected=["first", "second", "second"],
            observed=[one.label_or_outcome for one in steps],
            evidence=steps,
            case="labels returned by the peeks with one dwRequestID",
        )
    if "ok" in rules:
        judge(
            *rules["ok"],
            expected=each("MQ_OK"),
            observed=[one.outcome for one in (*reads, *steps)],
            evidence=[*reads, *steps],
        )
    for read in (*reads, *steps):
        size, packet_size = read_sizes_of_response(read)
        judge(
            *rules["size"],
            expected=packet_size or "a packet",
            observed=size,
            evidence=read.evidence,
            case="size of the message in bytes",
        )


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"queue": ["MQQP-3.1.4.1-D11"]},
        Method.START_RECEIVE2: {"queue": ["MQQP-3.1.4.10-20"]},
    }
)
def test_reads_of_empty_queue_return_no_message_of_other_queue(remote, judge, by, rules):
    """A second queue with a message is open, and a reader has a cursor of this queue. A peek and a receive of the empty
    first queue, with and without this cursor, return no message. A peek and a receive that wait at the first queue
    still wait after a message arrives in the second queue. Then the waiting peek returns a message of its own queue.
    """
    queue = remote.open()
    admin = remote.open("admin", association=queue.association)
    remote.deliver(["other"], queue="admin")
    of_other = admin.open_cursor()
    admin.peek(by=by, hCursor=of_other).expect_success()
    reads = [
        queue.read(action, by=by, hCursor=cursor)
        for cursor in (0, of_other)
        for action in (Action.PEEK_CURRENT, Action.RECEIVE)
    ]
    waiting = [
        queue.begin(action, by=by, ulTimeout=LONG_READ_TIMEOUT_MS) for action in (Action.PEEK_CURRENT, Action.RECEIVE)
    ]
    remote.deliver(["later"], queue="admin")
    waits = [one.state_after_silence() for one in waiting]
    remote.deliver(["own"])
    waiting[0].wait()
    judge(
        *rules["queue"],
        expected=facts(
            reads=each(Call.FAILURE_HRESULT_TEXT),
            waiting_reads=each(Call.WAITING),
            waiting_peek="own",
            second_queue=["other", "later"],
        ),
        observed={
            "reads": [one.label_or_failure for one in reads],
            "waiting_reads": waits,
            "waiting_peek": waiting[0].label_or_outcome,
            "second_queue": admin.labels(),
        },
        evidence=[*reads, *waiting],
    )
