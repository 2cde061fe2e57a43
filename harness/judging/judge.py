"""Turn the observations of a check into verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from harness.capture.deciding import DissectionLines, VerdictTexts, find_deciding_fields
from harness.capture.recorder import Frame
from harness.errors import HarnessError
from harness.expectations import Expectation, expectation
from harness.judging.compared import load_compared_rules
from harness.judging.passive import PASSIVE_RULES, PassiveJudge, PassiveRuleTally
from harness.judging.refused import find_refusal_reasons
from harness.judging.robustness import RULE_BY_CONDITION, SystemDiagnosis
from harness.judging.verdicts import Advice, Evidence, Verdict, VerdictEntry, VerdictReceiver, get_worse_verdict
from harness.rules.catalogue import Catalogue, Rule
from reference_qm.releases.names import NO_RELEASE

MAX_EVIDENCE_PACKETS = 6
EMPTY_DISSECTION_LINES = DissectionLines()
MAX_SHOWN_PASSES_PER_RULE = 5
"""The number of passes of each rule for which the judge searches for the deciding field."""
MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD = 64 * 1024
"""The maximum size (int bytes) of a packet in which the judge searches for the deciding field. In longer packets,
the search would take too long.
"""
OBSERVE_VALUES_FOR_PACKETS = ("passive", "wire", "rpc")
"""The values of ``observe`` for rules that are observed in packets. A pass of such a rule must name a packet."""

REASON_BY_ADVICE_OUTCOME = {
    Advice.FOLLOWED: "this check judged only the SHOULD of the rule's sentence",
    Advice.MISSED: "the SUT did not follow the SHOULD of the rule's sentence; the MUST is judged elsewhere",
}
"""The reason, by value of `Advice`, in those lines of the verdict file that are about only the SHOULD in the sentence
of a MUST.
"""

_VIOLATION_VERDICTS = (Verdict.FAIL, Verdict.WARN)


@runtime_checkable
class ObjectWithEvidencePackets(Protocol):
    """The interface of an object that has packets as evidence, such as a call or an exchange."""

    @property
    def evidence(self) -> Iterable[Frame | None]:
        """The packets that prove a verdict about this object."""


EvidenceSource = Frame | ObjectWithEvidencePackets | Iterable[Any] | None
"""The types of evidence that a check can pass: a packet, an object with packets, or several of these."""


class Judge:
    """The judge of one check, which the check calls as a function: ``judge("ID", "ID2", expected=..., observed=...,
    evidence=...)``.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        log: VerdictReceiver,
        *,
        test: str,
        covers: tuple[str, ...],
        capture: str | None,
        passes: Counter[str] | None = None,
        profile: str = NO_RELEASE,
    ) -> None:
        """``passes``: the number of passes of each rule in this process, which the judge increments. ``profile``:
        the Windows release of the SUT. A rule does not fail if a product note excuses the rule for that release.
        """
        self.catalogue = catalogue
        self.log = log
        self.test = test
        self.covers = covers
        self.capture = capture
        self.profile = profile
        self._note_by_excused_rule = catalogue.notes.list_excused_rules(profile)
        """The rules that the SUT may break, each with the product note that permits the violation."""
        self._passes = Counter[str]() if passes is None else passes
        self.judged: dict[str, Verdict] = {}
        """The worst verdict of each rule so far."""
        self._finished: set[str] = set()
        self._held_failures: list[VerdictEntry] = []
        """The failures of rules that depend on a SHOULD. They are not written until the verdict of this check for that
        SHOULD is known.
        """
        self.packets = PassiveJudge()
        """The judge of passive rules, which receives every packet from the SUT."""
        self.reasons: list[str] = []
        """The reasons why the check could not judge some rules."""

    def __call__(
        self,
        *rules: str,
        expected: Any,
        observed: Any,
        evidence: EvidenceSource = None,
        errata: str | None = None,
        case: str | None = None,
        note: str | None = None,
        advice: bool = False,
    ) -> bool:
        """Judge the given rules by one observation, which shows whether the system keeps them; return whether the
        observation is as expected. ``expected``: see harness/expectations/README.md.

        ``case``: the name of the observation, because a check may judge a rule several times. ``errata``: the entry
        of suites/errata.toml that the expectation follows. ``advice``: whether the observation is about the SHOULD
        in the sentence of a MUST, and therefore does not decide the MUST.
        """
        outcome = _compare_values(expectation(expected), observed, case)
        frames = _list_evidence_frames(evidence)
        for rule in self._require_rules(rules):
            self._write_outcome(rule, outcome, frames, errata=errata, note=note, advice=advice)
        return outcome.is_expectation_met

    def all(self, *, expected: Any, observed: Any, **what: Any) -> bool:
        """Judge every rule that the check covers. The arguments and the result are the same as those of
        ``Judge.__call__``.
        """
        return self(*self.covers, expected=expected, observed=observed, **what)

    def _write_outcome(
        self,
        rule: str,
        outcome: _ResultOfComparison,
        frames: list[Frame],
        *,
        errata: str | None,
        note: str | None,
        advice: bool,
    ) -> None:
        row, kept = self._get_covered_rule(rule), outcome.is_expectation_met
        if advice:
            self._append_entry(
                self._build_should_entry(row, outcome.expected, outcome.observed, frames, kept=kept, errata=errata)
            )
            return
        if kept and not frames and row.observe in OBSERVE_VALUES_FOR_PACKETS:
            raise HarnessError(
                f"{self.test} gives {rule} the verdict pass without a packet; name the packet that is the evidence"
            )
        verdict = Verdict.PASS if kept else self._get_verdict_of_violation(row)
        reason = None if kept else self._find_blamed_packet(rule, frames)
        if reason is not None:
            verdict = Verdict.INCONCLUSIVE
            self.reasons.append(reason)
        elif not kept:
            reason = outcome.refusal
        entry = self._build_entry(
            row, verdict, outcome.expected, outcome.observed, frames, reason=reason, errata=errata, note=note
        )
        if verdict is Verdict.FAIL and not set(row.under).isdisjoint(self.covers):
            self._held_failures.append(entry)
        else:
            self._append_entry(entry)

    def _require_rules(self, rules: tuple[str, ...]) -> tuple[str, ...]:
        """Return the rules that a call names; raise HarnessError if it names none."""
        if not rules:
            raise HarnessError(f"{self.test} calls judge without a rule; name one, or use judge.all")
        return rules

    @property
    def first_malformed_packet_error(self) -> str | None:
        """A description of the error in the first malformed packet from the SUT, or None if the SUT sent no malformed
        packet.
        """
        for why in self.packets.unreadable.values():
            return why
        for frame, why in self.packets.malformed.items():
            return f"the SUT's packet in frame {frame.number} is malformed: {why}"
        return None

    def _find_blamed_packet(self, rule: str, frames: list[Frame]) -> str | None:
        """Return a description of the malformed packet that explains why a rule was broken, or None if no malformed
        packet explains the violation.

        A malformed packet breaks the rule about its wrong field. A malformed packet that can be read breaks another
        rule only if its bytes are the evidence for that rule; a malformed packet that cannot be read breaks no
        other rule.
        """
        if self.packets.unreadable:
            return None if rule in self.packets.unreadable else self.first_malformed_packet_error
        return self.first_malformed_packet_error if self.packets.malformed.keys().isdisjoint(frames) else None

    def conclude(self, *rules: str) -> None:
        """Make the verdicts for the given rules final; without arguments, make all verdicts final.

        If a check breaks off, only its final verdicts remain. When a check ends normally, all its verdicts become
        final.
        """
        for rule in rules:
            self._get_covered_rule(rule)
        self._finished.update(rules or self.covers)

    def mark_not_exercised(self, *rules: str, reason: str, evidence: EvidenceSource = None) -> None:
        """Record that the situation to which the given rules apply did not occur, so that the SUT neither kept nor
        broke these rules.
        """
        for rule in self._require_rules(rules):
            self._write_verdict(
                self._get_covered_rule(rule),
                Verdict.NOT_EXERCISED,
                "",
                "",
                _list_evidence_frames(evidence),
                reason=reason,
            )

    def give_up(self, verdict: Verdict, reason: str) -> None:
        """Record the given verdict and reason for every rule that the check covers and that has no verdict yet."""
        self._write_held_failures()
        self._write_unjudged_rules([rule for rule in self.covers if rule not in self.judged], verdict, reason)

    def abort_check(self, reason: str, verdict: Verdict = Verdict.INCONCLUSIVE) -> None:
        """End the check after a step has failed. Rules without a final verdict (``conclude``) become inconclusive,
        even if they have passed so far.

        A check may judge a rule several times, so a pass before the failed step is not final. A rule that was
        broken stays broken.
        """
        self._write_held_failures(reason)
        stand = {rule for rule in self.judged if rule in self._finished or self.judged[rule] in _VIOLATION_VERDICTS}
        self._write_unjudged_rules([rule for rule in self.covers if rule not in stand], verdict, reason)

    def end_unsupported_check(self, reason: str) -> None:
        """End the check at a step that needs a feature missing in the SUT's release. Rules that a product
        note excuses get a warning.
        """
        self._write_held_failures(reason)
        for rule in self.covers:
            if rule in self._note_by_excused_rule and rule not in self.judged:
                self._write_verdict(self._get_covered_rule(rule), Verdict.WARN, "", reason, [], reason=reason)
        self.give_up(Verdict.NOT_OBSERVABLE, reason)

    def end_unobservable(self, reason: str) -> None:
        """End the check because the SUT does not show a value. Rules without a verdict become not observable.

        A final pass (``conclude``) remains. Every other pass becomes not observable, with the reason.
        """
        self._write_held_failures(reason)
        self._write_unjudged_rules(
            [
                rule
                for rule in self.covers
                if rule not in self.judged or (self.judged[rule] is Verdict.PASS and rule not in self._finished)
            ],
            Verdict.NOT_OBSERVABLE,
            reason,
        )

    def end(self) -> None:
        """Write a verdict for each rule that the check covers but did not judge. The verdict is inconclusive if
        another rule failed or if the SUT sent a malformed packet, otherwise a harness error.
        """
        self._write_held_failures()
        missed = [rule for rule in self.covers if self.judged.get(rule) in _VIOLATION_VERDICTS]
        if missed:
            self.give_up(
                Verdict.INCONCLUSIVE,
                f"this rule was not judged, because the check ended after {', '.join(missed)} failed",
            )
        elif self.first_malformed_packet_error is not None:
            self.give_up(Verdict.INCONCLUSIVE, self.first_malformed_packet_error)
        else:
            self.give_up(Verdict.HARNESS_ERROR, "the check ended without judging this rule")

    def begin_row(self, log: VerdictReceiver) -> Judge:
        """Return a judge for the next row (set of parameters) of the same varied check. The returned judge writes to a
        separate log.
        """
        judge = Judge(
            self.catalogue,
            log,
            test=self.test,
            covers=self.covers,
            capture=self.capture,
            passes=self._passes,
            profile=self.profile,
        )
        judge.packets = self.packets.begin_row()
        return judge

    def end_varied_rows(self, entry: VerdictEntry) -> None:
        """Record the combined verdict for a rule after a varied check has run with all of its sets of parameters
        (rows).
        """
        self._append_entry(entry)

    def _write_unjudged_rules(self, rules: list[str], verdict: Verdict, reason: str) -> None:
        if rules:
            self.reasons.append(reason)
        for rule in rules:
            self._write_verdict(self._get_covered_rule(rule), verdict, "", "", [], reason=reason)

    def record_breakdown(self, diagnosis: SystemDiagnosis, rules: Iterable[str]) -> None:
        """Record that the system crashed, hung, restarted or sent packets endlessly during this check. This is a
        separate finding, and the given rules fail.

        All other passes of the check become inconclusive, because a closed connection does not prove a refusal if
        the system has crashed.
        """
        self._write_held_failures(f"{diagnosis.condition}: {diagnosis.says}")
        said = f"{diagnosis.condition}: {diagnosis.says}"
        row = RULE_BY_CONDITION[diagnosis.condition]
        frames = list(diagnosis.evidence)
        self._write_verdict(row, Verdict.FAIL, row.says, said, frames)
        for rule in rules:
            self._write_verdict(self._get_covered_rule(rule), Verdict.FAIL, "the system survives", said, frames)
        self._write_unjudged_rules(
            [rule for rule in self.covers if self.judged.get(rule) not in _VIOLATION_VERDICTS],
            Verdict.INCONCLUSIVE,
            said,
        )

    def conclude_passive_rules(self) -> None:
        """Write the verdicts of the passive predicates in this check. A rule gets either one pass or its failures."""
        found = [
            entry
            for rule, tally in sorted(self.packets.tallies.items())
            for entry in self._judge_passive_rule_tally(rule, tally)
        ]
        self.log.extend(found)
        for entry in found:
            self._store_worst_verdict(entry)

    def _judge_passive_rule_tally(self, rule: str, tally: PassiveRuleTally) -> Iterator[VerdictEntry]:
        """Yield the verdicts for a passive rule that follow from the findings about its packets."""
        if rule not in self.catalogue:
            raise HarnessError(f"{rule} has a predicate but no row in the rules.toml of its section; add the row")
        row, passive = self.catalogue[rule], PASSIVE_RULES.get(rule) or load_compared_rules()[rule]
        if not tally.failures:
            packets = tally.judged_packet_count or tally.idle
            seen = (
                f"{tally.first_observed_text} (in the first of {packets} packets)"
                if packets > 1
                else tally.first_observed_text
            )
            frames = [tally.first] if tally.first else []
            if passive.advice and packets:
                yield self._build_should_entry(row, passive.expected, seen, frames, kept=True)
            elif tally.judged_packet_count:
                yield self._build_entry(row, Verdict.PASS, passive.expected, seen, frames)
            else:
                reason = next(iter(tally.missing or ()), "") or "no packet met the condition of the rule"
                yield self._build_entry(row, Verdict.NOT_EXERCISED, passive.expected, seen, frames, reason=reason)
        for frame, observed in tally.failures:
            breaks = "breaks" if tally.failed == 1 else "break"
            which = f"{tally.failed} of {tally.judged_packet_count} packets {breaks} the rule"
            seen = f"{observed} ({which})" if tally.judged_packet_count > 1 else observed
            if passive.advice:
                yield self._build_should_entry(row, passive.expected, seen, [frame], kept=False)
            else:
                yield self._build_entry(row, self._get_verdict_of_violation(row), passive.expected, seen, [frame])

    @property
    def failed(self) -> list[str]:
        """The rules that have failed in this check."""
        failed = {rule for rule, verdict in self.judged.items() if verdict is Verdict.FAIL}
        return sorted(failed | {entry.rule for entry in self._held_failures})

    def _get_covered_rule(self, rule: str) -> Rule:
        if rule not in self.catalogue:
            raise HarnessError(f"{rule} has no row in the catalogue; add a row to the rules.toml of its section")
        if rule not in self.covers:
            raise HarnessError(f"{self.test} judges {rule}, which its @covers does not name")
        return self.catalogue[rule]

    def _get_verdict_of_violation(self, row: Rule) -> Verdict:
        return Verdict.WARN if row.is_advice or row.id in self._note_by_excused_rule else Verdict.FAIL

    def _build_should_entry(
        self, row: Rule, expected: str, observed: str, frames: list[Frame], *, kept: bool, errata: str | None = None
    ) -> VerdictEntry:
        """Return a verdict for the recommendation (SHOULD) in the sentence of a rule that also contains a MUST. The
        verdict for the MUST stays unchanged.
        """
        if row.is_advice:
            raise HarnessError(
                f"{self.test}: advice=True is only for rules of level MUST, but {row.id} is a {row.level}; omit "
                "this argument"
            )
        advice = Advice.FOLLOWED if kept else Advice.MISSED
        reason = REASON_BY_ADVICE_OUTCOME[advice]
        return self._build_entry(
            row, Verdict.NOT_EXERCISED, expected, observed, frames, reason=reason, errata=errata, advice=advice
        )

    def _write_verdict(
        self,
        row: Rule,
        verdict: Verdict,
        expected: str,
        observed: str,
        frames: list[Frame],
        *,
        reason: str | None = None,
    ) -> None:
        self._append_entry(self._build_entry(row, verdict, expected, observed, frames, reason=reason))

    def _append_entry(self, entry: VerdictEntry) -> None:
        self.log.append(entry)
        self._store_worst_verdict(entry)

    def _store_worst_verdict(self, entry: VerdictEntry) -> None:
        """Store the worst verdict for a rule. Verdicts that are only about the SHOULD in a sentence with a MUST are
        ignored.
        """
        if entry.advice is not None:
            return
        before = self.judged.get(entry.rule)
        self.judged[entry.rule] = entry.verdict if before is None else get_worse_verdict(entry.verdict, before)

    def _write_held_failures(self, reason: str | None = None) -> None:
        """Write the failures that were held back until the verdicts for the SHOULD rules on which they depend were
        known.

        A rule that depends on a SHOULD is not exercised if the SUT did not follow the SHOULD. The rule becomes
        inconclusive if the check ended before it judged the SHOULD; ``reason`` is then the reason for this end.
        """
        for entry in self._held_failures:
            under = [rule for rule in self.catalogue[entry.rule].under if rule in self.covers]
            unfollowed = [rule for rule in under if self.judged.get(rule) is Verdict.WARN]
            if unfollowed:
                why = f"the rule depends on {', '.join(unfollowed)}, which the SUT did not follow"
                self._append_entry(replace(entry, verdict=Verdict.NOT_EXERCISED, reason=why))
            elif reason is not None and not self.judged.keys() >= set(under):
                self._append_entry(replace(entry, verdict=Verdict.INCONCLUSIVE, reason=reason))
            else:
                self._append_entry(entry)
        self._held_failures.clear()

    def _build_entry(
        self,
        row: Rule,
        verdict: Verdict,
        expected: str,
        observed: str,
        frames: list[Frame],
        *,
        reason: str | None = None,
        errata: str | None = None,
        note: str | None = None,
        advice: Advice | None = None,
    ) -> VerdictEntry:
        notes = [one for one in (row.note, note) if one]
        if verdict is Verdict.WARN and (excuse := self._note_by_excused_rule.get(row.id)):
            cited = excuse.get_citation_name(row.document)
            notes += [cited] if cited not in (row.note or "") else []
            said = f"{excuse.name} allows this for {self.profile}: {excuse.allows}"
            reason = f"{said}; {reason}" if reason else said
        return VerdictEntry(
            rule=row.id,
            document=row.document,
            section=row.section,
            level=row.level,
            verdict=verdict,
            expected=expected,
            observed=observed,
            reason=reason,
            test=self.test,
            capture=self.capture if frames else None,
            evidence=self._build_evidence(
                row, expected, observed, frames[:MAX_EVIDENCE_PACKETS], shown=self._is_shown(row.id, verdict, advice)
            ),
            errata=row.errata if not errata or errata in row.errata else (*row.errata, errata),
            notes=tuple(notes),
            advice=advice,
            heard=any(frame.from_sut for frame in frames),
        )

    def _build_evidence(
        self, row: Rule, expected: str, observed: str, frames: list[Frame], *, shown: bool
    ) -> tuple[Evidence, ...]:
        """Return the packets as evidence. If the verdict is shown, the evidence contains the deciding field of each
        packet from the SUT.
        """
        if not shown:
            return tuple([Evidence(frame.number) for frame in frames])
        lines = [
            frame.lines
            if frame.from_sut and frame.size <= MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD
            else EMPTY_DISSECTION_LINES
            for frame in frames
        ]
        fields = find_deciding_fields(
            lines, VerdictTexts(f"{row.document}-{row.section}", expected, observed, row.says)
        )
        return tuple(
            Evidence(frame.number, field.start, field.end - 1) if field else Evidence(frame.number)
            for frame, field in zip(frames, fields, strict=True)
        )

    def _is_shown(self, rule: str, verdict: Verdict, advice: Advice | None) -> bool:
        """Return whether a verdict is shown to readers. Most passes are only counted, because a run has tens of
        thousands of passes.
        """
        if verdict is Verdict.PASS:
            self._passes[rule] += 1
        missed = verdict in _VIOLATION_VERDICTS or advice is Advice.MISSED
        return missed or (verdict is Verdict.PASS and self._passes[rule] <= MAX_SHOWN_PASSES_PER_RULE)


