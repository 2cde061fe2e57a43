"""MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""

from __future__ import annotations

from contextlib import suppress

import pytest

from harness.expectations import holds, none
from harness.run.marks import covers, needs, sut_survives
from harness.sut.control import ControlRefused
from suites.mqqb.steps.ordering import (
    ACK_RECEIVE,
    BAD_DST_Q,
    EARLY_CLOSE_EXPECTATION,
    build_final_ack,
    build_unknown_ack,
    send_packet_in_states_before_open,
)
from suites.mqqb.steps.sequences import (
    DEAD_LETTERS,
    SYSTEM_JOURNAL,
    SequenceSentBySut,
    find_positions_of_messages_in_queue,
)
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

NONTRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;deadletter"


@sut_survives()
@covers("MQQB-3.1.5.7-01")
def test_final_ack_before_open_session_closes_connection(peer, judge):
    """The peer sends a FinalAck. The SUT closes a session that waits for ConnectionParameters, and does not close an
    open session.
    """
    observed, evidence = send_packet_in_states_before_open(peer, build_unknown_ack(peer, final=True))
    judge("MQQB-3.1.5.7-01", expected=EARLY_CLOSE_EXPECTATION, observed=observed, evidence=evidence)


REFUSAL_CLASSES = (0x8000, 0x8003, 0x8004, 0x8006, 0x8007, 0x8009, 0x800B, 0xC000, 0xC001, 0xC002)
"""The classes of negative FinalAcks (2.2.5)."""
JOURNALING_REQUESTS_OF_BOTH_KINDS = ["positive", "negative"]
LARGE_BODY = "large" * 1_000
JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE = (
    (["positive"], ACK_RECEIVE, "messages in the journal"),
    (["negative"], ACK_RECEIVE, ""),
    ([], ACK_RECEIVE, ""),
    (JOURNALING_REQUESTS_OF_BOTH_KINDS, ACK_RECEIVE, "messages in the journal"),
    (JOURNALING_REQUESTS_OF_BOTH_KINDS, None, ""),
    *((["positive"], value, "") for value in REFUSAL_CLASSES),
    ([], BAD_DST_Q, ""),
    *(
        (["negative"] if number % 2 else JOURNALING_REQUESTS_OF_BOTH_KINDS, value, "messages in the dead-letter queue")
        for number, value in enumerate(REFUSAL_CLASSES)
    ),
    (["negative"], ACK_RECEIVE, ""),
    (["negative"], BAD_DST_Q, "messages in the dead-letter queue"),
    (JOURNALING_REQUESTS_OF_BOTH_KINDS, None, ""),
)
"""For each case: the journaling that a message requests, the class of its FinalAck (None: no FinalAck), and the
queue that contains the message at the end of the check.
"""


@needs("send", "receive")
@covers(
    "MQQB-3.1.5.7-02",
    "MQQB-3.1.5.7-04",
    "MQQB-3.1.5.7-05",
    "MQQB-3.1.5.7-07",
    "MQDMPR-3.1.1.12-21",
    "MQDMPR-3.1.1.12-23",
    "MQDMPR-3.1.1.12-24",
    "MQDMPR-3.1.1.12-26",
    "MQMQ-2.2.19.2-13",
)
@pytest.mark.parametrize("ordered", [True, False], ids=["after-order-ack", "before-order-ack"])
def test_final_ack_class_decides_journal_or_dead_letter(peer, sut, judge, ordered):
    """The peer sends FinalAcks of all classes for messages with JP, JN, both or neither. The SUT journals a received
    message with JP, and puts a refused message with JN into the transactional dead-letter queue.

    The peer sends the FinalAck of the last message first. It sends every second FinalAck on a session that it opened
    itself, and the last two FinalAcks twice. The messages are for the second of two queues; the first message for each
    journal or dead-letter queue has a body of 5,000 bytes.
    """
    beside = SequenceSentBySut(peer, sut, f"mqc-final-beside-{int(ordered)}")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence(f"mqc-final-{int(ordered)}")
    first_of_places = {
        place: number for number, (_, _, place) in reversed([*enumerate(JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE)])
    }
    for number, (journal, _, place) in enumerate(JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE):
        outgoing.send(journal=journal, label="kept", body=LARGE_BODY if number == first_of_places[place] else "kept")
    frames = [outgoing.send_session_ack()]
    if ordered:
        frames.append(outgoing.send_order_ack(len(JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE)))
        peer.settle()
    own = peer.open_raw()
    for number, (_, value, _) in reversed(list(enumerate(JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE, 1))):
        session = own if number % 2 else outgoing.session
        for _ in range(0 if value is None else 2 if number < 3 else 1):
            frames.append(session.send(build_final_ack(peer, outgoing.sent[number - 1], MessageClass=value)))

    def find_messages() -> dict[str, list[int]]:
        queues = (
            ("messages in the journal", SYSTEM_JOURNAL),
            ("messages in the dead-letter queue", DEAD_LETTERS),
            ("plain dead letters", NONTRANSACTIONAL_DEAD_LETTER_QUEUE),
        )
        return {name: find_positions_of_messages_in_queue(sut, queue, outgoing.identifiers) for name, queue in queues}

    expected = {
        name: [number for number, case in enumerate(JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE, 1) if case[2] == name]
        for name in find_messages()
    }
    peer.eventually(lambda: find_messages() == expected)
    found, evidence = find_messages(), [*outgoing.sent, *frames]
    for rule, name in (
        ("MQQB-3.1.5.7-02", "messages in the journal"),
        ("MQDMPR-3.1.1.12-21", "messages in the journal"),
        ("MQDMPR-3.1.1.12-23", "messages in the journal"),
        ("MQQB-3.1.5.7-05", "messages in the dead-letter queue"),
        ("MQDMPR-3.1.1.12-24", "messages in the dead-letter queue"),
        ("MQMQ-2.2.19.2-13", "messages in the dead-letter queue"),
    ):
        judge(rule, expected=expected[name], observed=found[name], case=f"numbers of the {name}", evidence=evidence)
    judge(
        "MQDMPR-3.1.1.12-26",
        expected=none("message without JN"),
        observed=[
            number
            for name in ("messages in the dead-letter queue", "plain dead letters")
            for number in found[name]
            if "negative" not in JOURNALING_REQUESTS_CLASS_AND_EXPECTED_QUEUE[number - 1][0]
        ],
        case="dead letters",
        evidence=evidence,
    )
    for rule, name, queue in (
        ("MQQB-3.1.5.7-02", "messages in the journal", SYSTEM_JOURNAL),
        ("MQQB-3.1.5.7-05", "messages in the dead-letter queue", DEAD_LETTERS),
    ):
        number = expected[name][0]
        kept = {one["message_id"]: one for one in sut.kept(queue)}.get(outgoing.identifiers[number - 1])
        judge(
            rule,
            expected=UNCHANGED_PROPERTIES_OUTCOME,
            observed=describe_differences(outgoing.sent[number - 1], kept, sut.guid),
            case=f"properties of one of the {name}",
            evidence=evidence,
        )
    for rule, name in (
        ("MQQB-3.1.5.7-04", "messages in the journal"),
        ("MQQB-3.1.5.7-07", "messages in the dead-letter queue"),
    ):
        elsewhere = sorted(set(expected[name]) - set(found[name])) + found["plain dead letters"]
        judge(rule, expected=none(f"expected message missing among the {name}"), observed=elsewhere, evidence=evidence)
    outgoing.acknowledge_all()


RULES_OF_DEAD_LETTER_QUEUES = ("MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07", "MQDMPR-3.1.1.12-02")


@needs("send", "receive", "queue_control")
@covers(*RULES_OF_DEAD_LETTER_QUEUES)
@pytest.mark.parametrize(
    ("ordered", "restarted"),
    [
        pytest.param(True, False, id="after-order-ack"),
        pytest.param(False, False, id="before-order-ack"),
        pytest.param(True, True, id="after-order-ack-and-restart", marks=needs("restart")),
    ],
)
def test_refused_message_goes_to_its_named_dead_letter_queue(peer, sut, judge, ordered, restarted):
    """The peer refuses eight messages, six of which have JN, and the SUT stores these six messages in dead-letter
    queues.

    Three of these six messages name one of two dead-letter queues, and the SUT stores them there. It stores the other
    three in the system's dead-letter queue. In one case, the SUT restarts before the FinalAcks arrive. A further
    message names a missing dead-letter queue; the SUT may refuse to send this message.
    """
    own, second = (sut.new_queue(name, transactional=True) for name in ("dead", "dead-2"))
    with suppress(ControlRefused):
        sut.send(sut.format_name("transactional"), delivery="transactional", dead_letter_queue=f"{own}-missing")
    outgoing = SequenceSentBySut(peer, sut, f"mqc-own-dead-{int(ordered)}{int(restarted)}")
    negative = ["negative"]
    for journal, named in ((negative, own), (["positive"], own), (negative, second), (negative, own)):
        try:
            outgoing.send(journal=journal, dead_letter_queue=named)
        except ControlRefused as refused:
            judge.all(expected=holds("the SUT accepts the message for sending"), observed=f"refused: {refused}")
            return
        outgoing.send(journal=journal)
    frames = [outgoing.send_session_ack()]
    if ordered:
        frames.append(outgoing.send_order_ack(8))
        peer.settle()
    if restarted:
        sut.restart()
        session = peer.open_raw()
        frames += [session.send(build_final_ack(peer, one)) for one in outgoing.sent]
        session.request_acknowledgment()
        outgoing.send()
    else:
        frames += [outgoing.send_final_ack(number) for number in range(1, 9)]

    def find_messages() -> dict[str, list[int]]:
        queues = (("first queue", own), ("second queue", second), ("queue of the system", DEAD_LETTERS))
        return {name: find_positions_of_messages_in_queue(sut, queue, outgoing.identifiers) for name, queue in queues}

    expected = {"first queue": [1, 7], "second queue": [5], "queue of the system": [2, 6, 8]}
    peer.eventually(lambda: find_messages() == expected)
    found = find_messages()
    judge(
        "MQQB-3.1.5.7-07",
        "MQDMPR-3.1.1.12-02",
        expected=expected,
        observed=found,
        evidence=[*outgoing.sent, *frames],
    )
    judge(
        "MQQB-3.1.5.7-05",
        expected=[1, 2, 5, 6, 7, 8],
        observed=sorted(number for numbers in found.values() for number in numbers),
        case="messages in the dead-letter queues",
        evidence=[*outgoing.sent, *frames],
    )
    outgoing.acknowledge_all()
