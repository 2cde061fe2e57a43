"""The commands ``mqconform rules`` and ``mqconform explain``: list the catalogue, and explain one rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.table_format import TableFormat
from harness.cli.tables import show_table
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.proof.inventory import RuleInventory
    from harness.rules.coverage import SectionCoverage

COLUMNS_OF_RULE_TABLE = ("rule", "level", "observe", "checks", "faults", "proven", "says")
COLUMNS_OF_RULES_WITH_NEEDS = ("rule", "least needs", "check")
LEAST_NEEDS_COLUMNS = ("least needs", "rules", "rules judged with only these needs")
COVERAGE_COLUMNS = ("section", "level", "rules", "rows", "checked", "proven", "not observable", "open")


def register(app: typer.Typer) -> None:
    """Add the commands to ``mqconform``."""
    app.command()(rules)
    app.command()(explain)


def rules(
    words: Annotated[
        list[str] | None, typer.Argument(help="List only rules whose id, title or sentence contains all these words.")
    ] = None,
    format_: Annotated[TableFormat, typer.Option("--format", help="Format of the output.")] = TableFormat.TABLE,
    document: Annotated[str | None, typer.Option(help="List only rules of this document, such as MQQB.")] = None,
    select: Annotated[
        list[str] | None, typer.Option(help="List only matching rules, as with `mqconform run --select`.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Print counts for each section: rules, checked rules, proven rules.")
    ] = False,
    needs: Annotated[
        bool,
        typer.Option(
            "--needs",
            help="Print the fewest facilities with which each rule can "
            "be judged. Without search words, print only counts.",
        ),
    ] = False,
) -> None:
    """List the rules of the catalogue, each with the way to observe it, its numbers of checks and faults, and its
    proof.
    """
    from harness.proof.inventory import take_inventory
    from harness.rules.naming import find_document, select_rules

    inventory = take_inventory()
    if document is not None:
        document = find_document(inventory.catalogue.list_documents(), document)
    if coverage:
        _show_coverage(inventory, document, format_)
        return
    chosen = select_rules(inventory.catalogue, select or [])
    names = [
        name
        for name, row in inventory.catalogue.items()
        if name in chosen
        and document in (None, row.document)
        and all(word.lower() in f"{name} {row.title} {row.says}".lower() for word in words or [])
    ]
    if not names:
        asked = ", ".join([*filter(None, [document]), *(select or []), *(words or [])])
        raise UsageError(f"no rule matches all of {asked}; omit at least one of these conditions")
    if needs:
        _show_needs_of_rules(inventory, names, format_, counted=not words)
        return
    rows = [inventory.describe_rule_as_json(name) for name in names]
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps(rows, indent=1))
        return
    show_table(COLUMNS_OF_RULE_TABLE, map(_build_rule_cells, rows), widest="says")


def _show_needs_of_rules(inventory: RuleInventory, names: list[str], format_: TableFormat, *, counted: bool) -> None:
    from harness.proof.least_needs import (
        count_judgeable_rules_by_system,
        count_rules_by_least_needs,
        count_rules_judged_without_control,
        list_least_needs,
        list_must_demands,
    )

    if format_ is TableFormat.JSON:
        typer.echo(json.dumps([asdict(one) for one in list_least_needs(inventory, names)], indent=1))
        return
    if not counted:
        found = list_least_needs(inventory, names)
        show_table(
            COLUMNS_OF_RULES_WITH_NEEDS,
            ((one.rule, _join_names_or_dash(one.needs), one.check) for one in found),
            widest="check",
        )
        return
    demands = list_must_demands(inventory) & frozenset(names)
    sets = count_rules_by_least_needs(list_least_needs(inventory, demands))
    show_table(
        LEAST_NEEDS_COLUMNS,
        (
            (_join_names_or_dash(one), count, count_rules_judged_without_control(inventory, demands, one))
            for one, count in sets
        ),
    )
    for system, count in count_judgeable_rules_by_system(inventory, demands).items():
        typer.echo(
            f"{system}: {count:,} of {len(demands):,} MUST demands can be judged ({100 * count / len(demands):.1f} %)"
        )


def _join_names_or_dash(names: Sequence[str]) -> str:
    return ", ".join(names) or "-"


def _build_rule_cells(row: dict[str, Any]) -> tuple[object, ...]:
    proven = "yes" if row["proven"] else "no" if row["tests"] else "-"
    return row["id"], row["level"], row["observe"], len(row["tests"]), len(row["faults"]), proven, row["says"]


def _show_coverage(inventory: RuleInventory, document: str | None, format_: TableFormat) -> None:
    from harness.proof.places import find_folders_of_rule
    from harness.rules.coverage import ROW_CLASS_OF_DEMANDS, sum_coverage_of_sections

    sections = [one for one in inventory.count_coverage_by_section() if document in (None, one.document)]
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps([asdict(one) for one in sections], indent=1))
        return
    demands = [one for one in sections if one.kind == ROW_CLASS_OF_DEMANDS]
    show_table(COVERAGE_COLUMNS, map(_build_coverage_cells, (*demands, *sum_coverage_of_sections(sections))))
    for whole in sum_coverage_of_sections(demands):
        share = 100 * whole.checked / whole.rows
        proven = 100 * whole.proven / whole.checked if whole.checked else 0
        typer.echo(
            f"{whole.document} {whole.demand} demands: {share:.1f} % checked, {proven:.1f} % of the checked ones proven"
        )
    places = [find_folders_of_rule(inventory, rule) for rule in inventory.checked_rules()]
    together = sum(one.are_in_one_folder() for one in places)
    named = sum(one.are_in_listed_folders() for one in places)
    typer.echo(
        f"{together:,} of {len(places):,} checked rules have their row, checks and faults in one folder; "
        f"{named:,} have them in this folder or in folders that checked_in in rules.toml lists"
    )


def _build_coverage_cells(coverage: SectionCoverage) -> tuple[object, ...]:
    name = (
        f"{coverage.document} {coverage.section} {coverage.title}"
        if coverage.section
        else f"{coverage.document} in all: {coverage.kind}"
    )
    still_open = coverage.rows - coverage.none - coverage.checked
    return (
        name,
        coverage.demand,
        coverage.rows,
        coverage.catalogued,
        coverage.checked,
        coverage.proven,
        coverage.none,
        still_open,
    )


def explain(
    rule: Annotated[str, typer.Argument(help="The id of the rule, such as MQQB-3.1.5.4.1-10.")],
    runs: Annotated[
        list[Path] | None, typer.Option("--run", help="A run folder whose verdicts on the rule are shown. Repeatable.")
    ] = None,
    format_: Annotated[TableFormat, typer.Option("--format", help="Format of the output.")] = TableFormat.TABLE,
) -> None:
    """Print everything known about a rule: demand, section, checks, faults, errata, and the verdicts of runs."""
    from harness.cli.explain import explain as explain_rule
    from harness.cli.explain import explain_as_json
    from harness.proof.inventory import take_inventory
    from harness.rules.catalogue import load_catalogue
    from harness.rules.naming import find_rule_id

    if runs and format_ is TableFormat.JSON:
        raise UsageError("--format json shows no verdicts; read verdicts.jsonl in the run folder")
    rule = find_rule_id(load_catalogue(), rule)
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps(explain_as_json(take_inventory(rule), rule), indent=1))
        return
    for line in explain_rule(take_inventory(rule), rule, runs or []):
        typer.echo(line)
