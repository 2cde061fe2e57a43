"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: reads of a message by its LookupIdentifier, or of the next or
previous message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, holds, in_queue, one_of, status
from harness.judging.judge import Judge
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue, RemoteReaderOfSut
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qm2qm import INFINITE_TIMEOUT_MS, Action, LookupId
from suites.mqqp.steps.lookups import find_lookup_ids, list_candidate_lookup_ids, read_sequential_ids_by_label
from suites.mqqp.steps.reading import read_sizes_of_response, send_messages_to_queue
from suites.mqqp.steps.refusals import LONG_READ_TIMEOUT_MS
from suites.mqqp.steps.whole import MessageKind, UnchangedMessageExpectation, build_message_without_default_values

pytestmark = needs("qm2qm")

LOOKUP_ACTIONS = [action for action in Action if action.name.startswith("LOOKUP")]
LOOKUP_RECEIVE_ACTIONS = [action for action in LOOKUP_ACTIONS if action.is_receive]
SAMPLE_LOOKUP_ID = 0x0055_0000_0000_0007
"""A LookupId that no message has."""
ALLOWED_LOOKUP_STATUSES = (
    *("MQ_ERROR_INVALID_HANDLE", "MQ_ERROR_INVALID_PARAMETER", "MQ_ERROR_IO_TIMEOUT"),
    *("MQ_ERROR_MESSAGE_ALREADY_RECEIVED", "MQ_ERROR_MESSAGE_NOT_FOUND"),
)
"""The statuses of a lookup that finds no message, from the table in 3.1.4.11 and from the MS-MQDMPR event that the
method raises.
"""


MESSAGE_LABELS = ("first", "second", "third")
POSITION_OFFSET_BY_LOOKUP_ACTION = {
    Action.LOOKUP_PEEK_CURRENT: 0,
    Action.LOOKUP_PEEK_NEXT: 1,
    Action.LOOKUP_PEEK_PREV: -1,
}
"""For each peeking action, the distance, in positions, from the message with the given LookupId to the message that the
action reads.
"""
RULES_BY_LOOKUP_ACTION = {
    Action.LOOKUP_PEEK_CURRENT: ("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D01"),
    Action.LOOKUP_PEEK_NEXT: ("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D02"),
    Action.LOOKUP_PEEK_PREV: ("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D03"),
    Action.LOOKUP_RECEIVE_CURRENT: ("MQQP-3.1.4.11-45", "MQQP-3.1.4.11-D04"),
    Action.LOOKUP_RECEIVE_NEXT: ("MQQP-3.1.4.11-46", "MQQP-3.1.4.11-D05"),
    Action.LOOKUP_RECEIVE_PREV: ("MQQP-3.1.4.11-44", "MQQP-3.1.4.11-D06"),
}
"""For each action: the rule about the message that the action reads, and the rule about the action itself."""
EVENT_RULES_BY_LOOKUP_ACTION = {
    Action.LOOKUP_PEEK_CURRENT: ("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29"),
    Action.LOOKUP_PEEK_NEXT: ("MQDMPR-3.1.7.3.2-03", "MQDMPR-3.1.7.3.3-41", "MQDMPR-3.1.7.3.3-46"),
    Action.LOOKUP_PEEK_PREV: (
        "MQDMPR-3.1.7.3.2-04",
        "MQDMPR-3.1.7.3.2-21",
        "MQDMPR-3.1.7.3.3-17",
        "MQDMPR-3.1.7.3.3-22",
    ),
}
"""For each peeking action, the rules of MS-MQDMPR about the search of this action and of the corresponding receiving
action.
"""


LOOKUP_READ_RULES = (
    "MQDMPR-3.1.7.1.13-02",
    "MQDMPR-3.1.7.1.13-11",
    "MQDMPR-3.1.7.1.13-16",
    "MQDMPR-3.1.7.1.13-38",
    "MQDMPR-3.1.7.3.3-04",
    "MQDMPR-3.1.7.3.3-08",
)
"""The rules of MS-MQDMPR about all reads by LookupIdentifier."""


def parametrize_lookup_action() -> pytest.MarkDecorator:
    """Return a decorator that runs a check for each lookup action, with the rules about that action."""
    cases = []
    for action, rules in RULES_BY_LOOKUP_ACTION.items():
        events = EVENT_RULES_BY_LOOKUP_ACTION[action.peeking_action]
        cases.append(pytest.param(action, *rules, events, marks=covers(*rules, *events), id=hex(action)))
    return pytest.mark.parametrize(("action", "seek", "rule", "events"), cases)


