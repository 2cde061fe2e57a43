"""Print the terminal output of a run, in addition to pytest's output."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.run.ending import describe_end_of_process
from harness.run.findings import (
    RESUME_OPTIONS,
    build_repeat_options,
    build_rerun_command,
    build_resume_command,
    list_findings,
)
from harness.run.live import LiveProgress
from harness.run.stash import FINAL_RESULTS_KEY, RUN_KEY
from harness.sut.timeouts import describe_timeouts

if TYPE_CHECKING:
    from harness.run.results import RuleResult
    from harness.run.run import ConformanceRun

PROGRESS_PLUGIN = "mqconform-live"
"""The name of the plugin that shows the progress of a run."""
_PYTEST_OPTION_NAMES = {"-k": "keyword", "--maxfail": "maxfail"}
"""The names under which pytest stores its own options, by the option as typed."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Replace the dots of pytest with the progress of the run if --live is given."""
    run, reporter = session.config.stash.get(RUN_KEY, None), session.config.pluginmanager.get_plugin("terminalreporter")
    if run is not None and reporter is not None and session.config.getoption("--live"):
        session.config.pluginmanager.register(LiveProgress(run, reporter), PROGRESS_PLUGIN)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the findings of the run, and the path of its folder."""
    run = config.stash.get(RUN_KEY, None)
    if run is None:
        return
    if config.getoption("--live"):
        _print_findings(terminalreporter, run, config)
    else:
        for line in run.root_causes.lines():
            terminalreporter.write_line(line)
    terminalreporter.write_sep("-", "mqconform")
    if run.verdict_log.unfollowed:
        terminalreporter.write_line(
            "MUST rules whose sentence has a SHOULD that was not followed: "
            f"{', '.join(sorted(run.verdict_log.unfollowed))}"
        )
    if run.baseline is not None:
        for line in run.compare_with_baseline().describe():
            terminalreporter.write_line(line)
    if run.timeouts is not None:
        terminalreporter.write_line(describe_timeouts(run.timeouts))
    if (shortfall := run.describe_shortfall()) is not None:
        terminalreporter.write_line(shortfall)
    for death in run.process_ends:
        terminalreporter.write_line(f"{describe_end_of_process(death.how)} in {death.check}: {death.said}")
    terminalreporter.write_line(f"run folder: {run.folder}")
    if (next_step := _suggest_next_command(run, config)) is not None:
        terminalreporter.write_line(next_step)
    if run.was_sut_lost:
        terminalreporter.write_line(f"ERROR: {run.abort_reason}")
    terminalreporter.write_line(run.summarize_counts())


def _suggest_next_command(run: ConformanceRun, config: pytest.Config) -> str | None:
    """Return the command to run next. The command resumes the run, or repeats it if a root cause must be removed
    first.
    """
    given = {option: config.getoption(_PYTEST_OPTION_NAMES.get(option, option)) for option in RESUME_OPTIONS}
    if run.root_causes.root_cause_by_subject:
        file = given["--topology"] or run.file.label
        again = build_rerun_command(given, _get_free_folder_name(run.folder) if config.getoption("--out") else None)
        return f"correct {file} or the system, and then run: {again}"
    if run.abort_reason and not run.was_check_file_unreadable:
        return f"to resume: {build_resume_command(given, run.folder)}"
    return None


def _get_free_folder_name(folder: Path) -> Path:
    """Return the path of a folder that does not exist yet. Its name is the name of the given folder with a number
    added.
    """
    return next(path for number in count(2) if not (path := folder.with_name(f"{folder.name}-{number}")).exists())


def _is_exception_text(told: Any) -> bool:
    """Return whether a text of pytest shows an exception as Python reports it. The text of a verdict does not, because
    ``pytest.fail`` reports it without a traceback.
    """
    traceback = getattr(told, "reprtraceback", None)
    return hasattr(told, "toterminal") and (traceback is None or traceback.style != "value")


def _print_findings(reporter: Any, run: ConformanceRun, config: pytest.Config) -> None:
    """Print exceptions in the harness as Python reports them. Then print the findings by rule."""
    reporter.write_line("")
    for report in (*reporter.stats.get("failed", ()), *reporter.stats.get("error", ())):
        if _is_exception_text(report.longrepr):
            reporter.write_sep("_", report.nodeid)
            report.longrepr.toterminal(reporter._tw)
    again = build_repeat_options(*(config.getoption(option) for option in ("--sut", "--topology")))
    found: list[RuleResult] = config.stash.get(FINAL_RESULTS_KEY, [])
    for line in list_findings(found, run.catalogue, again, run.root_causes):
        reporter.write_line(line)