class _ResultOfComparison(NamedTuple):
    """The result of one comparison. ``refusal``: the reason that the SUT gave for a refusal."""

    is_expectation_met: bool
    expected: str
    observed: str
    refusal: str | None


def _compare_values(expected: Expectation, observed: Any, case: str | None) -> _ResultOfComparison:
    expected = expected.with_name(case) if case else expected
    difference = expected.compare(observed)
    texts = str(expected), str(difference or expected.show(observed))
    if case:
        texts = _prefix_with_case(case, texts[0]), _prefix_with_case(case, texts[1])
    return _ResultOfComparison(
        difference is None, *texts, None if difference is None else find_refusal_reasons(observed)
    )


def _prefix_with_case(case: str, text: str) -> str:
    """Return a text of a verdict, preceded by the name (``case``) of the observation."""
    return f"{case}: {text}"


def _list_evidence_frames(evidence: EvidenceSource) -> list[Frame]:
    """Return the packets that prove a verdict, without duplicates. Each object that has evidence, such as a call,
    is replaced by its packets.
    """
    return list(dict.fromkeys(_list_frames_of_evidence(evidence)))


def _list_frames_of_evidence(evidence: EvidenceSource) -> Iterator[Frame]:
    if isinstance(evidence, Frame):
        yield evidence
    elif isinstance(evidence, list):  # the usual form is checked first, because isinstance() with a protocol takes long
        for one in evidence:
            yield from _list_frames_of_evidence(one)
    elif isinstance(evidence, ObjectWithEvidencePackets):
        yield from _list_frames_of_evidence(evidence.evidence)
    elif evidence is not None:
        for one in evidence:
            yield from _list_frames_of_evidence(one)
