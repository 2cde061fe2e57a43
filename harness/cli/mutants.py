"""The command ``mqconform mutants``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.outputs import make_folder

if TYPE_CHECKING:
    from harness.mutation.mutants import Mutant
    from harness.proof.mutants import MutantRunOutcome


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(mutants)


def mutants(
    jobs: Annotated[int, typer.Option(help="The number of worker processes.")] = 2,
    sample: Annotated[
        int, typer.Option(help="The number of mutants to select, spread evenly over the functions; 0 selects all.")
    ] = 3000,
    seed: Annotated[
        str, typer.Option(help="The seed of the selection: any text. A different text selects different mutants.")
    ] = "1",
    limit: Annotated[int | None, typer.Option(help="The maximum number of mutants to run in this call.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Select only mutants of files or functions with this name. Repeatable.")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            help="The maximum number of checks to try on each mutant. Checks that run the least code are tried first."
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(help="Run surviving mutants again, except those that suites/mutants.toml lists as undetectable."),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="Print the selected mutants without running them.")] = False,
    out: Annotated[
        Path, typer.Option(help="The folder of results. Mutants with a result in this folder are not run again.")
    ] = Path("out/mutants"),
) -> None:
    """Change the code of the reference in many places, one at a time, and list the changes that no check finds."""
    from harness.mutation.mutants import list_all_mutants, select_evenly
    from harness.proof.mutants import (
        SURVIVING_MUTANTS_FILE,
        MutantTally,
        describe_change,
        load_effectless_mutants,
        report_mutants,
        run_mutants,
        select_mutants,
    )
    from harness.proof.trials import run_with_trials

    def print_outcome(mutant: Mutant, outcome: MutantRunOutcome) -> None:
        typer.echo(f"{outcome.fate} {mutant.name} {outcome.seconds} s", err=True)

    if not list_:
        make_folder(out)
    everything = list_all_mutants()
    chosen = select_mutants(select_evenly(everything, sample or len(everything), seed), only or [])
    effectless, complaints = load_effectless_mutants(everything)
    if list_:
        for mutant in chosen:
            typer.echo(f"{mutant.name}: {describe_change(mutant)}")
        return
    outcomes = run_with_trials(
        jobs,
        lambda trials: run_mutants(
            trials, chosen, out, again=again, effectless=effectless, limit=limit, most=most, progress=print_outcome
        ),
    )
    lines = list(report_mutants(MutantTally(chosen, outcomes, effectless, complaints)))
    (out / SURVIVING_MUTANTS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in lines:
        typer.echo(line)
