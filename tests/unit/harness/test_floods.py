"""A run whose system sends endlessly is ended, by the number of floods or by the size of the captures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.paths import SUITES
from harness.run import floods
from harness.run.floods import MAX_CHECKS_WITH_FLOODS, find_end_reason
from harness.run.stash import RUN_KEY

FLOOD = "ROBUSTNESS-1-FLOOD"


@pytest.fixture
def item(tmp_path: Path) -> Any:
    def path(_: str, attempt: int) -> Path:
        return tmp_path / f"{attempt}.pcapng"

    run = SimpleNamespace(captured_byte_count=0, verdict_log=SimpleNamespace(fails=Counter[str]()), capture_path=path)
    return SimpleNamespace(
        config=SimpleNamespace(stash={RUN_KEY: run}),
        path=SUITES / "mqqb" / "test_x.py",
        nodeid="mqqb/test_x.py::test_y",
    )


def test_third_flood_ends_a_run_but_other_failures_do_not(item: Any) -> None:
    fails = item.config.stash[RUN_KEY].verdict_log.fails
    fails[FLOOD], fails["MQQB-2.1.1-01"] = MAX_CHECKS_WITH_FLOODS - 1, 100
    assert find_end_reason(item) is None
    fails[FLOOD] += 1
    assert str(find_end_reason(item)).startswith("the SUT sent packets endlessly in 3 checks")


def test_captures_of_all_attempts_count_to_the_limit_that_ends_a_run(
    item: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "MAX_CAPTURED_BYTES", 1_000)
    for attempt in (0, 1):
        (tmp_path / f"{attempt}.pcapng").write_bytes(bytes(300))
    assert find_end_reason(item) is None
    assert item.config.stash[RUN_KEY].captured_byte_count == 600
    assert str(find_end_reason(item)).startswith(
        "the captures of this run have 1,200 bytes, but a correct SUT causes less than 1,000"
    )
