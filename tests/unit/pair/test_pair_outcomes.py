"""The outcomes of a pair, determined by the identity of messages, and the pairs that cannot be run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.pair.outcomes import ScenarioResult, compare_messages, judge_received_acknowledgment_classes
from harness.pair.running import run_scenario
from harness.pair.scenarios import SCENARIOS, Scenario, find_missing_facilities
from harness.pair.systems import PairDrivers
from harness.sut.control import Unsupported
from harness.sut.sut_file import load_sut_file

SUT = """
[sut]
name = "a"
[driver]
kind = "external"
address = "127.0.42.1"
peer_address = "{peer}"
[control]
kind = "{control}"
{address}
"""


def write(folder: Path, name: str, peer: str = "127.0.42.2", control: str = "jsonl") -> Path:
    file = folder / f"{name}.toml"
    address = 'address = "127.0.0.1:9899"' if control == "jsonl" else ""
    file.write_text(SUT.format(peer=peer, control=control, address=address), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("arrived", "why"),
    [
        (["a", "b"], ""),
        (["b", "a"], "in the wrong order: b, a"),
        (["a"], "missing: b"),
        (["a", "b", "b"], "arrived again: b"),
        (["a", "b", "c"], "not expected: c"),
        (["a", "a", "c"], "missing: b; arrived again: a; not expected: c"),
    ],
)
def test_pair_difference_names_the_messages(arrived: list[str], why: str) -> None:
    outcome = compare_messages(["a", "b"], arrived, in_order=True)
    assert (outcome.result, outcome.why) == (ScenarioResult.FAIL if why else ScenarioResult.PASS, why)


def test_pair_comparison_ignores_order_where_none_is_required() -> None:
    assert compare_messages(["a", "b"], ["b", "a"], in_order=False).result is ScenarioResult.PASS


def test_pair_acknowledgment_classes_are_compared_by_number_in_any_order() -> None:
    assert judge_received_acknowledgment_classes(["X", "Y"], ["Y", "X"]).result is ScenarioResult.PASS
    assert judge_received_acknowledgment_classes(["X"], ["X", "X"]).why == "acknowledgments: X, X; expected: X"
    assert judge_received_acknowledgment_classes(["X"], []).why == "acknowledgments: none; expected: X"


@pytest.mark.parametrize(
    ("second", "line"),
    [
        ({"peer": "127.0.42.2"}, "driver.peer_address is 127.0.42.2, as in"),
        ({"peer": "127.0.42.3", "control": "none"}, "control.kind is none"),
    ],
)
def test_pair_that_cannot_run_is_refused_with_one_line(tmp_path: Path, second: dict[str, str], line: str) -> None:
    a, b = load_sut_file(write(tmp_path, "a")), load_sut_file(write(tmp_path, "b", **second))
    with pytest.raises(UsageError, match=line):
        PairDrivers(a, b, tmp_path)


def side(role: str, *has: str) -> Any:
    return SimpleNamespace(role=role, sut=SimpleNamespace(has=lambda need: need in has))


def test_pair_remote_reading_needs_reader_facilities_and_server_capability() -> None:
    (reading,) = (one for one in SCENARIOS if one.name == "remote reading")
    missing = find_missing_facilities(reading, side("A", "send"), side("B", "receive"))
    assert missing is not None
    assert (missing.result, missing.why) == (ScenarioResult.UNSUPPORTED, "A lacks remote_read; B lacks qm2qm")
    assert find_missing_facilities(reading, side("A", "send", "remote_read"), side("B", "receive", "qm2qm")) is None


def test_unsupported_verb_makes_the_pair_scenario_unsupported() -> None:
    def refuse(*_: Any) -> Any:
        raise Unsupported("the SUT does not support remote_open")

    pair: Any = SimpleNamespace(sides={"A": side("A"), "B": side("B")})
    outcome = run_scenario(Scenario("a", "a", "a scenario", (), (), refuse), pair, "A", "B")
    assert (outcome.result, outcome.why) == (ScenarioResult.UNSUPPORTED, "the SUT does not support remote_open")
