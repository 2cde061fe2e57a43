"""Passive predicates judge every packet of the SUT, and no other packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness_made import MUST, SHOULD, frame

from harness.capture.recorder import MALFORMED_PACKET_KIND, Connection, Frame
from harness.errors import HarnessError
from harness.judging.passive import (
    PASSIVE_RULES,
    ConnectionSummary,
    Context,
    Finding,
    NotExercised,
    PassiveJudge,
    PassiveRule,
    RecentValues,
    passive,
)
from reference_qm.codec import FormatError


@pytest.fixture
def registry() -> Iterator[dict[str, Any]]:
    """Yield the registry of predicates, which is empty during the test."""
    kept = dict(PASSIVE_RULES)
    PASSIVE_RULES.clear()
    yield PASSIVE_RULES
    PASSIVE_RULES.clear()
    PASSIVE_RULES.update(kept)


@pytest.mark.usefixtures("registry")
def test_predicate_gets_only_packets_of_the_sut_of_its_kinds() -> None:
    shown: list[int] = []

    @passive(MUST, ("SessionAck", "Ping"), "seen")
    def see(packet: Any, context: Context) -> Finding:
        shown.append(packet.SessionHeader.AckSequenceNumber)
        return True, "seen"

    found = PassiveJudge()
    found.on_frame(frame(1))
    found.on_frame(frame(2, from_sut=False))
    found.on_frame(frame(3, kind="UserMessage"))
    found.on_frame(frame(4, data=b"\x00" * 40, kind="SessionAck"))  # nothing that the codec can read
    found.on_frame(frame(5))
    assert shown == [1, 5]
    assert (found.tallies[MUST].judged_packet_count, found.tallies[MUST].first_observed_text) == (2, "seen")


@pytest.mark.usefixtures("registry")
def test_packet_irrelevant_to_a_passive_rule_is_not_counted() -> None:
    @passive(MUST, "SessionAck", "even")
    def even(packet: Any, context: Context) -> Finding:
        number = packet.SessionHeader.AckSequenceNumber
        return None if number > 2 else (number % 2 == 0, str(number))

    @passive(SHOULD, "SessionAck", "never said")
    def silent(packet: Any, context: Context) -> Finding:
        return None

    found = PassiveJudge()
    for number in (1, 2, 3, 4):
        found.on_frame(frame(number))
    assert list(found.tallies) == [MUST]
    assert found.tallies[MUST].judged_packet_count == 2
    assert [(bad.number, observed) for bad, observed in found.tallies[MUST].failures] == [(1, "1")]


@pytest.mark.usefixtures("registry")
def test_packet_that_a_predicate_cannot_judge_counts_as_not_exercised() -> None:
    @passive(MUST, "SessionAck", "even where it is not 1")
    def even(packet: Any, context: Context) -> Finding:
        number = packet.SessionHeader.AckSequenceNumber
        return NotExercised("1") if number == 1 else (number % 2 == 0, str(number))

    found = PassiveJudge()
    for number, seen, idle, first in ((1, 0, 1, "1"), (2, 1, 1, "2"), (1, 1, 2, "2"), (4, 2, 2, "2")):
        found.on_frame(frame(number))
        tally = found.tallies[MUST]
        assert (tally.judged_packet_count, tally.idle, tally.first_observed_text) == (seen, idle, first)


@pytest.mark.usefixtures("registry")
def test_after_an_unreadable_packet_only_its_own_rule_is_judged() -> None:
    @passive(MUST, ("SessionAck", MALFORMED_PACKET_KIND), "version", decisive=True)
    def version(packet: Any, context: Context) -> Finding:
        return not isinstance(packet, FormatError), "version"

    @passive(SHOULD, "SessionAck", "counts")
    def counts(packet: Any, context: Context) -> Finding:
        return True, "1"

    connection, found = Connection(1, "acceptor"), PassiveJudge()
    for number in range(1, 5):
        wrong = b"\x11" + frame(number).data[1:] if number == 2 else None
        made = frame(number, data=wrong)
        made.connection = connection
        connection.add(made)
        found.on_frame(made)
    assert (found.tallies[MUST].judged_packet_count, found.tallies[SHOULD].judged_packet_count) == (4, 1)
    assert found.unreadable == {MUST: "the SUT's packet in frame 2: version"}
    assert [frame.number for frame in found.malformed] == [2]


@pytest.mark.usefixtures("registry")
def test_second_predicate_of_a_passive_rule_is_refused() -> None:
    passive(MUST, "Ping", "x")(lambda packet, context: None)
    with pytest.raises(HarnessError, match=f"{MUST} has two"):
        passive(MUST, "Ping", "y")(lambda packet, context: None)


@pytest.fixture
def numbers(registry: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> type[ConnectionSummary]:
    """Register a single kind of summary, which records the numbers of the frames that it was given; return
    the class.
    """
    monkeypatch.setattr(ConnectionSummary, "SUMMARY_CLASSES", [])

    class Numbers(ConnectionSummary):
        def __init__(self) -> None:
            self.shown: list[int] = []

        def note(self, frame: Frame, connection: Connection) -> None:
            self.shown.append(frame.number)

    return Numbers


def judged(connection: Connection | None, *numbers: int) -> PassiveJudge:
    """Give frames of a connection to a judge, odd numbers as frames of the SUT; return the judge."""
    found = PassiveJudge()
    for number in numbers:
        made = frame(number, from_sut=number % 2 == 1)
        made.connection = connection
        found.on_frame(made)
    return found


def test_predicate_context_has_earlier_packets_of_connection(numbers: Any) -> None:
    known = []

    @passive(MUST, "SessionAck", "x")
    def see(packet: Any, context: Context) -> Finding:
        known.append((context.sut_role, list(context.before(numbers).shown)))
        return True, "x"

    judged(Connection(1, "initiator"), 1, 2, 3)
    judged(None, 5, 7)
    assert known == [("initiator", []), ("initiator", [1, 2]), (None, []), (None, [])]


def test_predicate_does_not_judge_by_packets_missing_in_capture(numbers: Any) -> None:
    @passive(MUST, "SessionAck", "x")
    def needs_history(packet: Any, context: Context) -> Finding:
        return False, f"{context.before(numbers).shown}"

    @passive(SHOULD, "SessionAck", "y")
    def needs_role(packet: Any, context: Context) -> Finding:
        return False, f"{context.sut_role}"

    lacking = Connection(1, "", missing_frames_reason="12 bytes are not in the capture")
    found = judged(lacking, 1, 2, 3)
    assert found.tallies[MUST].missing == {"12 bytes are not in the capture": 2}
    assert found.tallies[SHOULD].missing == {"the capture does not show which side opened the connection": 2}
    assert not found.tallies[MUST].failures
    assert not found.tallies[SHOULD].failures
    assert not lacking.summary_by_class


@pytest.mark.usefixtures("registry")
def test_packet_is_tried_only_on_predicates_of_its_kind() -> None:
    tried: list[str] = []

    class Watched(frozenset[str]):
        def __contains__(self, kind: object) -> bool:
            tried.append(str(kind))
            return super().__contains__(kind)

    passive(MUST, "SessionAck", "x")(lambda packet, context: (True, "x"))
    PASSIVE_RULES[SHOULD] = PassiveRule(SHOULD, Watched(["Ping"]), "y", lambda packet, context: (True, "y"))
    found = PassiveJudge()
    for number in range(1, 50):
        found.on_frame(frame(number))
    assert (found.tallies[MUST].judged_packet_count, tried) == (49, ["SessionAck"])


def test_recent_map_keeps_first_value_of_a_key_and_drops_oldest_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecentValues, "MAX_VALUES", 3)
    known = RecentValues[int, str]()
    for key, value in ((1, "a"), (2, "b"), (1, "c"), (3, "d"), (4, "e")):
        known.store_new_value(key, value)
    assert known == {2: "b", 3: "d", 4: "e"}
