"""The verdict file: appended line by line, read back line by line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from harness_made import INFO, MUST, lines, log

from harness.errors import UsageError
from harness.judging.verdicts import PASSES_SHOWN, WORST_FIRST, Entry, Evidence, Recorded, Verdict, read_verdicts, worst
from reports.vocabulary import VERDICTS


def entry(verdict: Verdict = Verdict.PASS, **changes: str) -> Entry:
    values = {"document": "MQQB", "section": "2.2.1", "level": "MUST", "expected": "a", "observed": "b"}
    return Entry(**({"rule": MUST} | values | changes), verdict=verdict)  # type: ignore[arg-type]


def test_the_set_of_verdicts_is_closed() -> None:
    words = "pass fail warn inconclusive not_exercised not_applicable not_observable harness_error"
    assert [str(verdict) for verdict in Verdict] == words.split()


def test_the_worst_verdict_stands_and_reports_agree() -> None:
    assert tuple(WORST_FIRST) == VERDICTS
    assert set(WORST_FIRST) == set(Verdict)
    assert worst([Verdict.NOT_EXERCISED, Verdict.PASS]) is Verdict.PASS
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE


def test_each_verdict_is_on_disk_at_once_and_carries_the_run(tmp_path: Path) -> None:
    made = log(tmp_path)
    for number, verdict in enumerate(Verdict, 1):
        made.append(entry(verdict, observed="Zürich\n\"'"))
        last = lines(tmp_path)[-1]
        assert (last["seq"], last["verdict"], last["observed"]) == (number, verdict, "Zürich\n\"'")
        assert (last["schema"], last["run"], last["sut"], last["sut_version"], last["reach"]) == (
            1,
            INFO.run,
            INFO.sut,
            INFO.sut_version,
            INFO.reach,
        )
    assert made.counts == dict.fromkeys(Verdict, 1)


def test_of_a_rule_that_passes_again_and_again_the_first_verdicts_quote_their_packets(tmp_path: Path) -> None:
    made = log(tmp_path)
    quoting = Evidence(frame=7, time_ms=1, direction="from_sut", transport="tcp", hex="10c0", dissection="BaseHeader")
    for rule in (MUST, "MQQB-2.2.1-02"):
        for verdict in (*(Verdict.PASS for _ in range(PASSES_SHOWN + 2)), Verdict.FAIL):
            made.append(replace(entry(verdict, rule=rule), evidence=(quoting,)))
    found = [line["evidence"][0] for line in lines(tmp_path)]
    assert [one["frame"] for one in found] == [7] * (2 * PASSES_SHOWN + 6)
    once = [*[True] * PASSES_SHOWN, False, False, True]
    assert [bool(one["hex"] and one["dissection"]) for one in found] == [*once, *once]


def test_what_was_recorded_before_is_counted_on(tmp_path: Path) -> None:
    recorded = Recorded(last=41)
    recorded.counts[Verdict.FAIL] = 2
    made = log(tmp_path, recorded)
    made.append(entry())
    assert lines(tmp_path)[0]["seq"] == 42
    assert made.counts == {Verdict.FAIL: 2, Verdict.PASS: 1}


def test_a_test_that_is_run_again_writes_only_what_is_new(tmp_path: Path) -> None:
    recorded = Recorded(last=2, cut="t")
    recorded.unfinished[("t", MUST, "pass")] = 2
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


def test_a_file_cut_anywhere_is_one_line_that_names_the_place(tmp_path: Path) -> None:
    data = whole(tmp_path)
    second = data.index(b"\n") + 1
    path = tmp_path / "cut.jsonl"
    for end in range(second + 1, len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(UsageError) as caught:
            list(read_verdicts(path))
        assert str(caught.value).startswith(f"{path}:2: the verdict is cut or broken; ")
        assert "\n" not in str(caught.value)
    path.write_bytes(data)
    assert [line["seq"] for line in read_verdicts(path)] == [1, 2]


@pytest.mark.parametrize("line", [b"[]", b"12", b"null", b"\xff", b"", b"{]"])
def test_a_line_that_is_no_object_is_broken(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(UsageError, match=":1: the verdict is cut or broken"):
        list(read_verdicts(path))
