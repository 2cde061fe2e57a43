"""``mqconform allure``: each obstacle to a page gives a one-line message. npm's allure makes the page itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from mqconform_process import ROOT, command

RUN = {"schema": 2, "run": "r", "started": "2026-11-23T00:00:00Z", "finished": "2026-11-23T00:01:00Z"} | {
    "sut": {"name": "contoso; rm -rf", "version": "1", "profile": "none", "vendor": ""},
    "reach": "external",
}
NPX = """#!{python}
import pathlib, sys
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
if {code}:
    print("registry not found", file=sys.stderr)
    raise SystemExit({code})
(output / "index.html").write_text("\\n".join(sys.argv[1:]))
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "allure-results").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(RUN), encoding="utf-8")
    (folder / "rules.json").write_text(json.dumps({"schema": 2, "rules": {}}), encoding="utf-8")
    (folder / "verdicts.jsonl").touch()
    return folder


def allure(run: Path, *, npx: int | None) -> tuple[int, str]:
    """Run the command with a fake npx that ends with the given code, or without npx if the code is None."""
    tools = run.parent / "tools"
    tools.mkdir(exist_ok=True)
    if npx is not None:
        (tools / "npx").write_text(NPX.format(python=sys.executable, code=npx), encoding="utf-8")
        (tools / "npx").chmod(0o755)
    options = ("allure", run, "--out", run.parent / "a.html")
    done = command(sys.executable, "-m", "mqconform", *options, cwd=ROOT, PATH=str(tools))
    return done.returncode, done.stdout + done.stderr


def test_allure_page_is_generated_by_npx_from_results_of_run(run: Path):
    code, said = allure(run, npx=0)
    assert code == 0, said
    asked = (run.parent / "a.html").read_text(encoding="utf-8").splitlines()
    assert asked[:4] == ["--yes", "allure@3", "awesome", "--single-file"]
    assert asked[-2:] == ["MSMQ conformance: contoso; rm -rf 1", str(run / "allure-results")]


@pytest.mark.parametrize(
    ("npx", "words"),
    [(None, "npx, which runs Allure, is missing"), (3, "npx allure@3 ended with exit code 3: registry not found")],
)
def test_missing_allure_gives_one_line_error(run: Path, npx: int | None, words: str):
    code, said = allure(run, npx=npx)
    assert code == 2
    assert said.startswith(f"mqconform: {words}")
    assert len(said.splitlines()) == 1


def test_missing_allure_results_are_written_before_page_is_generated(run: Path):
    (run / "allure-results").rmdir()
    code, said = allure(run, npx=0)
    assert code == 0, said
    asked = (run.parent / "a.html").read_text(encoding="utf-8").splitlines()
    assert asked[-1].endswith("/allure-results")
    assert not asked[-1].startswith(str(run))
    assert list(run.glob("allure*")) == []
