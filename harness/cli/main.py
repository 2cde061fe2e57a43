"""The command ``mqconform``. Subcommands of other parts come in through the entry points ``mqconform.commands``."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from enum import StrEnum
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from harness.cli import allure, attach, certificates, preflight, results
from harness.cli.table_format import TableFormat
from harness.errors import MqconformError, UsageError
from harness.run.run import EXIT_USAGE

if TYPE_CHECKING:
    from harness.mutation.mutants import Mutant
    from harness.proof.inventory import Inventory
    from harness.proof.mutants import Outcome
    from harness.proof.prove import Proof
    from harness.proof.readings import ReadingsRun
    from harness.proof.trials import Trials

app = typer.Typer(
    name="mqconform",
    help="Conformance tests for Microsoft Message Queuing (MSMQ).",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


class RunFormat(StrEnum):
    """What ``run`` prints at its end."""

    TEXT = "text"
    JSON = "json"


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mqconform {version('mqconform')}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Conformance tests for Microsoft Message Queuing (MSMQ)."""


@app.command()
def run(
    sut: Annotated[Path | None, typer.Option(help="The TOML file that describes the system under test.")] = None,
    topology: Annotated[
        Path | None, typer.Option(help="The TOML file of a sender, a router and a receiver, instead of --sut.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the run; must not hold one yet.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out; give --rule, --select, -k again.")] = False,
    rule: Annotated[list[str] | None, typer.Option(help="Only checks that cover this rule (again and again).")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="Only checks of rules that are all of this (again and again): MQQB, MQQB-3.1.5, level=MUST, "
            "role=acceptor, observe=wire."
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="A file of deviations that are known: others, and those no more, end it badly.")
    ] = None,
    keyword: Annotated[str | None, typer.Option("-k", help="Only checks whose name matches (as in pytest).")] = None,
    workers: Annotated[int, typer.Option(help="How many checks may run in parallel.")] = 1,
    deadline: Annotated[
        int | None, typer.Option(min=1, help="Seconds after which no check is begun; --resume goes on with the others.")
    ] = None,
    maxfail: Annotated[int | None, typer.Option(min=1, help="End the run after so many checks that fail.")] = None,
    check_limit: Annotated[int | None, typer.Option(min=1, help="Seconds that a check may take [900].")] = None,
    wait: Annotated[int | None, typer.Option(min=1, help="Seconds to wait for a system that is not up yet.")] = None,
    verbose: Annotated[bool, typer.Option("-v", help="A line for each check, and what pytest says of each.")] = False,
    format_: Annotated[
        RunFormat, typer.Option("--format", help="json: print the result as JSON, all else to standard error.")
    ] = RunFormat.TEXT,
) -> None:
    """Run the suites against a system under test: the same as ``pytest suites --sut FILE --out DIR``."""
    import pytest

    from harness.cli.result import Result
    from harness.proof.inventory import pytest_arguments

    shown = ("-v", "--tb=short") if verbose else ("-q", "--live", "--tb=no", "-rN")
    arguments = [*pytest_arguments(), *shown, "--no-header", f"--workers={workers}"]
    if sut is None and topology is None:
        raise UsageError("which system? give its file as --sut, or the file of three as --topology")
    given: dict[str, Any] = {
        "--sut": sut and sut.resolve(),
        "--topology": topology and topology.resolve(),
        "--out": out,
        "--rule": rule,
        "--select": select,
        "--baseline": baseline and baseline.resolve(),
        "-k": keyword,
        "--deadline": deadline,
        "--check-limit": check_limit,
        "--maxfail": maxfail,
        "--wait": wait,
    }
    for option, values in given.items():
        for value in values if isinstance(values, list) else filter(None, [values]):
            arguments += [option, str(value)]
    if resume:
        arguments.append("--resume")
    if sut is not None:
        _say_what_goes_where(sut)
    result = Result()
    if format_ is RunFormat.JSON:
        with redirect_stdout(sys.stderr):
            code = pytest.main(arguments, [result])
        typer.echo(result.as_json())
    else:
        code = pytest.main(arguments)
    raise typer.Exit(EXIT_USAGE if code is pytest.ExitCode.USAGE_ERROR else int(code))


def _say_what_goes_where(path: Path) -> None:
    from harness.sut.sut_file import is_loopback, load_sut_file

    driver = load_sut_file(path).driver
    if driver.kind != "virtual" and not is_loopback(driver.address):
        typer.echo(
            f"will send MSMQ sessions to {driver.address} tcp {driver.tcp_port} and pings to udp {driver.ping_port}, "
            f"malformed ones among them, from {driver.peer_address}; it may connect back to tcp {driver.peer_tcp_port}",
            err=True,
        )


