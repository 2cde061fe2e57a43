"""Negative controls: no check is passed by a server that is no queue manager, and the run ends by itself."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mqconform_process import ROOT, mqconform, run_json, sut, verdicts

CONTROL = Path(__file__).with_name("negative_controls.py")
SELECTION = "test_2_1_2_ or test_2_2_2_"
"""A few checks of each transport; a whole run waits out every timer of the protocol in real time."""
OF_THE_BYTES = {"passive"}
"""Rules about the bytes of a packet: an echo of a lawful packet is a lawful packet."""


@contextlib.contextmanager
def control(kind: str, folder: Path) -> Iterator[Path]:
    """A control that runs; gives a SUT file for it."""
    process = subprocess.Popen([sys.executable, str(CONTROL), kind], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    with process:
        assert process.stdout is not None
        where = dict(part.split("=", 1) for part in process.stdout.readline().split()[1:])
        try:
            yield sut(
                folder,
                f'[sut]\nname = "{kind}"\n[reach]\nkind = "external"\n'
                f"tcp_port = {where['tcp'].rpartition(':')[2]}\nping_port = {where['ping'].rpartition(':')[2]}\n"
                "[capabilities]\nping = true\nping_initiator = true\n",
            )
            assert process.poll() is None, "the control fell over"
        finally:
            process.terminate()


def passes(folder: Path) -> set[str]:
    """The rules that were passed, without those that the bytes of one packet alone keep."""
    rules = json.loads((folder / "rules.json").read_text(encoding="utf-8"))["rules"]
    passed = {line["rule"] for line in verdicts(folder) if line["verdict"] == "pass"}
    return {rule for rule in passed if rules[rule]["observe"] not in OF_THE_BYTES}


LAWFUL: dict[str, dict[str, str]] = {
    "silent": {},
    "echo": {
        "MQQB-2.2.2-01": "a ConnectionParameters sent back has IN set",
        "MQQB-2.2.2-02": "a ConnectionParameters sent back has PT 3",
    },
}
"""Rules that are not passive but that the control truly keeps, each looked at by hand."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int]]:
    """Each control, tested at the same time: the runs spend theirs waiting."""

    def run(kind: str) -> tuple[Path, int]:
        place = tmp_path_factory.mktemp(kind)
        with control(kind, place) as file:
            done = mqconform("run", "--sut", file, "--out", place / "run", "-k", SELECTION)
        return place / "run", done.returncode

    with ThreadPoolExecutor() as pool:
        return dict(zip(LAWFUL, pool.map(run, LAWFUL), strict=True))


@pytest.mark.parametrize("kind", LAWFUL)
def test_what_is_no_queue_manager_passes_nothing(ran: dict[str, tuple[Path, int]], kind: str) -> None:
    folder, code = ran[kind]
    assert code == run_json(folder)["exit"] == 1
    assert passes(folder) - LAWFUL[kind].keys() == set()
    found = {line["verdict"] for line in verdicts(folder)}
    assert "harness_error" not in found
    assert found & {"fail", "inconclusive"}


def test_the_echo_was_heard(ran: dict[str, tuple[Path, int]]) -> None:
    """Else it would be one more silent server, on TCP or on UDP."""
    folder, _ = ran["echo"]
    came = {
        each["transport"] for line in verdicts(folder) for each in line["evidence"] if "sut" in each["direction"][:3]
    }
    assert came == {"tcp", "udp"}
