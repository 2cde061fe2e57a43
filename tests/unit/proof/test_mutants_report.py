"""The report of `mutants`: the scores, and the mutants that are listed as survivors."""

from __future__ import annotations

from harness.mutation.mutants import list_all_mutants
from harness.proof.mutants import MutantResult, MutantRunOutcome, MutantTally, report_mutants

FATES = (
    MutantResult.KILLED,
    MutantResult.KILLED,
    MutantResult.KILLED,
    MutantResult.NOTICED,
    MutantResult.SURVIVED,
    MutantResult.SURVIVED,
    MutantResult.UNREACHED,
)


def tally() -> MutantTally:
    mutants = list_all_mutants()[: len(FATES) + 1]
    outcomes = {
        mutant.name: MutantRunOutcome(mutant.name, mutant.source, fate)
        for mutant, fate in zip(mutants, FATES, strict=False)
    }
    return MutantTally(
        mutants,
        outcomes,
        reason_by_effectless_mutant={mutants[FATES.index(MutantResult.SURVIVED)].name: "an order nobody sees"},
    )


def test_mutation_score_is_kills_per_executed_mutant() -> None:
    assert round(tally().compute_score(effectless=True, unreached=True), 1) == 42.9
    assert tally().compute_score(effectless=False, unreached=True) == 50
    assert tally().compute_score(effectless=False, unreached=False) == 60
    assert MutantTally([], {}, {}).compute_score(effectless=True, unreached=True) == 0


def test_mutants_report_lists_survivors_and_scores() -> None:
    lines = list(report_mutants(tally()))
    assert sum(": core/" in line for line in lines) == 3
    assert lines[-2] == "7 of 8 mutants run, 3 killed, 1 noticed, 2 survived, 1 unreached"
    assert "42.9 % of all mutants; 50.0 % without the 1 listed" in lines[-1]
    assert "60.0 % also without the mutants" in lines[-1]