@app.command()
def prove(
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule (again and again).")] = None,
    erratum: Annotated[list[str] | None, typer.Option(help="Only the readings of this entry.")] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    record: Annotated[bool, typer.Option(help="Write the proof to suites/proof.json.")] = False,
    changed: Annotated[
        bool,
        typer.Option(help="Only what changed since the recorded proof, and a tenth of the rest."),
    ] = False,
    readings: Annotated[
        bool,
        typer.Option(help="Only the readings of errata, each before every check instead of a share of them."),
    ] = False,
) -> None:
    """Show that every check fails on a fault that breaks its rule, and passes whatever the errata leave open."""
    from harness.proof.changed import folder_digests, in_the_tenth, to_prove
    from harness.proof.inventory import take_inventory
    from harness.proof.prove import prove as prove_rules
    from harness.proof.prove import report
    from harness.proof.readings import report as report_readings
    from harness.proof.readings import run_readings
    from harness.proof.trials import with_trials
    from harness.rules.naming import rule_named
    from harness.rules.proof_record import load_proof, write_proof

    if record and (rule or erratum or changed):
        raise UsageError("--record keeps the proof of all rules: leave --rule, --erratum, --changed out, or --record")
    if readings and (rule or record or changed):
        raise UsageError("--readings proves no rule: leave --rule, --record and --changed out")
    if changed and (rule or erratum):
        raise UsageError("--changed chooses the rules itself: leave --rule and --erratum out")
    inventory = take_inventory()
    rule = [rule_named(inventory.catalogue, name) for name in rule or []] or None
    unknown = [name for name in erratum or [] if name not in inventory.catalogue.errata]
    if unknown:
        raise UsageError(f"unknown erratum {unknown[0]}; suites/errata.toml has them all")

    if changed:
        rule = to_prove(inventory, load_proof(), folder_digests())
        erratum = [name for name in inventory.catalogue.errata if in_the_tenth(name)]

    def work(trials: Trials) -> tuple[Proof | None, ReadingsRun | None]:
        proof = None if readings or (erratum and not changed) else prove_rules(trials, inventory, rule)
        if proof and changed:
            proof.idle.clear()  # a function may be shown to convict by a fault of a rule that was not chosen
        if rule and not changed:
            return proof, None
        return proof, run_readings(trials, inventory.catalogue, inventory.tests, erratum, every_check=readings)

    proof, readings_run = with_trials(jobs, work)
    for line in (*(report(proof) if proof else ()), *(report_readings(readings_run) if readings_run else ())):
        typer.echo(line)
    if record and proof:
        write_proof(proof.checked, proof.killed, folder_digests())
    raise typer.Exit(0 if all(found.complete for found in (proof, readings_run) if found) else 1)


@app.command()
def mutants(
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    sample: Annotated[int, typer.Option(help="How many mutants, spread evenly over functions; 0 for all.")] = 1500,
    limit: Annotated[int | None, typer.Option(help="Run no more than these now.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only files or functions named so (again and again).")] = None,
    again: Annotated[
        bool, typer.Option(help="Run once more what was not killed, but for what has no outward effect.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="Run none: show them.")] = False,
    out: Annotated[Path, typer.Option(help="The folder of results; what it holds is not run again.")] = Path(
        "out/mutants"
    ),
) -> None:
    """Change the reference's own code in a thousand places, one at a time, and show which changes no check finds."""
    from harness.mutation.mutants import all_mutants, selection
    from harness.proof.mutants import (
        SURVIVORS_FILE,
        Tally,
        change,
        load_effectless,
        report,
        run_mutants,
        select,
    )
    from harness.proof.trials import with_trials

    def show(mutant: Mutant, outcome: Outcome) -> None:
        typer.echo(f"{outcome.fate} {mutant.name} {outcome.seconds} s", err=True)

    everything = all_mutants()
    chosen = select(selection(everything, sample or len(everything)), only or [])
    effectless, complaints = load_effectless(everything)
    if list_:
        for mutant in chosen:
            typer.echo(f"{mutant.name}: {change(mutant)}")
        return
    outcomes = with_trials(
        jobs,
        lambda trials: run_mutants(trials, chosen, out, again=again, effectless=effectless, limit=limit, progress=show),
    )
    lines = list(report(Tally(chosen, outcomes, effectless, complaints)))
    (out / SURVIVORS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in lines:
        typer.echo(line)


@app.command()
def rules(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only rules with all these words in id, title or sentence.")
    ] = None,
    format_: Annotated[TableFormat, typer.Option("--format", help="How to show them.")] = TableFormat.TABLE,
    document: Annotated[str | None, typer.Option(help="Only this document, such as MQQB.")] = None,
    select: Annotated[
        list[str] | None, typer.Option(help="Only rules that are all of this, as in `mqconform run`.")
    ] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="Count them, section by section.")] = False,
) -> None:
    """List every rule of the catalogue: how it is observed, its tests, its faults, whether it is proven."""
    from harness.proof.inventory import take_inventory
    from harness.rules.naming import document_named, rules_chosen

    inventory = take_inventory()
    if document is not None:
        document = document_named(inventory.catalogue.documents(), document)
    if coverage:
        _show_coverage(inventory, document, format_)
        return
    chosen = rules_chosen(inventory.catalogue, select or [])
    rows = [
        inventory.row(name)
        for name, row in inventory.catalogue.items()
        if name in chosen
        and document in (None, row.document)
        and all(word.lower() in f"{name} {row.title} {row.says}".lower() for word in words or [])
    ]
    if not rows:
        asked = ", ".join([*filter(None, [document]), *(select or []), *(words or [])])
        raise UsageError(f"no rule is all of {asked}; ask for less")
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table("rule", "level", "observe", "checks", "faults", "proven", Column("says", ratio=1), expand=True)
    for row in rows:
        proven = "yes" if row["proven"] else "no" if row["tests"] else "-"
        counts = (str(len(row["tests"])), str(len(row["faults"])))
        table.add_row(row["id"], row["level"], row["observe"], *counts, proven, escape(row["says"]))
    Console().print(table)


