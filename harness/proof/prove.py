"""The proof that every check can fail: it passes on the clean reference and fails, on its own rule, on a fault of it.

One clean run of the suites in virtual time shows which check judges which rule; then each fault is put in and the
checks of its rules run again. Workers are forked from this process, so that nothing is imported twice.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.faults.registry import load_faults
from harness.judging.verdicts import read_verdicts
from harness.proof.inventory import Inventory, pytest_arguments
from harness.proof.trials import UNNEEDED, VIRTUAL_SUT
from harness.run.run import VERDICTS_FILE

CHECKS_A_PASSIVE_RULE = 3
"""A passive rule is seen in hundreds of checks; these many are tried first, the others when the fault is alive then."""
SOME_MORE = 40
"""The number of those that are tried next, before all that are left."""
CLEAN = {"pass", "not_exercised"}
"""The verdicts of a rule on the clean reference. It may lack what a rule is about; its faults do not."""


@dataclass(slots=True)
class Proof:
    """The findings of ``prove``."""

    checked: list[str] = field(default_factory=list)
    killed: dict[str, list[str]] = field(default_factory=dict)
    """Rule to the faults that its check found."""
    unclean: dict[str, str] = field(default_factory=dict)
    """Rule to why its check does not pass on the clean reference."""
    alive: dict[str, list[str]] = field(default_factory=dict)
    """Rule to the faults that its check did not find."""
    unproven: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Rules that only a predicate judges, of packets that the clean reference never sent: they count as not checked.

    Not one that was proven before: that a packet is sent no more is a finding.
    """

    @property
    def complete(self) -> bool:
        """Return whether every checked rule is proven and every fault killed."""
        return bool(self.checked) and not (self.unclean or self.alive or self.unproven)


def prove(
    inventory: Inventory, rules: Iterable[str] | None, jobs: int, progress: Callable[[str], None] | None = None
) -> Proof:
    """Prove all checked rules, or some."""
    wanted = set(rules or inventory.checked())
    proof = Proof(checked=[rule for rule in inventory.checked() if rule in wanted])
    with tempfile.TemporaryDirectory(prefix="mqconform-prove-") as folder:
        sut = Path(folder) / "sut.toml"
        sut.write_text(VIRTUAL_SUT, encoding="utf-8")
        clean = _run(sut, Path(folder) / "clean", [], None)
        seen: dict[str, set[str]] = defaultdict(set)
        judged_in: dict[str, list[str]] = defaultdict(list)
        for line in clean:
            seen[line["rule"]].add(line["verdict"])
            if line["verdict"] in CLEAN and line["test"] not in judged_in[line["rule"]]:
                judged_in[line["rule"]].append(line["test"])
        for rule in proof.checked:
            if not seen[rule] and rule not in inventory.tests and rule not in inventory.proven:
                proof.unseen.append(rule)
            elif not seen[rule] or seen[rule] - CLEAN:
                proof.unclean[rule] = why_unclean(line for line in clean if line["rule"] == rule)
        proof.checked = [rule for rule in proof.checked if rule not in proof.unseen]
        faults = [name for name, fault in load_faults().items() if wanted & set(fault.breaks)]
        tasks = [(sut, Path(folder) / name, name, _tests_for(name, inventory, judged_in)) for name in faults]
        gc.freeze()  # what is there now is shared by the workers and never garbage
        context = multiprocessing.get_context("fork")
        with context.Pool(jobs, maxtasksperchild=50) as pool:
            for name, failed in pool.imap_unordered(_try_fault, tasks):
                _record(proof, name, failed, wanted)
                if progress is not None:
                    progress(name)
    proof.unproven = [rule for rule in proof.checked if rule not in proof.killed and rule not in proof.unclean]
    return proof


def why_unclean(verdicts: Iterable[dict[str, Any]]) -> str:
    """Return what kept a rule from passing on the clean reference: the first verdict that is no pass, and its check."""
    bad = next((line for line in verdicts if line["verdict"] not in CLEAN), None)
    if bad is None:
        return "no verdict"
    if bad["reason"]:
        return f"{bad['verdict']} in {bad['test']}: {bad['reason']}"
    return f"{bad['verdict']} in {bad['test']}: expected {bad['expected']}; observed {bad['observed']}"


def _tests_for(fault: str, inventory: Inventory, judged_in: dict[str, list[str]]) -> list[list[str]]:
    """Return the checks that may kill a fault, in the batches in which they are tried: first those of its rules."""
    first: dict[str, None] = {}
    others: dict[str, None] = {}
    for rule in load_faults()[fault].breaks:
        tests = judged_in.get(rule, [])
        own = set(inventory.tests.get(rule, ()))
        first |= dict.fromkeys([test for test in tests if test in own] or tests[:CHECKS_A_PASSIVE_RULE])
        others |= dict.fromkeys(tests)
    left = [test for test in others if test not in first]
    return [list(first), left[:SOME_MORE], left[SOME_MORE:]]


def _try_fault(task: tuple[Path, Path, str, list[list[str]]]) -> tuple[str, set[str]]:
    sut, out, name, batches = task
    failed: set[str] = set()
    for tests in batches:
        if tests and not failed.issuperset(load_faults()[name].breaks):
            lines = _run(sut, out, tests, name)
            failed |= {line["rule"] for line in lines if line["verdict"] in ("fail", "warn")}
            shutil.rmtree(out, ignore_errors=True)
    return name, failed


def _record(proof: Proof, name: str, failed: set[str], wanted: set[str]) -> None:
    for rule in load_faults()[name].breaks:
        if rule in wanted:
            faults = proof.killed if rule in failed else proof.alive
            faults.setdefault(rule, []).append(name)


def _run(sut: Path, out: Path, tests: list[str], fault: str | None) -> list[dict[str, Any]]:
    """Run checks in this process; return their verdict lines."""
    root, *options = pytest_arguments()
    arguments = [str(Path(root) / test.removeprefix("suites/")) for test in tests] or [root]
    arguments += [*options, "--sut", str(sut), "--out", str(out)]
    for plugin in UNNEEDED:
        arguments += ["-p", f"no:{plugin}"]
    if fault is not None:
        arguments += ["--fault", fault]
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        pytest.main(arguments)
    path = out / VERDICTS_FILE
    return list(read_verdicts(path)) if path.is_file() else []