def find_three_lookup_ids(queue: RemoteQueue, judge: Judge, *rules: str) -> list[int]:
    """Return the LookupIdentifiers of the three messages; raise ConformanceFailure if lookups do not find them."""
    known = find_lookup_ids(queue, len(MESSAGE_LABELS))
    if len(known) < len(MESSAGE_LABELS):
        first = queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)
        case = "messages found by the identifiers that the SUT returns"
        judge(*rules, expected=len(MESSAGE_LABELS), observed=len(known), case=case, evidence=first.evidence)
        raise ConformanceFailure(f"lookups found only {len(known)} of {len(MESSAGE_LABELS)} messages")
    return known


@parametrize_lookup_action()
@covers("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-40", "MQQP-3.1.4.11-41", *LOOKUP_READ_RULES)
@pytest.mark.parametrize("at", [0, 1, 2], ids=["first", "middle", "last"])
def test_lookup_reads_current_next_or_previous_message(remote, judge, action, seek, rule, events, at):
    """A lookup names CURRENT, NEXT or PREV, and the LookupId of the first, second or last of three messages. A peek
    returns the right message and leaves all three messages in the queue. A receive removes the right message.
    """
    queue = remote.open_with_messages(*MESSAGE_LABELS)
    by_next = events if action.peeking_action == Action.LOOKUP_PEEK_NEXT else ()  # as they are found out
    known = find_three_lookup_ids(queue, judge, "MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", *LOOKUP_READ_RULES, *by_next)
    receives = action.is_receive
    there = at + POSITION_OFFSET_BY_LOOKUP_ACTION[action.peeking_action]
    expected = MESSAGE_LABELS[there] if 0 <= there < len(MESSAGE_LABELS) else Call.FAILURE_HRESULT_TEXT
    read = queue.look_up(action, known[at])
    if receives and read.outcome == "MQ_OK":
        queue.acknowledge(read)
    gone = [expected] if receives else []
    left = [label for label in MESSAGE_LABELS if label not in gone]
    found, stays = read.label_or_failure, queue.labels()
    judge(
        seek,
        rule,
        "MQQP-3.1.4.11-37",
        "MQQP-3.1.4.11-39",
        "MQQP-3.1.4.11-41",
        *LOOKUP_READ_RULES,
        *events,
        expected=expected,
        observed=found,
        evidence=read.evidence,
        case="label returned by the read",
    )
    judge(
        rule,
        "MQQP-3.1.4.11-40",
        "MQDMPR-3.1.7.1.13-02",
        expected=left,
        observed=stays,
        evidence=read.evidence,
        case="labels in the queue",
    )


MESSAGE_PRIORITIES = (7, 6, 0)
"""The priorities of the three messages."""


def send_in_reverse_priority_order(remote: RemoteReaderOfSut) -> None:
    """Send the three messages with different priorities, beginning with the message that will be the
    last in the queue.
    """
    for label, priority in reversed(list(zip(MESSAGE_LABELS, MESSAGE_PRIORITIES, strict=True))):
        remote.send_messages_and_require_acks([remote.peer.recoverable_message(label=label, base={"PR": priority})])


RULES_OF_SEARCH_FROM_QUEUE_FRONT = ("MQDMPR-3.1.7.3.2-09", "MQDMPR-3.1.7.3.3-10", "MQDMPR-3.1.7.3.3-15")
RULES_OF_SEARCH_FROM_QUEUE_END = ("MQDMPR-3.1.7.3.2-19", "MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53")
"""The rules of MS-MQDMPR about searches from the beginning and the end of the queue."""