def _show_coverage(inventory: Inventory, document: str | None, format_: TableFormat) -> None:
    from harness.rules.coverage import DEMAND, totals

    sections = [one for one in inventory.coverage() if document in (None, one.document)]
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps([asdict(one) for one in sections], indent=1))
        return
    table = Table("section", "level", "rules", "rows", "checked", "proven", "not observable", "open")
    demands = [one for one in sections if one.kind == DEMAND]
    for one in (*demands, *totals(sections)):
        name = f"{one.document} {one.section} {one.title}" if one.section else f"{one.document} in all: {one.kind}"
        still_open = one.rows - one.none - one.checked
        counts = (one.rows, one.catalogued, one.checked, one.proven, one.none, still_open)
        table.add_row(name, one.demand, *(str(count) for count in counts))
    Console().print(table)
    for whole in totals(demands):
        share = 100 * whole.checked / whole.rows
        proven = 100 * whole.proven / whole.checked if whole.checked else 0
        typer.echo(f"{whole.document} {whole.demand} demands: {share:.1f} % checked, {proven:.1f} % of those proven")


@app.command()
def explain(
    rule: Annotated[str, typer.Argument(help="Such as MQQB-3.1.5.4.1-10.")],
    runs: Annotated[list[Path] | None, typer.Option("--run", help="A run folder: its verdicts (repeatable).")] = None,
) -> None:
    """Print all that there is to a rule: demand, section, checks, faults, errata, and the verdicts of runs."""
    from harness.cli.explain import explain as explain_rule
    from harness.proof.inventory import take_inventory

    for line in explain_rule(take_inventory(), rule, runs or []):
        typer.echo(line)


@app.command()
def provision(
    out: Annotated[Path, typer.Option(help="The folder for keys and certificates; it must not be there yet.")],
    peer_address: Annotated[str, typer.Option(help="driver.peer_address of the SUT file.")] = "127.0.0.2",
    peer_identifier: Annotated[str | None, typer.Option(help="driver.peer_identifier, if the file has one.")] = None,
    restricted: Annotated[str, typer.Option(help="queues.restricted.")] = "private$\\mqc-restricted",
) -> None:
    """Write what a SUT with the capability security knows: certificates, keys, users, a queue (qm.toml)."""
    from harness.sut.provisioning import write_provisions
    from harness.sut.sut_file import PEER_IDENTIFIER

    if out.exists():
        raise UsageError(f"{out}: is there already; give another --out")
    try:
        peer = UUID(peer_identifier) if peer_identifier else PEER_IDENTIFIER
    except ValueError:
        raise UsageError(f"--peer-identifier {peer_identifier}: must be a GUID") from None
    text = write_provisions(out, peer, restricted, peer_address)
    (out / "qm.toml").write_text(text, encoding="utf-8")
    typer.echo(f"{out}: keys and certificates, and qm.toml with tables for `mqconform serve --config`")


for _each in (attach, results, certificates, preflight, allure):
    _each.register(app)


def main() -> None:
    """Run the command line; every expected error is one line and exit code 2."""
    for entry in entry_points(group="mqconform.commands"):
        entry.load()(app)
    try:
        app()
    except MqconformError as error:
        typer.echo(f"mqconform: {error}", err=True)
        sys.exit(EXIT_USAGE)
