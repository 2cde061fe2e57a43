"""The command ``mqconform pair``: let two systems exchange messages through relays, and judge both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_NOTHING_JUDGED
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from harness.pair.running import DirectionResult


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(pair)


def pair(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...", help="With --grid: the output folders of earlier `pair` runs.", show_default=False
        ),
    ] = None,
    a: Annotated[Path | None, typer.Option(help="The SUT file of system A.")] = None,
    b: Annotated[Path | None, typer.Option(help="The SUT file of system B.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for captures and results. The folder must be missing or empty."),
    ] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="Run only this scenario. Repeatable.")] = None,
    grid: Annotated[bool, typer.Option("--grid", help="Show the results of earlier `pair` runs as a grid.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="With --grid: also write the grid as an HTML page.")
    ] = None,
) -> None:
    """Let two systems exchange messages through relays of the tester, in both directions, and judge both.

    Exit with 1 when a scenario fails or a system breaks a rule, with 3 when no scenario could run. With --grid, run
    nothing, and show the results of earlier pairs.
    """
    if grid:
        if a or b or out or scenario:
            raise UsageError("--grid shows earlier results; omit --a, --b, --out and --scenario")
        _show_grid_of_pairs(results or [], html)
    elif a is None or b is None or out is None:
        raise UsageError(
            "give --a, --b and --out to run a pair, or --grid and the output folders of earlier `pair` runs"
        )
    elif results or html is not None:
        raise UsageError("folders of earlier results and --html need --grid")
    else:
        _run_pair(a, b, out, scenario or [])


def _show_grid_of_pairs(folders: Sequence[Path], html: Path | None) -> None:
    from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file
    from harness.pair.grid import build_grid, build_grid_page, list_grid_lines
    from harness.pair.results import read_pair_results

    if not folders:
        raise UsageError("--grid: give the folders that `mqconform pair --out` wrote")
    if html is not None:
        require_writable_file(html, "--html")
    grid = build_grid(read_pair_results(folder) for folder in folders)
    for line in list_grid_lines(grid):
        typer.echo(line)
    if html is not None:
        with convert_write_errors_to_usage_errors(html, "--html"):
            html.write_text(build_grid_page(grid), encoding="utf-8")
    cells = grid.cells.values()
    _exit_with_worst_result(
        [result for cell in cells for result in cell.results.values()], broken=any(cell.broken for cell in cells)
    )


def _run_pair(a: Path, b: Path, out: Path, scenario: Sequence[str]) -> None:
    from harness.cli.outputs import convert_write_errors_to_usage_errors, make_folder, require_path_not_to_exist
    from harness.pair.results import write_pair_results
    from harness.pair.running import run_pair
    from harness.pair.scenarios import SCENARIOS
    from harness.pair.systems import PairDrivers
    from harness.rules.catalogue import load_catalogue
    from harness.sut.sut_file import load_sut_file

    known = {one.name: one for one in SCENARIOS}
    for name in scenario:
        if name not in known:
            raise UsageError(f"--scenario {name}: unknown scenario; known: {', '.join(known)}")
    require_path_not_to_exist(out, may_be_empty=True)
    make_folder(out)
    files = load_sut_file(a), load_sut_file(b)
    drivers = PairDrivers(*files, out)
    chosen = [known[name] for name in scenario or known]
    started = datetime.now(UTC)
    with unwind_on_signals():
        try:
            drivers.start()
            cells = run_pair(drivers, out, load_catalogue(), _print_direction_result, chosen)
        finally:
            drivers.stop()
    with convert_write_errors_to_usage_errors(out):
        write_pair_results(out, dict(zip("AB", files, strict=True)), cells, started)
    _exit_with_worst_result([one.outcome.result for one in cells], broken=any(one.broken for one in cells))


def _exit_with_worst_result(results: Sequence[str], *, broken: bool) -> None:
    """Exit with the worst exit code of the given results; return normally if this code is 0."""
    from harness.pair.outcomes import ScenarioResult

    if broken or any(one in (ScenarioResult.FAIL, ScenarioResult.BROKEN) for one in results):
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    if all(one == ScenarioResult.UNSUPPORTED for one in results):
        raise typer.Exit(EXIT_NOTHING_JUDGED)


def _print_direction_result(cell: DirectionResult) -> None:
    why = f": {cell.outcome.why}" if cell.outcome.why else ""
    typer.echo(f"{cell.origin} -> {cell.target}  {cell.scenario:16} {cell.outcome.result}{why}")
    for role, rules in sorted(cell.broken.items()):
        typer.echo(f"    {role} breaks {', '.join(rules)} ({cell.capture})")
