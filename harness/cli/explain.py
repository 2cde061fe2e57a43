"""Produce the output of `mqconform explain RULE`, which contains everything known about one rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.paths import SUITES
from harness.printable import escape_unprintable, one_line
from harness.proof.inventory import RuleInventory
from harness.rules.catalogue import DESCRIPTION_BY_ROW_CLASS, Rule
from harness.rules.explored_areas import list_explored_areas
from harness.rules.naming import find_rule_id
from harness.rules.places import find_place
from harness.run_folder import VERDICTS_FILE
from harness.states.table import read_state_tables

_MAX_TEXT_CHARACTERS = 200
"""The maximum number of characters of a system's text in the output; verdicts.jsonl contains the complete text."""


def explain(inventory: RuleInventory, rule: str, runs: Sequence[Path] = ()) -> Iterator[str]:
    """Yield the lines that explain a rule. Raise UsageError for an unknown rule, and for a folder that contains no
    run.
    """
    rule = find_rule_id(inventory.catalogue, rule)
    row = inventory.catalogue[rule]
    yield f"{row.id}  {row.level}  {row.form}"
    yield f"  {inventory.catalogue.document_title(row.document)} {row.section} {row.title}"
    yield f"  {row.link}"
    yield f"  {_describe_location_of_rule(row)}"
    yield ""
    yield f"demands     {row.says}"
    yield f"is          {DESCRIPTION_BY_ROW_CLASS[row.kind]}{f': {row.twin}' if row.twin else ''}"
    yield f"binds       {row.role}"
    yield f"is observed {row.observed}{f': {row.why}' if row.why else ''}"
    if row.under:
        yield f"depends on  {', '.join(row.under)}: if the system does not follow that rule, this rule is not exercised"
    if row.violates:
        yield f"implies     a system that fails this rule also violates {', '.join(row.violates)}"
    yield from _list_notes_of_rule(inventory, row)
    yield from _list_errata_of_rule(inventory, row)
    yield from _format_titled_list(
        "checks", [line for one in _list_checks(inventory, rule) for line in _describe_check_lines(one)]
    )
    if cells := _list_state_table_cells_of_rule(rule):
        yield from _format_titled_list(
            "cells (pairs of a state and an event)", [_describe_check_or_fault(one) for one in cells]
        )
    if areas := list_explored_areas().get(rule):
        yield from (
            "",
            f"random exploration: the model of the area {', '.join(areas)} cites the rule",
        )
    proof = "proven: a check fails on each fault" if rule in inventory.proven_rules else "not proven"
    yield from _format_titled_list(
        f"faults ({proof})", [_describe_check_or_fault(one) for one in _list_faults_that_break_rule(inventory, rule)]
    )
    if not runs:
        return
    from harness.results.run_results import get_partial_reason, get_tested_system, read_run_json

    for folder in runs:
        run = read_run_json(folder)
        part = f" (partial: {why})" if (why := get_partial_reason(run)) is not None else ""
        name = one_line(f"{get_tested_system(run)} in {run.get('run')}", _MAX_TEXT_CHARACTERS)
        yield from _format_titled_list(f"verdicts of {name}{part}", list(_list_verdicts_about_rule(folder, rule)))


def explain_as_json(inventory: RuleInventory, rule: str) -> dict[str, Any]:
    """Return the JSON object of a rule: the object that ``mqconform rules --format json`` prints, with the places
    of the rule's row, checks and faults.
    """
    places = {"row": _describe_location_of_rule(inventory.catalogue[rule])}
    found = {
        "tests": _list_checks(inventory, rule),
        "cells": _list_state_table_cells_of_rule(rule),
        "explored": list_explored_areas().get(rule, []),
        "faults": _list_faults_that_break_rule(inventory, rule),
    }
    return inventory.describe_rule_as_json(rule) | places | found


def _describe_location_of_rule(row: Rule) -> str:
    return find_place(f"{row.folder}/rules.toml", f'["{row.id}"]')


def _describe_check_or_fault(item: dict[str, Any]) -> str:
    says = f": {item['says']}" if item["says"] else ""
    blind = " (by an author who had not read the checks)" if item.get("blind") else ""
    return f"{item['place']} {item['name']}{says}{blind}"


def _describe_check_lines(check: dict[str, Any]) -> Iterator[str]:
    yield _describe_check_or_fault(check)
    if varied := check.get("varied"):
        chosen = (f"{name} ({', '.join(values)})" for name, values in varied.items())
        yield f"    varies {'; '.join(chosen)}"


