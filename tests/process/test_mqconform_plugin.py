"""The pytest plugin with a tiny suite: whatever a check does, its rules get a verdict, and no mistake leads
to a pass.
"""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mqconform_process import PYTEST, ROOT, command, copy_packages, run_json, several, verdicts

MUST, SHOULD, OTHER = "MQQB-2.2.1-01", "MQQB-2.2.1-02", "MQQB-2.2.1-03"

FILES = {
    "suites/__init__.py": "",
    "suites/frozen.toml": "tests = 1\n",
    "suites/index.tsv": "id\tlevel\tform\tclass\tof\ttitle\n"
    + "".join(
        f"{rule}\t{level}\trule\tdemand\t\tTiny\n"
        for rule, level in ((MUST, "MUST"), (SHOULD, "SHOULD"), (OTHER, "MUST"))
    ),
    "suites/documents.toml": '[MQQB]\ntitle = "Tiny"\n',
    "suites/errata.toml": "",
    "suites/members.toml": "",
    "suites/mqqb/s2_2_1_tiny/rules.toml": 'title = "MS-MQQB 2.2.1 Tiny"\n'
    + "".join(f'["{rule}"]\nobserve = "control"\nrole = "any"\nsays = "x"\n' for rule in (MUST, SHOULD, OTHER)),
    "suites/mqqb/s2_2_1_tiny/test_tiny.py": f'''
import pytest
from harness.errors import ConformanceFailure, HarnessError, SutUnavailable

MUST, SHOULD, OTHER = "{MUST}", "{SHOULD}", "{OTHER}"
both = pytest.mark.covers(MUST, SHOULD)

@pytest.fixture
def in_vain(sut):
    raise ConformanceFailure("nothing answers")

@both
def test_kept(judge):
    for rule in (MUST, SHOULD):
        judge(rule, expected=1, observed=1)

@both
def test_missed(judge):
    for rule in (MUST, SHOULD):
        judge(rule, expected=1, observed=2)

@both
def test_not_exercised(judge):
    judge(MUST, expected=1, observed=1)
    judge.mark_not_exercised(SHOULD, reason="no trailer")

@pytest.mark.covers(SHOULD)
def test_should_missed(judge):
    judge(SHOULD, expected=1, observed=2)

@both
def test_not_covered(judge):
    judge(OTHER, expected=1, observed=1)

@both
def test_forgets_one(judge):
    judge(MUST, expected=1, observed=1)

@both
def test_step_fails(judge):
    judge(MUST, expected=1, observed=1)
    raise ConformanceFailure("the SUT did not send SessionAck")

@both
def test_step_fails_after_one(judge):
    judge(MUST, expected=1, observed=1)
    judge.conclude(MUST)
    raise ConformanceFailure("the SUT did not send SessionAck")

@both
def test_breaks():
    raise ZeroDivisionError("oh")

@both
def test_asserts():
    assert 1 == 2

@both
def test_skips_itself():
    pytest.skip("tired")

@both
def test_fails_itself():
    pytest.fail("gave up")

@both
@pytest.mark.needs("ping")
def test_needs_what_is_not_declared(judge, in_vain):
    judge(MUST, expected=1, observed=1)

@both
@pytest.mark.needs("teleport")
def test_needs_what_nobody_knows(judge):
    judge(MUST, expected=1, observed=1)

@both
def test_control_refuses(sut, judge):
    sut.control.call("delete_queue", name="private$\\\\none-such")

@both
@pytest.mark.needs("inspect")
def test_not_shown(sut, judge):
    judge(MUST, expected=1, observed=sut.inspect()["QueueManager"]["Colour"])

@pytest.fixture
def broken():
    raise OSError("no room")

@both
def test_fixture_breaks(broken):
    pass

@pytest.fixture
def broken_harness():
    raise HarnessError("we were wrong")

@both
def test_harness_breaks(broken_harness):
    pass

@pytest.fixture
def breaks_at_the_end():
    yield
    raise OSError("cannot tidy up")

@both
def test_teardown_breaks(breaks_at_the_end, judge):
    for rule in (MUST, SHOULD):
        judge(rule, expected=1, observed=1)

@pytest.fixture
def not_there(sut):
    return sut.inspect()["QueueManager"]["Colour"]

@both
@pytest.mark.needs("inspect")
def test_fixture_is_not_shown(not_there, judge):
    judge(MUST, expected=1, observed=not_there)

@pytest.fixture
def is_gone_at_the_end():
    yield
    raise SutUnavailable("gone")

@pytest.fixture
def refuses_at_the_end(is_gone_at_the_end):
    yield
    raise ConformanceFailure("not again")

@both
def test_teardown_breaks_twice(refuses_at_the_end, judge):
    for rule in (MUST, SHOULD):
        judge(rule, expected=1, observed=1)

@pytest.fixture
def cannot_be_ended(sut):
    yield
    sut.inspect()["QueueManager"]["Colour"]

@both
@pytest.mark.needs("inspect")
def test_teardown_is_not_shown(cannot_be_ended, judge):
    for rule in (MUST, SHOULD):
        judge(rule, expected=1, observed=1)

@pytest.mark.covers("MQQB-9.9-09")
def test_covers_no_rule(judge):
    pass
''',
    "sut.toml": '[sut]\nname = "tiny"\n[driver]\nkind = "virtual"\n',
    "test_elsewhere.py": "def test_elsewhere(): pass\n",
}

