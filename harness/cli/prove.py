"""The command ``mqconform prove``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.proof.prove import ProofResults
    from harness.proof.readings import VariantRunResults
    from harness.proof.trials import RepeatableTrialRunner


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(prove)


def prove(
    rule: Annotated[list[str] | None, typer.Option(help="Prove only this rule. Repeatable.")] = None,
    erratum: Annotated[
        list[str] | None,
        typer.Option(help="Run checks only on the readings (interpretations) of this erratum. Repeatable."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="The number of worker processes.")] = 2,
    record: Annotated[bool, typer.Option(help="Write the proof to suites/proof.json.")] = False,
    changed: Annotated[
        bool,
        typer.Option(help="Prove only the rules that are affected by changes since the recorded proof."),
    ] = False,
    readings: Annotated[
        bool,
        typer.Option(help="Prove no rule: run checks only on the readings (interpretations) of errata, one at a time."),
    ] = False,
) -> None:
    """Show that each check fails on a reference with a fault that breaks a rule of the check, and passes on a reference
    that follows any allowed interpretation of an erratum.
    """
    from harness.proof.changed import compute_folder_digests, list_errata_to_run, list_rules_to_prove
    from harness.proof.inventory import take_inventory
    from harness.proof.prove import prove as prove_rules
    from harness.proof.prove import report_proof
    from harness.proof.readings import list_wrong_reading_verdicts, run_readings, summarize_readings
    from harness.proof.trials import run_with_trials
    from harness.rules.naming import find_rule_id
    from harness.rules.proof_record import load_proof, write_proof

    _refuse_contradictory_options(
        some=bool(rule or erratum), rule=bool(rule), record=record, changed=changed, only=readings
    )
    inventory = take_inventory()
    rule = [find_rule_id(inventory.catalogue, name) for name in rule or []] or None
    unknown = [name for name in erratum or [] if name not in inventory.catalogue.errata]
    if unknown:
        raise UsageError(f"unknown erratum {unknown[0]}; suites/errata.toml lists all errata")

    if changed:
        recorded, digests = load_proof(), compute_folder_digests()
        rule = list_rules_to_prove(inventory, recorded, digests)
        erratum = list_errata_to_run(inventory, recorded, digests)
        if not rule and not erratum:
            typer.echo("the suites are unchanged since the recorded proof: 0 rules to prove")
            return

    def prove_with_progress(trials: RepeatableTrialRunner) -> tuple[ProofResults | None, VariantRunResults]:
        proof = None if readings or (erratum and not rule) else prove_rules(trials, inventory, rule)
        if proof and changed:
            proof.checks_that_never_fail_rule.clear()  # a function may fail on a fault of a rule that was not selected
        checks = [check for check in trials.checks if check in covering]
        return proof, run_readings(trials, inventory.catalogue, errata=chosen, checks=checks, apart=readings)

    chosen = (erratum or []) if rule or erratum else None
    covering = {check for one in rule or () for check in inventory.checks_by_rule.get(one, ())}
    every = changed or erratum or not rule or not inventory.passive.isdisjoint(rule)
    files = set() if every else {check.partition("::")[0] for check in covering}
    proof, readings_run = run_with_trials(jobs, prove_with_progress, sorted(files) or ["suites"])
    for line in list_wrong_reading_verdicts(readings_run, proof.failing_verdicts_by_fault if proof else {}):
        typer.echo(line)
    for line in report_proof(proof) if proof else ():
        typer.echo(line)
    if chosen != []:
        typer.echo(summarize_readings(readings_run))
    if record and proof:
        write_proof(proof.checked_rules, proof.killed_faults_by_rule, compute_folder_digests())
    raise typer.Exit(0 if all(found.complete for found in (proof, readings_run) if found) else 1)


def _refuse_contradictory_options(*, some: bool, rule: bool, record: bool, changed: bool, only: bool) -> None:
    if record and (some or changed):
        raise UsageError(
            "--record needs the proof of all rules: omit --rule, --erratum and --changed, or omit --record"
        )
    if only and (rule or record or changed):
        raise UsageError("--readings proves no rule: omit --rule, --record and --changed")
    if changed and some:
        raise UsageError("--changed selects the rules: omit --rule and --erratum")
