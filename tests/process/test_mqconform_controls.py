"""Runs against negative controls: no control passes a rule that it does not keep, and each run ends with a clear
result.

MQ_CONTROLS=all runs the whole suites against each control, which takes about seven minutes, mostly waiting time.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mqconform_process import ROOT, Ran, evidence, mqconform, run_json, sut, verdicts
from qm_process import free_port

from harness.faults.registry import load_faults
from harness.judging.passive import load_predicates

HERE = Path(__file__).parent
WHOLE = os.environ.get("MQ_CONTROLS") == "all"
SELECTION = (
    *("--select", "MQQB-2.1.2", "--select", "MQQB-2.2.7", "--select", "MQMQ-2.2.7", "--select", "MQQB-2.2.2-01"),
    *("--select", "MQQB-2.2.2-02", "--select", "MQQB-3.1.5.8.2-16", "--select", "MQQB-3.1.5.8.2-33"),
    *("-k", "s2_1_2_ or s2_2_7_ or s2_2_07_ or s2_2_2_ or missing_queue or non_transactional_message"),
)
"""Selects a few checks of each transport, and the checks that could mistake silence for an answer."""
PEER = "6d71636f-6e66-4f72-8d00-000000000001"

LAWFUL: dict[str, dict[str, str]] = {
    "silent": {},
    "closing": {},
    "random": {},
    "echo": {
        "MQMQ-2.2.19.1-07": "the internal packets that it sends back begin as they must",
        "MQQB-2.1.1-03": "it does listen on the port",
        "MQQB-2.2.2-01": "a ConnectionParameters sent back has IN set",
        "MQQB-2.2.2-02": "a ConnectionParameters sent back has PT 3",
        "MQQB-2.2.3-01": "an EstablishConnection sent back has IN set",
        "MQQB-2.2.3-02": "an EstablishConnection sent back has PT 2",
        "MQQB-2.2.3.1-06": "an EstablishConnection sent back has the SE of the request",
        "MQQB-2.2.6-01": "a SessionAck sent back has IN and SH set",
        "MQQB-2.2.6-02": "a SessionAck sent back has PT 1",
    },
}
"""For each server that is not a queue manager, the rules that it really keeps, with the reason; rules about the bytes
of one packet are excluded. The author confirmed each entry.
"""

LATE = "late"
LATE_FAULTS = (
    "acceptor-ping-request-with-wrong-signature-answered",
    "receiver-message-to-missing-queue-inserted-elsewhere",
    "receiver-transactional-queue-accepts-any-message",
)
"""The faults of the queue manager that answers a second late: it sends packets that it must not send."""
LATE_SELECTION = (
    *("--select", "MQQB-2.2.7", "--select", "MQQB-3.1.5.8.2-16", "--select", "MQQB-3.1.5.8.2-33"),
    *("-k", "wrong_signature or response_repeats or missing_queue or non_transactional_message"),
)
"""Selects the checks that these faults break, and a check that a late correct answer must pass."""
PATIENT = "[timeouts]\nfactor = 2\n"
"""Doubles the timeouts, so that on a loaded machine a delay of one second stays within them."""


class RanControl(Ran):
    """A finished run against a negative control."""

    def passed(self) -> list[dict[str, Any]]:
        return [line for line in verdicts(self.folder) if line["verdict"] == "pass"]

    def is_about_bytes(self, line: dict[str, Any]) -> bool:
        """Return whether a predicate on the bytes of one packet made the verdict, possibly during a check of other
        rules.
        """
        predicate = load_predicates().get(line["rule"])
        return predicate is not None and predicate.expected == line["expected"]


@contextlib.contextmanager
def control(kind: str, folder: Path) -> Iterator[Path]:
    """Run a negative control; yield a SUT file that declares every capability for it."""
    peer_port, peer_ping_port = free_port("127.0.0.2"), free_port("127.0.0.2")
    if kind == LATE:
        config = folder / "qm.toml"
        queues = (("plain", False), ("tx", True), ("admin", False))
        text = "".join(f"[[queues]]\nname = 'private$\\mqc-{name}'\ntransactional = {tx!s}\n" for name, tx in queues)
        config.write_text(
            f'[listen]\naddress = "127.0.12.1"\n[remote]\ntcp_port = {peer_port}\nping_port = {peer_ping_port}\n'
            f'[routes]\n"{PEER}" = "127.0.0.2"\n{text.lower()}',
        )
        command = [str(HERE / "late_queue_manager.py"), "--config", str(config), "--tcp-port", "0", "--ping-port", "0"]
        command += [part for name in LATE_FAULTS for part in ("--fault", name)]
    else:
        command = [str(HERE / "negative_controls.py"), kind]
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    with process:
        assert process.stdout is not None
        where = dict(part.split("=", 1) for part in process.stdout.readline().split()[1:])
        address, _, tcp_port = where["tcp"].rpartition(":")
        try:
            yield sut(
                folder,
                f'[sut]\nname = "{kind}"\n[driver]\nkind = "external"\naddress = "{address}"\ntcp_port = {tcp_port}\n'
                f"ping_port = {where['ping'].rpartition(':')[2]}\n"
                f"peer_tcp_port = {peer_port}\npeer_ping_port = {peer_ping_port}\n"
                f"{PATIENT if kind == LATE else ''}[capabilities]\n"
                "ping = true\nping_initiator = true\nprivate_names = true\npublic_names = true\n"
                "security = true\ntwo_addresses = true\n",
            )
            assert process.poll() is None, "the control fell over"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def control_results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RanControl]:
    """Run the checks against all controls at the same time, because each run spends most of its time waiting."""
    kinds = (*LAWFUL, LATE)
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in kinds}

    def run(kind: str) -> RanControl:
        folder = folders[kind]
        selection = LATE_SELECTION if kind == LATE else SELECTION
        options = ("--workers", 24) if WHOLE else ("--workers", 24, *selection)
        with control(kind, folder) as file:
            done = mqconform("run", "--sut", file, "--out", folder / "run", *options)
        return RanControl(folder / "run", done.returncode, done.stdout + done.stderr)

    with ThreadPoolExecutor(len(kinds)) as pool:
        return dict(zip(kinds, pool.map(run, kinds), strict=True))


@pytest.mark.parametrize("kind", [*LAWFUL, LATE])
def test_run_against_broken_server_ends_without_traceback_and_with_reasons(
    control_results: dict[str, RanControl], kind: str
) -> None:
    it = control_results[kind]
    assert it.code == run_json(it.folder)["exit"] == 1
    assert run_json(it.folder)["aborted"] is None
    assert f"{kind} unknown: " in it.said
    assert "Traceback" not in it.said
    lines = verdicts(it.folder)
    assert not [line["reason"] for line in lines if line["verdict"] == "harness_error"]
    assert {line["verdict"] for line in lines} & {"fail", "inconclusive"}
    assert all(line["reason"] for line in lines if line["verdict"] == "inconclusive")


@pytest.mark.parametrize("kind", LAWFUL)
def test_system_that_is_no_queue_manager_passes_no_rule(control_results: dict[str, RanControl], kind: str) -> None:
    it = control_results[kind]
    passed = {line["rule"] for line in it.passed() if not it.is_about_bytes(line)}
    assert passed - LAWFUL[kind].keys() == set()


@pytest.mark.parametrize("kind", set(LAWFUL) - {"echo"})
def test_system_that_sends_no_packet_passes_no_rule_about_packets(
    control_results: dict[str, RanControl], kind: str
) -> None:
    assert control_results[kind].passed() == []


def test_echo_server_passes_only_rules_about_packets_that_the_tester_built(
    control_results: dict[str, RanControl],
) -> None:
    """Each packet with which the echo server passes a rule about bytes is a packet that the tester sent to it earlier
    in the same check.
    """
    it = control_results["echo"]
    about_bytes = [line for line in it.passed() if it.is_about_bytes(line)]
    assert about_bytes
    for line in about_bytes:
        capture = (it.folder / line["capture"]).read_bytes()
        for each in evidence(it.folder, line):
            assert each.direction == "sut->peer"
            assert capture.count(each.data) >= 2, line


def test_packets_of_echo_server_are_recorded(control_results: dict[str, RanControl]) -> None:
    """The captures contain packets of the echo server over TCP and UDP; otherwise the control would only be another
    silent server.
    """
    came = {
        each.transport
        for line in verdicts(control_results["echo"].folder)
        for each in evidence(control_results["echo"].folder, line)
        if each.direction == "sut->peer"
    }
    assert came == {"tcp", "udp"}


def test_late_answer_is_not_judged_as_missing(control_results: dict[str, RanControl]) -> None:
    """A violation that arrives one second late does not pass its rule, although an impatient tester would have stopped
    waiting. The run judges only rules of MS-MQQB.
    """
    broken = {rule for name in LATE_FAULTS for rule in load_faults()[name].breaks if rule.startswith("MQQB-")}
    found = {
        (line["rule"], line["verdict"]) for line in verdicts(control_results[LATE].folder) if line["rule"] in broken
    }
    assert "pass" not in {verdict for _, verdict in found}
    assert {rule for rule, verdict in found if verdict == "fail"} == broken


def test_late_answer_is_judged_as_answer(control_results: dict[str, RanControl]) -> None:
    """A correct answer that arrives one second late passes its rule."""
    found = {
        line["verdict"] for line in verdicts(control_results[LATE].folder) if "response_repeats" in (line["test"] or "")
    }
    assert found == {"pass"}


# -- what nobody has ------------------------------------------------------------------------------------------------


def test_a_nonsense_capability_in_the_sut_file_gives_one_line_error(tmp_path: Path) -> None:
    file = sut(tmp_path, '[sut]\nname = "x"\n[driver]\nkind = "virtual"\n[capabilities]\nteleport = true\n')
    done = mqconform("run", "--sut", file, "--out", tmp_path / "run")
    assert done.returncode == 2
    (said,) = (done.stdout + done.stderr).strip().splitlines()
    assert f"{file}: unknown capability teleport; known: ping, " in said
    assert not (tmp_path / "run").exists()
