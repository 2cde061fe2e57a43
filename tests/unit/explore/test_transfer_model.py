"""The model of the area `transfer`: the time for which a peer may withhold acknowledgments."""

from __future__ import annotations

import pytest

from harness.model.steps import ImpossibleStep, Step
from harness.model.transfer.area import TransferModel


def test_silence_is_limited_even_when_no_message_of_an_application_waits() -> None:
    model = TransferModel()
    model.take(Step("silence_peer", {"on": True}))
    with pytest.raises(ImpossibleStep):
        model.take(Step("rest_until_acknowledged"))


def test_rest_is_possible_after_silence_ends() -> None:
    model = TransferModel()
    model.take(Step("silence_peer", {"on": True}))
    model.take(Step("silence_peer", {"on": False}))
    model.take(Step("rest_until_acknowledged"))
    assert model.long_pauses == 1


def test_silent_peer_does_not_hang_up() -> None:
    model = TransferModel()
    model.take(Step("connect", {"session": "s"}))
    model.take(Step("silence_peer", {"on": True}))
    with pytest.raises(ImpossibleStep):
        model.take(Step("hang_up", {"session": "s"}))


def _deliver_first_message(decisions: dict[str, int]) -> TransferModel:
    model = TransferModel(decisions)
    model.take(Step("connect", {"session": "s"}))
    place = {"sequence": 1, "number": 1, "previous": 0}
    fixed = {"size": 0, "acks": [], "journal": [], "details": {}, "unused": [], "final": False}
    model.take(Step("deliver_in_sequence", {"session": "s", "message": "m1", "queue": "two", **place, **fixed}))
    return model


@pytest.mark.parametrize("reading", [0, 1])
def test_number_after_first_message_of_a_sequence_depends_on_the_reading(reading: int) -> None:
    model = _deliver_first_message({"E75": reading})
    seen = model.describe_visible_state()
    assert seen["transfer"]["SequenceNumber"] == 1 - reading
    assert seen["order acks"] == {"sequence": 1, "number": 1}
