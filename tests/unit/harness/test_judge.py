"""The judge: the verdict that follows from an expectation and an observation."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness_made import (
    MUST,
    ON_THE_WIRE,
    SETTLED,
    SHOULD,
    SHOULD_NOT,
    TEST,
    UNDER,
    catalogue,
    frame,
    judge,
    lines,
    log,
)

from harness.capture.recorder import Frame
from harness.errors import HarnessError
from harness.judging.judge import (
    MAX_EVIDENCE_PACKETS,
    MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD,
    MAX_SHOWN_PASSES_PER_RULE,
    Judge,
)
from harness.judging.passive import MAX_FAILURES_RECORDED, PASSIVE_RULES, PassiveJudge, PassiveRule, PassiveRuleTally
from harness.judging.robustness import SystemCondition, SystemDiagnosis
from harness.judging.verdicts import Verdict, VerdictEntry
from harness.rules.product_notes import ProductNote, ProductNotes
from harness.sut.outcomes import Refused
from harness.wire import user_message


@pytest.mark.parametrize(
    ("name", "observed", "verdict"),
    [
        (MUST, "closed", "pass"),
        (MUST, "open", "fail"),
        (SHOULD, "closed", "pass"),
        (SHOULD, "open", "warn"),
        (SHOULD_NOT, "open", "warn"),
    ],
)
def test_mismatch_fails_must_rule_and_warns_should_rule(tmp_path: Path, name: str, observed: str, verdict: str) -> None:
    kept = judge(tmp_path, name)(name, expected="closed", observed=observed, evidence=frame(7))
    (line,) = lines(tmp_path)
    assert kept is (verdict == "pass")
    assert (line["rule"], line["verdict"], line["expected"], line["observed"]) == (name, verdict, "closed", observed)
    assert (line["test"], line["capture"], line["evidence"][0]["frame"]) == (TEST, "captures/made.pcapng", 7)
    assert (line["document"], line["section"]) == ("MQQB", "2.2.1")


def test_judge_call_for_several_rules_writes_a_verdict_line_each_in_order(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD, SETTLED)
    assert made(SETTLED, MUST, expected="closed", observed="closed")
    assert not made(MUST, SHOULD, expected="closed", observed="open")
    assert [(line["rule"], line["verdict"], line["observed"]) for line in lines(tmp_path)] == [
        (SETTLED, "pass", "closed"),
        (MUST, "pass", "closed"),
        (MUST, "fail", "open"),
        (SHOULD, "warn", "open"),
    ]


def test_judge_all_judges_every_covered_rule(tmp_path: Path) -> None:
    made = judge(tmp_path, SETTLED, MUST)
    assert made.all(expected="closed", observed="closed", evidence=frame(7), errata="E01")
    assert [(line["rule"], line["evidence"][0]["frame"], line["errata"]) for line in lines(tmp_path)] == [
        (SETTLED, 7, ["E01"]),
        (MUST, 7, ["E01"]),
    ]


def test_several_rules_may_be_not_exercised_at_once(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made.mark_not_exercised(SHOULD, MUST, reason="no packet had a trailer")
    assert [(line["rule"], line["verdict"]) for line in lines(tmp_path)] == [
        (SHOULD, "not_exercised"),
        (MUST, "not_exercised"),
    ]


def test_judge_without_rule_is_harness_error(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    with pytest.raises(HarnessError, match="calls judge without a rule"):
        made(expected=1, observed=1)
    with pytest.raises(HarnessError, match="calls judge without a rule"):
        made.mark_not_exercised(reason="nothing came")


def test_judge_distinguishes_true_from_1_and_text_from_number(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    assert not made(MUST, expected="1", observed=1)
    assert made(MUST, expected=0x40, observed=64)
    assert [line["observed"] for line in lines(tmp_path)] == ["1", "64"]


def test_uncovered_rule_gives_harness_error_without_verdict(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    with pytest.raises(HarnessError, match=f"{SHOULD}, which its @covers does not name"):
        made(SHOULD, expected=1, observed=1)
    with pytest.raises(HarnessError, match=r"MQQB-9\.9-09 has no row in the catalogue"):
        made("MQQB-9.9-09", expected=1, observed=1)
    assert lines(tmp_path) == []


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE, Verdict.HARNESS_ERROR])
def test_ending_a_check_early_changes_only_rules_not_judged_yet(tmp_path: Path, verdict: Verdict) -> None:
    made = judge(tmp_path, MUST, SHOULD, SHOULD_NOT)
    made(MUST, expected=1, observed=1)
    made.give_up(verdict, "it closed")
    made.give_up(Verdict.HARNESS_ERROR, "a second reason finds nothing left")
    assert [(line["rule"], line["verdict"], line["reason"]) for line in lines(tmp_path)] == [
        (MUST, "pass", None),
        (SHOULD, verdict, "it closed"),
        (SHOULD_NOT, verdict, "it closed"),
    ]
    assert made.reasons == ["it closed"]


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR])
def test_aborted_check_withdraws_passes_of_unfinished_rules(tmp_path: Path, verdict: Verdict) -> None:
    made = judge(tmp_path, MUST, SHOULD, SETTLED)
    made(MUST, expected=1, observed=1)
    made(SETTLED, expected=1, observed=1)
    made.conclude(SETTLED)
    made.abort_check("it closed", verdict)
    assert [(line["rule"], line["verdict"], line["reason"]) for line in lines(tmp_path)] == [
        (MUST, "pass", None),
        (SETTLED, "pass", None),
        (MUST, verdict, "it closed"),
        (SHOULD, verdict, "it closed"),
    ]
    assert made.judged == {MUST: verdict, SHOULD: verdict, SETTLED: Verdict.PASS}


def test_failed_rule_stays_failed_when_the_check_ends_early(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made(MUST, expected=1, observed=2)
    made(SHOULD, expected=1, observed=2)
    made.abort_check("it closed")
    assert [(line["rule"], line["verdict"]) for line in lines(tmp_path)] == [(MUST, "fail"), (SHOULD, "warn")]


def test_end_as_unobservable_keeps_earlier_passes(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD, SETTLED, SHOULD_NOT)
    for rule, observed in ((MUST, 1), (SHOULD, 2), (SETTLED, 1)):
        made(rule, expected=1, observed=observed)
    made.conclude(SETTLED)
    made.end_unobservable("it shows no Timers")
    assert made.judged == {
        MUST: Verdict.PASS,
        SHOULD: Verdict.WARN,
        SETTLED: Verdict.PASS,
        SHOULD_NOT: Verdict.NOT_OBSERVABLE,
    }
    assert [(line["rule"], line["verdict"], line["reason"]) for line in lines(tmp_path)[3:]] == [
        (MUST, "not_observable", "it shows no Timers"),
        (SHOULD_NOT, "not_observable", "it shows no Timers"),
    ]


def test_conclude_leaves_unjudged_rules_open_and_refuses_uncovered_rules(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made(SHOULD, expected=1, observed=1)
    made.conclude()
    made.abort_check("it closed")
    assert made.judged == {SHOULD: Verdict.PASS, MUST: Verdict.INCONCLUSIVE}
    with pytest.raises(HarnessError, match=f"judges {SETTLED}, which its @covers does not name"):
        made.conclude(SETTLED)


def test_rule_whose_condition_never_occurred_is_not_exercised(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made.mark_not_exercised(MUST, reason="no packet had a trailer", evidence=frame(7))
    made(SHOULD, expected=1, observed=1)
    made.mark_not_exercised(SHOULD, reason="not in the second round")
    made.end()
    assert [(line["rule"], line["verdict"], line["reason"]) for line in lines(tmp_path)] == [
        (MUST, "not_exercised", "no packet had a trailer"),
        (SHOULD, "pass", None),
        (SHOULD, "not_exercised", "not in the second round"),
    ]
    assert made.judged == {MUST: Verdict.NOT_EXERCISED, SHOULD: Verdict.PASS}


def test_unjudged_rule_is_inconclusive_after_a_missed_should(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made(SHOULD, expected=1, observed=1)
    made(SHOULD, expected=1, observed=2)
    made.end()
    assert made.judged == {SHOULD: Verdict.WARN, MUST: Verdict.INCONCLUSIVE}


def test_unjudged_rule_is_inconclusive_after_failure_and_otherwise_harness_error(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD)
    made(MUST, expected=1, observed=1)
    made.end()
    made = judge(tmp_path, MUST, SHOULD_NOT)
    made(MUST, expected=1, observed=2)
    made.end()
    assert [(line["rule"], line["verdict"]) for line in lines(tmp_path)] == [
        (MUST, "pass"),
        (SHOULD, "harness_error"),
        (MUST, "fail"),
        (SHOULD_NOT, "inconclusive"),
    ]


def test_failed_rule_stays_failed_after_a_later_pass(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    made(MUST, expected=1, observed=2)
    made(MUST, expected=1, observed=1)
    assert made.judged == {MUST: Verdict.FAIL}
    assert made.failed == [MUST]
    assert [line["verdict"] for line in lines(tmp_path)] == ["fail", "pass"]


def test_errata_and_notes_of_the_row_and_of_the_check_are_cited_once(tmp_path: Path) -> None:
    made = judge(tmp_path, SETTLED)
    made(SETTLED, expected=1, observed=1, errata="E01", note="seen twice")
    made(SETTLED, expected=1, observed=1, errata="E02")
    assert [(line["errata"], line["notes"]) for line in lines(tmp_path)] == [
        (["E01"], ["<50>", "seen twice"]),
        (["E01", "E02"], ["<50>"]),
    ]


@pytest.mark.parametrize(
    ("profile", "verdict", "notes", "reason"),
    [
        ("windows-xp", "warn", ["MS-MQQP <7>"], "MS-MQQP <7> allows this for windows-xp: to be late"),
        ("windows-7", "fail", [], None),
        ("none", "fail", [], None),
    ],
)
def test_deviation_that_a_product_note_allows_is_a_warning(
    tmp_path: Path, profile: str, verdict: str, notes: list[str], reason: str | None
) -> None:
    made = of_release(tmp_path, profile)
    assert not made(MUST, expected="in time", observed="late")
    (line,) = lines(tmp_path)
    assert (line["verdict"], line["notes"], line["reason"]) == (verdict, notes, reason)
    assert made.failed == ([MUST] if verdict == "fail" else [])


def test_excused_failure_keeps_its_texts_and_pass_cites_no_product_note(tmp_path: Path) -> None:
    made = of_release(tmp_path, "windows-xp")
    made(MUST, expected="late", observed="late")
    made(SHOULD, expected="in time", observed="late", note="seen twice")
    kept, missed = lines(tmp_path)
    assert (kept["notes"], kept["reason"]) == ([], None)
    assert missed["notes"] == ["seen twice"]


def test_product_note_does_not_excuse_a_crash(tmp_path: Path) -> None:
    made = of_release(tmp_path, "windows-xp")
    made.record_breakdown(SystemDiagnosis(SystemCondition.CRASHED, "it is gone"), [MUST])
    assert made.judged[MUST] is Verdict.FAIL


def of_release(folder: Path, profile: str) -> Judge:
    """Return a judge for a system with the given profile; a product note permits Windows XP to break a rule."""
    xp = ("windows-xp",)
    rules = frozenset({MUST})
    note = ProductNote(
        "MQQP", 7, ("3.1",), "deviates", xp, xp, "It may be late.", "to be late", rules, rules, xp, ("same",)
    )
    known = catalogue()
    known.notes = ProductNotes({"MQQP": {7: note}})
    return Judge(known, log(folder), test="suites/x.py::x", covers=(MUST, SHOULD), capture=None, profile=profile)


def test_evidence_of_a_verdict_may_be_empty_and_is_limited(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    made(MUST, expected=1, observed=1)
    made(MUST, expected=1, observed=1, evidence=[None, frame(3), None])
    made(MUST, expected=1, observed=1, evidence=[frame(n) for n in range(1, 20)])
    without, one, many = lines(tmp_path)
    assert (without["capture"], without["evidence"]) == (None, [])
    assert [each["frame"] for each in one["evidence"]] == [3]
    assert [each["frame"] for each in many["evidence"]] == list(range(1, MAX_EVIDENCE_PACKETS + 1))


def test_rpc_call_as_evidence_contributes_its_packets(tmp_path: Path) -> None:
    first, second = (SimpleNamespace(evidence=[frame(n), frame(n + 1)]) for n in (1, 2))
    made = judge(tmp_path, ON_THE_WIRE)
    made(ON_THE_WIRE, expected=1, observed=1, evidence=first)
    made(ON_THE_WIRE, expected=1, observed=1, evidence=[first, None, second, frame(9)])
    alone, several = ([each["frame"] for each in line["evidence"]] for line in lines(tmp_path))
    assert (alone, several) == ([1, 2], [1, 2, 2, 3, 9])


SAYS = "AckSequenceNumber 1"
"""The expected text for the field at bytes 20 and 21 of ``frame()``."""


def named(folder: Path) -> list[tuple[int | None, int | None]]:
    return [(one["first"], one["last"]) for line in lines(folder) for one in line["evidence"]]


def test_verdict_names_deciding_field_of_shown_packet(tmp_path: Path) -> None:
    passes = Counter[str]()
    for test in range(2):  # two checks of one process
        (tmp_path / str(test)).mkdir()
        made = judge(tmp_path / str(test), MUST, SHOULD, passes=passes)
        for _ in range(MAX_SHOWN_PASSES_PER_RULE - 1):
            made(MUST, expected=SAYS, observed=SAYS, evidence=frame())
    assert named(tmp_path / "0") == [(20, 21)] * (MAX_SHOWN_PASSES_PER_RULE - 1)
    assert named(tmp_path / "1") == [(20, 21), *[(None, None)] * (MAX_SHOWN_PASSES_PER_RULE - 2)]
    made(MUST, expected="AckSequenceNumber 2", observed=SAYS, evidence=frame())
    made(SHOULD, expected="AckSequenceNumber 2", observed=SAYS, evidence=frame())
    assert named(tmp_path / "1")[-2:] == [(20, 21)] * 2


@pytest.mark.parametrize(
    "packet",
    [
        frame(from_sut=False),
        frame(data=b"no packet", kind="malformed"),
        frame(data=bytes(user_message(body=bytes(MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD))), kind="UserMessage"),
    ],
    ids=["of the peer", "none", "too long"],
)
def test_verdict_on_undissected_packet_has_no_deciding_field(tmp_path: Path, packet: Frame) -> None:
    judge(tmp_path, MUST)(MUST, expected=1, observed="MessageSize 0, AckSequenceNumber 1", evidence=packet)
    assert named(tmp_path) == [(None, None)]


def test_pass_of_packet_rule_requires_packet_evidence(tmp_path: Path) -> None:
    made = judge(tmp_path, ON_THE_WIRE)
    with pytest.raises(
        HarnessError,
        match=f"gives {ON_THE_WIRE} the verdict pass without a packet; name the packet that is the evidence",
    ):
        made(ON_THE_WIRE, expected=1, observed=1, evidence=[None])
    made(ON_THE_WIRE, expected=1, observed=1, evidence=frame(1))
    made(ON_THE_WIRE, expected=1, observed=2)
    assert [line["verdict"] for line in lines(tmp_path)] == ["pass", "fail"]


# -- malformed packets of the SUT ----------------------------------------------------------------------------------


def test_malformed_packet_makes_other_failures_inconclusive_but_fails_its_own_rule(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SHOULD, SETTLED)
    malformed = frame(3)
    made.packets.malformed[malformed] = "UserHeader takes 48 bytes"
    made(MUST, expected=1, observed=2, evidence=frame(4))
    made(SHOULD, expected=1, observed=1, evidence=frame(4))
    made(SETTLED, expected=1, observed=2, evidence=[frame(4), malformed])
    assert [(line["verdict"], line["reason"]) for line in lines(tmp_path)] == [
        ("inconclusive", "the SUT's packet in frame 3 is malformed: UserHeader takes 48 bytes"),
        ("pass", None),
        ("fail", None),
    ]


def test_unreadable_packet_breaks_only_rule_of_its_field(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST, SETTLED)
    unread = frame(3)
    made.packets.malformed[unread] = "VersionNumber"
    made.packets.unreadable[SETTLED] = "frame 3: VersionNumber is 0x11"
    made(MUST, expected=1, observed=2, evidence=unread)
    made(SETTLED, expected=1, observed=2, evidence=unread)
    assert [line["verdict"] for line in lines(tmp_path)] == ["inconclusive", "fail"]


def test_unjudged_rule_is_inconclusive_after_malformed_packet(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    made.packets.malformed[frame(3)] = "UserHeader takes 48 bytes"
    made.end()
    assert made.judged == {MUST: Verdict.INCONCLUSIVE}


# -- passive rules --------------------------------------------------------------------------------------------------


def tally(failures: int, seen: int) -> PassiveJudge:
    found = PassiveJudge()
    found.tallies[MUST] = made = PassiveRuleTally(seen, first=frame(1), first_observed_text="0x0000")
    for n in range(1, failures + 1):
        made.record_failure(frame(n), f"0x{n:04X}")
    return found


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    made = PassiveRule(MUST, frozenset({"SessionAck"}), "is 0", lambda packet, context: (True, "0"))
    monkeypatch.setitem(PASSIVE_RULES, MUST, made)


@pytest.mark.usefixtures("_registered")
def test_passive_rule_kept_by_every_packet_gives_one_pass(tmp_path: Path) -> None:
    made = judge(tmp_path)
    made.packets = tally(0, 2)
    made.conclude_passive_rules()
    (line,) = lines(tmp_path)
    outcome = (line["verdict"], line["expected"], line["observed"])
    assert outcome == ("pass", "is 0", "0x0000 (in the first of 2 packets)")


@pytest.mark.usefixtures("_registered")
def test_passive_rule_without_relevant_packet_gives_no_pass(tmp_path: Path) -> None:
    found = PassiveJudge()
    found.tallies[MUST] = PassiveRuleTally(idle=2, first=frame(1), first_observed_text="TR is 0")
    made = judge(tmp_path)
    made.packets = found
    made.conclude_passive_rules()
    (line,) = lines(tmp_path)
    assert (line["verdict"], line["observed"]) == ("not_exercised", "TR is 0 (in the first of 2 packets)")


@pytest.mark.usefixtures("_registered")
def test_a_passive_rule_that_the_capture_cannot_show_is_not_exercised_with_the_reason(tmp_path: Path) -> None:
    made = judge(tmp_path)
    made.packets.tallies[MUST] = PassiveRuleTally(missing=Counter({"5 bytes are not in the capture": 2}))
    made.conclude_passive_rules()
    (line,) = lines(tmp_path)
    assert (line["verdict"], line["reason"]) == ("not_exercised", "5 bytes are not in the capture")


@pytest.mark.usefixtures("_registered")
def test_verdict_keeps_few_of_many_failing_packets_with_their_number(tmp_path: Path) -> None:
    made = judge(tmp_path)
    made.packets = tally(9, 11)
    which = "9 of 11 packets break the rule"
    made.conclude_passive_rules()
    assert [(line["verdict"], line["observed"], line["evidence"][0]["frame"]) for line in lines(tmp_path)] == [
        ("fail", f"0x{n:04X} ({which})", n) for n in range(1, MAX_FAILURES_RECORDED + 1)
    ]
    assert made.failed == [MUST]


def test_unfollowed_should_does_not_decide_its_must_rule(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    made(MUST, expected="closed", observed="closed", evidence=frame())
    assert not made(MUST, expected=0, observed=1, advice=True, evidence=frame(7))
    made.end()
    kept, missed = lines(tmp_path)
    assert (kept["verdict"], kept["advice"]) == ("pass", None)
    assert (missed["verdict"], missed["advice"], missed["observed"]) == ("not_exercised", "missed", "1")
    assert missed["evidence"][0]["frame"] == 7
    assert (made.judged, made.failed) == ({MUST: Verdict.PASS}, [])


def test_followed_should_does_not_pass_its_must_rule(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    assert made(MUST, expected=0, observed=0, advice=True, evidence=frame())
    made.end()
    assert [(line["verdict"], line["advice"]) for line in lines(tmp_path)] == [
        ("not_exercised", "followed"),
        ("harness_error", None),
    ]


def test_advice_mark_on_a_should_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=f"of level MUST, but {SHOULD} is a SHOULD; omit this argument"):
        judge(tmp_path, SHOULD)(SHOULD, expected=0, observed=1, advice=True)


@pytest.mark.parametrize(("failures", "advice"), [(0, "followed"), (1, "missed")])
def test_predicate_marked_as_advice_neither_passes_nor_fails_its_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, advice: str
) -> None:
    made = judge(tmp_path)
    never = PassiveRule(MUST, frozenset({"SessionAck"}), "is 0", lambda packet, context: None, advice=True)
    monkeypatch.setitem(PASSIVE_RULES, MUST, never)
    made.packets = tally(failures, 1)
    made.conclude_passive_rules()
    (line,) = lines(tmp_path)
    assert (line["verdict"], line["advice"], line["expected"]) == ("not_exercised", advice, "is 0")
    assert made.judged == {}


# -- rules under a SHOULD -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("should_first", [True, False])
def test_broken_must_is_not_exercised_when_its_should_was_not_followed(tmp_path: Path, should_first: bool) -> None:
    made = judge(tmp_path, UNDER, SHOULD)
    rules = (SHOULD, UNDER) if should_first else (UNDER, SHOULD)
    for rule in rules:
        assert not made(rule, expected="5 s", observed="never")
    made.end()
    assert [(line["rule"], line["verdict"], line["observed"]) for line in lines(tmp_path)] == [
        (SHOULD, "warn", "never"),
        (UNDER, "not_exercised", "never"),
    ]
    assert lines(tmp_path)[-1]["reason"] == f"the rule depends on {SHOULD}, which the SUT did not follow"
    assert made.failed == []


def test_broken_must_fails_when_its_should_was_followed(tmp_path: Path) -> None:
    made = judge(tmp_path, UNDER, SHOULD)
    made(UNDER, expected="cancelled", observed="dropped")
    made(SHOULD, expected="5 s", observed="5 s")
    assert made.failed == [UNDER]
    made.end()
    assert made.judged == {SHOULD: Verdict.PASS, UNDER: Verdict.FAIL}


def test_broken_must_fails_when_its_should_was_not_judged(tmp_path: Path) -> None:
    made = judge(tmp_path, UNDER)
    made(UNDER, expected="cancelled", observed="dropped")
    assert [line["verdict"] for line in lines(tmp_path)] == ["fail"]


def test_broken_must_is_inconclusive_when_check_aborts_before_its_should(tmp_path: Path) -> None:
    made = judge(tmp_path, UNDER, SHOULD)
    made(UNDER, expected="cancelled", observed="dropped")
    made.abort_check("it closed")
    assert made.judged == {UNDER: Verdict.INCONCLUSIVE, SHOULD: Verdict.INCONCLUSIVE}


def test_crash_fails_must_that_depends_on_should(tmp_path: Path) -> None:
    made = judge(tmp_path, UNDER, SHOULD)
    made(SHOULD, expected="5 s", observed="never")
    made.record_breakdown(SystemDiagnosis(SystemCondition.CRASHED, "it is gone"), [UNDER])
    made.end()
    assert made.judged[UNDER] is Verdict.FAIL


def test_predicate_without_catalogue_row_is_harness_error(tmp_path: Path) -> None:
    found = PassiveJudge()
    found.tallies["MQQB-9.9-09"] = PassiveRuleTally(1, first=frame(), first_observed_text="x")
    made = judge(tmp_path)
    made.packets = found
    with pytest.raises(HarnessError, match=r"MQQB-9\.9-09 has a predicate but no row"):
        made.conclude_passive_rules()


def test_copy_of_a_refused_outcome_keeps_its_reason() -> None:
    copied = copy.deepcopy(Refused("refused", "MQ_ERROR_ACCESS_DENIED"))
    assert (copied, copied.why) == ("refused", "MQ_ERROR_ACCESS_DENIED")


class Shows:
    evidence = (frame(3), None, frame(4))


def test_evidence_of_packet_observation_names_its_packets(tmp_path: Path) -> None:
    made = judge(tmp_path, MUST)
    last = frame(9)
    made(MUST, expected=1, observed=1, evidence=[Shows(), [last, None], last])
    (line,) = lines(tmp_path)
    assert [one["frame"] for one in line["evidence"]] == [3, 4, 9]


def test_verdict_records_packets_of_sut_beyond_named_evidence() -> None:
    entries: list[VerdictEntry] = []
    made = Judge(catalogue(), entries, test=TEST, covers=(MUST,), capture="c")
    own = [frame(number, from_sut=False) for number in range(MAX_EVIDENCE_PACKETS)]
    made(MUST, expected="[]", observed="[]", evidence=own)
    made(MUST, expected="[]", observed="[]", evidence=[*own, frame(99)])
    assert [one.heard for one in entries] == [False, True]
