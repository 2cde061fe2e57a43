"""Results for other tools: one test case for each rule, with its final verdict."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import pytest
from harness_made import MUST, SETTLED, SHOULD, frame, judge, log, recorded

from harness.expectations.base import show_value
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.run.causes import add_shared_causes_to_results
from harness.run.findings import describe_finding
from harness.run.named_roots import RootCauses
from harness.run.results import RuleResult, read_rule_results, write_allure, write_junit

tell = partial(describe_finding, catalogue={}, again="--sut x")
ODD = 'a "quoted" \\ back\x1bslash,"rule":"MQQB-9.9-01", Zürich \U0001f600'


def found(folder: Path) -> list[RuleResult]:
    return read_rule_results(folder / "verdicts.jsonl")


def test_worst_verdict_of_a_rule_is_final_for_any_order_of_lines(tmp_path: Path) -> None:
    lines = [
        VerdictEntry(rule, "MQQB", "2.2.1", "MUST", verdict, "a", ODD, test=test)
        for rule, verdict, test in (
            (SHOULD, Verdict.PASS, "z"),
            (MUST, Verdict.PASS, "z"),
            (MUST, Verdict.FAIL, "y"),
            (MUST, Verdict.FAIL, "x"),
            (SHOULD, Verdict.NOT_EXERCISED, "a"),
        )
    ]
    for name, order in (("one", lines), ("two", lines[::-1])):
        (tmp_path / name).mkdir()
        sink = log(tmp_path / name)
        for entry in order:
            sink.append(entry)
        results = found(tmp_path / name)
        assert [(one.rule, one.verdict, one.line["test"]) for one in results] == [
            (MUST, Verdict.FAIL, "x"),
            (SHOULD, Verdict.PASS, "z"),
        ]
        assert sink.rules == {one.rule: one.verdict for one in results}


@pytest.mark.parametrize(
    ("verdict", "element", "status"),
    [
        (Verdict.PASS, None, "passed"),
        (Verdict.WARN, "system-out", "passed"),
        (Verdict.FAIL, "failure", "failed"),
        (Verdict.INCONCLUSIVE, "error", "broken"),
        (Verdict.HARNESS_ERROR, "error", "broken"),
        (Verdict.NOT_EXERCISED, "skipped", "skipped"),
        (Verdict.NOT_APPLICABLE, "skipped", "skipped"),
        (Verdict.NOT_OBSERVABLE, "skipped", "skipped"),
    ],
)
def test_every_verdict_appears_in_junit_and_allure(
    tmp_path: Path, verdict: Verdict, element: str | None, status: str
) -> None:
    log(tmp_path).append(VerdictEntry(MUST, "MQQB", "2.2.1", "MUST", verdict, "a", ODD, reason="because", test=None))
    write_junit(found(tmp_path), tmp_path / "junit.xml", "2026-01-01T00:00:00Z", tell, "only -k x")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert [each.attrib for each in root.iter("property")] == [{"name": "partial", "value": "only -k x"}]
    (case,) = root.iter("testcase")
    assert (case.get("classname"), case.get("name"), [each.tag for each in case]) == (
        "MQQB.2.2.1",
        MUST,
        [element] if element else [],
    )
    if element in ("failure", "error"):
        assert (case[0].text or "").endswith("because:  because\ncheck:    the whole run\nagain: mqconform run --sut x")
    write_allure(found(tmp_path), tmp_path / "allure", tmp_path, tell)
    (result,) = (tmp_path / "allure").glob("*-result.json")
    assert json.loads(result.read_text(encoding="utf-8"))["status"] == status


def test_junit_failure_names_common_cause(tmp_path: Path) -> None:
    sink = log(tmp_path)
    for rule in (MUST, SHOULD):
        sink.append(VerdictEntry(rule, "MQQB", "2.2.1", "MUST", Verdict.FAIL, "['0x8009']", "['0x8000']", test="x::t"))
    sink.append(VerdictEntry(SETTLED, "MQQB", "2.2.1", "MUST", Verdict.FAIL, "closed", "open", test="x::t"))
    by_cause = add_shared_causes_to_results(found(tmp_path), RootCauses())
    write_junit(by_cause, tmp_path / "junit.xml", "2026-01-01T00:00:00Z", tell)
    failures = {
        case.get("name"): case[0] for case in ET.parse(tmp_path / "junit.xml").getroot().iter("testcase") if len(case)
    }
    cause = "2 rules: observed 0x8000 NackBadDestQueue"
    for rule in (MUST, SHOULD):
        assert (failures[rule].get("message") or "").startswith(f"fail: one of {cause}; expected 0x8009 Nack")
        assert f"one of:   {cause}\n" in (failures[rule].text or "")
    assert (failures[SETTLED].get("message") or "").startswith("fail: expected closed; observed open")


def test_verdicts_that_depend_on_a_missing_root_name_the_root_once(tmp_path: Path) -> None:
    said, sink, roots = "queues: there is no plain", log(tmp_path), RootCauses()
    roots.name("queues plain", said, ["x::t"])
    for rule, why in ((MUST, said), (SHOULD, f"{said}; none came")):
        sink.append(
            VerdictEntry(rule, "MQQB", "2.2.1", "MUST", Verdict.INCONCLUSIVE, "a", "b", reason=why, test="x::t")
        )
    says = {one.rule: one.says for one in add_shared_causes_to_results(found(tmp_path), roots)}
    cause = f"inconclusive: one of 2 rules: {said}"
    assert says == {
        MUST: f"{cause}; expected a; observed b (x::t)",
        SHOULD: f"{cause}; none came; expected a; observed b (x::t)",
    }


def test_allure_result_has_the_evidence_of_its_verdict(tmp_path: Path) -> None:
    ack = frame()
    (number,) = recorded(tmp_path / "captures/made.pcapng", ack.data)
    made = judge(tmp_path, SETTLED)
    made(SETTLED, expected="closed", observed=ODD, evidence=frame(number, data=ack.data))
    for _ in range(2):  # a run that is resumed writes them again
        write_allure(found(tmp_path), tmp_path / "allure", tmp_path, tell, "only -k x\n")
    environment = (tmp_path / "allure" / "environment.properties").read_text(encoding="utf-8")
    assert environment == "partial = only -k x\n"
    (path,) = (tmp_path / "allure").glob("*-result.json")
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["name"], result["links"][0]["url"]) == (SETTLED, "../captures/made.pcapng")
    attachment, capture = result["attachments"]
    copied = tmp_path / "allure" / capture["source"]
    assert copied.read_bytes() == (tmp_path / "captures/made.pcapng").read_bytes()
    labels = {label["name"]: label["value"] for label in result["labels"]}
    assert (labels["epic"], labels["story"]) == ("MQQB", SETTLED)
    assert "again: mqconform run -k test_made --sut x" in result["statusDetails"]["trace"]
    text = (tmp_path / "allure" / attachment["source"]).read_text(encoding="utf-8")
    assert text.startswith(f"expected: closed\nobserved: {show_value(ODD)}\n\nframe {number}, sut->peer, 0 ms, tcp\n")
    assert ack.dissection_text in text
    assert ack.data[:16].hex(" ") in text
