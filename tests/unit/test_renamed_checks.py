"""The former ids of checks: suites/*/renamed.toml and its reader."""

from __future__ import annotations

import pytest

from harness.cli.demo import CHECK_SELECTION_EXPRESSION
from harness.rules.errata import CatalogueError
from harness.rules.renamed_checks import get_current_check, load_renamed_checks
from harness.run.checks_of_rules import map_driving_checks

OLD, MIDDLE, NEW = (f"suites/mqqb/s2/test_a.py::test_{name}" for name in ("old", "middle", "new"))


@pytest.fixture
def suites(tmp_path):
    """Return a function that writes the lines of renamed.toml for documents, and returns the folder of the suites."""

    def write(**documents):
        for document, text in documents.items():
            (tmp_path / document).mkdir()
            (tmp_path / document / "renamed.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def line(old, new):
    return f'"{old}" = "{new}"\n'


@pytest.fixture(scope="module")
def checks():
    return set().union(*map_driving_checks().values())


def test_each_new_id_of_a_renamed_check_exists(checks):
    assert {new for new in load_renamed_checks().values() if new not in checks} == set()


def test_no_old_id_of_a_renamed_check_exists(checks):
    assert load_renamed_checks().keys() & checks == set()


def test_the_check_that_the_demo_excludes_exists(checks):
    words = CHECK_SELECTION_EXPRESSION.removeprefix("not ")
    assert len([check for check in checks if words in check]) == 1


def test_a_check_that_was_renamed_twice_is_found_by_both_ids(suites):
    folder = suites(mqqb=f"[checks]\n{line(OLD, MIDDLE)}", mqso=f"[checks]\n{line(MIDDLE, NEW)}")
    assert load_renamed_checks(folder) == {OLD: NEW, MIDDLE: NEW}


def test_renamed_check_id_keeps_its_parameters():
    old, new = next(iter(load_renamed_checks().items()))
    assert get_current_check(f"{old}[a-b[1]]") == f"{new}[a-b[1]]"
    assert get_current_check(old) == new


def test_id_of_a_check_that_was_not_renamed_stays():
    assert get_current_check(f"{NEW}[old]") == f"{NEW}[old]"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"[check]\n{line(OLD, NEW)}", "one table"),
        (line(OLD, NEW), "one table"),
        (f"[checks]\n{line(f'{OLD}[a]', NEW)}", "without parameters"),
        (f"[checks]\n{line(OLD, 'suites/mqqb')}", "without parameters"),
        (f"[checks]\n{line(OLD, MIDDLE)}{line(MIDDLE, OLD)}", "renamed back to itself"),
        (f"[checks]\n{line(OLD, OLD)}", "renamed back to itself"),
        ("[checks", "not TOML"),
    ],
)
def test_broken_file_of_renamed_checks_is_refused(suites, text, complaint):
    with pytest.raises(CatalogueError, match=complaint):
        load_renamed_checks(suites(mqqb=text))


def test_two_renames_of_one_old_check_id_are_refused(suites):
    with pytest.raises(CatalogueError, match="renamed twice"):
        load_renamed_checks(suites(mqqb=f"[checks]\n{line(OLD, NEW)}", mqso=f"[checks]\n{line(OLD, MIDDLE)}"))
