"""Ctrl-C at any time ends a command with exit code 130 and one line, and no traceback."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from mqconform_process import FEW, command, run_json, sut

INTERRUPTING = Path(__file__).with_name("interrupting.py")
LINE = "mqconform: interrupted\n"


def interrupted(folder: Path, module: str, *words: object) -> CompletedProcess[str]:
    return command(sys.executable, INTERRUPTING, module, *words, cwd=folder)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("typer", ["--help"]),
        ("harness.cli.main", ["--version"]),
        ("harness.rules.catalogue", ["rules"]),
        ("rich.table", ["rules", "--document", "MQQB"]),
        ("harness.cli.explain", ["explain", FEW]),
        ("pytest", ["run", "--sut", "sut.toml", "--out", "run"]),
        ("harness.run.checks", ["run", "--sut", "sut.toml", "--out", "run"]),
        ("harness.run.results", ["run", "--sut", "sut.toml", "--out", "run"]),
        ("harness.attach.conversation", ["attach", "--command", "cat"]),
        ("reports.spark", ["rollup", ".", "--out", "report"]),
    ],
)
def test_early_interrupt_ends_command_at_once(tmp_path: Path, module: str, words: list[str]) -> None:
    sut(tmp_path)
    done = interrupted(tmp_path, module, *words)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", LINE)
    assert not (tmp_path / "run").exists()


def test_run_interrupted_during_collection_prints_resume_command(tmp_path: Path) -> None:
    done = interrupted(
        tmp_path, "suites.mqqb.steps.exchanges", "run", "--sut", sut(tmp_path), "--out", "run", "--rule", FEW
    )
    assert (done.returncode, done.stderr) == (130, "")
    assert "(partial: interrupted)" in done.stdout
    assert f"to resume: mqconform run --rule {FEW} " in done.stdout
    assert "KeyboardInterrupt" not in done.stdout
    assert run_json(tmp_path / "run")["exit"] == 130
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        *("captures", "junit.xml", "rules.json", "run.json", "verdicts.jsonl"),
    ]
