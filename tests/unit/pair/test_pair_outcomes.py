"""Outcomes of a pair by identity, and the pairs that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.pair.outcomes import Result, compare_classes, compare_messages
from harness.pair.systems import Drivers
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
def test_difference_names_the_messages(arrived: list[str], why: str) -> None:
    outcome = compare_messages(["a", "b"], arrived, in_order=True)
    assert (outcome.result, outcome.why) == (Result.FAIL if why else Result.PASS, why)


def test_pair_comparison_ignores_order_where_none_is_required() -> None:
    assert compare_messages(["a", "b"], ["b", "a"], in_order=False).result is Result.PASS


def test_classes_are_compared_in_any_order_and_by_number() -> None:
    assert compare_classes(["X", "Y"], ["Y", "X"]).result is Result.PASS
    assert compare_classes(["X"], ["X", "X"]).why == "acknowledgments: X, X; expected: X"
    assert compare_classes(["X"], []).why == "acknowledgments: none; expected: X"


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
        Drivers(a, b, tmp_path)