def _list_notes_of_rule(inventory: RuleInventory, row: Rule) -> Iterator[str]:
    found = inventory.catalogue.notes.list_notes_of_rule(row.id, row.document, row.note)
    if row.note and not found:
        yield f"note        {row.note}"
    for note in found:
        yield f"note        {note.name} ({note.kind}; {', '.join(note.written)}): {note.says}"
        if note.allows:
            yield f"            allows:  {note.allows}"
        if row.id in note.excuses:
            yield f"            excuses: a violation is a warning, not a failure, in {', '.join(note.excused)}"


def _list_errata_of_rule(inventory: RuleInventory, row: Rule) -> Iterator[str]:
    named = {*row.errata, *(one.id for one in inventory.catalogue.errata.values() if row.id in one.where)}
    for name in sorted(named):
        erratum = inventory.catalogue.errata[name]
        yield f"erratum {name} {erratum.says}"
        for reading in erratum.possible_readings:
            yield f"            reading: {reading.says} -> {reading.verdict}"
        yield f"            real:    {erratum.real}"
        yield f"            choice:  {erratum.choice}"


def _format_titled_list(title: str, lines: list[str]) -> Iterator[str]:
    yield ""
    yield f"{title}: {'' if lines else 'none'}".rstrip()
    yield from (f"  {line}" for line in lines)


def _list_checks(inventory: RuleInventory, rule: str) -> list[dict[str, Any]]:
    """Return the checks that judge a rule, each with its name, its place, the first line of its docstring, and its
    varied parameters.
    """
    varied = inventory.varied_parameters_by_check
    return [
        _describe_check(*check.split("::", 1)) | ({"varied": varied[check]} if check in varied else {})
        for check in inventory.checks(rule)
    ]


def _describe_check(path: str, name: str) -> dict[str, str]:
    tree = ast.parse((SUITES.parent / path).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name.partition("[")[0]:
            says = ast.get_docstring(node) or ""
            return {"name": name, "place": f"{path}:{node.lineno}", "says": says.partition("\n")[0]}
    return {"name": name, "place": path, "says": ""}


def _list_state_table_cells_of_rule(rule: str) -> list[dict[str, str]]:
    """Return the cells of state tables (pairs of a state and an event) whose outcome a rule determines, each with its
    state machine, state, event, place and permitted outcomes.
    """
    return [
        {
            "name": f"{table.machine}: {cell.name}",
            "place": table.locate_cell(cell),
            "says": " or ".join(cell.outcomes),
        }
        for table in read_state_tables(rule)
        for cell in table.list_demanded_cells()
        if rule in cell.all_rules
    ]


def _list_faults_that_break_rule(inventory: RuleInventory, rule: str) -> list[dict[str, Any]]:
    """Return the faults that break a rule, each with its name, its place, and the behavior of a system with the fault.
    The result also states whether the author wrote the fault without having read the checks.

    If the name of a fault is composed from a table, the place is the table line with the rule's id.
    """
    records = [inventory.fault_records_by_name[name] for name in inventory.faults.get(rule, [])]
    places = [find_place(one.file, f'"{one.name}"', f'"{rule}"') for one in records]
    return [
        {"name": one.name, "place": place, "says": one.says, "blind": one.blind}
        for one, place in zip(records, places, strict=True)
    ]


def _list_verdicts_about_rule(folder: Path, rule: str) -> Iterator[str]:
    """Yield a run's verdicts on a rule as lines, the worst first. Equal verdicts share one line. The first line of each
    kind of verdict is followed by its packets.
    """
    from harness.judging.verdicts import VERDICTS_WORST_FIRST, Verdict, read_verdicts
    from harness.run.evidence import EvidenceTexts, format_frame_numbers
    from harness.wire.value_names import with_names

    equal: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for line in read_verdicts(folder / VERDICTS_FILE):
        if line["rule"] == rule:
            said = tuple(str(line[name] or "") for name in ("verdict", "expected", "observed", "reason"))
            equal.setdefault(said, []).append(line)
    texts, shown = EvidenceTexts(folder), set[str]()
    for (verdict, expected, observed, reason), lines in sorted(
        equal.items(), key=lambda one: VERDICTS_WORST_FIRST.index(Verdict(one[0][0]))
    ):
        first = lines[0]
        where = f" [{first['capture']} {frames}]" if (frames := format_frame_numbers(first)) else ""
        seen = f"expected {with_names(expected)}; observed {with_names(observed)}" if expected or observed else ""
        text = f"{seen} ({reason})" if seen and reason else seen or reason
        often = f"{len(lines):,} times " if len(lines) > 1 else ""
        yield f"{often}{verdict}: {one_line(text, _MAX_TEXT_CHARACTERS)}{where}"
        if verdict not in shown:
            shown.add(verdict)
            yield from (
                f"    {escape_unprintable(row)}".rstrip() for each in texts.of(first) for row in each.splitlines()
            )
