"""Expectations: the values that they compare, the differences that they describe, and their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import FROM_SUT_DIRECTION, MALFORMED_PACKET_KIND, Frame, set_frame_kind
from harness.expectations import (
    CLOSED_BY_SUT_TEXT,
    acknowledged,
    acknowledgment,
    any_order,
    between,
    connection_closed_by_sut,
    distinct_values,
    each,
    expectation,
    facts,
    fields,
    holds,
    in_queue,
    none,
    one_of,
    status,
)
from harness.wire import user_message
from reference_qm.codec import MessageClass, MessageIdentifier

SENDER = UUID(int=7)


def judged(expected: Any, observed: Any) -> tuple[bool, str, str]:
    """Return whether an observation meets an expectation, and the expected and observed text of the verdict."""
    made = expectation(expected)
    difference = made.compare(observed)
    return difference is None, str(made), made.show(observed) if difference is None else str(difference)


@pytest.mark.parametrize(
    ("expected", "observed", "texts"),
    [
        ("closed", "closed", ("closed", "closed")),
        (64, 64, ("64", "64")),
        (0xFFFFFFFF, 0xFFFFFFFF, ("0xFFFFFFFF", "0xFFFFFFFF")),
        (
            fields(PR=3, **{"BaseHeader.VersionNumber": 16}),
            {"PR": 3, "BaseHeader.VersionNumber": 16},
            ("PR: 3; BaseHeader.VersionNumber: 0x10",) * 2,
        ),
        (fields(HashAlgorithm=0x8004), {"HashAlgorithm": 0x8004}, ("HashAlgorithm: 0x8004 (SHA1)",) * 2),
        ({1: 2}, {1: 2}, ("1: 2",) * 2),
        (
            expectation([2, 0x8002]).with_name("MessageClass of each"),
            [2, 0x8002],
            ("2 (ACK_REACH_QUEUE), 0x8002 (NACK_REACH_QUEUE_TIMEOUT)",) * 2,
        ),
        (each(0x41, "hQueue"), [0x41], ("each hQueue: 0x41", "each hQueue: 0x41 (1 of 1)")),
        ("", "", ("''", "''")),
        ("a\x01", "a\x01", ("'a\\x01'", "'a\\x01'")),
        (b"", b"", ("no bytes", "no bytes")),
        (b"\x01\xff", b"\x01\xff", ("01 ff", "01 ff")),
        (["a", "b"], ["a", "b"], ("a, b", "a, b")),
        ([], [], ("none", "none")),
        ([["a"], []], [["a"], []], ("[a], none", "[a], none")),
        (["a, b", 12], ["a, b", 12], ('"a, b", 12', '"a, b", 12')),
        ({"b", "a"}, ["a", "b"], None),
        (one_of("Site", "Enterprise"), "Site", ("Site or Enterprise", "Site")),
        (between(2, 30), 30, ("2 to 30", "30")),
        (holds("the key is new"), True, ("the key is new", "the key is new")),
        (status("MQ_OK"), "MQ_OK", ("MQ_OK", "MQ_OK")),
        (any_order("a", "b"), ["b", "a"], ("a, b", "b, a")),
        (any_order("a", one_of("a", "b")), ["b", "a"], None),
        (any_order(one_of("a", "b"), "a"), ["a", "b"], None),
        (in_queue(), [], ("the queue is empty", "the queue is empty")),
        (none("message of another"), [], ("no message of another", "no message of another")),
        (each("MQ_OK", "call"), ["MQ_OK", "MQ_OK"], ("each call: MQ_OK", "each call: MQ_OK (2 of 2)")),
        (facts(deleted="done", left=[]), {"deleted": "done", "left": []}, ("deleted: done; left: none",) * 2),
        (fields({"WindowSize": between(1, 9)}), {"WindowSize": 4}, ("WindowSize: 1 to 9", "WindowSize: 4")),
        (facts(state="not sent"), {"state": "not sent"}, ("state: not sent",) * 2),
        (facts(labels=["a b"], end="a, b"), {"labels": ["a b"], "end": "a, b"}, ('labels: "a b"; end: "a, b"',) * 2),
        (facts(read=holds("it ended")), {"read": True}, ("read: it ended", "read: it ended")),
        (
            facts(copies=[0, 0], left={"a": 1}),
            {"copies": [0, 0], "left": {"a": 1}},
            ("copies: 0, 0; left: [a = 1]",) * 2,
        ),
        (facts(at=fields(a=1, b=2), end=3), {"at": {"a": 1, "b": 2}, "end": 3}, ("at: [a = 1; b = 2]; end: 3",) * 2),
        ([{"FM": 1, "LM": 0}], [{"FM": 1, "LM": 0}], ("[FM = 1; LM = 0]",) * 2),
        (each(fields(FM=1), "message"), [{"FM": 1}], ("each message: FM = 1", "each message: FM = 1 (1 of 1)")),
        (
            facts(reads=each("MQ_OK", "read")),
            {"reads": ["MQ_OK"]},
            ("reads: MQ_OK (each read)", "reads: MQ_OK (one read)"),
        ),
        (facts(end_with_RR_NACK="MQ_OK"), {"end_with_RR_NACK": "MQ_OK"}, ("end with RR_NACK: MQ_OK",) * 2),
        (expectation({"PR": 3, "DM": 1}).with_name("first"), {"PR": 3, "DM": 1}, ("PR = 3; DM = 1",) * 2),
        (facts(left=in_queue("a")), {"left": ["a"]}, ('left: "a"', 'left: "a"')),
        (distinct_values("handles", 2, unlike=[0]), [5, 7], ("2 different handles other than 0", "handles 5, 7")),
        (fields({"size": one_of(64, 128)}), {"size": 64}, ("size: 64 or 128", "size: 64")),
        (one_of(between(10, 20), between(30, 40)), 35, ("10 to 20 or 30 to 40", "35")),
        (fields({}), {}, ("none", "none")),
    ],
)
def test_matching_observation_is_kept_unchanged(expected: Any, observed: Any, texts: tuple[str, str] | None) -> None:
    kept, *said = judged(expected, observed)
    assert kept
    assert texts is None or tuple(said) == texts


@pytest.mark.parametrize(
    ("expected", "observed", "says"),
    [
        (facts(read=holds("it ended")), {"read": "it waits"}, "read: it waits"),
        (distinct_values("handles", 2), [5, 5], "handles 5, 5 (5 is repeated)"),
        (distinct_values("handles", 2, unlike=[0]), [5, 0], "handles 5, 0 (0 is not allowed)"),
        (distinct_values("handles", 2), [5], "handles 5 (1 instead of 2)"),
        (distinct_values("handles", 2), None, "no value"),
        (facts(read=holds("it ended"), left=[]), {"read": False, "left": []}, "read: not true: it ended"),
        ("1", 1, "1"),
        (True, False, "no"),
        (fields(m_qft=True), {"m_qft": False}, "m_qft: no"),
        (["a", "b"], ["a"], "a (b is missing)"),
        (["a"], ["a", "a"], "a, a (a is repeated)"),
        (["a"], ["a", "b"], "a, b (b is not expected)"),
        (["a", "b"], ["b", "a"], "b, a (in the wrong order)"),
        (["a", "b"], ["c", "b"], "c, b (a is missing, c is not expected)"),
        (["a"], "nothing", "nothing"),
        (["a"], None, "no value"),
        ([], ["a"], "a (a is not expected)"),
        (any_order("a", "a"), ["a"], "a (a is missing)"),
        (any_order("a", one_of("a", "b")), ["b", "b"], "b, b (a is missing, b is repeated)"),
        (one_of("Site", "Enterprise"), "None", "None"),
        (between(2, 30), 31, "31"),
        (between(2, 30), "none", "none"),
        (holds("the key is new"), False, "not true: the key is new"),
        (holds("the key is new", otherwise="the same key"), False, "the same key"),
        (holds("the key is new"), "no key", "no key"),
        (status("MQ_OK"), "refused", "refused"),
        (in_queue("a"), [], "the queue is empty (a is missing)"),
        (none("message of another"), ["first"], "message of another: first"),
        (none("message of another"), "no answer", "message of another: no answer"),
        (each("done"), {"create": "done", "delete": "refused"}, "delete: refused (1 of 2 differs)"),
        (each("done", "request"), [], "no request was observed"),
        (each(["a"]), [["a"], ["b"]], "2: b (a is missing, b is not expected) (1 of 2 differs)"),
        (facts(deleted="done", left=["a"]), {"deleted": "done", "left": []}, "left: none (a is missing)"),
        (facts(deleted="done"), {}, "deleted: missing"),
        ({"a": 1}, {"a": 1, "b": 12}, "b: 12, which is not expected"),
        (fields(WindowSize=between(1, 9)), {"WindowSize": 12}, "WindowSize: 12"),
        (fields(WindowSize=4), None, "no value"),
    ],
)
def test_mismatch_names_observation_and_wrong_part(expected: Any, observed: Any, says: str) -> None:
    kept, _, said = judged(expected, observed)
    assert not kept
    assert said == says


@dataclass
class Connection:
    closed_by_sut: bool

    def outcome(self) -> str:
        return "kept the connection open"


def test_expected_connection_end_is_compared_with_the_conversation() -> None:
    assert judged(connection_closed_by_sut(), Connection(True)) == (True, CLOSED_BY_SUT_TEXT, CLOSED_BY_SUT_TEXT)
    assert judged(connection_closed_by_sut(), Connection(False)) == (
        False,
        CLOSED_BY_SUT_TEXT,
        "kept the connection open",
    )


@dataclass
class Call:
    outcome: str


def test_expected_rpc_call_is_compared_by_its_outcome() -> None:
    assert judged(status("MQ_OK"), Call("MQ_OK")) == (True, "MQ_OK", "MQ_OK")
    assert judged(each(status("MQ_OK")), [Call("MQ_OK"), Call("no answer")])[2] == "2: no answer (1 of 2 differs)"


def message(number: int, **fields: Any) -> Frame:
    """Return a frame with a message or an acknowledgment, as the recorder makes it."""
    packet = user_message(
        user={"SourceQueueManager": SENDER, "MessageID": number}, destination="TCP:10.0.0.1\\q", **fields
    )
    frame = Frame(number, 0, FROM_SUT_DIRECTION, "tcp", bytes(packet), MALFORMED_PACKET_KIND)
    set_frame_kind(frame)
    return frame


def answer(number: int, to: int, of_class: int = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE) -> Frame:
    correlation = MessageIdentifier(SENDER, to).build()
    return message(number, properties={"MessageClass": of_class, "CorrelationID": correlation})


def test_acknowledgments_match_by_identifier_of_acknowledged_message() -> None:
    expected = acknowledged(message(1), message(2))
    assert judged(expected, [answer(9, to=2), answer(8, to=1)]) == (
        True,
        "an acknowledgment of message 1, an acknowledgment of message 2",
        "ACK_REACH_QUEUE for message 2, ACK_REACH_QUEUE for message 1",
    )
    assert judged(expected, [answer(8, to=1), answer(9, to=1), answer(10, to=3)])[2] == (
        "ACK_REACH_QUEUE for message 1, ACK_REACH_QUEUE for message 1, ACK_REACH_QUEUE for message 3 "
        "(an acknowledgment of message 2 is missing, ACK_REACH_QUEUE for message 1 is repeated, "
        "ACK_REACH_QUEUE for message 3 is not expected)"
    )


def test_acknowledgment_of_wrong_class_does_not_match() -> None:
    expected = acknowledgment(message(1), MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q)
    assert judged(expected, answer(9, to=1)) == (
        False,
        "NACK_BAD_DST_Q for message 1",
        "ACK_REACH_QUEUE for message 1",
    )
    assert judged(expected, None)[2] == "nothing"


def test_expected_fields_are_read_from_a_packet_or_a_header() -> None:
    expected = fields({"UserHeader.MessageID": 5, "BaseHeader.PR": 3})
    assert judged(expected, message(5)) == (
        True,
        "UserHeader.MessageID: 5; BaseHeader.PR: 3",
        "UserHeader.MessageID: 5; BaseHeader.PR: 3",
    )
    assert judged(expected, message(6))[2] == "UserHeader.MessageID: 6"
    assert judged(fields(MessageID=5), message(5)["UserHeader"])[0]


def test_expected_fields_of_an_absent_header_are_missing() -> None:
    expected = fields({"UserHeader.MessageID": 5, "SessionHeader.WindowSize": 64})
    assert judged(expected, message(5))[2] == "SessionHeader.WindowSize: missing"