EXPECTED = {
    "test_kept": ["pass", "pass"],
    "test_missed": ["fail", "warn"],
    "test_should_missed": ["warn"],
    "test_not_exercised": ["pass", "not_exercised"],
    "test_not_covered": ["harness_error", "harness_error"],
    "test_forgets_one": ["pass", "harness_error"],
    "test_step_fails": ["pass", "inconclusive", "inconclusive"],
    "test_step_fails_after_one": ["pass", "inconclusive"],
    "test_breaks": ["harness_error", "harness_error"],
    "test_asserts": ["harness_error", "harness_error"],
    "test_skips_itself": ["harness_error", "harness_error"],
    "test_fails_itself": ["harness_error", "harness_error"],
    "test_needs_what_is_not_declared": ["not_applicable", "not_applicable"],
    "test_needs_what_nobody_knows": ["harness_error", "harness_error"],
    "test_control_refuses": ["inconclusive", "inconclusive"],
    "test_not_shown": ["not_observable", "not_observable"],
    "test_fixture_is_not_shown": ["not_observable", "not_observable"],
    "test_fixture_breaks": ["harness_error", "harness_error"],
    "test_harness_breaks": ["harness_error", "harness_error"],
    "test_teardown_breaks": ["pass", "pass", "harness_error", "harness_error"],
    "test_teardown_breaks_twice": ["pass", "pass", "inconclusive", "inconclusive"],
    "test_teardown_is_not_shown": ["pass", "pass", "not_observable", "not_observable"],
}
REASONS = {
    "test_not_covered": "which its @covers does not name",
    "test_forgets_one": "the check ended without judging this rule",
    "test_step_fails": "the SUT did not send SessionAck",
    "test_breaks": "ZeroDivisionError: oh",
    "test_skips_itself": "the check ended without judging this rule: tired",
    "test_needs_what_is_not_declared": "the SUT file does not declare ping",
    "test_needs_what_nobody_knows": "unknown need 'teleport'",
    "test_control_refuses": "the SUT refused delete_queue: ",
    "test_not_shown": "the SUT's control channel does not show 'Colour'",
    "test_fixture_breaks": "OSError: no room",
    "test_harness_breaks": "we were wrong",
    "test_teardown_breaks": "the check could not be ended: OSError: cannot tidy up",
    "test_teardown_breaks_twice": "the check could not be ended: SutUnavailable: gone; ConformanceFailure: not again",
}
"""The expected reason in the last verdict of each check."""
GOOD = {"test_kept", "test_should_missed", "test_not_exercised", "test_not_shown", "test_teardown_is_not_shown"}
"""The checks that pytest counts as passed."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the harness and a tiny suite."""
    folder = tmp_path_factory.mktemp("tiny")
    copy_packages(folder, "harness", "reference_qm")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("conftest.py", "pytest.ini"):
        shutil.copy(ROOT / "suites" / name, folder / "suites" / name)
    return folder


@pytest.fixture(scope="module")
def run_with_broken_teardown(tiny: Path) -> Path:
    options = ("--sut", "sut.toml", "--out", "all", "--junitxml", "checks.xml")
    done = command(*PYTEST, "suites", *options, cwd=tiny, PYTHONPATH=str(tiny))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the check could not be ended: OSError: cannot tidy up" in done.stdout
    assert 'raise OSError("cannot tidy up")' not in done.stdout, "no traceback"
    return tiny / "all"


def of(folder: Path, test: str) -> list[dict[str, Any]]:
    return [line for line in verdicts(folder) if line["test"] == f"suites/mqqb/s2_2_1_tiny/test_tiny.py::{test}"]


