"""The options of a conformance run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import pytest

from harness.lengths_of_time import FORMS, seconds_of
from harness.paths import SUITES

PLUGIN = "harness.run.plugin"
"""Named here, so that its options are known before pytest looks for files among the arguments."""
UNNEEDED = ("logging", "unraisableexception", "threadexception", "doctest", "pastebin", "legacypath")
"""Plugins of pytest that a run does without: the second and third collect garbage twice, longer than most checks."""
CHECK_LIMIT_S = 15 * 60
"""No wait that a check without control makes is as long."""


def pytest_arguments(paths: Iterable[str] = ("suites",)) -> list[str]:
    """Return the arguments that every run of the suites starts with, wherever it is called from."""
    places = [str(SUITES.parent / path) for path in paths]
    left_out = [word for plugin in UNNEEDED for word in ("-p", f"no:{plugin}")]
    return [*places, "-c", str(SUITES / "pytest.ini"), "--rootdir", str(SUITES), "-p", PLUGIN, *left_out]


def add_options(parser: pytest.Parser) -> None:
    """Add the options of a conformance run."""
    group = parser.getgroup("mqconform", "MSMQ conformance")
    group.addoption("--sut", metavar="FILE", help="the TOML file that describes the system under test")
    group.addoption("--topology", metavar="FILE", help="the TOML file of a sender, a router and a receiver")
    group.addoption("--out", metavar="DIR", help="the folder of the run (default: out/<SUT>-<time>)")
    group.addoption("--resume", action="store_true", help="resume the run in --out")
    group.addoption("--rule", action="append", default=[], metavar="ID", help="only checks that cover this rule")
    group.addoption(
        "--select",
        action="append",
        default=[],
        metavar="WHAT",
        help="only checks of a document, a section, a rule, of role=, level=, observe=",
    )
    group.addoption("--baseline", metavar="FILE", help="the TOML file of deviations that are known")
    group.addoption("--live", action="store_true", help="say how far the run is instead of showing dots")
    group.addoption("--deadline", type=_seconds, metavar="SECONDS", help="begin no check after so many seconds")
    group.addoption(
        "--check-limit",
        type=_seconds,
        default=CHECK_LIMIT_S,
        metavar="SECONDS",
        help=f"end a check that takes longer ({CHECK_LIMIT_S})",
    )
    group.addoption("--wait", type=_seconds, default=0, metavar="SECONDS", help="wait so long for the SUT to come up")
    group.addoption("--allure", action="store_true", help="write allure-results at the end of the run")
    group.addoption("--workers", type=int, default=1, metavar="N", help="how many checks may run in parallel")
    group.addoption("--replay", metavar="RUN", help="run the checks of this run on their captures")
    group.addoption(
        "--strength",
        type=int,
        choices=(1, 2, 3),
        default=2,
        help="vary checks over each combination of so many of their parameters; 1: run each check once",
    )
    group.addoption("--fault", action="append", default=[], metavar="NAME", help="break a virtual reference this way")


def _seconds(text: str) -> int:
    if (seconds := seconds_of(text)) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a length of time; give {FORMS}")
    return seconds
