"""Replay a run: repeat the checks of a run folder. In each check, the recorded capture takes the place of the SUT."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.judging.verdicts import Verdict, read_stored_verdict_lines
from harness.paths import SUITES
from harness.rules.renamed_checks import get_current_check
from harness.run.checks import get_check_id
from harness.run.stash import DRIVER_KEY
from harness.run_folder import CAPTURES_FOLDER, RUN_FILE, VERDICTS_FILE, get_capture_path
from harness.sut.drivers import SutDriver
from harness.sut.replay_driver import ReplayDriver
from harness.sut.sut_file import SutFile, parse_sut_file
from harness.sut.sut_process import ProcessEnd

VERDICTS_WITHOUT_CAPTURE = (Verdict.NOT_APPLICABLE, Verdict.NOT_OBSERVABLE)
"""The verdicts of checks that exchanged no packets and therefore have no capture."""
REPLAYED_FILES: pytest.StashKey[frozenset[Path]] = pytest.StashKey()
"""The files of the suites that contain the checks to replay, and the folders of these files."""


def load_replayed_run(
    folder: Path, rules: Collection[str]
) -> tuple[SutFile, Callable[[SutFile, Path], Sequence[SutDriver]]]:
    """Return the SUT file of the run in a folder, and a function that creates the driver for the captures of the
    run. If ``rules`` is not empty, only checks with a verdict on one of these rules are replayed.
    """
    path = folder / RUN_FILE
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        file = parse_sut_file({"sut": run["sut"], "driver": {"kind": "virtual"}})
        word = str(run["run"])
        deaths = [
            ProcessEnd(0, get_current_check(str(one["check"])), str(one["how"]), str(one["said"]))
            for one in run.get("deaths", ())
        ]
    except OSError as error:
        raise UsageError(
            f"{folder} is not a run folder, because {RUN_FILE} cannot be read: {error.strerror}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is truncated or broken ({error}); it is not a {RUN_FILE} of this harness") from error
    try:
        captures = _map_checks_to_captures(folder, rules)
    except OSError as error:
        raise UsageError(
            f"{folder} is not a run folder, because {VERDICTS_FILE} cannot be read: {error.strerror}"
        ) from error
    if not captures:
        raise UsageError(f"{folder}: no check has a verdict{' on ' if rules else ''}{', '.join(sorted(rules))}")
    return file, lambda file, out: [ReplayDriver(file, captures, word, deaths)]


def get_variation_strength(folder: Path) -> int:
    """Return the strength with which the checks of a run were varied, or 2 if run.json does not contain it. The
    strength is the number of parameters whose values are combined in all possible ways.
    """
    found = json.loads((folder / RUN_FILE).read_text(encoding="utf-8")).get("strength")
    return int(found) if found in (1, 3) else 2


def _map_checks_to_captures(folder: Path, rules: Collection[str]) -> dict[str, Path]:
    """Return the captures of a run, by check. If a check had several attempts, the result contains the capture of
    the last attempt, which decided the verdicts. A check that was skipped because the system lacks a capability has
    no capture.
    """
    captures, wanted, made = dict[str, Path](), set[str](), set[str]()
    for line in read_stored_verdict_lines(folder / VERDICTS_FILE):
        if not isinstance(test := line.get("test"), str):
            continue
        name, test = str(line.get("capture") or get_capture_path(test)), get_current_check(test)
        captures[test] = folder / CAPTURES_FOLDER / name.rpartition("/")[2]
        if not rules or line.get("rule") in rules:
            wanted.add(test)
        if line.get("verdict") not in VERDICTS_WITHOUT_CAPTURE:
            made.add(test)
    return {test: path for test, path in captures.items() if test in wanted and (test in made or path.is_file())}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files that contain no replayed checks."""
    if not collection_path.is_relative_to(SUITES):
        return None
    if REPLAYED_FILES not in config.stash:
        files = {SUITES.parent / test.partition("::")[0] for test in _get_replay_driver(config).captures}
        config.stash[REPLAYED_FILES] = frozenset(each for path in files for each in (path, *path.parents))
    return True if collection_path not in config.stash[REPLAYED_FILES] else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the checks that have no capture."""
    captures = _get_replay_driver(config).captures
    config.hook.pytest_deselected(items=[item for item in items if get_check_id(item) not in captures])
    items[:] = [item for item in items if get_check_id(item) in captures]


def _get_replay_driver(config: pytest.Config) -> ReplayDriver:
    driver = config.stash[DRIVER_KEY]
    assert isinstance(driver, ReplayDriver)
    return driver
