"""Bad input gives one clear line that names the wrong value and a non-zero exit code, and loses no results."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mqconform_process import (
    FEW,
    PYTEST,
    Ran,
    command,
    complaint,
    copy_packages,
    mqconform,
    run_json,
    several,
    sut,
    verdicts,
)
from qm_process import free_port

from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

EXTERNAL = '[sut]\nname = "contoso"\n[driver]\nkind = "external"\n'


MISTAKES = [
    (EXTERNAL + "tcp_prot = 1801\n", "sut.toml: unknown key driver.tcp_prot; known: kind, address, tcp_port"),
    (EXTERNAL + 'address = "192.0.2.1"\n', "driver.address 192.0.2.1 is not loopback; set allow_remote = true"),
    (EXTERNAL + 'address = "qm.example"\n', "driver.address qm.example is not loopback; set allow_remote = true"),
    (
        EXTERNAL + "[control]\nkind = 'jsonl'\naddress = 'there'\n",
        "control.address is 'there': the address must be HOST:PORT",
    ),
    (
        '[sut]\nname = "x"\n[driver]\nkind = "virtual"\n[reference]\nfaults = ["none-such"]\n',
        "none-such: there is no such",
    ),
    ("[sut", "sut.toml is not a TOML file"),
    (
        EXTERNAL.replace("[driver]", 'profile = "windows-server-2020"\n[driver]'),
        "unknown profile 'windows-server-2020'; known: none, windows-nt, windows-2000",
    ),
    (EXTERNAL.replace('"contoso"', '"x\\u001b[2J"'), "sut.name contains the invisible character U+001B; remove it"),
    (
        EXTERNAL + "[queues]\nplain = 'a\\'\nadmin = \"a\\n::set-output\"\n",
        "queues.admin contains the invisible character U+000A",
    ),
    (EXTERNAL.replace('"contoso"', f'"{"x" * 301}"'), "sut.name is longer than 300 characters"),
    (EXTERNAL + "tcp_port = 0\n", 'driver.tcp_port is 0, but a free port can be chosen only for kind = "process"'),
    (EXTERNAL + 'peer_address = "192.0.2.9"\n', "driver.peer_address 192.0.2.9 is not an address of this machine"),
]


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, subprocess.CompletedProcess[str]]]:
    """Run with each wrong SUT file; return the run folders and the results."""
    folders = [tmp_path_factory.mktemp("mistake") for _ in MISTAKES]
    files = [sut(folder, text) for folder, (text, _) in zip(folders, MISTAKES, strict=True)]
    done = [mqconform("run", "--sut", file, "--out", file.parent / "run") for file in files]
    return list(zip(folders, done, strict=True))


@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=[words for _, words in MISTAKES])
def test_error_in_sut_file_is_named(mistaken: list[tuple[Path, subprocess.CompletedProcess[str]]], number: int) -> None:
    folder, done = mistaken[number]
    assert MISTAKES[number][1] in complaint(done)
    assert not (folder / "run" / "verdicts.jsonl").exists() or verdicts(folder / "run") == []


def test_pytest_on_suites_prints_error_line_of_mqconform_run(tmp_path: Path) -> None:
    file = sut(tmp_path, EXTERNAL + "tcp_prot = 1801\n")
    said = complaint(command(*PYTEST, "suites", "--sut", file), code=4)
    assert f"{file}: {MISTAKES[0][1].removeprefix('sut.toml: ')}" in said
    assert "add --sut FILE" in complaint(command(*PYTEST, "suites"), code=4)


def test_a_missing_sut_file_is_named(tmp_path: Path) -> None:
    said = complaint(mqconform("run", "--sut", "none.toml", cwd=tmp_path))
    assert "none.toml cannot be read: No such file or directory" in said


def test_unreachable_sut_is_named_and_run_folder_is_reusable(tmp_path: Path) -> None:
    port = free_port("127.0.0.1")
    file = sut(tmp_path, EXTERNAL + f"tcp_port = {port}\n")
    for _ in range(2):
        said = complaint(mqconform("run", "--sut", file, "--out", tmp_path / "run"))
        assert f"contoso: cannot connect to 127.0.0.1:{port}: Connection refused; check that the system runs" in said
    assert run_json(tmp_path / "run")["exit"] == 2
    assert "cannot connect" in run_json(tmp_path / "run")["aborted"]


def test_unreachable_agent_is_named_with_remedy(tmp_path: Path) -> None:
    tcp_port, port = free_port("127.0.0.1"), free_port("127.0.0.1")
    control = f'[control]\nkind = "jsonl"\naddress = "127.0.0.1:{port}"\n'
    with socket.create_server(("127.0.0.1", tcp_port)):
        file = sut(tmp_path, EXTERNAL + f"tcp_port = {tcp_port}\n{control}")
        said = complaint(mqconform("run", "--sut", file, "--out", tmp_path / "run"))
    assert f"control 127.0.0.1:{port} does not answer: Connection refused; check that the agent runs" in said


def test_a_program_that_does_not_start_is_named(tmp_path: Path) -> None:
    described = '[sut]\nname = "contoso"\n[driver]\nkind = "process"\ntcp_port = 0\nping_port = 0\ncommand = '
    said_of = {
        '["/nowhere/qm"]': "cannot start /nowhere/qm: No such file or directory",
        '["{python}", "-c", "raise SystemExit(\'no licence\')"]': (
            "the program ended with exit status 1: no licence; see"
        ),
        '["{python}", "{prot}"]': "driver.command: unknown placeholder 'prot'; known: address, tcp_port",
    }
    files = [sut(tmp_path, f"{described}{line}\n", f"{number}.toml") for number, line in enumerate(said_of)]
    runs = [mqconform("run", "--sut", file, "--out", file.with_suffix("")) for file in files]
    for words, done in zip(said_of.values(), runs, strict=True):
        assert words in complaint(done)


def test_selection_without_matching_check_is_named(tmp_path: Path) -> None:
    said_of = {
        ("--rule", "MQQB-9.9-09"): "unknown rule 'MQQB-9.9-09'",
        ("--select", "level=always"): "level='always': the value must be one of MUST",
        ("-k", "no_such_check"): "the selection '-k no_such_check' matches no check",
    }
    file = sut(tmp_path)
    runs = [mqconform("run", "--sut", file, "--out", tmp_path / one[0], *one) for one in said_of]
    for (option, _), words, done in zip(said_of, said_of.values(), runs, strict=True):
        assert words in complaint(done)
        assert not (tmp_path / option).exists()


def test_pytest_refuses_a_selection_as_bad_usage(tmp_path: Path) -> None:
    options = ("--sut", sut(tmp_path), "--out", tmp_path / "run", "--rule", "MQQB-9.9-09")
    assert command(*PYTEST, "suites", *options).returncode == 4


def test_existing_run_folder_is_not_overwritten_and_resume_requires_it(few: Ran, tmp_path: Path) -> None:
    file, rule = sut(tmp_path), ("--rule", FEW)
    shutil.copytree(few.folder, tmp_path / "run")
    before = (tmp_path / "run/verdicts.jsonl").read_bytes()
    again = mqconform("run", "--sut", file, "--out", tmp_path / "run", *rule)
    nowhere = mqconform("run", "--sut", file, "--resume")
    nothing = mqconform("run", "--sut", file, "--resume", "--out", tmp_path / "two")
    assert "run already contains a run; give another --out, or --resume to resume it" in complaint(again)
    assert (tmp_path / "run/verdicts.jsonl").read_bytes() == before
    assert "needs the folder of the run: give this folder as --out" in complaint(nowhere)
    assert "contains no run to resume" in complaint(nothing)


def test_run_name_with_path_is_refused(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    file = sut(tmp_path, VIRTUAL_SUT_FILE_TEXT.replace('"reference"', '"../../evil"'))
    assert mqconform("run", "--sut", file, "--rule", "MQQB-2.2.2-02", cwd=here).returncode == 0
    assert [path.name for path in tmp_path.iterdir() if path != file] == ["here"]
    (folder,) = (here / "out").iterdir()
    assert folder.name.startswith("evil-")
    assert run_json(folder)["sut"]["name"] == "../../evil"


def test_a_port_in_use_is_named_in_verdict_and_report_and_the_run_fails(tmp_path: Path) -> None:
    """When the peer's port is in use, the SUT cannot find the peer: the rules are inconclusive, and verdict and report
    name the port.
    """
    with socket.create_server(("0.0.0.0", 0)) as taken:  # wherever the peer of the check is
        port = taken.getsockname()[1]
        text = (
            VIRTUAL_SUT_FILE_TEXT.replace("topology = true\n", "").replace(
                'kind = "virtual"',
                f'kind = "process"\ntcp_port = 0\nping_port = 0\nrpc_port = 0\npeer_tcp_port = {port}',
            )
            + '[control]\nkind = "jsonl"\n'
        ).replace(
            "[capabilities]",
            'command = ["{python}", "-m", "reference_qm", "--tcp-port", "{tcp_port}", "--ping-port", "{ping_port}", '
            '"--rpc-port", "{rpc_port}", "--control", "127.0.0.1:{control_port}"]\n[capabilities]',
        )
        done = mqconform("run", "--sut", sut(tmp_path, text), "--out", tmp_path / "run", "--rule", "MQQB-3.1.6.3-02")
    assert done.returncode == 1
    line = f":{port}, where the SUT connects to the peer: Address already in use; set peer_address"
    assert line in done.stdout
    assert "Traceback" not in done.stdout
    (reason,) = {each["reason"] for each in verdicts(tmp_path / "run") if each["rule"] == "MQQB-3.1.6.3-02"}
    assert line in reason
    reasons = [each for each in verdicts(tmp_path / "run") if each["reason"] and not each["advice"]]
    assert {each["verdict"] for each in reasons} == {"inconclusive"}


def test_run_warns_once_before_sending_to_another_machine(tmp_path: Path) -> None:
    text = EXTERNAL + 'address = "203.0.113.1"\nallow_remote = true\npeer_address = "192.0.2.77"\n'
    probe = (
        "import sys, pytest; pytest.main = lambda arguments: print('RUN') or pytest.ExitCode.OK; "
        "from harness.cli.main import main; main()"
    )
    done = command(sys.executable, "-c", probe, "run", "--sut", sut(tmp_path, text))
    assert done.returncode == 0
    assert done.stdout == "RUN\n"
    (said,) = done.stderr.splitlines()
    assert said.startswith("this run sends packets, some of them malformed, from 192.0.2.77 to 203.0.113.1: ")
    assert "sessions to TCP port 1801, pings to UDP port 3527; " in said


# -- a copy of the project with a mistake in its suites ---------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    copy_packages(tmp_path, "harness", "reference_qm", "suites")
    return tmp_path


def test_unknown_rule_id_in_rules_file_is_named_with_its_file(copy: Path) -> None:
    row = '\n["MQQB-9.9-99"]\nobserve = "wire"\nrole = "any"\nsays = "x"\n'
    with next((copy / "suites/mqqb").glob("*/rules.toml")).open("a", encoding="utf-8") as file:
        file.write(row)
        name = file.name
    for done in several(("run", "--sut", sut(copy), "--out", copy / "run"), ("rules",), cwd=copy, PYTHONPATH=str(copy)):
        said = complaint(done)
        assert f"{name}: " in said
        assert "MQQB-9.9-99" in said
        assert "unknown id" in said
    assert not (copy / "run").exists()


def test_run_of_suites_without_checks_fails(copy: Path) -> None:
    for path in (copy / "suites").glob("*/*/test_*.py"):
        path.unlink()
    done = command(
        sys.executable, "-m", "mqconform", "run", "--sut", sut(copy), "--out", "r", cwd=copy, PYTHONPATH=str(copy)
    )
    assert "matches no check" in complaint(done)
    assert not (copy / "r").exists()


def test_run_with_fewer_checks_than_frozen_exits_with_5(copy: Path) -> None:
    (copy / "suites/frozen.toml").write_text("tests = 1000\n")
    for path in (copy / "suites").glob("*/*/test_*.py"):
        if "2_2_2_connection" not in path.parent.name:
            path.unlink()
    done = command(
        sys.executable, "-m", "mqconform", "run", "--sut", sut(copy), "--out", "r", cwd=copy, PYTHONPATH=str(copy)
    )
    assert done.returncode == run_json(copy / "r")["exit"] == 5
    assert "checks ran; a complete run has 1000 (suites/frozen.toml)" in done.stdout
