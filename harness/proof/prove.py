"""Prove that every check can fail: each check passes on the clean reference (without faults), and reports a violation
on a reference with a fault that breaks its rule.

One clean run of the suites in virtual time shows which rules each check judges and which steps it takes. Then each
fault is installed, and those checks of its rules that take a changed step run again. Each check function is proven
separately. For every rule that a function covers, the function must fail a system with a fault of that rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.faults.registry import Fault, load_faults
from harness.judging.compared import load_compared_rules
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES, Verdict
from harness.proof.inventory import RuleInventory
from harness.proof.steps import can_check_notice_variant, find_changed_steps
from harness.proof.trials import (
    VERDICTS_OF_ABORTED_CHECK,
    RepeatableTrialRunner,
    ResultOnCleanReference,
    Trial,
    TrialResult,
    TrialVerdict,
)

RuleAndFunction = tuple[str, str]
"""The type of a pair, which consists of a check function (with all its parameters) and a rule, or of a fault and a
rule.
"""
CHECKS_TRIED_FIRST_ON_PASSIVE_FAULT = 3
"""The number of checks that are tried first on a fault of a passive rule. Hundreds of checks can notice such a
fault. Only if the first checks do not find the fault are the other checks tried.
"""
TRIALS_PER_PROCESS = 8
"""The number of trials in one process. Most trials run only one or two checks."""


@dataclass(slots=True)
class ProofResults:
    """The results of a proof: the proven rules, and each failure by kind."""

    checked_rules: list[str] = field(default_factory=list)
    killed_faults_by_rule: dict[str, list[str]] = field(default_factory=dict)
    """For each rule, the faults on which its checks failed."""
    failing_verdicts_by_fault: dict[str, list[TrialVerdict]] = field(default_factory=dict)
    """For each fault, the verdicts that the fault caused."""
    reason_by_rule_failing_without_fault: dict[str, str] = field(default_factory=dict)
    """For each rule that does not pass on the clean reference, the reason."""
    unnoticed_faults_by_rule: dict[str, list[str]] = field(default_factory=dict)
    """For each rule, the faults that its checks did not notice."""
    unproven_rules: list[str] = field(default_factory=list)
    rules_without_judged_packet: list[str] = field(default_factory=list)
    """Rules that only a predicate judges, on packets that the clean reference never sent. Such rules count as
    unchecked. Rules with a recorded proof are excluded, because for them the missing packet is a finding.
    """
    checks_that_never_fail_rule: list[RuleAndFunction] = field(default_factory=list)
    """Pairs of a check function and a rule that the function covers, although it reports a violation of the rule on no
    fault.
    """
    unmarked_violations_by_peer: dict[RuleAndFunction, str] = field(default_factory=dict)
    """The violations in packets from the peer, by check and rule. Violations of rules that the mark ``malforms`` of
    the check names are excluded.
    """
    marked_violations_never_sent: list[RuleAndFunction] = field(default_factory=list)
    """Pairs of a check function and a rule, where the function names the rule in ``malforms`` but no packet from the
    peer breaks the rule.
    """
    must_failures_of_advice_faults: dict[RuleAndFunction, TrialVerdict] = field(default_factory=dict)
    """Pairs of a fault that breaks only SHOULD rules, and a MUST rule that fails on the fault. A system must not
    fail a MUST because it does not follow a SHOULD.
    """

    @property
    def complete(self) -> bool:
        """Return whether every checked rule is proven with each of its checks, and whether the checks found every
        fault.
        """
        wrong = (
            self.reason_by_rule_failing_without_fault,
            self.unnoticed_faults_by_rule,
            self.unproven_rules,
            self.checks_that_never_fail_rule,
        )
        mistaken = (
            self.must_failures_of_advice_faults,
            self.unmarked_violations_by_peer,
            self.marked_violations_never_sent,
        )
        return bool(self.checked_rules) and not any((*wrong, *mistaken))


def prove(
    trials: RepeatableTrialRunner,
    inventory: RuleInventory,
    rules: Iterable[str] | None,
    progress: Callable[[str], None] | None = None,
) -> ProofResults:
    """Prove all checked rules, or only the given rules."""
    wanted = set(rules or inventory.checked_rules())
    proof = ProofResults(checked_rules=[rule for rule in inventory.checked_rules() if rule in wanted])
    checks: Sequence[str] = trials.checks
    if not wanted & (inventory.passive | load_compared_rules().keys()):  # every check can judge such a rule
        covering = {check for rule in wanted for check in inventory.checks_by_rule.get(rule, ())}
        checks = [check for check in checks if check in covering]
    clean = trials.run_checks_on_clean_reference(checks)
    _record_result(proof, inventory, [line for one in clean.values() for line in one.lines])
    _record_violations_by_peer(proof, trials.checks, clean)
    candidates = _CandidateChecks(inventory, clean, wanted)
    faults = {name: fault for name, fault in load_faults().items() if wanted & set(fault.breaks)}
    for trial, found in trials.run(candidates.trials(faults.values()), together=TRIALS_PER_PROCESS):
        candidates.record(found)
        _record_trial(proof, faults[trial.name], found, wanted)
        _note_must_failures_of_advice_fault(proof, inventory, faults[trial.name], found)
        if progress is not None:
            progress(trial.name)
    for trial, found in trials.run(candidates.trials_for_open_pairs(faults.values()), together=TRIALS_PER_PROCESS):
        candidates.record(found)
        _note_must_failures_of_advice_fault(proof, inventory, faults[trial.name], found)
    proof.unproven_rules = [
        rule
        for rule in proof.checked_rules
        if rule not in proof.killed_faults_by_rule and rule not in proof.reason_by_rule_failing_without_fault
    ]
    proof.checks_that_never_fail_rule = sorted(
        pair
        for pair in candidates.open
        if pair[1] not in (*proof.unproven_rules, *proof.reason_by_rule_failing_without_fault)
    )
    return proof


def describe_unclean_result(lines: Iterable[TrialVerdict]) -> str:
    """Return the reason why a rule did not pass on the clean reference. The reason names the first verdict that is
    not a pass, and the check.
    """
    bad = next((line for line in lines if line.verdict in VERDICTS_OF_BROKEN_RULES + VERDICTS_OF_ABORTED_CHECK), None)
    bad = bad or next((line for line in lines if line.verdict is not Verdict.PASS), None)
    return "no verdict" if bad is None else f"{bad.verdict} in {bad.test}: {bad.why}"


def _record_result(proof: ProofResults, inventory: RuleInventory, clean: Sequence[TrialVerdict]) -> None:
    """Record the rules that do not pass on the clean reference, and remove the rules that the clean reference does not
    exercise.
    """
    of_rule: dict[str, list[TrialVerdict]] = defaultdict(list)
    for line in clean:
        of_rule[line.rule].append(line)
    for rule in proof.checked_rules:
        lines = of_rule[rule]
        passes = any(line.verdict is Verdict.PASS for line in lines)
        if not passes and rule not in inventory.checks_by_rule and rule not in inventory.proven_rules:
            proof.rules_without_judged_packet.append(rule)
        elif not passes or any(line.verdict not in (Verdict.PASS, Verdict.NOT_EXERCISED) for line in lines):
            proof.reason_by_rule_failing_without_fault[rule] = describe_unclean_result(lines)
    proof.checked_rules = [rule for rule in proof.checked_rules if rule not in proof.rules_without_judged_packet]


class _CandidateChecks:
    """The checks that may notice each fault, and the open pairs. An open pair is a check function and a rule that
    the function has not failed on any fault yet.
    """

    def __init__(self, inventory: RuleInventory, clean: Mapping[str, ResultOnCleanReference], wanted: set[str]) -> None:
        self.open: set[RuleAndFunction] = {
            (_get_check_function(check), rule) for rule in wanted for check in inventory.checks_by_rule.get(rule, ())
        }
        self._inventory = inventory
        self._clean = clean
        self._judging_checks_by_rule: dict[str, dict[str, None]] = defaultdict(dict)
        for check in sorted(clean, key=lambda check: clean[check].seconds):
            for line in clean[check].lines:
                if line.verdict is Verdict.PASS:
                    self._judging_checks_by_rule[line.rule][check] = None

    def trials(self, faults: Iterable[Fault]) -> Iterator[Trial]:
        """Yield one trial for each fault."""
        for fault in faults:
            needed = _ConditionOfUnkilledFault(fault.breaks, set(self.open))
            yield Trial(
                fault.name,
                (fault.name,),
                tuple(self._list_killing_checks(fault)),
                needed,
                exception_only_ends_check=True,
            )

    def trials_for_open_pairs(self, faults: Iterable[Fault]) -> Iterator[Trial]:
        """Yield one trial for each fault. The trial runs the check functions of open pairs that cover a rule of the
        fault.

        A fault often also breaks a rule that it does not name. The first trials do not show this, because they end as
        soon as the named rules have failed.
        """
        functions = {function for function, _ in self.open}
        for fault in faults:
            covering = {check for rule in fault.breaks for check in self._inventory.checks_by_rule.get(rule, ())}
            needed, changed = _ConditionOfOpenRuleAndFunction(set(self.open)), find_changed_steps(fault.install)
            checks = [
                check
                for check in sorted(covering & self._clean.keys())
                if _get_check_function(check) in functions
                and needed(check, ())
                and can_check_notice_variant(self._clean[check].steps, changed)
            ]
            if checks:
                yield Trial(fault.name, (fault.name,), tuple(checks), needed, exception_only_ends_check=True)

    def record(self, found: TrialResult) -> None:
        """Remove the open pairs whose check function failed the rule in a trial."""
        self.open -= _list_failed_pairs(found.lines)

    def _list_killing_checks(self, fault: Fault) -> Iterable[str]:
        """Return the checks that may kill a fault. Checks that cover the rules of the fault come first, then other
        checks that judge these rules.
        """
        changed = find_changed_steps(fault.install)
        first: dict[str, None] = {}
        others: dict[str, None] = {}
        for rule in fault.breaks:
            judged = [
                one
                for one in self._judging_checks_by_rule.get(rule, ())
                if can_check_notice_variant(self._clean[one].steps, changed)
            ]
            covering = set(self._inventory.checks_by_rule.get(rule, ()))
            own = [check for check in judged if check in covering]
            first |= dict.fromkeys(own or judged[:CHECKS_TRIED_FIRST_ON_PASSIVE_FAULT])
            others |= dict.fromkeys(judged)
        return first | others


class _ConditionOfUnkilledFault:
    """The condition under which a check runs on a fault. The check runs if a rule of the fault has not failed yet. It
    also runs if its function has not been tried yet on one of the fault's rules.
    """

    def __init__(self, rules: Sequence[str], still_open: set[RuleAndFunction]) -> None:
        self.rules = rules
        self.open = {pair for pair in still_open if pair[1] in rules}

    def __call__(self, check: str, lines: Sequence[TrialVerdict]) -> bool:
        convicted = _list_failed_pairs(lines)
        broken = {rule for _, rule in convicted}
        function = _get_check_function(check)
        return any(rule not in broken or (function, rule) in self.open - convicted for rule in self.rules)


class _ConditionOfOpenRuleAndFunction:
    """The condition under which a check runs on a fault in a trial for open pairs. A pair of a check function and a
    rule is open until the function fails the rule in a trial. The check runs while a pair of its function is open.
    """

    def __init__(self, still_open: set[RuleAndFunction]) -> None:
        self.open = still_open

    def __call__(self, check: str, lines: Sequence[TrialVerdict]) -> bool:
        return any(function == _get_check_function(check) for function, _ in self.open - _list_failed_pairs(lines))


def _list_failed_pairs(lines: Iterable[TrialVerdict]) -> set[RuleAndFunction]:
    return {(_get_check_function(line.test), line.rule) for line in lines if line.verdict in VERDICTS_OF_BROKEN_RULES}


def _get_check_function(check: str) -> str:
    return check.partition("[")[0]


def _record_trial(proof: ProofResults, fault: Fault, found: TrialResult, wanted: set[str]) -> None:
    broken = {rule for _, rule in _list_failed_pairs(found.lines)}
    proof.failing_verdicts_by_fault[fault.name] = [
        line for line in found.lines if line.verdict in VERDICTS_OF_BROKEN_RULES
    ]
    for rule in fault.breaks:
        if rule in wanted:
            faults = proof.killed_faults_by_rule if rule in broken else proof.unnoticed_faults_by_rule
            faults.setdefault(rule, []).append(fault.name)


def _record_violations_by_peer(
    proof: ProofResults, checks: Iterable[str], clean: Mapping[str, ResultOnCleanReference]
) -> None:
    """Compare the marks ``malforms`` of the checks with the rules that packets from the peer broke. The mark of a
    function is valid for all parameters of the function.
    """
    meant: dict[RuleAndFunction, bool] = {}
    unseen = {_get_check_function(check) for check in checks if check not in clean}
    for check, one in clean.items():
        for rule in one.broken.keys() - one.rules_broken_by_peer:
            proof.unmarked_violations_by_peer[check, rule] = one.broken[rule]
        for rule in one.rules_broken_by_peer:
            pair = (_get_check_function(check), rule)
            meant[pair] = meant.get(pair, False) or rule in one.broken
    proof.marked_violations_never_sent = sorted(
        pair for pair, broken in meant.items() if not broken and pair[0] not in unseen
    )


def _note_must_failures_of_advice_fault(
    proof: ProofResults, inventory: RuleInventory, fault: Fault, found: TrialResult
) -> None:
    if all(inventory.catalogue[rule].is_advice for rule in fault.breaks):
        for line in found.lines:
            if line.verdict is Verdict.FAIL:
                proof.must_failures_of_advice_faults.setdefault((fault.name, line.rule), line)


def report_proof(proof: ProofResults) -> Iterator[str]:
    """Yield one line for each failure of the proof, and a summary as the last line."""
    yield from (
        f"not clean: {rule} does not pass on the clean reference: {why}"
        for rule, why in sorted(proof.reason_by_rule_failing_without_fault.items())
    )
    for rule, faults in sorted(proof.unnoticed_faults_by_rule.items()):
        yield f"alive: {rule}: no check of the rule finds {', '.join(sorted(faults))}"
    yield from (
        f"unproven: {rule}: no fault breaks this rule"
        for rule in proof.unproven_rules
        if rule not in proof.unnoticed_faults_by_rule
    )
    yield from (
        f"unseen: {rule}: the reference sends no packet that the predicate of the rule judges"
        for rule in proof.rules_without_judged_packet
    )
    for (check, rule), how in sorted(proof.unmarked_violations_by_peer.items()):
        yield f"malformed: {check}: the peer breaks {rule}: {how}; correct the packet, or mark the check with malforms"
    for function, rule in proof.marked_violations_never_sent:
        yield f"unbroken: {function}: no packet of the peer breaks {rule}; remove the rule from malforms"
    for (name, _), line in sorted(proof.must_failures_of_advice_faults.items()):
        yield (
            f"overreached: {name} breaks only SHOULD rules, but {line.rule} fails in {line.test} ({line.why}): "
            "the row of this MUST must name, with `under`, the SHOULD on which it depends, or the fault must name "
            "the MUST"
        )
    yield from (
        f"idle: {function} covers {rule}, but finds no fault that breaks this rule"
        for function, rule in proof.checks_that_never_fail_rule
    )
    killed = sum(map(len, proof.killed_faults_by_rule.values()))
    kills = f"{killed} kill{'' if killed == 1 else 's'}"
    yield f"{len(proof.killed_faults_by_rule)} of {len(proof.checked_rules)} checked rules proven, {kills}"
