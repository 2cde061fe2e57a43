"""Certificates of a signer who errs or lies: the contradictions that `verify` refuses, and the claims that it reports
as unverifiable.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from certified import (
    Spoil,
    certify,
    change,
    forged,
    judge_otherwise,
    leave_out_advice,
    sign_as_a_certifier,
    the_suites_have_only_what_ran,
    verify,
    with_statement,
)
from mqconform_process import FEW, NO_CELLS, mqconform, sut

from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.results.run_results import read_run

pytestmark = pytest.mark.usefixtures("few_are_all")


@pytest.fixture
def folder(certifiable: Path, tmp_path: Path) -> Path:
    """Return a copy of the run folder, which the test changes."""
    return Path(shutil.copytree(certifiable, tmp_path / "run"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda inside: (inside / "certificate.json").unlink(), "certificate.json is missing"),
        (lambda inside: (inside / "certificate.json").write_text("[" * 999_999), "certificate.json is broken"),
        (
            lambda inside: (inside / "verdicts.jsonl").write_text(""),
            "these files differ from the list of files in the certificate: verdicts",
        ),
        (
            lambda inside: (inside / "evil.sh").write_text("x"),
            "these files differ from the list of files in the certificate: evil.sh",
        ),
        (
            lambda inside: (inside / "badge.svg").write_text("<svg/>"),
            "badge.svg does not agree with the statement of the certificate",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["rules"].update({"pass": 2_875})),
            "does not agree with its run: rules",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["terms"].update({"checks": 1})),
            "the terms of the certificate name 1 checks; a complete run has 3",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["system"].update({"name": "Fabrikam"})),
            "does not agree with its run: system",
        ),
    ],
)
def test_verification_rejects_signature_over_other_content(folder: Path, signer: Path, spoil: Spoil, said: str):
    assert said in forged(folder, signer, spoil)


def test_verdict_changed_from_fail_to_pass_contradicts_its_capture(
    tmp_path: Path, signer: Path, monkeypatch: pytest.MonkeyPatch
):
    faulty = VIRTUAL_SUT_FILE_TEXT + '[reference]\nfaults = ["acceptor-establish-connection-timestamp-one-more"]\n'
    mqconform("run", "--sut", sut(tmp_path, faulty), "--out", tmp_path / "run", "--rule", "MQQB-2.2.2-01")
    change(tmp_path / "run", selection="all")
    leave_out_advice(tmp_path / "run")
    the_suites_have_only_what_ran(tmp_path / "run", monkeypatch)
    assert "MQQB-3.1.5.3.1-10" in read_run(tmp_path / "run").failing_checks_by_rule
    path = tmp_path / "run/verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    code, said = verify(certify(tmp_path / "run", signer), signer)
    assert code == 1
    assert "breaks MQQB-3.1.5.3.1-10, but the run has no failing verdict: observed TimeStamp" in said


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the same three checks on a system that keeps its session open after packets of unknown type: two of the
    checks fail.
    """
    folder = tmp_path_factory.mktemp("faulty")
    file = VIRTUAL_SUT_FILE_TEXT + '[reference]\nfaults = ["receiver-session-kept-open-after-packet-with-unknown-pt"]\n'
    mqconform("run", "--sut", sut(folder, file), "--out", folder / "run", "--rule", FEW, *NO_CELLS)
    change(folder / "run", selection="all")
    leave_out_advice(folder / "run")
    assert FEW in read_run(folder / "run").failing_checks_by_rule
    path = folder / "run/verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    return folder / "run"


def test_failure_forged_to_pass_is_detected_by_replay(faulty: Path, signer: Path, tmp_path: Path):
    shutil.copytree(faulty, tmp_path / "run")
    code, said = verify(certify(tmp_path / "run", signer), signer)
    assert code == 1
    assert f"fails {FEW} in the replay, but not in the run: fail, frame" in said


def test_certificate_with_captures_of_a_different_run_is_rejected(
    faulty: Path, certifiable: Path, signer: Path, tmp_path: Path
):
    shutil.copytree(faulty, tmp_path / "run")
    shutil.rmtree(tmp_path / "run/captures")
    shutil.copytree(certifiable / "captures", tmp_path / "run/captures")
    shutil.copy(certifiable / "verdicts.jsonl", tmp_path / "run/verdicts.jsonl")
    code, said = verify(certify(tmp_path / "run", signer), signer)
    assert code == 1
    assert f"contains the set-up of the run {run_id(certifiable)!r}, which does not belong to this run" in said