@covers("MQQP-3.1.4.11-41", "MQQP-3.1.4.11-40")
@pytest.mark.parametrize(
    ("action", "edge", "label", "rules"),
    [
        pytest.param(action, edge, label, rules, marks=covers(*rules), id=hex(action))
        for action, edge, label, rules in (
            (
                Action.LOOKUP_PEEK_NEXT,
                LookupId.BEFORE_FIRST,
                "first",
                ("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D02", *RULES_OF_SEARCH_FROM_QUEUE_FRONT),
            ),
            (
                Action.LOOKUP_PEEK_PREV,
                LookupId.BEHIND_LAST,
                "third",
                ("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D03", *RULES_OF_SEARCH_FROM_QUEUE_END),
            ),
            (
                Action.LOOKUP_RECEIVE_NEXT,
                LookupId.BEFORE_FIRST,
                "first",
                ("MQQP-3.1.4.11-42", "MQQP-3.1.4.11-D05", *RULES_OF_SEARCH_FROM_QUEUE_FRONT),
            ),
            (
                Action.LOOKUP_RECEIVE_PREV,
                LookupId.BEHIND_LAST,
                "third",
                ("MQQP-3.1.4.11-43", "MQQP-3.1.4.11-D06", *RULES_OF_SEARCH_FROM_QUEUE_END),
            ),
        )
    ],
)
@pytest.mark.parametrize("queue_kind", ["plain", "transactional"])
def test_lookup_from_ends_of_queue_reads_first_or_last_message(remote, judge, action, edge, label, rules, queue_kind):
    """NEXT with LookupId 0 returns the first of three messages, and PREV with the maximum LookupId returns the last.
    This also holds when the messages arrived in the reverse order with different priorities. A second peek returns the
    same message, and a second receive returns the second message.
    """
    queue = remote.open(queue_kind)
    if queue_kind == "plain":
        send_in_reverse_priority_order(remote)
    else:
        send_messages_to_queue(remote, queue_kind, *MESSAGE_LABELS)
    found = []
    for _ in range(2):
        read = queue.look_up(action, edge)
        found.append(read.label_or_outcome)
        if action.is_receive:
            queue.acknowledge(read)
    expected = [label, "second" if action.is_receive else label]
    judge(
        *rules,
        "MQQP-3.1.4.11-41",
        "MQQP-3.1.4.11-40",
        expected=expected,
        observed=found,
        evidence=read.evidence,
        case="labels returned by two reads",
    )


@covers(
    *("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-44", "MQQP-3.1.4.11-45", "MQQP-3.1.4.11-46"),
    *("MQQP-3.1.4.11-D01", "MQQP-3.1.4.11-D02", "MQQP-3.1.4.11-D03", "MQQP-3.1.4.1-01"),
)
def test_lookup_of_received_message_fails(remote, judge):
    """The second of three messages is received by lookup. CURRENT with its LookupId then fails, and NEXT and PREV with
    the LookupIds of the other two messages skip it. CURRENT with the LookupIds of the first and third messages returns
    these messages; CURRENT with an unused LookupId fails. NEXT with the LookupId of the third message returns a message
    that arrives later. If RemoteQMStartReceive2 has received a message, its LookupId finds the message only after
    RR_NACK.
    """
    queue = remote.open_with_messages(*MESSAGE_LABELS)
    known = find_three_lookup_ids(queue, judge, "MQQP-3.1.4.11-37", "MQQP-3.1.4.11-39")
    taken = queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, known[1])
    locked = queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[1])
    beside = [queue.look_up(Action.LOOKUP_PEEK_NEXT, known[0]), queue.look_up(Action.LOOKUP_PEEK_PREV, known[2])]
    queue.acknowledge(taken)
    unknown = (SAMPLE_LOOKUP_ID, known[0] ^ 1 << 32, known[0] ^ 1 << 48)
    missing = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in unknown]
    remote.deliver(["fourth"])
    reads = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in known]
    fourth = queue.look_up(Action.LOOKUP_PEEK_NEXT, known[2])
    held = queue.start_receive()
    hidden = queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[0])
    queue.put_message_back(held)
    back = queue.look_up(Action.LOOKUP_PEEK_CURRENT, known[0])
    seen = {
        "receive_of_the_second_message": taken.label_or_outcome,
        "peek_while_it_is_locked": locked.label_or_failure,
        "peeks_of_its_neighbours": [one.label_or_outcome for one in beside],
        "peeks_with_unknown_identifiers": [one.label_or_failure for one in missing],
        "peeks_after_the_receive": [one.label_or_failure for one in reads],
        "peek_of_the_fourth_message": fourth.label_or_outcome,
        "receive_of_the_first_message": held.label_or_outcome,
        "peek_while_the_first_message_is_locked": hidden.label_or_failure,
        "peek_of_the_first_message_after_RR_NACK": back.label_or_failure,
    }
    expected = facts(
        receive_of_the_second_message="second",
        peek_while_it_is_locked=Call.FAILURE_HRESULT_TEXT,
        peeks_of_its_neighbours=["third", "first"],
        peeks_with_unknown_identifiers=each(Call.FAILURE_HRESULT_TEXT),
        peeks_after_the_receive=["first", Call.FAILURE_HRESULT_TEXT, "third"],
        peek_of_the_fourth_message="fourth",
        receive_of_the_first_message="first",
        peek_while_the_first_message_is_locked=Call.FAILURE_HRESULT_TEXT,
        peek_of_the_first_message_after_RR_NACK="first",
    )
    judge.all(expected=expected, observed=seen, evidence=[taken, *reads, fourth])


