"""Passive predicates see every packet of the SUT, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness_made import MUST, SHOULD, frame

from harness.capture.recorder import MALFORMED, Connection, Frame
from harness.errors import HarnessError
from harness.judging.passive import PASSIVE, Context, Finding, NotExercised, PassiveJudge, PassiveRule, passive
from reference_qm.codec import FormatError


@pytest.fixture
def registry() -> Iterator[dict[str, Any]]:
    """Yield the registry, empty for the test."""
    kept = dict(PASSIVE)
    PASSIVE.clear()
    yield PASSIVE
    PASSIVE.clear()
    PASSIVE.update(kept)


@pytest.mark.usefixtures("registry")
def test_only_packets_of_the_sut_and_of_the_kinds_named_are_shown() -> None:
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
    assert (found.tallies[MUST].seen, found.tallies[MUST].first_observed) == (2, "seen")


@pytest.mark.usefixtures("registry")
def test_a_rule_that_does_not_speak_of_a_packet_does_not_count_it() -> None:
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
    assert found.tallies[MUST].seen == 2
    assert [(bad.number, observed) for bad, observed in found.tallies[MUST].failures] == [(1, "1")]


@pytest.mark.usefixtures("registry")
def test_a_packet_that_lacks_what_the_rule_is_about_is_counted_apart() -> None:
    @passive(MUST, "SessionAck", "even where it is not 1")
    def even(packet: Any, context: Context) -> Finding:
        number = packet.SessionHeader.AckSequenceNumber
        return NotExercised("1") if number == 1 else (number % 2 == 0, str(number))

    found = PassiveJudge()
    for number, seen, idle, first in ((1, 0, 1, "1"), (2, 1, 1, "2"), (1, 1, 2, "2"), (4, 2, 2, "2")):
        found.on_frame(frame(number))
        tally = found.tallies[MUST]
        assert (tally.seen, tally.idle, tally.first_observed) == (seen, idle, first)


@pytest.mark.usefixtures("registry")
def test_a_packet_that_cannot_be_read_is_noted_and_only_its_rule_judged_from_then_on() -> None:
    @passive(MUST, ("SessionAck", MALFORMED), "version", decisive=True)
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
    assert (found.tallies[MUST].seen, found.tallies[SHOULD].seen) == (4, 1)
    assert found.unreadable == {MUST: "the SUT's packet in frame 2: version"}
    assert [frame.number for frame in found.malformed] == [2]


@pytest.mark.usefixtures("registry")
def test_a_rule_has_one_predicate() -> None:
    passive(MUST, "Ping", "x")(lambda packet, context: None)
    with pytest.raises(HarnessError, match=f"{MUST} has two"):
        passive(MUST, "Ping", "y")(lambda packet, context: None)


class Numbers:
    """The frame numbers that it was shown."""

    def __init__(self) -> None:
        self.shown: list[int] = []

    def note(self, frame: Frame, connection: Connection) -> None:
        self.shown.append(frame.number)


def connected(*numbers: int) -> Connection:
    connection = Connection(1, "initiator")
    for number in numbers:
        connection.add(frame(number, from_sut=number % 2 == 1))
    return connection


def test_the_context_knows_what_came_before_on_the_connection() -> None:
    connection = connected(1, 2, 3)
    context = Context(connection.frames[2], connection)
    assert (context.sut_role, context.before(Numbers).shown) == ("initiator", [1, 2])
    alone = Context(frame(1), None)
    assert (alone.sut_role, alone.before(Numbers).shown) == (None, [])


def test_a_summary_is_shown_every_packet_once_however_often_it_is_asked_for() -> None:
    connection = connected(*range(1, 9))
    asked = [Context(connection.frames[place], connection).before(Numbers) for place in (2, 2, 5, 7)]
    assert len({id(each) for each in asked}) == 1
    assert asked[0].shown == [1, 2, 3, 4, 5, 6, 7]


def test_a_summary_of_a_packet_that_is_looked_at_again_says_what_was_before_it() -> None:
    connection = connected(*range(1, 9))
    assert Context(connection.frames[7], connection).before(Numbers).shown == [1, 2, 3, 4, 5, 6, 7]
    assert Context(connection.frames[1], connection).before(Numbers).shown == [1]


@pytest.mark.usefixtures("registry")
def test_only_predicates_of_the_kind_are_tried() -> None:
    tried: list[str] = []

    class Watched(frozenset[str]):
        def __contains__(self, kind: object) -> bool:
            tried.append(str(kind))
            return super().__contains__(kind)

    passive(MUST, "SessionAck", "x")(lambda packet, context: (True, "x"))
    PASSIVE[SHOULD] = PassiveRule(SHOULD, Watched(["Ping"]), "y", lambda packet, context: (True, "y"))
    found = PassiveJudge()
    for number in range(1, 50):
        found.on_frame(frame(number))
    assert (found.tallies[MUST].seen, tried) == (49, ["SessionAck"])