def run_id(folder: Path) -> str:
    return str(json.loads((folder / "run.json").read_text(encoding="utf-8"))["run"])


def in_run(**values: Any) -> Callable[[Path], None]:
    return lambda inside: change(inside, **values)


def in_system(**values: Any) -> Callable[[Path], None]:
    def alter(inside: Path) -> None:
        change(inside, sut=json.loads((inside / "run.json").read_text(encoding="utf-8"))["sut"] | values)

    return alter


def in_lines(alter: Callable[[list[dict[str, Any]]], Iterable[dict[str, Any]]]) -> Callable[[Path], None]:
    def write(inside: Path) -> None:
        path = inside / "verdicts.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in alter(lines)), encoding="utf-8")

    return write


def of_rule(rule: str, **values: Any) -> Callable[[Path], None]:
    return in_lines(lambda lines: [line | values if line["rule"] == rule else line for line in lines])


def another(**values: Any) -> Callable[[Path], None]:
    return in_lines(lambda lines: [*lines, lines[-1] | {"seq": lines[-1]["seq"] + 1} | values])


def without(*keys: str) -> Callable[[Path], None]:
    return in_lines(lambda lines: [*lines[:-1], {key: lines[-1][key] for key in lines[-1].keys() - set(keys)}])


def remove_captures(inside: Path) -> None:
    for path in sorted((inside / "captures").iterdir())[1:]:
        path.unlink()


def swap_captures(inside: Path) -> None:
    """Replace the capture of the second check by the capture of the first check."""
    first, second, *_ = sorted((inside / "captures").iterdir())
    second.write_bytes(first.read_bytes())


def let_must_be_may(inside: Path) -> None:
    path = inside / "rules.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"MUST"', '"MAY"'), encoding="utf-8")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "unknown profile": (in_system(profile="windows-3.11"), "the profile 'windows-3.11' is unknown; known: "),
    "profile of another type": (in_system(profile=["a"]), 'profile: ["a"] is not of type "string"'),
    "no profile": (in_system(profile=None), 'profile: null is not of type "string"'),
    "name of another system": (in_system(name="Windows Server 2025 MSMQ"), "contains the set-up of the sut"),
    "another run": (in_run(run="20310101T000000Z-x"), "contains the set-up of the run"),
    "capabilities null": (in_run(capabilities=None), 'capabilities: null is not of type "object"'),
    "end before the start": (in_run(finished="2019-01-01T00:00:00Z"), "run.json: the run cannot start at "),
    "the future": (
        in_run(started="2131-01-01T00:00:00Z", finished="2131-01-01T00:00:00Z"),
        "run.json: the run cannot start at ",
    ),
    "times of another run": (
        in_run(reach="process", queue_managers=["0" * 8 + "-0000" * 3 + "-" + "0" * 12]),
        "which is not within the run",
    ),
    "nobody's captures": (
        in_run(reach="virtual", sut={**dict.fromkeys(("name", "vendor", "version"), "x")}),
        "profile",
    ),
    "captures removed": (remove_captures, "which is missing"),
    "captures of another check": (swap_captures, "which does not belong to this run"),
    "a rule left out": (
        in_lines(lambda lines: [line for line in lines if line["rule"] != "MQQB-2.2.1-03"]),
        "1 rules have checks, but no verdict: MQQB-2.2.1-03",
    ),
    "a check left out": (
        in_lines(lambda lines: [line for line in lines if line.get("test") != lines[0]["test"]]),
        "checks ran; a complete run has 3",
    ),
    "a rule invented": (
        another(rule="MQQB-9.9.9-99"),
        "MQQB-9.9.9-99 has a verdict, but is not a rule of these suites",
    ),
    "a verdict by no check": (without("test", "evidence"), "the verdict pass names no check"),
    "a verdict by another check": (
        another(rule="MQQB-3.1.5.8.1-01"),
        "which does not judge this rule",
    ),
    "a line put in": (another(seq=1), "seq 1 follows "),
    "a frame that is not there": (another(evidence=[[99_999]]), "verdicts refer to frame 99999 of"),
    "a pass without a packet": (of_rule("MQQB-2.2.1-03", evidence=[]), "names no packet"),
    "the capture of another check": (another(capture="captures/x.pcapng"), "captures/x.pcapng is not a capture of"),
    "another rule set in run.json": (
        in_run(suites="0" * 64),
        "this installation cannot judge the run: suites is",
    ),
    "another harness": (in_run(harness="9.9"), "this installation cannot judge the run: harness is"),
    "levels": (let_must_be_may, "rules.json is not the rule set named in certificate.json"),
    "verdicts of nothing": (
        in_lines(lambda lines: [line | {"verdict": "not_exercised"} for line in lines]),
        "100.0 % of the rules were never exercised",
    ),
    "a residue that is a number": (in_run(residue=3), 'run.json: residue: 3 is not of type "array"'),
    "a baseline that is a number": (in_run(baseline={"stale": 3}), "run.json: baseline"),
    "a deviation that is text": (in_run(baseline={"expected": {"MQQB-2.2.1-03": "x"}}), '"x" is not of type "object"'),
    "a deviation without link": (
        in_run(baseline={"expected": {"MQQB-2.2.1-03": {"reason": "x"}}}),
        '"link" is a required property',
    ),
    "another verdict": (of_rule("MQQB-2.2.1-03", verdict="maybe"), "verdict cannot be 'maybe'"),
    "a check that is a number": (of_rule("MQQB-2.2.1-03", test=5), "test cannot be '5'"),
    "a number without end": (
        lambda inside: (inside / "verdicts.jsonl").write_text('{"schema": 2, "seq": 1e400}\n', encoding="utf-8"),
        "the number 1e400 is too large",
    ),
    "lists in lists": (
        lambda inside: (inside / "verdicts.jsonl").write_text("[" * 100_000 + "\n", encoding="utf-8"),
        "verdicts.jsonl:1: maximum recursion depth",
    ),
    "no text": (lambda inside: (inside / "verdicts.jsonl").write_bytes(b"\xff\n"), "verdicts.jsonl:1: 'utf-8'"),
}
"""Changes that a signer may make in a run folder, each with the message of `verify`."""