@covers(
    "MQQP-3.1.4.11-02",
    "MQQP-3.1.4.11-03",
    "MQQP-3.1.4.11-18",
    "MQQP-3.1.4.11-57",
    "MQQP-3.1.4.11-58",
    "MQQP-3.1.4.11-D07",
    "MQDMPR-3.1.7.1.13-39",
    "MQDMPR-3.1.7.3.3-03",
)
@pytest.mark.parametrize("action", LOOKUP_ACTIONS, ids=hex)
def test_only_successful_lookup_receive_returns_handle(remote, judge, action):
    """A lookup in an empty queue returns a listed failure and the handle NULL. A lookup in a queue with a message
    returns MQ_OK. A receiving lookup also returns a handle, with which RemoteQMEndReceive succeeds.
    """
    queue = remote.open()
    edge = (
        LookupId.BEHIND_LAST
        if action in (Action.LOOKUP_PEEK_PREV, Action.LOOKUP_RECEIVE_PREV)
        else LookupId.BEFORE_FIRST
    )
    at = SAMPLE_LOOKUP_ID if action in (Action.LOOKUP_PEEK_CURRENT, Action.LOOKUP_RECEIVE_CURRENT) else edge
    failing = queue.look_up(action, at)
    remote.deliver(["first"])
    if at == SAMPLE_LOOKUP_ID:
        at = known[0] if (known := find_lookup_ids(queue, 1)) else at
    read = queue.look_up(action, at)
    evidence = [failing, read]
    judge(
        "MQQP-3.1.4.11-D07",
        expected=one_of(*ALLOWED_LOOKUP_STATUSES),
        observed=failing.outcome,
        evidence=failing.evidence,
        case="read of the empty queue",
    )
    judge(
        "MQQP-3.1.4.11-18",
        "MQQP-3.1.4.11-58",
        expected=facts(read_of_the_empty_queue=Call.FAILURE_HRESULT_TEXT, read_of_a_message="MQ_OK"),
        observed={"read_of_the_empty_queue": failing.label_or_failure, "read_of_a_message": read.outcome},
        evidence=evidence,
    )
    judge(
        "MQDMPR-3.1.7.1.13-39",
        "MQDMPR-3.1.7.3.3-03",
        expected="MQ_OK",
        observed=read.outcome,
        evidence=read.evidence,
        case="read of a message",
    )
    handles = {
        "by_the_failed_read": not failing.has_null_handle,
        "by_the_successful_read": not read.has_null_handle,
    }
    judge(
        "MQQP-3.1.4.11-03",
        "MQQP-3.1.4.11-57",
        "MQQP-3.1.4.11-02",
        expected=facts(by_the_failed_read=False, by_the_successful_read=action.is_receive),
        observed=handles,
        case="a handle is returned",
        evidence=evidence,
    )
    if action.is_receive:
        ends, expected = (
            {"end_of_the_receive": queue.acknowledge(read).outcome, "queue_after_the_end": queue.labels()},
            facts(end_of_the_receive="MQ_OK", queue_after_the_end=in_queue()),
        )
        judge("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-57", expected=expected, observed=ends, evidence=evidence)


@covers(
    "MQQP-3.1.4.11-47",
    "MQQP-3.1.4.11-48",
    "MQQP-3.1.4.11-50",
    "MQQP-3.1.4.11-53",
    "MQQP-3.1.4.11-54",
)
@pytest.mark.parametrize("kind", MessageKind)
def test_lookup_returns_every_property_of_message(remote, judge, kind):
    """Two messages arrive with every property set, the second with a body of 70,000 bytes. Lookups return the packets
    unchanged, and dwSize is PacketSize.
    """
    queue = remote.open(kind.queue)
    sent = [
        build_message_without_default_values(remote.peer, "first", kind),
        build_message_without_default_values(remote.peer, "second", kind, body=bytes(range(250)) * 280),
    ]
    remote.send_messages_and_require_acks(sent)
    reads = {
        queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST): 0,
        queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST): 1,
        queue.look_up(Action.LOOKUP_RECEIVE_NEXT, LookupId.BEFORE_FIRST): 0,
    }
    for read, which in reads.items():
        judge(
            "MQQP-3.1.4.11-47",
            "MQQP-3.1.4.11-48",
            "MQQP-3.1.4.11-50",
            "MQQP-3.1.4.11-53",
            case="message returned by the read",
            expected=UnchangedMessageExpectation(sent[which]),
            observed=read,
            evidence=read.evidence,
        )
        size, packet_size = read_sizes_of_response(read)
        judge(
            "MQQP-3.1.4.11-54",
            expected=packet_size or "a packet",
            observed=size,
            evidence=read.evidence,
            case="size of the message in bytes",
        )


