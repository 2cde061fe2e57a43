"""The mutants of the reference: their names, their selection, and the checks that run on them."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.errors import UnknownFault
from harness.faults.registry import find_fault
from harness.mutation.exchange import FunctionCodeReplacement
from harness.mutation.mutants import compile_mutant, find_mutant, list_all_mutants, select_evenly
from reference_qm.core.transfer import session_acks

SIMPLE = "core/transfer/session_acks.py:_is_number_acknowledged"


def test_mutant_names_are_unique_and_selection_covers_every_function_first() -> None:
    mutants = list_all_mutants()
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    functions = {(mutant.file, mutant.function) for mutant in mutants}
    chosen = select_evenly(mutants, 600)
    assert len(chosen) == 600 < len(functions)
    assert max(Counter((mutant.file, mutant.function) for mutant in chosen).values()) == 1
    assert select_evenly(mutants, 300) == chosen[:300]


def test_mutant_code_runs_only_while_installed() -> None:
    mutant = next(one for one in list_all_mutants() if one.name.startswith(SIMPLE))
    function, code = compile_mutant(mutant)
    own = function.__code__
    assert function is session_acks._is_number_acknowledged
    exchange = FunctionCodeReplacement(function, code)
    for _ in range(2):
        with exchange:
            assert function.__code__ is code
        assert function.__code__ is own


def test_mutant_can_be_selected_as_a_fault_by_its_name() -> None:
    mutant = next(one for one in list_all_mutants() if one.name.startswith(SIMPLE))
    assert find_mutant(mutant.name) == mutant
    assert mutant.changed_line in find_fault(mutant.name).says


@pytest.mark.parametrize(
    "name", ["core/nothing.py:f:off-by-one-1", "core/sessions/ping_handling.py:PingHandling.none:off-by-one-1"]
)
def test_an_unknown_mutant_is_named(name: str) -> None:
    with pytest.raises(UnknownFault, match="no such mutant"):
        find_fault(name)
