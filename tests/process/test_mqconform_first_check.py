"""Carries out the first check of CONTRIBUTING.md literally: the test writes its files and runs its commands in a copy
of the repository.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from documented import Command, Written, differs, steps_of
from mqconform_process import ROOT, command

COPIED = ("captures", "harness", "reference_qm", "reports", "suites")
CARRY_OUT = """
import json, shlex, subprocess, sys
from pathlib import Path
import harness
from harness.cli.main import main

assert Path(harness.__file__).is_relative_to(Path.cwd())

def carry_out(line):
    words = shlex.split(line)
    if words[0] != "mqconform":
        return subprocess.run(line, shell=True, check=False).returncode
    sys.argv = words
    try:
        main()
    except SystemExit as ended:
        return ended.code or 0
    return 0

for path, text, line in json.loads(sys.argv[1]):
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    else:
        print(f"$ {line}", flush=True)
        code = carry_out(line)
        print(f"$? {code}", flush=True)
"""
"""A program that runs all commands in one process, because each separate process would import the suites again."""


@pytest.fixture(scope="module")
def steps() -> list[Written | Command]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return steps_of(page[page.index("## Your first check") : page.index("## Add a rule")])


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_first_check_page_matches_its_commands_and_output(steps: list[Written | Command], copy: Path) -> None:
    asked = [(one.path, one.text, "") if isinstance(one, Written) else ("", "", one.line) for one in steps]
    done = command(sys.executable, "-c", CARRY_OUT, json.dumps(asked), cwd=copy)
    lines = iter(done.stdout.splitlines())
    for step in (one for one in steps if isinstance(one, Command)):
        assert next(lines, None) == f"$ {step.line}", done.stderr
        *printed, code = until(lines, "$? ")
        assert code == f"$? {int(step.line.startswith('mqconform run'))}", "a run of a faulty reference ends with 1"
        assert differs(step.output, printed) is None, printed
    assert done.returncode == 0, done.stderr
    for one in steps:
        if isinstance(one, Written) and one.path.startswith("suites/"):
            assert (ROOT / one.path).read_text(encoding="utf-8") == one.text
    assert {path.name for path in copy.iterdir()} == {*COPIED, "out"}


def until(lines: Iterator[str], mark: str) -> list[str]:
    """Return the lines up to and including the line that begins with ``mark``."""
    taken = []
    for line in lines:
        taken.append(line)
        if line.startswith(mark):
            break
    return taken