@covers("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55")
def test_lookup_returns_sequential_id_of_start_receive2(remote, judge):
    """For each of three messages, a lookup and RemoteQMStartReceive2 return the same SequentialId; the SequentialIds of
    the three messages are different.
    """
    queue = remote.open_with_messages(*MESSAGE_LABELS)
    cursor = queue.open_cursor()
    read = queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)
    seen = []
    for action, label in zip((Action.PEEK_CURRENT, Action.PEEK_NEXT, Action.PEEK_NEXT), MESSAGE_LABELS, strict=True):
        other = queue.read(action, hCursor=cursor).expect_success()
        pair = [one.expect_success().sequential_id_of_read for one in (other, read)]
        seen.append(pair[1])
        evidence = [other, read]
        observed = {"message": read.label_or_outcome, "SequentialId": pair[1]}
        judge.all(expected=facts(message=label, SequentialId=pair[0]), observed=observed, evidence=evidence)
        following = [queue.look_up(Action.LOOKUP_PEEK_NEXT, one) for one in list_candidate_lookup_ids(pair[1], read)]
        read = next((one for one in following if one.outcome == "MQ_OK"), read)
    differ = len(set(seen)) == len(MESSAGE_LABELS)
    judge.all(expected=holds("each message has a unique SequentialId"), observed=differ, evidence=read.evidence)


