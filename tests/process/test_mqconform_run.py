"""``mqconform run`` and ``pytest suites`` give the same results, and all files of the run folder agree with each other.

Tests about all checks use one whole run; tests about runs use a few checks of packets, reads and restarts.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from mqconform_process import (
    MQCONFORM,
    PYTEST,
    ROOT,
    Lines,
    Ran,
    command,
    complaint,
    held_up,
    judged,
    mqconform,
    run_json,
    sut,
    unfounded,
)
from mqconform_process import verdicts as verdicts_of
from patience import end_of, until
from qm_process import free_port, serve

from harness.faults.registry import load_faults

SOME = (
    *("--select", "MQQB-2.2.3", "--select", "MQQB-2.2.6", "--select", "MQQB-3.1.5.8.7"),
    *("--select", "MQQP-3.2.4.2-05", "--select", "MQQP-3.2.4.3-32"),
    *(
        "-k",
        "s2_2_3_ or s2_2_6_ or s3_1_5_08_07_ or test_client_cancels_pending_read"
        " or test_client_read_has_required_fields",
    ),
)


def mqconform_run(folder: Path, *options: object) -> Ran:
    done = mqconform("run", "--sut", sut(folder), "--out", "run", *options, cwd=folder)
    return Ran(folder / "run", done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def by_mqconform(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return mqconform_run(tmp_path_factory.mktemp("mqconform"), *SOME, "--allure")


@pytest.fixture(scope="module")
def by_pytest(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("pytest")
    done = command(*PYTEST, "suites", "-q", "--sut", sut(folder), "--out", folder / "run", *SOME, cwd=ROOT)
    return Ran(folder / "run", done.returncode, done.stdout + done.stderr)


def test_the_reference_keeps_every_rule(whole: Ran, lines_of_whole: Lines) -> None:
    assert whole.code == 0, whole.said
    assert {line["verdict"] for line in lines_of_whole} <= {"pass", "not_exercised"}
    assert "Traceback" not in whole.said
    assert f"run folder: {whole.folder.name}" in whole.said


def test_pytest_on_suites_gives_same_verdicts_as_mqconform_run(by_mqconform: Ran, by_pytest: Ran) -> None:
    assert (by_pytest.code, by_mqconform.code) == (0, 0), by_pytest.said

    def lines_of(ran: Ran) -> list[str]:
        own = ("run", "time", "ms")
        return [
            json.dumps({key: value for key, value in line.items() if key not in own})
            for line in verdicts_of(ran.folder)
        ]

    assert lines_of(by_pytest) == lines_of(by_mqconform)  # virtual time: to the byte, evidence too
    names = [sorted(path.name for path in (ran.folder / "captures").iterdir()) for ran in (by_mqconform, by_pytest)]
    assert names[0] == names[1]


def test_run_folder_records_the_run(whole: Ran, lines_of_whole: Lines, by_mqconform: Ran, by_pytest: Ran) -> None:
    some = " ".join(SOME)
    for ran, selection in ((whole, "all"), (by_mqconform, some), (by_pytest, some)):
        tree = run_json(ran.folder)
        assert (tree["schema"], tree["selection"], tree["exit"], tree["aborted"]) == (2, selection, ran.code, None)
        assert (tree["sut"]["name"], tree["sut"]["version"], tree["reach"]) == ("reference", "prove", "virtual")
        lines = lines_of_whole if ran is whole else verdicts_of(ran.folder)
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        assert {line["run"] for line in lines} == {tree["run"]}
        rules = json.loads((ran.folder / "rules.json").read_text(encoding="utf-8"))["rules"]
        assert {line["rule"] for line in lines} <= rules.keys()


def test_junit_and_allure_have_a_test_case_for_each_rule(whole: Ran, lines_of_whole: Lines, by_mqconform: Ran) -> None:
    rules_of = {whole: {line["rule"] for line in lines_of_whole}}
    rules_of[by_mqconform] = {line["rule"] for line in verdicts_of(by_mqconform.folder)}
    for ran, rules in rules_of.items():
        assert len(rules) > 100
        root = ET.parse(ran.folder / "junit.xml").getroot()
        cases = [str(case.get("name")) for case in root.iter("testcase")]
        assert (sorted(cases), root.get("tests")) == (sorted(rules), str(len(rules)))
    paths = list((by_mqconform.folder / "allure-results").glob("*-result.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    assert sorted(result["name"] for result in results) == sorted(rules_of[by_mqconform])
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    for result in results:
        (attachment,) = result["attachments"]
        text = (paths[0].parent / attachment["source"]).read_text(encoding="utf-8")
        assert text.startswith("expected: ")
        assert all((paths[0].parent / link["url"]).resolve().is_file() for link in result.get("links", ()))


def test_evidence_of_each_verdict_names_existing_bytes(lines_of_whole: Lines, unfounded_of_whole: list[str]) -> None:
    lines = lines_of_whole
    assert sum(bool(line["evidence"]) for line in lines) > 0.9 * len(lines)
    assert unfounded_of_whole == []
    assert {bool(line["evidence"]) == (line["capture"] is not None) for line in lines} == {True}


def test_a_served_queue_manager_in_another_process_keeps_the_rules(tmp_path: Path) -> None:
    """A queue manager that ran before the run keeps the rules over real sockets and its control channel, and still runs
    afterwards.
    """
    port, ping_port = free_port("127.0.0.1", "127.0.0.2"), free_port("127.0.0.2")
    toml = (
        f"[queue_manager]\nsend_ping = true\n[listen]\ntcp_port = 0\nping_port = 0\n"
        f"[remote]\ntcp_port = {port}\nping_port = {ping_port}\n[control]\naddress = '127.0.0.1:0'\n"
    )
    with serve(tmp_path, toml=toml) as served:
        file = sut(
            tmp_path,
            f'[sut]\nname = "served"\n[driver]\nkind = "external"\ntcp_port = {served.endpoint("tcp")[1]}\n'
            f"ping_port = {served.endpoint('ping')[1]}\npeer_tcp_port = {port}\npeer_ping_port = {ping_port}\n"
            f"rpc_port = {served.endpoint('rpc')[1]}\n"
            f'[control]\nkind = "jsonl"\naddress = "{served.bound["control"]}"\n'
            "[capabilities]\nping = true\nping_initiator = true\nqm2qm = true\n",
        )
        folders = (tmp_path / "one", tmp_path / "two")
        some = ("--select", "MQQB-2.1", "--select", "MQQP-2.1", "--select", "MQQB-2.2.6")
        runs = [mqconform("run", "--sut", file, "--out", one, *some) for one in folders]
        for folder, done in zip(folders, runs, strict=True):
            assert done.returncode == 0, done.stdout
            verdicts = {line["verdict"] for line in verdicts_of(folder)}
            assert {"pass"} <= verdicts <= {"pass", "not_exercised", "not_applicable"}
            assert {line["reach"] for line in verdicts_of(folder)} == {"external"}
            assert unfounded(folder) == []
        assert served.process.poll() is None


def test_cleanup_without_control_removes_messages_by_remote_reading(tmp_path: Path) -> None:
    """A check without a control channel removes its own messages from the queues by remote reading, so no residue
    remains.
    """
    port = free_port("127.0.0.1", "127.0.0.2")
    toml = f"[listen]\ntcp_port = 0\nping_port = 0\n[remote]\ntcp_port = {port}\n"
    queues = "".join(f"[[queues]]\nname = 'private$\\mqc-{kind}'\n" for kind in ("plain", "admin"))
    queues += "[[queues]]\nname = 'private$\\mqc-tx'\ntransactional = true\n"
    with serve(tmp_path, toml=toml + queues) as served:
        file = sut(
            tmp_path,
            f'[sut]\nname = "served"\n[driver]\nkind = "external"\ntcp_port = {served.endpoint("tcp")[1]}\n'
            f"rpc_port = {served.endpoint('rpc')[1]}\npeer_tcp_port = {port}\n[capabilities]\nqm2qm = true\n",
        )
        chosen = ("-k", "test_arrival_time_is_second_of_arrival")
        done = mqconform("run", "--sut", file, "--out", tmp_path / "run", *chosen)
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    judged = [line for line in verdicts_of(tmp_path / "run") if not line["advice"]]
    assert {"pass"} <= {line["verdict"] for line in judged} <= {"pass", "not_observable", "not_exercised"}
    assert run_json(tmp_path / "run").get("residue", []) == []


# -- faults, selections ---------------------------------------------------------------------------------------------


def test_fault_fails_its_rule_in_mqconform_run_and_pytest(tmp_path: Path) -> None:
    rule = "MQQB-2.2.2-02"
    fault = next(name for name, known in load_faults().items() if rule in known.breaks)
    file = sut(tmp_path, f'[sut]\nname = "faulty"\n[driver]\nkind = "virtual"\n[reference]\nfaults = ["{fault}"]\n')
    one = mqconform("run", "--sut", file, "--out", tmp_path / "one", "--rule", rule)
    two = command(*PYTEST, "suites", "--sut", file, "--out", tmp_path / "two", "--rule", rule)
    assert (one.returncode, two.returncode) == (1, 1)
    assert judged(tmp_path / "one") == judged(tmp_path / "two")
    assert "fail" in {verdict for _, name, verdict in judged(tmp_path / "one") if name == rule}
    assert run_json(tmp_path / "one")["selection"] == f"--rule {rule}"
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "one/junit.xml").getroot().iter("testcase")}
    assert cases[rule][0].tag == "failure"
    assert str(cases[rule][0].get("message")).startswith("fail: expected ")
    assert unfounded(tmp_path / "one") == []


# -- kill and resume ------------------------------------------------------------------------------------------------


def killed(folder: Path, file: Path, *options: str, after: int, checks: int) -> None:
    """Kill a run as soon as ``after`` verdicts are on disk. Two such runs in a row finish fewer than ``checks`` checks.

    While the run lives, the same command must be refused.
    """
    process = subprocess.Popen(
        [*MQCONFORM, "run", "--sut", str(file), "--out", str(folder), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=held_up(checks // 2, folder / "never"),
    )
    path = folder / "verdicts.jsonl"
    until(
        lambda: process.poll() is not None or (path.is_file() and path.read_bytes().count(b"\n") >= after),
        f"the run has {after} verdicts",
    )
    said = complaint(mqconform("run", "--sut", file, "--out", folder, *options))
    assert (
        f"{folder}: process {process.pid} is writing a run to this folder; wait until it ends, or give another --out"
        in said
    )
    process.send_signal(signal.SIGKILL)
    assert end_of(process) == -signal.SIGKILL, "the run ended before it could be killed"


def test_a_killed_run_is_resumed_without_loss_or_repetition(by_mqconform: Ran, tmp_path: Path) -> None:
    every = len(verdicts_of(by_mqconform.folder))
    checks = len({line["test"] for line in verdicts_of(by_mqconform.folder)})
    file, folder = sut(tmp_path), tmp_path / "run"
    killed(folder, file, *SOME, after=every // 4, checks=checks)
    first = (folder / "verdicts.jsonl").read_bytes()
    killed(folder, file, *SOME, "--resume", after=every // 2, checks=checks)
    second = (folder / "verdicts.jsonl").read_bytes()
    assert run_json(folder)["finished"] is None
    done, again = (mqconform("run", "--sut", file, "--out", folder, *SOME, "--resume") for _ in range(2))
    assert (done.returncode, again.returncode) == (0, 0), done.stdout + again.stdout
    assert (folder / "verdicts.jsonl").read_bytes().startswith(second)
    assert second.startswith(first)
    assert judged(folder) == judged(by_mqconform.folder)
    assert [line["seq"] for line in verdicts_of(folder)] == list(range(1, every + 1))
    assert {line["run"] for line in verdicts_of(folder)} == {run_json(folder)["run"]}
    assert unfounded(folder) == []


def test_truncated_verdict_file_gives_one_line_error_and_is_unchanged(by_mqconform: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_bytes((by_mqconform.folder / "run.json").read_bytes())
    whole = (by_mqconform.folder / "verdicts.jsonl").read_bytes()
    cut = whole[: len(whole) // 2]
    assert not cut.endswith(b"\n")
    (folder / "verdicts.jsonl").write_bytes(cut)
    done = mqconform("run", "--sut", sut(tmp_path), "--out", folder, *SOME, "--resume")
    assert done.returncode == 2
    said = (done.stdout + done.stderr).strip()
    number = cut.count(b"\n") + 1
    assert said == (
        f"ERROR: {folder}/verdicts.jsonl:{number}: the verdict is truncated or broken; "
        "remove this line to continue with the other lines"
    )
    assert (folder / "verdicts.jsonl").read_bytes() == cut


def test_run_frees_packets_of_each_finished_check(tmp_path: Path) -> None:
    """The run frees the packets of each finished check. Once pytest's items kept the packets of all checks, and a flood
    in three checks exhausted the memory.
    """
    kept, folders = tmp_path / "kept", (Path(__file__).parent, ROOT)
    plugin = {"PYTEST_PLUGINS": "packets_kept", "PYTHONPATH": os.pathsep.join(map(str, folders))}
    arguments = ("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", "--select", "MQQB-3.1.5.4.1")
    done = command(*MQCONFORM, *arguments, cwd=ROOT, **plugin, MQ_RECORDERS_KEPT=str(kept))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(verdicts_of(tmp_path / "run")) > 10
    assert int(kept.read_text(encoding="ascii")) <= 1
