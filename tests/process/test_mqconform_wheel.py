"""The wheel: everything that a run needs is inside, and it works in an empty folder with no checkout in sight."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from mqconform_process import ROOT, Lines, Ran, command, run_json, several
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


def _ask(python: Path, code: str) -> list[str]:
    return run_watched([python, "-c", code], cwd=python.parent, check=True).stdout.splitlines()


def test_everything_that_is_no_python_is_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert set(WAITS_FOR) <= names
    ours = ("suites", "captures", "reports", "harness", "reference_qm")
    tracked = run_watched(["git", "ls-files", *ours], cwd=ROOT, check=True)
    assert {path for path in tracked.stdout.split() if (ROOT / path).is_file()} <= names
    assert not {name for name in names if name.startswith(("tests/", "benchmarks/")) or name.endswith(".pyc")}


def test_no_module_of_it_comes_from_the_checkout(bin_folder: Path) -> None:
    code = "import sys, harness, reference_qm, reports, suites; print(harness.__file__); print('\\n'.join(sys.path))"
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


def test_the_catalogue_is_listed_with_its_checks_and_spark_is_not_loaded_for_it(bin_folder: Path) -> None:
    code = (
        "import sys; sys.argv = ['mqconform', 'rules', '--format', 'json']\n"
        "import atexit; atexit.register(lambda: sys.stderr.write(str('pyspark' in sys.modules)))\n"
        "from harness.cli.main import main; main()"
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


def test_every_subcommand_is_there(bin_folder: Path, tmp_path: Path) -> None:
    words_of = {"run": "--resume", "serve": "--control", "rollup": "--master", "prove": "--rule", "demo": "--out"}
    by_script = command(bin_folder / "mqconform", "--help", cwd=tmp_path)
    assert by_script.returncode == 0, by_script.stderr
    asked = several(*((name, "--help") for name in words_of), cwd=tmp_path, python=bin_folder / "python")
    for (name, words), done in zip(words_of.items(), asked, strict=True):
        assert done.returncode == 0, done.stderr
        assert words in done.stdout
        assert name in by_script.stdout
    assert list(tmp_path.iterdir()) == []