@needs("receive")
@covers("MQQP-3.1.4.11-06", "MQQP-3.1.4.11-55")
def test_sequential_id_is_low_7_bytes_of_lookup_identifier(remote, sut, judge):
    """For each lookup action, SequentialId equals the LookupIdentifier that the control channel shows for the message,
    without its highest byte. The messages have different priorities.
    """
    queue = remote.open()
    send_in_reverse_priority_order(remote)
    sequential_ids = read_sequential_ids_by_label(sut)
    first, second, _ = find_three_lookup_ids(queue, judge, "MQQP-3.1.4.11-06")
    for label, action, at in (
        ("first", Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        ("first", Action.LOOKUP_PEEK_PREV, second),
        ("second", Action.LOOKUP_PEEK_CURRENT, second),
        ("third", Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
        ("second", Action.LOOKUP_RECEIVE_NEXT, first),
        ("third", Action.LOOKUP_RECEIVE_PREV, LookupId.BEHIND_LAST),
        ("first", Action.LOOKUP_RECEIVE_CURRENT, first),
    ):
        read = queue.look_up(action, at)
        judge.all(
            expected=sequential_ids[label],
            observed=read.sequential_id_of_read,
            evidence=read.evidence,
            case="SequentialId",
        )


@pytest.mark.parametrize("action", LOOKUP_ACTIONS, ids=hex)
@covers(
    "MQQP-3.1.4.11-21",
    "MQQP-3.1.4.11-22",
    "MQQP-3.1.4.11-23",
    "MQQP-3.1.4.11-24",
    "MQQP-3.1.4.11-25",
    "MQQP-3.1.4.11-26",
)
@sut_survives()
def test_lookup_with_invalid_description_is_refused(remote, judge, action):
    """A lookup with hRemoteQueue 0, with a nonzero timeout, with a cursor, or of an unopened queue returns
    MQ_ERROR_INVALID_PARAMETER.

    A lookup of a queue that was opened and closed also returns this status. A lookup without these errors succeeds.
    """
    queue = remote.open_with_messages("first", "second", "third")
    closed = remote.open("admin", association=queue.association)
    closed.look_up(action, LookupId.BEFORE_FIRST)
    closed.close()
    cursor = queue.open_cursor()
    at = find_lookup_ids(queue, 2)[-1:] or [LookupId.BEFORE_FIRST]
    unopened = remote.open_remote(queue.association).expect_success().out.phQueue
    refused = {
        "MQQP-3.1.4.11-22": [{"hRemoteQueue": 0, "dwQueue": 0}, {"hRemoteQueue": 0}],
        "MQQP-3.1.4.11-23": [{"ulTimeout": timeout_ms} for timeout_ms in (1, 1_000, 0x1_0000, INFINITE_TIMEOUT_MS)],
        "MQQP-3.1.4.11-24": [{"hCursor": cursor}, {"hCursor": queue.UNKNOWN_HANDLE}],
        "MQQP-3.1.4.11-26": [
            {"hRemoteQueue": one, "dwQueue": one} for one in (queue.UNKNOWN_HANDLE, unopened, closed.handle)
        ],
    }
    calls = {rule: [queue.look_up(action, at[0], **fields) for fields in cases] for rule, cases in refused.items()}
    fine = queue.look_up(action, at[0])
    for rule, alike in (
        ("MQQP-3.1.4.11-22", ["MQQP-3.1.4.11-22", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-23", ["MQQP-3.1.4.11-23", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-24", ["MQQP-3.1.4.11-24", "MQQP-3.1.4.11-21"]),
        ("MQQP-3.1.4.11-26", ["MQQP-3.1.4.11-26", "MQQP-3.1.4.11-25"]),
    ):
        expected = facts(invalid_reads=each(status("MQ_ERROR_INVALID_PARAMETER")), valid_read="MQ_OK")
        observed, evidence = {"invalid_reads": calls[rule], "valid_read": fine.outcome}, [*calls[rule], fine]
        judge(*alike, expected=expected, observed=observed, evidence=evidence)


@covers("MQQP-3.1.4.11-29", "MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36", "MQQP-3.1.4.11-39", "MQQP-3.1.4.11-56")
@covers("MQDMPR-3.1.7.1.13-04", "MQDMPR-3.1.7.1.13-09", "MQDMPR-3.1.7.1.13-32")
@pytest.mark.parametrize("action", LOOKUP_RECEIVE_ACTIONS, ids=hex)
def test_lookup_receive_is_kept_until_its_end(remote, judge, action):
    """A receive by lookup locks its message and returns a handle that can be ended once. Erratum E57 leaves open
    whether RR_NACK returns the message. Its lock also outlasts a RemoteQMCancelReceive with its dwRequestID. A second
    receive of the message fails. The dwRequestID of a lookup can be used
    again at once, even after a lookup that fails. A lookup finds only messages of its own queue. The end of a lookup
    leaves two waiting reads pending: a read through the same handle, and a read through another handle with the same
    dwRequestID.
    """
    queue = remote.open_with_messages("first", "second")
    admin = remote.open("admin")
    number = remote.request_id()
    at: int | None = {
        Action.LOOKUP_RECEIVE_NEXT: LookupId.BEFORE_FIRST,
        Action.LOOKUP_RECEIVE_PREV: LookupId.BEHIND_LAST,
    }.get(action)
    label, other = ("second", "first") if action == Action.LOOKUP_RECEIVE_PREV else ("first", "second")
    known = [*find_lookup_ids(queue, 2), SAMPLE_LOOKUP_ID, SAMPLE_LOOKUP_ID]
    if at is None:
        at = known[0]
    received = queue.look_up(action, at, dwRequestID=number)
    locked = queue.labels()
    queue.cancel(number)  # the read has returned, so there is nothing to cancel
    locked += queue.labels()
    twice = queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, known[("first", "second").index(label)])
    ended, again = queue.put_message_back(received), queue.put_message_back(received)
    seen = {
        "label_received": received.label_or_outcome,
        "a_handle_is_returned": not received.has_null_handle,
        "labels_of_the_other_messages": locked,
        "second_receive_of_the_message": twice.label_or_failure,
        "first_end_of_the_receive": ended.outcome,
        "second_end_of_the_receive": again.outcome,
    }
    unknown = "fault nca_s_fault_context_mismatch"
    expected = facts(
        label_received=label,
        a_handle_is_returned=True,
        labels_of_the_other_messages=[other, other],
        second_receive_of_the_message=Call.FAILURE_HRESULT_TEXT,
        first_end_of_the_receive="MQ_OK",
        second_end_of_the_receive=unknown,
    )
    judge(
        "MQQP-3.1.4.11-30",
        "MQQP-3.1.4.11-36",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
        expected=expected,
        observed=seen,
        evidence=[received, ended],
        errata="E57",
    )
    queue.purge().expect_success()
    remote.deliver(["third"])
    queue.look_up(action, SAMPLE_LOOKUP_ID, dwRequestID=number)  # finds no message
    free = [
        queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST, dwRequestID=number),
        queue.peek(dwRequestID=number),
    ]
    found = [one.label_or_outcome for one in free]
    judge("MQQP-3.1.4.11-56", expected=each("third", "read"), observed=found, evidence=[received, *free])
    queue.receive()
    waiting = {queue: remote.request_id(), admin: number}
    for one, request_id in waiting.items():
        one.begin_receive(dwRequestID=request_id, ulTimeout=LONG_READ_TIMEOUT_MS)
    ended = [queue.look_up(one, SAMPLE_LOOKUP_ID, dwRequestID=number) for one in (action, Action.LOOKUP_PEEK_CURRENT)]
    cancelled = {f"dwRequestID {request_id}": one.cancel(request_id).outcome for one, request_id in waiting.items()}
    judge("MQQP-3.1.4.11-56", expected=each("MQ_OK", "cancelled read"), observed=cancelled, evidence=ended)
    remote.deliver(["second"], queue="admin")
    right = admin.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)
    in_other = find_lookup_ids(admin, 1) or [SAMPLE_LOOKUP_ID]
    wrong = [
        queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        queue.look_up(Action.LOOKUP_PEEK_CURRENT, in_other[0]),
        queue.look_up(action, in_other[0]),
    ]
    judge(
        "MQQP-3.1.4.11-29",
        "MQQP-3.1.4.11-39",
        "MQDMPR-3.1.7.1.13-09",
        expected=facts(read_of_the_other_queue="second", reads_of_the_emptied_queue=each(Call.FAILURE_HRESULT_TEXT)),
        observed={
            "read_of_the_other_queue": right.label_or_outcome,
            "reads_of_the_emptied_queue": [one.label_or_failure for one in wrong],
        },
        evidence=[right, *wrong],
    )


