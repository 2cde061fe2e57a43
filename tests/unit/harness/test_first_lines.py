"""Bad input of any command gives one line that names the mistake and the remedy, and exit code 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from harness_made import catalogue, sut_file

from harness.cli.main import main
from harness.errors import UsageError
from harness.judging.baseline import load_baseline
from harness.lengths_of_time import parse_seconds
from harness.sut.worker_configurations import build_worker_configurations

RUN_JSON = json.dumps({"sut": {"name": "x", "version": "1"}, "finished": None})


def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: object) -> str:
    """Return the line with which a command refuses its arguments."""
    monkeypatch.setattr(sys, "argv", ["mqconform", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said
    return said.err.rstrip("\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "attach --address 127.0.0.1:99999",
            "--address 127.0.0.1:99999: the port is 99999; the port must be 1 to 65535",
        ),
        ("attach --address here", "--address here: the address must be HOST:PORT"),
        (
            "attach --command cat",
            "control command cat: sends the tester's requests back: it does not speak the control protocol",
        ),
        ("run --sut --out r9", "--sut: its value is missing; the next word is the option --out"),
        ("lake ingest r --lake --conf a=b", "--lake: its value is missing; the next word is the option --conf"),
        ("run --sut s.toml --deadline 1d", "--deadline '1d' is not a duration; give seconds, such as 90, or"),
        ("run --sut s.toml --wait 0", "--wait '0' is not a duration; give seconds"),
        (
            "run --sutt s.toml",
            "No such option: --sutt (Possible options: --out, --strength, --sut); `mqconform run --help` lists",
        ),
        ("certify run", "Missing option '--key'; `mqconform certify --help` lists the options"),
        ("sumary run", "there is no command 'sumary'; did you mean summary?"),
        ("lake ingst", "No such command 'ingst'. Did you mean 'ingest'?"),
        ("rules --document MS-MQAC", "unknown document 'MS-MQAC'; known: MQQB, MQMQ, "),
        ("explain MQQB-2.2.1-3", "unknown rule 'MQQB-2.2.1-3'; did you mean MQQB-2.2.1-03, MQQB-2.2.1-13, "),
        (
            "explain MQQB-2.2.1-03 --format json --run r",
            "--format json shows no verdicts; read verdicts.jsonl in the run ",
        ),
    ],
)
def test_invalid_command_line_argument_gives_one_line_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str, line: str
) -> None:
    assert refused(capsys, monkeypatch, *words.split()).startswith(f"mqconform: {line}")


def test_impossible_port_of_serve_gives_one_line_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = refused(capsys, monkeypatch, "serve", "--control", "127.0.0.1:99999")
    assert line == "mqconform serve: --control = '127.0.0.1:99999': the port is 99999; it must be 0 to 65535"


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("run.json", "null", "is not a run.json of this harness: sut.name is missing"),
        ("run.json", "{}", "is not a run.json of this harness: sut.name is missing"),
        ("run.json", '{"sut": []}', "is not a run.json of this harness: sut.name is missing"),
        ("run.json", '{"sut"', "is truncated or broken, and not JSON: "),
        (
            "verdicts.jsonl",
            "a,b,c\n",
            "contains no verdicts of this harness, because its first line is not a verdict; give the folder of",
        ),
        ("verdicts.jsonl", "{\n}\n", "contains no verdicts of this harness"),
        ("verdicts.jsonl", '["schema"]\n', "contains no verdicts of this harness"),
        ("verdicts.jsonl", '{"rule": 1}\n', "contains no verdicts of this harness"),
        (
            "verdicts.jsonl",
            '{"schema":2,"seq":1,',
            "1: the verdict is truncated or broken; remove this line to continue",
        ),
    ],
)
def test_input_file_of_wrong_kind_is_reported(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str,
    line: str,
) -> None:
    (tmp_path / "run.json").write_text(RUN_JSON, encoding="utf-8")
    (tmp_path / name).write_text(content, encoding="utf-8")
    said = refused(capsys, monkeypatch, "summary", tmp_path)
    assert said.removeprefix(f"mqconform: {tmp_path / name}").lstrip(": ").startswith(line)


def test_file_that_is_not_a_baseline_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    path.write_text('[sut]\nname = "x"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="not a baseline: it has no `schema = 1`; `mqconform baseline update RUN"):
        load_baseline(path, catalogue())
    path.write_text("schema = 7\n", encoding="utf-8")
    with pytest.raises(UsageError, match="has schema 7; this harness reads baselines of schema 1"):
        load_baseline(path, catalogue())


@pytest.mark.parametrize(
    ("words", "port", "refused_"),
    [
        ("qm", 1801, True),
        ("qm --port {tcp_port}", 1801, True),
        ("qm --port {tcp_port}", 0, False),
        ("qm --address {address}", 1801, False),
        ("qm --config qm-{worker}.toml", 1801, False),
    ],
)
def test_program_without_worker_addresses_is_refused_for_several_workers(words: str, port: int, refused_: bool) -> None:
    file = sut_file(driver={"kind": "process", "command": words.split(), "tcp_port": port})
    assert len(build_worker_configurations(file, 1)) == 1
    if refused_:
        with pytest.raises(UsageError, match=r"is the same for each worker, .*; insert \{address\}"):
            build_worker_configurations(file, 4)
    else:
        assert len(build_worker_configurations(file, 4)) == 4


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1_800), (" 1H ", 3_600), ("0", None), ("0m", None), ("-1", None), ("1.5h", None)],
)
def test_duration_text_is_converted_to_seconds(text: str, seconds: int | None) -> None:
    assert parse_seconds(text) == seconds
