"""Negative controls: no check is passed by a server that is no queue manager, and the run ends by itself."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqconform_process import ROOT, mqconform, run_json, sut, verdicts

CONTROL = Path(__file__).with_name("negative_controls.py")
SELECTION = "2_1_1 or 2_1_2 or 2_2_2 or 2_2_6"
"""Some checks of each transport; scripts/negative-controls.sh runs all of them."""
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


LAWFUL_ECHO = {
    "MQQB-2.1.1-03": "it does accept connections",
    "MQQB-2.2.2-01": "the bytes of the packet",
    "MQQB-2.2.2-02": "the bytes of the packet",
    "MQQB-2.2.6-01": "the bytes of the packet",
    "MQQB-2.2.6-02": "the bytes of the packet",
}
"""Wire rules that a packet sent back truly keeps, each looked at by hand."""


@pytest.mark.parametrize(("kind", "lawful"), [("silent", {}), ("echo", LAWFUL_ECHO)])
def test_what_is_no_queue_manager_passes_nothing(tmp_path: Path, kind: str, lawful: dict[str, str]) -> None:
    folder = tmp_path / "run"
    with control(kind, tmp_path) as file:
        done = mqconform("run", "--sut", file, "--out", folder, "-k", SELECTION)
    assert done.returncode == run_json(folder)["exit"] == 1
    assert passes(folder) - lawful.keys() == set()
    found = {line["verdict"] for line in verdicts(folder)}
    assert "harness_error" not in found
    assert found & {"fail", "inconclusive"}
