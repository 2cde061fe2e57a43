"""Passive predicates see every packet of the SUT, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness_made import MUST, SHOULD, frame

from harness.capture.recorder import Connection
from harness.errors import HarnessError
from harness.judging.passive import PASSIVE, Context, Finding, PassiveJudge, passive


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
def test_a_rule_has_one_predicate() -> None:
    passive(MUST, "Ping", "x")(lambda packet, context: None)
    with pytest.raises(HarnessError, match=f"{MUST} has two"):
        passive(MUST, "Ping", "y")(lambda packet, context: None)


def test_the_context_knows_what_came_before_on_the_connection() -> None:
    connection = Connection(1, "initiator")
    connection.frames += [frame(1), frame(2, from_sut=False), frame(3)]
    context = Context(connection.frames[2], connection)
    assert (context.sut_role, [each.number for each in context.earlier]) == ("initiator", [1, 2])
    alone = Context(frame(1), None)
    assert (alone.sut_role, alone.earlier) == (None, [])
