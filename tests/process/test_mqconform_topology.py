"""``mqconform run --topology`` with three processes: one capture contains all traffic between them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from mqconform_process import ROOT, mqconform, run_json, sut, unfounded, verdicts
from qm_process import free_port

from harness.capture import read_streams

EXAMPLE = ROOT / "docs" / "topology"
PORT = "18020"
ADDRESSES = {"sender": "127.0.2.1", "router": "127.0.2.2", "receiver": "127.0.2.3"}
FOUND_AT = {"sender": "127.0.1.1", "router": "127.0.1.2", "receiver": "127.0.1.3"}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Copy the example of docs/topology, and replace its port by a free port."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    port = str(free_port(*FOUND_AT.values()))
    for path in folder.glob("*.toml"):
        sut(folder, path.read_text().replace(PORT, port), path.name)
    return folder


def test_systems_of_example_topology_keep_all_rules(example: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = mqconform("run", "--topology", example / "topology.toml", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = verdicts(out)
    assert {line["verdict"] for line in lines} <= {"pass", "not_exercised"}
    assert {line["sut"] for line in lines} == {"reference, three times"}
    assert unfounded(out) == []
    assert len(run_json(out)["queue_managers"]) == 1
    routed = next(line["capture"] for line in lines if line["rule"] == "MQSO-3.3.4.5-01")
    hops = {(stream.client.host, stream.server.host) for stream in read_streams(out / routed).tcp_streams}
    assert hops >= {
        (ADDRESSES["sender"], FOUND_AT["router"]),
        (ADDRESSES["router"], FOUND_AT["receiver"]),
    }


def test_a_router_that_keeps_messages_fails_its_rule(example: Path, tmp_path: Path) -> None:
    path = example / "router.toml"
    path.write_text(path.read_text().replace('"--control",', '"--fault", "router-keeps-messages", "--control",'))
    out = tmp_path / "run"
    done = mqconform(
        "run",
        "--topology",
        example / "topology.toml",
        "--out",
        out,
        "--rule",
        "MQSO-3.3.4.5-01",
        "-k",
        "pass_router and express",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert {line["rule"] for line in verdicts(out) if line["verdict"] == "fail"} >= {"MQSO-3.3.4.5-01"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sut", "sender.toml", "--topology", "topology.toml"), "--sut and --topology are both given"),
        (("--topology", "topology.toml", "--workers", "2"), "--workers cannot be used with --topology"),
        (("--topology", "nowhere.toml"), "nowhere.toml cannot be read"),
        ((), "no system is specified: give its SUT file as --sut, or a topology file as --topology"),
    ],
)
def test_invalid_topology_option_gives_one_line_error(
    example: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    whole = [example / one if one.endswith(".toml") else one for one in arguments]
    done = mqconform("run", *whole, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