@pytest.mark.parametrize("name", REFUSED)
def test_false_claim_of_signer_is_refused(folder: Path, signer: Path, name: str):
    alter, said = REFUSED[name]
    path = certify(folder, signer)
    inside = folder.parent / "inside"
    with zipfile.ZipFile(path) as packed:
        packed.extractall(inside)
    old = json.loads((inside / "certificate.json").read_text(encoding="utf-8"))
    alter(inside)
    sign_as_a_certifier(inside, signer, old, path)
    code, output = verify(path, signer)
    assert said in output
    assert code == (3 if said.startswith("this installation cannot judge the run") else 1)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", "NaN is not a number"),
        ("1e400", "1e400 is too large"),
        ("100", "`--not-exercised` here is 5"),
        ("-1", "-1"),
    ],
)
def test_certificate_with_invalid_threshold_is_refused(folder: Path, signer: Path, number: str, said: str):
    def spoil(inside: Path) -> None:
        path = inside / "certificate.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"not_exercised_percent": 5.0', f'"not_exercised_percent": {number}'), "utf-8")

    assert said in forged(folder, signer, spoil)


def test_verification_lists_claims_that_rest_on_the_signer(folder: Path, signer: Path):
    """`verify` lists the features that the SUT file declares as absent, and the rules that no capture judged again."""
    rule = judge_otherwise(folder, "fail")
    change(folder, baseline={"expected": {rule: {"reason": "since 1998", "link": None}}, "stale": []})
    code, said = verify(certify(folder, signer), signer)
    assert code == 0, said
    lines = said.splitlines()
    assert lines[0] == "declared: reach virtual: no system was tested; the reference ran in the tester's process"
    assert "declared: not_applicable: 0 rules" in lines
    assert "declared: terms: 3 checks; 0 % not exercised, at most 5 % allowed" in lines
    assert f"  {rule}: 'since 1998'" in lines
    assert any(line.startswith("stated only by the signer: name, vendor, version") for line in lines)
    assert any("stated only by the signer:" in line and " rules" in line for line in lines)
