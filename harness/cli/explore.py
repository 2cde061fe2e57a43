"""The command ``mqconform explore``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.outputs import make_folder
from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_TOO_FEW_CHECKS
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.explore.explored import AreaExplorer, ExplorationResult
    from harness.explore.walk import Walk


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(explore)


def explore(
    sut: Annotated[Path, typer.Option(help="The TOML file that describes the system under test.")],
    area: Annotated[
        str, typer.Option(help="The area to explore: client, connecting, queues, remote, sessions or transfer.")
    ] = "queues",
    steps: Annotated[int, typer.Option(help="The number of steps to take.")] = 10_000,
    minutes: Annotated[
        float | None, typer.Option(help="End after this number of minutes, even with fewer steps.")
    ] = None,
    seed: Annotated[
        str, typer.Option(help="The seed of the random steps: any text. A different text gives different steps.")
    ] = "1",
    replay: Annotated[
        Path | None, typer.Option(help="Repeat the steps in this file instead of taking random steps.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to which a diverging sequence of steps is saved.")] = Path(
        "out/explore"
    ),
) -> None:
    """Take random steps on the system and on a model of the required behavior, and compare everything visible after
    each step.

    Exit with 1 when the system and the model differ: the shortest sequence found is printed and saved. Exit with 5 when
    a transition of the model was never taken.
    """
    from harness.explore.areas import AREA_BY_NAME
    from harness.explore.explored import AreaExplorer
    from harness.explore.findings import load_steps
    from harness.sut.drivers import create_driver, start_all_suts
    from harness.sut.sut_file import load_sut_file

    sequence = None if replay is None else load_steps(replay)
    chosen = area if sequence is None else sequence.area
    if chosen not in AREA_BY_NAME:
        raise UsageError(f"--area {chosen}: unknown area; known: {', '.join(AREA_BY_NAME)}")
    file = load_sut_file(sut)
    make_folder(out)
    driver = create_driver(file, out)
    with unwind_on_signals():
        start_all_suts([driver])
        try:
            explorer = AreaExplorer(driver, AREA_BY_NAME[chosen])
            if sequence is not None:
                _replay_walk(explorer.replay_steps(sequence.steps), chosen)
            else:
                _explore_and_save(explorer, chosen, steps, minutes, seed, out, driver.file.sut.name)
        finally:
            driver.stop()


def _explore_and_save(
    explorer: AreaExplorer, area: str, steps: int, minutes: float | None, seed: str, out: Path, system: str
) -> None:
    from harness.cli.progress import show_progress
    from harness.explore.explored import ExplorationLimits
    from harness.explore.findings import save_walk

    with show_progress("steps") as progress:
        found = explorer.explore(ExplorationLimits(steps, minutes, seed), progress)
    for line in _count_steps(found):
        typer.echo(line)
    if found.diverging_walk is not None:
        path = out / f"{area}-{found.seed}.json"
        save_walk(path, area, system, found.seed, found.diverging_walk)
        for line in _describe_walk(found.diverging_walk, area):
            typer.echo(line)
        typer.echo(f"the sequence is saved in {path}")
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    if found.untaken_transitions:
        raise typer.Exit(EXIT_TOO_FEW_CHECKS)


def _replay_walk(walk: Walk, area: str) -> None:
    if walk.divergence is None:
        typer.echo(f"{len(walk.steps)} steps: the system behaves like the model")
        return
    for line in _describe_walk(walk, area):
        typer.echo(line)
    raise typer.Exit(EXIT_NOT_CONFORMANT)


def _count_steps(found: ExplorationResult) -> Iterator[str]:
    """Yield the number of steps of each transition, and the transitions without steps."""
    for name, number in sorted(found.step_count_by_transition.items()):
        yield f"{number:>8,}  {name}"
    yield f"{found.step_count_by_transition.total():>8,}  steps"
    for name, needs in sorted(found.missing_needs_by_transition.items()):
        yield f"transition not tried: {name}, because the system does not provide {', '.join(needs)}"
    if found.untaken_transitions and found.diverging_walk is None:
        yield f"transitions never taken: {', '.join(found.untaken_transitions)}; increase --steps"


def _describe_walk(walk: Walk, area: str) -> Iterator[str]:
    from harness.explore.areas import AREA_BY_NAME
    from harness.explore.findings import describe_walk
    from harness.rules.catalogue import load_catalogue

    return describe_walk(
        walk, AREA_BY_NAME[area].model_class, {name: rule.says for name, rule in load_catalogue().items()}
    )
