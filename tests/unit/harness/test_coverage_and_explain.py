"""`mqconform rules --coverage` and `mqconform explain`: the counted rules, and the printed facts about a rule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from harness_made import frame, recorded

from harness.cli.explain import explain, explain_as_json
from harness.errors import HarnessError, UsageError
from harness.faults.registry import load_faults
from harness.paths import SUITES
from harness.proof.inventory import RuleInventory
from harness.proof.records import FaultRecord
from harness.rules.catalogue import load_catalogue, load_index
from harness.rules.coverage import SectionCoverage, count_coverage_by_section, sum_coverage_of_sections
from harness.rules.proof_record import PROOF_FILE, load_proof, write_proof

RULE = "MQQB-3.1.5.4.1-10"
CHECK = (
    "suites/mqqb/s3_1_5_04_1_request_packet/test_request_packet.py::test_received_window_size_is_that_of_the_request"
)
HOSTILE = "\x1b[31m\n‮open" + "x" * 1_000


@pytest.fixture(scope="module")
def inventory() -> RuleInventory:
    """Return an inventory of the real catalogue with one made-up check, because the suites cannot be collected during a
    run of pytest.
    """
    catalogue = load_catalogue()
    faults: dict[str, list[str]] = {}
    for fault in load_faults().values():
        for rule in fault.breaks:
            faults.setdefault(rule, []).append(fault.name)
    proof = load_proof()
    tests = {RULE: ["suites/mqqb/s3_1_5_04_1_request_packet/test_request_packet.py::test_no_such_check"]}
    records = {
        fault.name: FaultRecord(fault.name, list(fault.breaks), fault.says, str(fault.file), fault.blind)
        for fault in load_faults().values()
    }
    return RuleInventory(catalogue, tests, faults, {}, frozenset(proof.proven), fault_records_by_name=records)


def run_folder(folder: Path, *verdicts: dict[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    run = {"run": "r1", "sut": {"name": "Contoso", "version": "1.0"}}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    lines = "".join(json.dumps(verdict) + "\n" for verdict in verdicts)
    (folder / "verdicts.jsonl").write_text(lines, encoding="utf-8")
    return folder


def verdict(rule: str, **changes: object) -> dict[str, object]:
    known = {
        "schema": 1,
        "rule": rule,
        "verdict": "fail",
        "expected": "1",
        "observed": "2",
        "reason": None,
        "capture": None,
    }
    return known | {"document": "MQQB", "section": "3.1.5", "evidence": []} | changes


def test_coverage_counts_every_rule_and_step_once_and_no_clones():
    catalogue, index, proof = load_catalogue(), load_index(), load_proof()
    counted = count_coverage_by_section(catalogue, index, proof.checked, proof.proven)
    for document in catalogue.list_documents():
        rows = [row for name, row in index.items() if name.startswith(f"{document}-") and row.form in ("rule", "step")]
        once = [row for row in rows if row.kind != "clone"]
        assert sum(one.rows for one in counted if one.document == document) == len(once)
        demands = [row for row in rows if row.kind in ("demand", "garbled")]
        assert sum(one.rows for one in counted if (one.document, one.kind) == (document, "demand")) == len(demands)
    assert sum(one.catalogued for one in counted) == len([row for row in catalogue.values() if row.kind != "clone"])
    assert sum(one.checked for one in counted) == len([name for name in proof.checked if index[name].kind != "clone"])
    assert all(one.proven <= one.checked <= one.catalogued <= one.rows for one in counted)


def test_coverage_of_a_section_counts_its_demands():
    catalogue = load_catalogue()
    counted = count_coverage_by_section(catalogue, load_index(), {RULE}, set())
    place = ("MQQB", "3.1.5.4.1", "demand")
    section = [one for one in counted if (one.document, one.section, one.kind) == place]
    assert [one.demand for one in section] == sorted({one.demand for one in section}, key=["MUST", "SHOULD"].index)
    assert (section[0].checked, section[0].proven) == (1, 0)


def test_coverage_totals_have_a_row_per_document_level_and_class():
    sections = [
        SectionCoverage("MQQB", "1", "a", "MUST", "demand", 5, 4, 3, 2, 1),
        SectionCoverage("MQQB", "2", "b", "MUST", "demand", 5, 4, 3, 2, 1),
        SectionCoverage("MQQB", "2", "b", "MUST", "event", 7, 7, 7, 0, 0),
        SectionCoverage("MQQB", "2", "b", "SHOULD", "demand", 1, 1, 0, 0, 0),
    ]
    must, should, events = sum_coverage_of_sections(sections)
    assert (must.rows, must.catalogued, must.checked, must.proven, must.none) == (10, 8, 6, 4, 2)
    assert (should.demand, should.rows) == ("SHOULD", 1)
    assert (events.kind, events.rows) == ("event", 7)
    assert sections[0].rows == 5, "what was given is left as it was"


def test_proof_record_is_read_as_it_was_written(tmp_path: Path):
    write_proof(["B", "A"], {"A": ["y", "x"]}, {"mqqb/s1": "d"}, tmp_path)
    proof = load_proof(tmp_path)
    assert (proof.checked, proof.proven) == ({"A", "B"}, {"A": ["x", "y"]})
    assert load_proof(tmp_path / "none").checked == frozenset()


def test_broken_proof_record_gives_one_line_error(tmp_path: Path):
    (tmp_path / PROOF_FILE).write_text("{}")
    with pytest.raises(HarnessError, match=r"proof\.json is broken .*; `mqconform prove --record` replaces it"):
        load_proof(tmp_path)


def test_proof_record_covers_all_checked_rules():
    assert load_proof(SUITES).checked == load_proof(SUITES).proven.keys()


def test_explanation_of_a_rule_has_its_row_checks_and_faults(inventory: RuleInventory):
    text = "\n".join(explain(inventory, RULE))
    row = inventory.catalogue[RULE]
    for words in (RULE, "MUST", row.says, row.link, f"binds       {row.role}", "erratum E14", "-> pass", "choice:"):
        assert words in text
    for fault in inventory.faults[RULE]:
        assert f"{fault}: {load_faults()[fault].says}" in text
    assert "proven: a check fails on each fault" in text
    assert "test_no_such_check" in text


def test_explanation_prints_row_checks_and_faults_with_file_and_line(inventory: RuleInventory):
    inventory = replace(inventory, checks_by_rule={RULE: [CHECK]})
    found = explain_as_json(inventory, RULE)
    places = [(found["row"], f'["{RULE}"]'), (found["tests"][0]["place"], f"def {CHECK.partition('::')[2]}(")]
    places += [(fault["place"], f'"{fault["name"]}"') for fault in found["faults"]]
    assert len(places) >= 3
    lines = list(explain(inventory, RULE))
    for place, text in places:
        path, _, line = place.rpartition(":")
        assert text in (SUITES.parent / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert any(place in one for one in lines)


def test_rule_of_model_names_explored_area(inventory: RuleInventory):
    lines = list(explain(inventory, "MQDMPR-3.1.7.1.2-06"))
    assert "random exploration: the model of the area queues cites the rule" in lines
    assert "queues" in explain_as_json(inventory, "MQDMPR-3.1.7.1.2-06")["explored"]


@pytest.mark.parametrize(
    ("rule", "areas"),
    [
        ("MQMQ-2.2.19.1-10", ["connecting", "sessions", "transfer"]),
        ("MQMQ-2.2.20.5-08", ["transfer"]),
        ("MQQB-2.2.7-06", ["connecting", "sessions"]),
    ],
)
def test_rule_in_constants_that_several_models_share_names_each_of_their_areas(
    inventory: RuleInventory, rule: str, areas: list[str]
):
    assert explain_as_json(inventory, rule)["explored"] == areas


def test_explanation_of_a_clone_names_the_rule_that_it_repeats(inventory: RuleInventory):
    row = next(row for row in inventory.catalogue.values() if row.twin)
    assert f"is          repeats another rule: {row.twin}" in explain(inventory, row.id)


def test_explanation_of_a_known_bug_names_source_and_violated_rules(inventory: RuleInventory):
    lines = list(explain(inventory, "regressions-268812-01"))
    assert lines[1] == "  REGRESSIONS 268812 KB268812 Duplicate removal against exactly once"
    assert lines[2].startswith("  https://www.betaarchive.com/")
    assert (
        "implies     a system that fails this rule also violates MQQB-3.1.5.8.1-D01, MQQB-3.1.5.8.6-D02, MQSO-3.2.1-D03"
        in lines
    )


def test_explanation_of_an_unobserved_rule_has_the_reason(inventory: RuleInventory):
    rule = next(row for row in inventory.catalogue.values() if row.observe == "none")
    text = "\n".join(explain(inventory, rule.id))
    assert f"is observed by nobody: {rule.why}" in text
    assert "checks: none" in text


def test_explanation_reports_verdicts_of_each_given_run(inventory: RuleInventory, tmp_path: Path):
    evidence = [{"frame": 3}, {"frame": 4}]  # of a capture that is gone
    shown = verdict(RULE, capture="captures/a.pcapng", evidence=evidence, reason="because")
    folders = [
        run_folder(
            tmp_path / "a",
            shown,
            verdict(RULE, verdict="inconclusive", expected="", observed="", reason="no connection"),
            verdict("MQQB-2.2.1-01", expected="other"),
        ),
        run_folder(tmp_path / "b"),
    ]
    lines = list(explain(inventory, RULE, folders))
    assert "  fail: expected 1; observed 2 (because) [captures/a.pcapng frames 3, 4]" in lines
    assert "  inconclusive: no connection" in lines
    assert lines.count("verdicts of Contoso 1.0 in r1 (partial: the run has not finished): none") == 1
    assert not any("expected other" in line for line in lines)


def test_explanation_shows_packets_of_first_verdict_of_each_kind(inventory: RuleInventory, tmp_path: Path):
    capture, ack = "captures/a.pcapng", frame(3)
    (number,) = recorded(tmp_path / "a" / capture, ack.data)
    evidence = [{"frame": number}]
    shown = [verdict(RULE, capture=capture, evidence=evidence) for _ in range(2)]
    lines = list(explain(inventory, RULE, [run_folder(tmp_path / "a", *shown)]))
    assert lines.count(f"      frame {number}, sut->peer, 0 ms, tcp") == 1
    assert "        AckSequenceNumber = 0x0003  @0x14" in lines


def test_explanation_escapes_control_characters_of_a_system(inventory: RuleInventory, tmp_path: Path):
    folder = run_folder(tmp_path / "a", verdict(RULE, observed=HOSTILE))
    (line,) = [line for line in explain(inventory, RULE, [folder]) if line.startswith("  fail")]
    assert line.isprintable()
    assert len(line) < 300


@pytest.mark.parametrize(
    ("rule", "folder", "complaint"),
    [
        ("MQQB-1-1", None, "unknown rule 'MQQB-1-1'"),
        (RULE, "none", "is not a run folder, because run.json cannot be read: No such file"),
    ],
)
def test_unknown_rule_or_run_folder_of_explain_gives_one_line_error(
    inventory: RuleInventory, tmp_path: Path, rule: str, folder: str | None, complaint: str
):
    with pytest.raises(UsageError, match=complaint) as error:
        list(explain(inventory, rule, [tmp_path / folder] if folder else []))
    assert "\n" not in str(error.value)
