"""The verdict file is written and read line by line."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness_made import MUST, SETTLED, STARTED, TEST, lines, log, written

from harness.errors import UsageError
from harness.judging.verdicts import (
    VERDICTS_WORST_FIRST,
    EarlierVerdicts,
    Evidence,
    Verdict,
    VerdictEntry,
    get_worst_verdict,
    read_standing_verdicts,
    read_stored_verdict_lines,
    read_verdicts,
)
from harness.run_folder import build_capture_name, get_capture_path
from reports.vocabulary import VERDICT_NAMES


def entry(verdict: Verdict = Verdict.PASS, **changes: str) -> VerdictEntry:
    values = {"document": "MQQB", "section": "2.2.1", "level": "MUST", "expected": "a", "observed": "b"}
    return VerdictEntry(**({"rule": MUST} | values | changes), verdict=verdict)  # type: ignore[arg-type]


def test_the_set_of_verdicts_is_closed() -> None:
    words = "pass fail warn inconclusive not_exercised not_applicable not_observable harness_error"
    assert [str(verdict) for verdict in Verdict] == words.split()


def test_worst_verdict_is_the_same_in_harness_and_reports() -> None:
    assert tuple(VERDICTS_WORST_FIRST) == VERDICT_NAMES
    assert set(VERDICTS_WORST_FIRST) == set(Verdict)
    assert get_worst_verdict([Verdict.NOT_EXERCISED, Verdict.PASS]) is Verdict.PASS
    assert get_worst_verdict([Verdict.PASS, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE


def test_each_verdict_line_is_on_disk_at_once(tmp_path: Path) -> None:
    made = log(tmp_path)
    for number, verdict in enumerate(Verdict, 1):
        made.append(entry(verdict, observed="Zürich\n\"'"))
        last = lines(tmp_path)[-1]
        assert (last["seq"], last["verdict"], last["observed"]) == (number, verdict, "Zürich\n\"'")
    assert made.counts == dict.fromkeys(Verdict, 1)


def test_verdict_log_lists_each_rule_once_when_it_turns_bad(tmp_path: Path) -> None:
    made = log(tmp_path)
    for verdict in (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.FAIL, Verdict.FAIL):
        made.append(entry(verdict))
    made.append(entry(Verdict.WARN, rule=SETTLED))
    assert made.turned_bad == [(MUST, Verdict.INCONCLUSIVE), (MUST, Verdict.FAIL)]


def test_the_standing_verdicts_are_the_worst_of_all_verdicts(tmp_path: Path) -> None:
    made = log(tmp_path)
    for rule in (SETTLED, MUST):
        for verdict, test in ((Verdict.PASS, "a"), (Verdict.FAIL, "c"), (Verdict.FAIL, "b"), (Verdict.WARN, "a")):
            made.append(entry(verdict, rule=rule, test=test))
    path = tmp_path / "verdicts.jsonl"
    found = read_standing_verdicts(path)
    assert [(line["rule"], line["seq"]) for line in found] == sorted([(MUST, 7), (SETTLED, 3)])
    assert found == [
        line for line in sorted(read_verdicts(path), key=lambda line: line["rule"]) if line["seq"] in (3, 7)
    ]


def test_a_line_without_a_verdict_is_named_when_the_standing_verdicts_are_read(tmp_path: Path) -> None:
    log(tmp_path).append(entry())
    path = tmp_path / "verdicts.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write('{"schema":2,"seq":2,"rule":"MQQB-2.1.1-01"}\n')
    with pytest.raises(UsageError, match=r"verdicts\.jsonl:2: this line is not a verdict"):
        read_standing_verdicts(path)


WHOLE = VerdictEntry(
    SETTLED,
    "MQQB",
    "2.2.1",
    "MUST",
    Verdict.FAIL,
    "closed",
    "open",
    reason="because",
    test=TEST,
    capture=f"captures/{build_capture_name(TEST)}-again-1.pcapng",
    evidence=(Evidence(7), Evidence(9, 20, 23)),
    errata=("E01",),
    notes=("<50>",),
)
FIRST_CAPTURE = replace(WHOLE, capture=get_capture_path(TEST))
LINES = [
    (
        WHOLE,
        {
            "schema": 2,
            "seq": 1,
            "ms": 0,
            "rule": SETTLED,
            "verdict": "fail",
            "expected": "closed",
            "observed": "open",
            "reason": "because",
            "test": TEST,
            "capture": WHOLE.capture,
            "evidence": [[7], [9, 20, 23]],
            "errata": ["E01"],
            "notes": ["<50>"],
        },
        {},
    ),
    (FIRST_CAPTURE, {}, {"capture"}),
    (replace(WHOLE, observed="closed"), {}, {"observed"}),
    (replace(WHOLE, observed=""), {"observed": ""}, {}),
    (replace(WHOLE, expected=""), {}, {"expected"}),
    (replace(WHOLE, expected="", observed=""), {}, {"expected", "observed"}),
    (replace(WHOLE, reason=None, errata=(), notes=()), {}, {"reason", "errata", "notes"}),
    (replace(WHOLE, evidence=(), capture=None), {}, {"evidence", "capture"}),
    (replace(WHOLE, test=None), {}, {"test"}),
    (replace(WHOLE, test=None, evidence=(), capture=None), {}, {"test", "evidence", "capture"}),
]


@pytest.mark.parametrize(("given", "changed", "left_out"), LINES)
def test_verdict_line_contains_own_fields_and_is_read_completely(
    tmp_path: Path, given: VerdictEntry, changed: dict[str, Any], left_out: set[str]
) -> None:
    log(tmp_path).append(given)
    (line,) = written(tmp_path)
    ms = line.pop("ms")
    wanted = {key: value for key, value in (LINES[0][1] | changed).items() if key not in {*left_out, "ms"}}
    assert list(line.items()) == list(wanted.items())
    (found,) = read_verdicts(tmp_path / "verdicts.jsonl")
    assert VerdictEntry(
        **{key: found[key] for key in WHOLE.__slots__ if key not in ("evidence", "errata", "notes", "heard")}
    ) == (replace(given, evidence=(), errata=(), notes=()))
    assert tuple(Evidence(**one) for one in found["evidence"]) == given.evidence
    assert (found["errata"], found["notes"]) == ([*given.errata], [*given.notes])
    assert (found["run"], found["sut"], found["sut_version"], found["reach"]) == ("run-1", "Contoso", "1.0", "virtual")
    began = datetime.fromisoformat(found["time"]) - datetime.fromisoformat(STARTED)
    assert began == timedelta(milliseconds=ms)


def test_verdict_lines_of_schema_1_are_read_like_current_lines(tmp_path: Path) -> None:
    quoted = {"frame": 7, "time_ms": 3, "direction": "sut->peer", "transport": "tcp", "hex": "10", "dissection": "x"}
    old = {"schema": 1, "seq": 1, "rule": MUST, "expected": "a", "observed": "a", "evidence": [quoted], "new": 1}
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(old) + "\n")
    assert list(read_verdicts(tmp_path / "verdicts.jsonl")) == [
        old | {"evidence": [{"first": None, "last": None} | quoted]}
    ]


def test_unknown_keys_of_a_verdict_line_are_kept(tmp_path: Path) -> None:
    log(tmp_path).append(entry())
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(written(tmp_path)[0] | {"new": [1]}) + "\n")
    assert next(read_verdicts(path))["new"] == [1]


def test_rule_missing_in_catalogue_is_read_by_its_id(tmp_path: Path) -> None:
    log(tmp_path).append(entry(rule="MQQB-3.1.5-99"))
    found = next(read_verdicts(tmp_path / "verdicts.jsonl"))
    assert (found["document"], found["section"], found["level"]) == ("MQQB", "3.1.5", "")


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("run.json", None, "run.json, which the verdicts need, cannot be read: No such file"),
        ("rules.json", None, "rules.json, which the verdicts need, cannot be read: No such file"),
        ("run.json", "{", "run.json, which the verdicts need, is truncated"),
        ("run.json", '{"sut": 1, "started": "x"}', "run.json, which the verdicts need, is truncated"),
        ("rules.json", "[]", "rules.json, which the verdicts need, is truncated"),
        (
            "verdicts.jsonl",
            '{"schema": 3}\n',
            "verdicts.jsonl:1: the verdict has schema 3; this harness reads the schemas",
        ),
        ("verdicts.jsonl", "{}\n", "verdicts.jsonl contains no verdicts of this harness"),
        (
            "verdicts.jsonl",
            '{"schema": 2}\n',
            "verdicts.jsonl:1: this line is not a verdict of this harness; remove this line",
        ),
        (
            "verdicts.jsonl",
            '{"schema": 2, "rule": "A-1-1", "ms": "x"}\n',
            "verdicts.jsonl:1: this line is not a verdict of",
        ),
        (
            "verdicts.jsonl",
            '{"schema": 2, "rule": "A-1-1", "ms": 1, "evidence": 1}\n',
            "verdicts.jsonl:1: this line is not a verdict",
        ),
    ],
)
def test_missing_or_broken_verdict_file_gives_one_line_error(
    tmp_path: Path, file: str, content: str | None, says: str
) -> None:
    log(tmp_path).append(entry())
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(content)
    with pytest.raises(UsageError) as caught:
        list(read_verdicts(tmp_path / "verdicts.jsonl"))
    assert str(caught.value).startswith(f"{tmp_path}/{says}")
    assert "\n" not in str(caught.value)


def test_verdict_numbers_continue_after_recorded_lines(tmp_path: Path) -> None:
    recorded = EarlierVerdicts(last_sequence_number=41)
    recorded.line_count_by_verdict[Verdict.FAIL] = 2
    made = log(tmp_path, recorded)
    made.append(entry())
    assert lines(tmp_path)[0]["seq"] == 42
    assert made.counts == {Verdict.FAIL: 2, Verdict.PASS: 1}


def test_repeated_test_writes_only_new_verdicts(tmp_path: Path) -> None:
    recorded = EarlierVerdicts(last_sequence_number=2, interrupted_check="t")
    recorded.line_count_of_interrupted_check[("t", MUST, "pass")] = 2
    made = log(tmp_path, recorded)
    for _ in range(3):
        made.append(entry(test="t"))
    made.append(entry(Verdict.FAIL, test="t"))
    made.append(entry(test="another"))
    assert [(line["seq"], line["test"], line["verdict"]) for line in lines(tmp_path)] == [
        (3, "t", "pass"),
        (4, "t", "fail"),
        (5, "another", "pass"),
    ]


def whole(tmp_path: Path) -> bytes:
    made = log(tmp_path)
    made.append(entry(observed="ü"))
    made.append(entry(observed="ü"))
    return (tmp_path / "verdicts.jsonl").read_bytes()


def test_truncated_verdict_file_gives_one_line_error_that_names_the_place(tmp_path: Path) -> None:
    data = whole(tmp_path)
    second = data.index(b"\n") + 1
    path = tmp_path / "cut.jsonl"
    for end in range(second + 1, len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(UsageError) as caught:
            list(read_verdicts(path))
        assert str(caught.value).startswith(f"{path}:2: the verdict is truncated or broken; ")
        assert "\n" not in str(caught.value)
    path.write_bytes(data)
    assert [line["seq"] for line in read_verdicts(path)] == [1, 2]


@pytest.mark.parametrize("line", [b"[]", b"12", b"null", b"\xff", b"", b"{]"])
def test_verdict_line_that_is_not_a_json_object_is_broken(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(b'{"schema":2}\n' + line + b"\n")
    with pytest.raises(UsageError, match=":2: the verdict is truncated or broken"):
        list(read_stored_verdict_lines(path))