@pytest.mark.parametrize(
    ("action", "at", "rules"),
    [
        pytest.param(
            action,
            at,
            RULES_BY_LOOKUP_ACTION[action],
            marks=covers(*RULES_BY_LOOKUP_ACTION[action]),
            id=f"{action:#x}-{at}",
        )
        for action in LOOKUP_ACTIONS
        for at in range(3)
    ],
)
def test_lookup_beside_message_crosses_priorities(remote, judge, action, at, rules):
    """Three messages have different priorities. A lookup with each action and the LookupId of each message reads that
    message, or the message before or after it in the queue.
    """
    queue = remote.open()
    send_in_reverse_priority_order(remote)
    known = find_three_lookup_ids(queue, judge, *rules)
    there = at + POSITION_OFFSET_BY_LOOKUP_ACTION[action.peeking_action]
    expected = MESSAGE_LABELS[there] if 0 <= there < len(MESSAGE_LABELS) else Call.FAILURE_HRESULT_TEXT
    read = queue.look_up(action, known[at])
    case = "label returned by the lookup"
    judge(*rules, expected=expected, observed=read.label_or_failure, case=case, evidence=read.evidence)
    if action.is_receive and read.outcome == "MQ_OK":
        queue.acknowledge(read)


LABELS_OF_LOCKED_AND_UNLOCKED_MESSAGES = ("first", "second", "third", "fourth", "fifth")
POSITIONS_OF_LOCKED_MESSAGES = (4, 2, 0)
"""The positions of the messages that other receives lock; the last message is locked first."""
RULE_BY_FIRST_OR_LAST_LOOKUP_ID: dict[int, str] = {
    LookupId.BEFORE_FIRST: "MQQP-3.1.4.11-42",
    LookupId.BEHIND_LAST: "MQQP-3.1.4.11-43",
}
CONTEXT_HANDLE_RULES = ("MQQP-3.1.4.11-02", "MQQP-3.1.4.11-03", "MQQP-3.1.4.11-57")
READ_STATUS_RULES = ("MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58")


def list_reads_near_locked_messages(action: Action, known: Sequence[int]) -> list[tuple[int, str]]:
    """Return the LookupIds of the lookups at and next to the locked messages, each with the label or the failure that
    is expected.
    """
    first, second, third, fourth, fifth = known
    if action.peeking_action == Action.LOOKUP_PEEK_CURRENT:
        found = [(second, "second"), (fourth, "fourth")]
        return [
            (first, Call.FAILURE_HRESULT_TEXT),
            *found,
            (third, Call.FAILURE_HRESULT_TEXT),
            (fifth, Call.FAILURE_HRESULT_TEXT),
        ]
    if action.peeking_action == Action.LOOKUP_PEEK_NEXT:
        near, far, there, edge = first, third, "second", LookupId.BEFORE_FIRST
        behind, ends = "fourth", (fourth, fifth)
    else:
        near, far, there, edge = fifth, third, "fourth", LookupId.BEHIND_LAST
        behind, ends = "second", (second, first)
    if action.is_receive:
        return [(edge, there), (far, behind), (near, Call.FAILURE_HRESULT_TEXT), (edge, Call.FAILURE_HRESULT_TEXT)]
    return [(edge, there), (near, there), (far, behind), *((one, Call.FAILURE_HRESULT_TEXT) for one in ends)]


