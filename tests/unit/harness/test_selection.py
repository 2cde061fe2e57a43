"""The checks that the options of a run select."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.run.selection import choose_checks

PASSIVE, DRIVEN = "MQQB-3.1.5.3.1-10", "MQQB-3.1.5.3.1-07"
FOLDER = "suites/mqqb/s3_1_5_03_1_request_packet"


def check(name: str, *rules: str) -> tuple[Any, str]:
    item = SimpleNamespace(iter_markers=lambda _: [SimpleNamespace(args=rules)])
    return item, name


@pytest.mark.parametrize(
    ("wanted", "numbers"), [({DRIVEN}, [0]), ({PASSIVE}, [0, 1]), ({PASSIVE, DRIVEN}, [0]), ({"MQQB-2.1.1-01"}, [])]
)
def test_selected_passive_rule_selects_the_checks_of_its_section(wanted: set[str], numbers: list[int]) -> None:
    checks = [
        check(f"{FOLDER}/test_a.py::test_a[a/b]", DRIVEN),
        check(f"{FOLDER}/test_a.py::test_b"),
        check("suites/mqqb/s3_1_5_03/test_c.py::test_c"),
    ]
    assert choose_checks(wanted, checks) == [checks[number][0] for number in numbers]
