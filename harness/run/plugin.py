"""The pytest plugin for a conformance run, ``pytest suites --sut sut.toml``. The plugin affects only tests in the
suites folder, and no other pytest session.
"""

from __future__ import annotations

import gc
import signal
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.interrupts import SignalHandlers, raise_interrupt_on, restore_handlers
from harness.paths import SUITES
from harness.run.checks import explain_missing_collection, find_needs, get_check_id
from harness.run.computing import limit_computing_time
from harness.run.ending import (
    describe_end_after_failures,
    describe_end_of_process,
    end_run,
    restart_sut_if_process_ended,
)
from harness.run.options import add_options
from harness.run.selection import choose_checks, describe_selection, find_wanted_rules, list_files_to_collect
from harness.run.stash import (
    CHECK_PREREQUISITES_KEY,
    DRIVER_KEY,
    DRIVERS_KEY,
    FINAL_RESULTS_KEY,
    JUDGE_KEY,
    PROCESS_END_REPORTED_KEY,
    RESIDUE_KEY,
    ROOT_CAUSES_KEY,
    RUN_KEY,
    VERDICT_LOG_KEY,
    make_judge,
    release_packets,
)

if TYPE_CHECKING:
    from harness.judging.judge import Judge
    from harness.run.run import ConformanceRun

EARLIER_SIGNAL_HANDLERS_KEY: pytest.StashKey[SignalHandlers] = pytest.StashKey()
"""For each signal that ends a run, the handler that was set before the run."""
EARLIER_GC_THRESHOLD_KEY: pytest.StashKey[tuple[int, int, int]] = pytest.StashKey()
GC_THRESHOLD_OBJECTS = 10_000
"""The number of new objects after which Python searches for garbage cycles."""
SELECTED_FILES_KEY: pytest.StashKey[frozenset[Path] | None] = pytest.StashKey()
_END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a conformance run."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of checks. With --sut, also open the run folder before other plugins need it."""
    config.addinivalue_line("markers", "covers(rule, ...): the rules of the catalogue that a check judges")
    config.addinivalue_line(
        "markers", "sut_survives(rule, ...): rules that fail when the system does not survive the check"
    )
    config.addinivalue_line("markers", "malforms(rule, ...): rules that the peer of a check breaks on purpose")
    config.addinivalue_line("markers", "needs(name, ...): capabilities and facilities that a check needs")
    config.addinivalue_line("markers", "varied(values): the parameters that a check varies (harness/varying)")
    if any(map(config.getoption, ("--sut", "--topology", "--replay"))) and not config.getoption("collectonly"):
        try:
            _begin_run(config)
        except KeyboardInterrupt:
            from harness.exit_codes import EXIT_INTERRUPTED

            pytest.exit("interrupted before the first check", EXIT_INTERRUPTED)