@pytest.mark.parametrize("test", EXPECTED)
def test_every_covered_rule_gets_its_verdict(run_with_broken_teardown: Path, test: str) -> None:
    lines = of(run_with_broken_teardown, test)
    assert [line["verdict"] for line in lines] == EXPECTED[test]
    assert REASONS.get(test, "") in (lines[-1]["reason"] or "")


def test_only_checks_without_failed_rules_pass(run_with_broken_teardown: Path) -> None:
    cases = ET.parse(run_with_broken_teardown.parent / "checks.xml").getroot().iter("testcase")
    well = {str(case.get("name")) for case in cases if not len(case)}
    assert well == GOOD


def test_pytest_reports_reason_of_failed_check(run_with_broken_teardown: Path) -> None:
    cases = {
        case.get("name"): case
        for case in ET.parse(run_with_broken_teardown.parent / "checks.xml").getroot().iter("testcase")
    }
    said, *sentences = str(cases["test_step_fails"][0].get("message")).splitlines()
    assert said == f"Failed: {MUST} inconclusive, {SHOULD} inconclusive; the SUT did not send SessionAck"
    assert sentences == [f"{MUST}: x", f"{SHOULD}: x"]
    assert cases["test_needs_what_is_not_declared"][0].tag == "skipped"


def test_junit_allure_and_summary_count_rules(tiny: Path) -> None:
    chosen = ("-k", "test_kept or test_not_exercised or test_step_fails_after_one")
    (done,) = several(
        ("run", "--sut", "sut.toml", "--out", "rules", "--allure", *chosen), cwd=tiny, PYTHONPATH=str(tiny)
    )
    assert "3 checks, 2 rules: 1 pass, 1 inconclusive (partial: only -k test_kept or " in done.stdout
    root = ET.parse(tiny / "rules/junit.xml").getroot()
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "2",
        "failures": "0",
        "errors": "1",
        "skipped": "0",
    }
    results = [json.loads(path.read_text()) for path in (tiny / "rules/allure-results").glob("*-result.json")]
    assert {(one["name"], one["status"]) for one in results} == {(MUST, "passed"), (SHOULD, "broken")}


def test_exit_code_of_run_follows_verdict_of_its_only_check(tiny: Path) -> None:
    codes = {
        "test_kept": 0,
        "test_should_missed": 0,
        "test_needs_what_is_not_declared": 5,
        "test_forgets_one": 1,
        "test_step_fails": 1,
        "test_teardown_breaks": 1,
        "test_covers_no_rule": 1,
    }
    runs = (("run", "--sut", "sut.toml", "--out", test, "-k", test) for test in codes)
    ended = several(*runs, cwd=tiny, PYTHONPATH=str(tiny))
    assert dict(zip(codes, (done.returncode for done in ended), strict=True)) == codes
    assert {test: run_json(tiny / test)["exit"] for test in codes} == codes


def test_plugin_does_not_affect_other_tests(tiny: Path) -> None:
    """A pytest session without a SUT file runs tests of other projects normally, and writes neither a run folder nor a
    verdict.
    """
    before = {path.name for path in tiny.iterdir()} | {"__pycache__", ".pytest_cache"}
    done = command(*PYTEST, "-q", "test_elsewhere.py", cwd=tiny, PYTHONPATH=str(tiny))
    assert done.returncode == 0, done.stdout
    assert "mqconform" not in done.stdout
    assert {path.name for path in tiny.iterdir()} <= before


def test_collection_needs_no_sut_and_writes_no_files(tiny: Path) -> None:
    before = {path.name for path in tiny.iterdir()}
    done = command(*PYTEST, "suites", "--collect-only", "-q", cwd=tiny, PYTHONPATH=str(tiny))
    assert done.returncode == 0, done.stdout
    assert "test_kept" in done.stdout
    assert {path.name for path in tiny.iterdir()} == before


@pytest.fixture
def misspelt(tiny: Path) -> Iterator[Path]:
    path = tiny / "suites/mqqb/s2_2_1_tiny/test_misspelt.py"
    path.write_text("import harness.runs\n", encoding="utf-8")
    yield path
    path.unlink()


def test_a_file_of_checks_that_cannot_be_read_is_named(tiny: Path, misspelt: Path) -> None:
    commands = (("run", "--sut", "sut.toml", "--out", "misspelt"), ("rules",))
    for done in several(*commands, cwd=tiny, PYTHONPATH=str(tiny)):
        assert done.returncode == 2
        why = "ModuleNotFoundError: No module named 'harness.runs'"
        said = f"{misspelt.relative_to(tiny)}: {why}; correct or remove the file"
        assert said in done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
