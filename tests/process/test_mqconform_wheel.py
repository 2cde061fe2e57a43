"""The wheel contains everything that a run needs, and works in an empty folder without a checkout."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from mqconform_process import FEW, ROOT, Lines, Ran, command, run_json, several, sut
from patience import run_watched

WAITS_FOR = (
    "suites/pytest.ini",
    "suites/conftest.py",
    "suites/frozen.toml",
    "suites/index.tsv",
    "suites/documents.toml",
    "suites/errata.toml",
    "captures/golden/manifest.toml",
    "captures/golden/frames.pcapng",
    "reports/static/style.css",
    "reports/templates/index.html",
    "harness/windows/agent.ps1",
    "harness/windows/MsmqAgent.cs",
    "harness/windows/provision.ps1",
)

WITHOUT_SPARK = """
import importlib.util

find_any = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "pyspark" else find_any(name, *rest)
"""
"""Code that hides Spark from a process, as in an installation without Spark."""
OURS = (
    *("suites", "captures", "reports", "harness", "reference_qm", "docs", "examples"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"),
)
FOREIGN = {
    "harness/__init__.py": "",
    "harness/rig.py": "RIG = 'theirs'\n",
    "suites/__init__.py": "raise AssertionError('the suites of another project were imported')\n",
    "conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--out', default='theirs')\n",
    "test_theirs.py": (
        "from harness.rig import RIG\n\n\n"
        "def test_theirs(pytestconfig):\n"
        "    assert pytestconfig.getoption('--out') == RIG\n"
    ),
}
"""A foreign project that has packages and a pytest option with the same names as parts of mqconform."""


def _ask(python: Path, code: str) -> list[str]:
    return run_watched([python, "-c", code], cwd=python.parent, check=True).stdout.splitlines()


def test_wheel_contains_all_data_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    parts = {name.removeprefix("mqconform/parts/") for name in names if name.startswith("mqconform/parts/")}
    assert set(WAITS_FOR) <= parts
    tracked = run_watched(["git", "ls-files", *OURS], cwd=ROOT, check=True)
    assert parts == {path for path in tracked.stdout.split() if (ROOT / path).is_file()}


def test_installed_wheel_has_one_top_level_package_and_no_pytest_plugin(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    (info,) = {name.partition("/")[0] for name in names} - {"mqconform"}
    assert info.endswith(".dist-info")
    assert "pytest11" not in zipfile.ZipFile(wheel).read(f"{info}/entry_points.txt").decode()


def test_installed_wheel_loads_no_module_from_checkout(bin_folder: Path) -> None:
    code = (
        "import sys, mqconform; mqconform.prefer_bundled_packages(); import harness, reference_qm, reports, suites; "
        "print(harness.__file__); print('\\n'.join(sys.path))"
    )
    where, *searched = _ask(bin_folder / "python", code)
    assert Path(where).is_relative_to(bin_folder.parent)
    assert str(ROOT) not in searched


def test_a_run_works_in_an_empty_folder(whole: Ran, lines_of_whole: Lines, unfounded_of_whole: list[str]) -> None:
    assert whole.code == 0, whole.said
    assert run_json(whole.folder)["exit"] == 0
    assert {line["verdict"] for line in lines_of_whole} <= {"pass", "not_exercised"}
    assert unfounded_of_whole == []
    assert (whole.folder / "junit.xml").is_file()
    assert sorted(path.name for path in whole.folder.parent.iterdir()) == ["run", "sut.toml"]


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    for name, text in FOREIGN.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_wheel_does_not_disturb_project_with_equal_package_and_option_names(foreign: Path, bin_folder: Path) -> None:
    plain = ("-p", "no:cacheprovider", "-q")
    done = command(bin_folder / "python", "-m", "pytest", *plain, cwd=foreign, PYTHONPATH=str(foreign))
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_run_within_project_of_equal_names_imports_none_of_its_modules(foreign: Path, bin_folder: Path) -> None:
    words = ("run", "--sut", sut(foreign).name, "--out", "run", "--rule", FEW)
    done = command(bin_folder / "python", "-m", "mqconform", *words, cwd=foreign, PYTHONPATH=str(foreign))
    assert done.returncode == 0, done.stdout + done.stderr


def test_reports_without_their_extra_end_with_one_line_that_names_it(bin_folder: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(WITHOUT_SPARK, encoding="utf-8")
    for words in (("rollup", "runs", "--out", "o"), ("lake", "history", "X", "--lake", "l"), ("demo", "--out", "d")):
        done = command(bin_folder / "python", "-m", "mqconform", *words, cwd=tmp_path, PYTHONPATH=str(hidden))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "pip install 'mqconform[reports]'" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hidden"]


def test_the_catalogue_is_listed_with_its_checks_and_spark_is_not_loaded_for_it(bin_folder: Path) -> None:
    code = (
        "import sys; sys.argv = ['mqconform', 'rules', '--format', 'json']\n"
        "import atexit; atexit.register(lambda: sys.stderr.write(str('pyspark' in sys.modules)))\n"
        "from mqconform.command import main; main()"
    )
    done = command(bin_folder / "python", "-c", code, cwd=bin_folder)
    assert (done.returncode, done.stderr) == (0, "False")
    rows = json.loads(done.stdout)
    assert len(rows) > 100
    assert set(rows[0]) == {
        "id",
        "document",
        "section",
        "level",
        "form",
        "kind",
        "observe",
        "tests",
        "faults",
        "proven",
        "says",
    }
    assert sum(bool(row["tests"]) for row in rows) > len(rows) / 2


def test_wheel_has_every_subcommand(bin_folder: Path, tmp_path: Path) -> None:
    words_of = {"run": "--resume", "serve": "--control", "rollup": "--master", "prove": "--rule", "demo": "--out"}
    by_script = command(bin_folder / "mqconform", "--help", cwd=tmp_path)
    assert by_script.returncode == 0, by_script.stderr
    asked = several(*((name, "--help") for name in words_of), cwd=tmp_path, python=bin_folder / "python")
    for (name, words), done in zip(words_of.items(), asked, strict=True):
        assert done.returncode == 0, done.stderr
        assert words in done.stdout
        assert name in by_script.stdout
    assert list(tmp_path.iterdir()) == []