def _begin_run(config: pytest.Config) -> None:
    from dataclasses import replace

    from harness.errors import MqconformError, UsageError
    from harness.judging.baseline import load_baseline
    from harness.rules.catalogue import load_catalogue
    from harness.run import attempts, fixtures, teardown, terminal, topologies, varied_checks
    from harness.run.deadline import DeadlinePlugin
    from harness.run.full_disk import RunFolderErrorPlugin
    from harness.run.run import ConformanceRun, make_file_name_part
    from harness.sut.drivers import report_timeouts_of_drivers, start_all_suts

    try:
        if config.getoption("resume") and not config.getoption("--out"):
            raise UsageError("--resume needs the folder of the run: give this folder as --out")
        rules = find_wanted_rules(config)
        known = config.getoption("--baseline")
        baseline = load_baseline(Path(known), load_catalogue()) if known else None
        if config.getoption("--replay"):
            from harness.run import replays

            config.pluginmanager.register(replays)
            file, drivers_of = replays.load_replayed_run(
                Path(config.getoption("--replay")), rules if _has_rule_selection(config) else ()
            )
        else:
            file, drivers_of = topologies.load_systems(*map(config.getoption, ("--sut", "--topology", "--workers")))
        if config.getoption("--fault"):
            file = replace(file, reference=replace(file.reference, faults=tuple(config.getoption("--fault"))))
        folder = Path(
            config.getoption("--out") or f"out/{make_file_name_part(file.sut.name)}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        )
        drivers = [*drivers_of(file, folder)]
        # Stop the processes that are started here, because they do not get the signals of a terminal.
        config.stash[EARLIER_SIGNAL_HANDLERS_KEY] = raise_interrupt_on(_END_SIGNALS)
        run = ConformanceRun.begin(
            folder, file, load_catalogue(), describe_selection(config), resume=config.getoption("--resume")
        )
    except MqconformError as error:
        raise pytest.UsageError(str(error)) from error
    for driver in drivers:
        driver.start_wait_s = config.getoption("--wait")
    try:
        start_all_suts(drivers)
    except MqconformError as error:
        run.lose(str(error))
        run.end()
        raise pytest.UsageError(str(error)) from error
    run.variation_strength = config.getoption("strength")
    if config.getoption("--replay"):
        run.variation_strength = replays.get_variation_strength(Path(config.getoption("--replay")))
    run.timeouts, run.baseline = report_timeouts_of_drivers(drivers), baseline
    run.write_run_file(finished=None, code=None)
    run.deadline_s = config.getoption("deadline")
    run.queue_managers = [*dict.fromkeys(driver.identifier for driver in drivers if driver.identifier is not None)]
    config.stash[RUN_KEY] = run
    for plugin in (
        attempts,
        fixtures,
        teardown,
        terminal,
        topologies,
        varied_checks,
        DeadlinePlugin(run),
        RunFolderErrorPlugin(run),
    ):
        config.pluginmanager.register(plugin)
    config.stash[VERDICT_LOG_KEY], config.stash[RESIDUE_KEY], config.stash[ROOT_CAUSES_KEY] = (
        run.verdict_log,
        run.residue,
        run.root_causes,
    )
    config.stash[DRIVERS_KEY], config.stash[DRIVER_KEY] = drivers, drivers[0]


def _has_rule_selection(config: pytest.Config) -> bool:
    """Return whether the options select rules."""
    return any(map(config.getoption, ("--rule", "--select")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore files without checks of the selected rules. Do this only if few rules are selected."""
    if not _has_rule_selection(config) or config.getoption("--replay") or not collection_path.is_relative_to(SUITES):
        return None
    if SELECTED_FILES_KEY not in config.stash:
        config.stash[SELECTED_FILES_KEY] = list_files_to_collect(find_wanted_rules(config))
    wanted = config.stash[SELECTED_FILES_KEY]
    return True if wanted is not None and collection_path not in wanted and collection_path != SUITES else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """End a run if a file of checks cannot be imported, because the run would then lack the checks of this file."""
    report = yield
    run = collector.config.stash.get(RUN_KEY, None)
    if run is not None and report.failed:
        run.was_check_file_unreadable = True
        raise pytest.UsageError(explain_missing_collection(report))
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select checks by rule, remove the finished checks of a resumed run, and refuse checks without a SUT."""
    checks = [(item, path) for item in items if (path := get_check_id(item)) is not None]
    if _has_rule_selection(config) and not config.getoption("--replay"):
        keep = choose_checks(find_wanted_rules(config), checks)
        config.hook.pytest_deselected(items=[item for item in items if item not in keep])
        items[:] = keep
    if config.getoption("--topology"):
        items[:] = [item for item in items if "topology" in find_needs(item)]
    run = config.stash.get(RUN_KEY, None)
    if run is None:
        if checks and not config.getoption("collectonly"):
            raise pytest.UsageError("checks need a system under test: add --sut FILE (README.md shows a SUT file)")
        return
    if not items and not run.earlier_verdicts.checks_with_verdicts | run.earlier_verdicts.checks_to_run_again:
        _refuse_run(config, run)
        raise pytest.UsageError(
            f"the selection {run.selection!r} matches no check; `mqconform rules` lists the rules, and "
            "`mqconform explain RULE` the checks of a rule"
        )
    run.describe()
    run.write_run_file(finished=None, code=None)
    items[:] = [item for item in items if get_check_id(item) not in run.earlier_verdicts.checks_with_verdicts]
    run.check_count = len({get_check_id(item) for item in items} | run.earlier_verdicts.checks_with_verdicts)


def _refuse_run(config: pytest.Config, run: ConformanceRun) -> None:
    """Stop the SUT of a run that has no checks, and remove the folder of the run."""
    for driver in config.stash[DRIVERS_KEY]:
        driver.stop()
    run.discard_run_without_checks()
    del config.stash[DRIVERS_KEY], config.stash[RUN_KEY]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt long-lived objects (modules, rules, checks) from Python's garbage collection during the run.

    Checks create many objects but few reference cycles. Therefore rarer searches for cycles save a tenth of the
    duration of a run.
    """
    if RUN_KEY in session.config.stash:
        gc.freeze()
        session.config.stash[EARLIER_GC_THRESHOLD_KEY] = gc.get_threshold()
        gc.set_threshold(GC_THRESHOLD_OBJECTS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    """After each check, determine whether the SUT's process is still running. In a run with workers, only the main
    session does this.
    """
    run = item.config.stash.get(RUN_KEY, None)
    virtual = run is not None and run.file.driver.kind == "virtual"
    try:
        with limit_computing_time() if virtual else nullcontext():
            done = yield
    except BaseException:  # the check was interrupted before its end
        if run is not None:
            run.ids_of_run_checks.discard(str(get_check_id(item)))
        raise
    if RUN_KEY in item.config.stash:
        restart_sut_if_process_ended(
            item,
            item.config.stash[DRIVER_KEY],
            more=nextitem is not None,
            told=item.stash.get(PROCESS_END_REPORTED_KEY, False),
        )
    release_packets(item)
    return done


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the checks in parallel if several workers are requested."""
    drivers = session.config.stash.get(DRIVERS_KEY, [])
    if len(drivers) < 2 or session.testsfailed or session.config.option.collectonly:
        return None  # pytest runs its own loop
    from harness.run.workers import WorkerProcessesPlugin

    WorkerProcessesPlugin(session, drivers).run_session()
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    """Prepare a check. If the SUT cannot be reached, give the rules of the check the verdict inconclusive."""
    from harness.errors import FolderError, HarnessError, MqconformError, SutLost
    from harness.judging.robustness import SystemCondition, SystemDiagnosis
    from harness.judging.verdicts import Verdict
    from harness.run import survival
    from harness.sut.shown import NotShown

    path = get_check_id(item)
    if path is None or RUN_KEY not in item.config.stash:
        return (yield)
    item.stash[JUDGE_KEY] = make_judge(item)
    item.config.stash[RUN_KEY].ids_of_run_checks.add(path)
    try:
        done = yield
        survival.require_sut_alive_before(item)
        return done
    except FolderError:  # no further check can be judged
        raise
    except SutLost as error:  # the check was not started: a resumed run starts with this check
        item.config.stash[RUN_KEY].ids_of_run_checks.remove(path)
        end_run(item.session, str(error))
        raise pytest.fail.Exception(str(error), pytrace=False) from None  # one line, without a traceback
    except NotShown as error:
        item.stash[JUDGE_KEY].end_unobservable(str(error))
        raise pytest.skip.Exception(str(error)) from None
    except MqconformError as error:
        _record_missing_prerequisite(item, error)
        if (how := item.config.stash[DRIVER_KEY].describe_end()) is not None:
            item.stash[JUDGE_KEY].record_breakdown(
                SystemDiagnosis(SystemCondition.CRASHED, describe_end_of_process(how)), ()
            )
        ours = isinstance(error, HarnessError)
        item.stash[JUDGE_KEY].give_up(Verdict.HARNESS_ERROR if ours else Verdict.INCONCLUSIVE, str(error))
        raise pytest.fail.Exception(str(error), pytrace=False) from None  # one line, without a traceback
    except Exception as error:
        item.stash[JUDGE_KEY].give_up(Verdict.HARNESS_ERROR, f"{type(error).__name__}: {error}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Run a check. Give every rule that the check covers a verdict, even after an error."""
    from harness.errors import ConformanceFailure, FolderError, SutLost, SutUnavailable
    from harness.judging.verdicts import Verdict
    from harness.run import survival
    from harness.run.check_prerequisites import get_prerequisites
    from harness.sut.external_driver import END_OF_PROCESS_WAIT_S
    from harness.sut.releases import LackedByRelease
    from harness.sut.shown import NotShown

    path = get_check_id(item)
    if path is None or RUN_KEY not in item.config.stash:
        return (yield)
    judge = item.stash[JUDGE_KEY]
    driver = item.config.stash[DRIVER_KEY]
    how: str | None = None
    try:
        yield
        if (
            how := driver.describe_unexpected_end(has_other_side_closed_connection=_has_lost_control_channel(item))
        ) is not None:
            judge.abort_check(describe_end_of_process(how))
    except FolderError:
        raise
    except LackedByRelease as error:
        judge.end_unsupported_check(str(error))
    except NotShown as error:
        judge.end_unobservable(str(error))
    except (ConformanceFailure, SutUnavailable) as error:
        _record_missing_prerequisite(item, error)
        how = driver.describe_end(END_OF_PROCESS_WAIT_S)
        judge.abort_check(str(error) if how is None else f"{describe_end_of_process(how)}; {error}")
        if isinstance(error, SutLost):
            end_run(item.session, str(error))
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        judge.abort_check(f"the check ended without judging this rule: {error}", Verdict.HARNESS_ERROR)
        raise
    except Exception as error:
        if judge.first_malformed_packet_error is None:
            judge.abort_check(f"{type(error).__name__}: {error}", Verdict.HARNESS_ERROR)
            raise
        judge.abort_check(
            f"{judge.first_malformed_packet_error}; the check could not continue ({type(error).__name__}: {error})"
        )
    finally:
        item.stash[CHECK_PREREQUISITES_KEY] = get_prerequisites(item)
        survival.require_sut_alive_after(item, judge)
        if "peer" in item.funcargs:  # type: ignore[attr-defined]
            item.funcargs["peer"].recorder.record_incomplete_packets_of_connections()  # type: ignore[attr-defined]
        judge.conclude_passive_rules()
    item.stash[PROCESS_END_REPORTED_KEY] = how is not None
    judge.end()
    _fail_broken_rules(judge, item.config.stash[RUN_KEY])
    return None


def _record_missing_prerequisite(item: pytest.Item, error: Exception) -> None:
    """Record a missing prerequisite (root cause) that a check reported. Each type of error is recorded only once."""
    from harness.errors import RootMissing

    if isinstance(error, RootMissing):
        item.config.stash[ROOT_CAUSES_KEY].name(type(error).__name__, str(error), [str(get_check_id(item))])


def _has_lost_control_channel(item: pytest.Item) -> bool:
    view = item.funcargs.get("sut")  # type: ignore[attr-defined]
    return view is not None and view.environment.has_other_side_closed_connection


def _fail_broken_rules(judge: Judge, run: ConformanceRun) -> None:
    """Make pytest report a check as failed if the check broke one of the rules that it covers, or a passive rule
    that no earlier check broke. The report cites these rules.

    If the baseline of the run accepts the failures, pytest reports the check as passed.
    """
    from harness.judging.verdicts import RUN_FAILING_VERDICTS

    known = run.passive_failures
    bad = {
        rule: one
        for rule, one in judge.judged.items()
        if one in RUN_FAILING_VERDICTS and not run.is_known_deviation(rule, one)
    }
    counted = {rule: verdict for rule, verdict in bad.items() if rule in judge.covers or rule not in known}
    known.update(rule for rule in bad if rule not in judge.covers)
    if counted:
        verdicts = ", ".join(f"{rule} {verdict}" for rule, verdict in sorted(counted.items()))
        sentences = [f"{rule}: {run.catalogue[rule].says}" for rule in sorted(counted) if rule in run.catalogue]
        pytest.fail("\n".join(["; ".join([verdicts, *judge.reasons]), *sentences]), pytrace=False)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End the run. Its exit code becomes the exit code of the session, unless pytest itself failed."""
    from harness.run import survival

    run = session.config.stash.get(RUN_KEY, None)
    if run is None:
        return
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
    if ended:
        _confirm_identity(session)
    elif not run.was_sut_lost:
        run.abort_reason = pytest.ExitCode(exitstatus).name.lower()
        run.was_interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
    if session.shouldfail:
        run.abort_reason = run.abort_reason or describe_end_after_failures(session.testsfailed)
    run.failed = exitstatus == pytest.ExitCode.TESTS_FAILED
    survival.record_survival(run)
    code = run.end()
    _write_results(session.config, run)
    if ended or run.was_sut_lost or run.was_interrupted:
        session.exitstatus = code


def _write_results(config: pytest.Config, run: ConformanceRun) -> None:
    """Write the results rule by rule. junit.xml is written only if pytest's JUnit plugin is active."""
    from harness.run import results
    from harness.run.capture_comments import add_comments_to_captures
    from harness.run.causes import add_shared_causes_to_results
    from harness.run.findings import build_repeat_options, describe_finding

    found = config.stash[FINAL_RESULTS_KEY] = [
        run.add_reason_of_known_deviation(one) for one in results.read_rule_results(run.verdict_log.path)
    ]
    add_comments_to_captures(found, run.folder)
    again = build_repeat_options(*(config.getoption(option) for option in ("--sut", "--topology")))
    tell = partial(describe_finding, catalogue=run.catalogue, again=again)
    by_cause = add_shared_causes_to_results(found, run.root_causes)
    if config.pluginmanager.hasplugin("junitxml"):
        path, roots = run.folder / results.JUNIT_FILE, run.root_causes.lines()
        results.write_junit(by_cause, path, run.started, tell, run.partial(), roots)
    if config.getoption("--allure"):
        results.write_allure(by_cause, run.folder / results.ALLURE_FOLDER, run.folder, tell, run.partial())


def _confirm_identity(session: pytest.Session) -> None:
    """Check that the system is the same system as at the start of the run."""
    from harness.errors import SutLost

    try:
        for driver in session.config.stash[DRIVERS_KEY]:
            driver.confirm_same_system()
    except SutLost as error:
        session.config.stash[RUN_KEY].lose(str(error))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the SUT and its drivers."""
    gc.set_threshold(*config.stash.get(EARLIER_GC_THRESHOLD_KEY, gc.get_threshold()))
    for driver in config.stash.get(DRIVERS_KEY, ()):
        driver.stop()
    restore_handlers(config.stash.get(EARLIER_SIGNAL_HANDLERS_KEY, {}))
