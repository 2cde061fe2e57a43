"""An output path that cannot be written gives one line in every command, before any long computation."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from harness_made import sut_file

from harness.cli.main import main

UNWRITABLE_PATHS = ("afile/out", "/proc/out", "x" * 300)
COMMANDS = (
    "provision --out OUT",
    "windows --out OUT",
    "demo --out OUT",
    "dissector --out OUT",
    "learn --sut sut.toml --out OUT",
    "pair --a sut.toml --b sut.toml --out OUT",
    "vectors --out OUT",
    "mutants --out OUT",
    "diff run run --out OUT",
    "summary run --out OUT",
    "baseline update run --baseline OUT",
    "certify run --key key.pem --out OUT",
    "attach --command cat --write OUT",
    "rollup run --out OUT",
    "lake ingest run --lake OUT",
    "lake judge --captures run --out OUT",
    "lake judge --captures run --lake OUT --name x",
    "lake site --lake run --out OUT",
    "lake export catalogue --lake run --out OUT",
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder with a file, a key, and a run folder that is valid except for its missing verdicts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afile").write_text("mine", encoding="utf-8")
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(key)
    (tmp_path / "run").mkdir()
    content = {"sut": {"name": sut_file().sut.name}, "finished": "2026-01-02T03:04:05Z"}
    (tmp_path / "run" / "run.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("out", UNWRITABLE_PATHS, ids=["below a file", "below /proc", "too long"])
@pytest.mark.parametrize("command", COMMANDS)
def test_unwritable_output_gives_one_line_error(
    command: str, out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "argv", ["mqconform", *command.replace("OUT", out).split()])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert said.err.startswith("mqconform")
    assert out in said.err or out[:50] in said.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith(("provision", "windows", "certify"))])
def test_existing_output_is_not_overwritten(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mqconform", *command.replace("OUT", "afile").split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "mqconform: afile already exists; give another --out\n"
    assert (tmp_path / "afile").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("rollup nowhere --out report", "mqconform rollup: there is no run folder at nowhere"),
        ("rollup a b --out report", "mqconform rollup: there is no run folder at a, nor at 1 other path"),
        ("rollup nowhere --follow --out report", "mqconform rollup: there is no folder at nowhere"),
        ("lake ingest nowhere --lake new", "mqconform lake ingest: there is no run folder at nowhere"),
        ("lake judge --captures nowhere --lake new", "mqconform lake judge: there is no capture at nowhere"),
        ("lake history x --lake nowhere", "mqconform lake history: there is no lake at nowhere: create one with"),
        ("lake site --lake nowhere --out report", "mqconform lake site: there is no lake at nowhere: create one with"),
    ],
)
def test_missing_input_file_is_reported_before_java_starts(
    command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["mqconform", *command.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert said.err.startswith(line)
    assert not any((tmp_path / name).exists() for name in ("report", "new"))


def test_demo_checks_for_java_before_it_starts_a_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["mqconform", "demo", "--out", "demo"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    line = "mqconform: demo: rollup needs Java 17 or newer, but JAVA_HOME=/nowhere has no bin/java: install Java"
    assert capsys.readouterr().err.startswith(line)
    assert not (tmp_path / "demo").exists()
