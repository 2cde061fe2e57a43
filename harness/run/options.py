"""Define the options that a conformance run adds to pytest."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import pytest

from harness.lengths_of_time import ACCEPTED_FORMS_OF_SECONDS, parse_seconds
from harness.paths import SUITES

PLUGIN_MODULE = "harness.run.plugin"
"""The name of this plugin. It is passed to pytest as an argument, so that the options of the plugin are known
before pytest parses the other arguments.
"""
DISABLED_PLUGINS = ("logging", "unraisableexception", "threadexception", "doctest", "pastebin", "legacypath")
"""The pytest plugins that a run disables. The second and the third of them collect garbage after each check, which
takes longer than most checks.
"""
CHECK_LIMIT_S = 15 * 60
"""int s: the default time limit of a check. The limit is longer than every wait of a check without a control
channel.
"""


def build_pytest_arguments(paths: Iterable[str] = ("suites",)) -> list[str]:
    """Return the first arguments of pytest. They do not depend on the run or on the current folder."""
    places = [str(SUITES.parent / path) for path in paths]
    left_out = [word for plugin in DISABLED_PLUGINS for word in ("-p", f"no:{plugin}")]
    return [*places, "-c", str(SUITES / "pytest.ini"), "--rootdir", str(SUITES), "-p", PLUGIN_MODULE, *left_out]


def add_options(parser: pytest.Parser) -> None:
    """Add the options of a conformance run."""
    group = parser.getgroup("mqconform", "MSMQ conformance")
    group.addoption("--sut", metavar="FILE", help="the TOML file that describes the system under test")
    group.addoption("--topology", metavar="FILE", help="the TOML file of a sender, a router and a receiver")
    group.addoption("--out", metavar="DIR", help="the folder of the run (default: out/<SUT>-<time>)")
    group.addoption("--resume", action="store_true", help="resume the run in --out")
    group.addoption("--rule", action="append", default=[], metavar="ID", help="run only checks that cover this rule")
    group.addoption(
        "--select",
        action="append",
        default=[],
        metavar="WHAT",
        help="run only checks of a document, a section or a rule, or of rules with role=, level= or observe=",
    )
    group.addoption("--baseline", metavar="FILE", help="the TOML file of known deviations")
    group.addoption("--live", action="store_true", help="show the progress of the run instead of dots")
    group.addoption(
        "--deadline", type=_parse_seconds, metavar="SECONDS", help="start no check after this number of seconds"
    )
    group.addoption(
        "--check-limit",
        type=_parse_seconds,
        default=CHECK_LIMIT_S,
        metavar="SECONDS",
        help=f"end a check that takes longer than this number of seconds ({CHECK_LIMIT_S} by default)",
    )
    group.addoption(
        "--wait",
        type=_parse_seconds,
        default=0,
        metavar="SECONDS",
        help="wait up to this number of seconds for the SUT to start",
    )
    group.addoption("--allure", action="store_true", help="write allure-results at the end of the run")
    group.addoption("--workers", type=int, default=1, metavar="N", help="the number of checks that run in parallel")
    group.addoption("--replay", metavar="RUN", help="run the checks of this run folder again on their captures")
    group.addoption(
        "--strength",
        type=int,
        choices=(1, 2, 3),
        default=2,
        help="in varied checks, cover all combinations of values of this many parameters; "
        "with 1, each check runs only once",
    )
    group.addoption(
        "--fault", action="append", default=[], metavar="NAME", help="install this fault in a virtual reference"
    )


def _parse_seconds(text: str) -> int:
    if (seconds := parse_seconds(text)) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration; give {ACCEPTED_FORMS_OF_SECONDS}")
    return seconds