def list_locked_message_cases() -> Iterator[Any]:
    """Yield each lookup action with the rules about it."""
    edges = {Action.LOOKUP_PEEK_NEXT: LookupId.BEFORE_FIRST, Action.LOOKUP_PEEK_PREV: LookupId.BEHIND_LAST}
    for action in LOOKUP_ACTIONS:
        at_edge = (
            [RULE_BY_FIRST_OR_LAST_LOOKUP_ID[edges[action.peeking_action]]] if action.peeking_action in edges else []
        )
        yield pytest.param(action, marks=covers(*RULES_BY_LOOKUP_ACTION[action], *at_edge), id=hex(action))


@covers("MQQP-3.1.4.11-30", "MQQP-3.1.4.11-36", "MQQP-3.1.4.11-D08", *CONTEXT_HANDLE_RULES, *READ_STATUS_RULES)
@pytest.mark.parametrize("action", list(list_locked_message_cases()))
def test_lookup_passes_over_locked_messages(remote, judge, action):
    """Three receives lock the first, the third and the last of five messages. Lookups from the ends of the queue, and
    with the LookupIds of locked and of other messages, read only the two messages that are not locked. Each successful
    receive returns MQ_OK and a handle. Each peek, each failed read and each refused read returns the handle NULL.
    """
    queue = remote.open_with_messages(*LABELS_OF_LOCKED_AND_UNLOCKED_MESSAGES)
    known = find_lookup_ids(queue, len(LABELS_OF_LOCKED_AND_UNLOCKED_MESSAGES))
    if len(known) < len(LABELS_OF_LOCKED_AND_UNLOCKED_MESSAGES):
        raise ConformanceFailure(
            f"lookups found only {len(known)} of {len(LABELS_OF_LOCKED_AND_UNLOCKED_MESSAGES)} messages"
        )
    for at in POSITIONS_OF_LOCKED_MESSAGES:
        cursor = queue.open_cursor()
        queue.peek(hCursor=cursor).expect_success()
        for _ in range(at):
            queue.peek_next(hCursor=cursor).expect_success()
        queue.start_receive(hCursor=cursor).expect_success()
    cases = list_reads_near_locked_messages(action, known)
    reads = [queue.look_up(action, at) for at, _ in cases]
    wrong: tuple[dict[str, int], ...] = ({"ulTimeout": 1}, {"hCursor": queue.UNKNOWN_HANDLE}, {"hRemoteQueue": 0})
    unknown = {"hRemoteQueue": queue.UNKNOWN_HANDLE, "dwQueue": queue.UNKNOWN_HANDLE}
    refused = [queue.look_up(action, known[1], **fields) for fields in (*wrong, unknown)]
    left = queue.labels()
    seek, rule = RULES_BY_LOOKUP_ACTION[action]
    for (at, expected), read in zip(cases, reads, strict=True):
        rules = (RULE_BY_FIRST_OR_LAST_LOOKUP_ID.get(at, seek), rule, "MQQP-3.1.4.11-36")
        judge(*rules, expected=expected, observed=read.label_or_failure, evidence=read.evidence, case="label returned")
    succeeds = [expected != Call.FAILURE_HRESULT_TEXT for _, expected in cases]
    judge(
        *READ_STATUS_RULES,
        expected=["MQ_OK" if one else Call.FAILURE_HRESULT_TEXT for one in succeeds],
        observed=["MQ_OK" if read.outcome == "MQ_OK" else read.label_or_failure for read in reads],
        evidence=reads,
        case="outcomes of the reads",
    )
    judge(
        *CONTEXT_HANDLE_RULES,
        expected=[one and action.is_receive for one in succeeds] + [False] * len(refused),
        observed=[read.out is not None and not read.has_null_handle for read in (*reads, *refused)],
        evidence=[*reads, *refused],
        case="a handle is returned",
    )
    judge(
        "MQQP-3.1.4.11-D08",
        expected=each(holds("a status is returned"), "call"),
        observed=[read.status is not None or read.outcome for read in (*reads, *refused)],
        evidence=[*reads, *refused],
    )
    judge(
        "MQQP-3.1.4.11-30",
        "MQQP-3.1.4.11-36",
        expected=in_queue(*(() if action.is_receive else ("second", "fourth"))),
        observed=left,
        evidence=reads,
    )
