"""The command ``mqconform prove``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.proof.prove import Proof
    from harness.proof.readings import ReadingsRun
    from harness.proof.trials import Trials


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(prove)


def prove(
    rule: Annotated[list[str] | None, typer.Option(help="Only this rule (again and again).")] = None,
    erratum: Annotated[list[str] | None, typer.Option(help="Only the readings of this entry.")] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    record: Annotated[bool, typer.Option(help="Write the proof to suites/proof.json.")] = False,
    changed: Annotated[
        bool,
        typer.Option(help="Only what a change of the suites touched since the recorded proof."),
    ] = False,
    readings: Annotated[
        bool,
        typer.Option(help="Only the readings of errata, each before every check instead of a share of them."),
    ] = False,
) -> None:
    """Show that every check fails on a fault that breaks its rule, and passes whatever the errata leave open."""
    from harness.proof.changed import errata_to_run, folder_digests, to_prove
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
        recorded, digests = load_proof(), folder_digests()
        rule = to_prove(inventory, recorded, digests)
        erratum = errata_to_run(inventory, recorded, digests, rule)
        if not rule and not erratum:
            typer.echo("the suites are as they were when all was proven: 0 rules to prove")
            return

    def work(trials: Trials) -> tuple[Proof | None, ReadingsRun | None]:
        proof = None if readings or (erratum and not rule) else prove_rules(trials, inventory, rule)
        if proof and changed:
            proof.idle.clear()  # a function may be shown to convict by a fault of a rule that was not chosen
        if rule and not erratum:
            return proof, None
        return proof, run_readings(trials, inventory.catalogue, inventory.tests, erratum, every_check=readings)

    proof, readings_run = with_trials(jobs, work)
    for line in (*(report(proof) if proof else ()), *(report_readings(readings_run) if readings_run else ())):
        typer.echo(line)
    if record and proof:
        write_proof(proof.checked, proof.killed, folder_digests())
    raise typer.Exit(0 if all(found.complete for found in (proof, readings_run) if found) else 1)
