"""Combine the results of several pairs of systems in a grid, with a row for each origin and a column for each
target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.pair.outcomes import ScenarioResult
from harness.pair.results import PairResults
from harness.pair.scenarios import SCENARIOS
from harness.printable import one_line

MAX_SHOWN_SYSTEM_NAME_CHARACTERS = 60
"""The maximum length, in characters, of a system's name in a grid."""
RESULTS_WORST_FIRST = (ScenarioResult.FAIL, ScenarioResult.BROKEN, ScenarioResult.UNSUPPORTED, ScenarioResult.PASS)
LETTER_BY_SCENARIO = {one.name: one.letter for one in SCENARIOS}
_TEMPLATE_ENVIRONMENT = Environment(
    loader=PackageLoader("harness.pair", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(slots=True)
class PairGridCell:
    """A cell of the grid, for the messages from one system to the other. It contains the result of each scenario with
    the reason, and the rules that each system broke in the scenarios.
    """

    results: dict[str, ScenarioResult] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    broken: dict[str, set[str]] = field(default_factory=dict)

    def add(self, scenario: str, result: ScenarioResult, why: str) -> None:
        """Add a result of a scenario. If the scenario has several results, only the worst result counts."""
        held = self.results.get(scenario, ScenarioResult.PASS)
        self.results[scenario] = min(held, result, key=RESULTS_WORST_FIRST.index)
        if why:
            self.reasons.setdefault(scenario, []).append(why)

    def join_scenario_letters(self, result: ScenarioResult) -> str:
        """Return the letters of the scenarios that have a result, in the order of SCENARIOS."""
        return "".join(letter for name, letter in LETTER_BY_SCENARIO.items() if self.results.get(name) is result)


@dataclass(slots=True)
class PairResultGrid:
    """The systems in the order of their first appearance, and a cell for each pair of origin and target that
    exchanged messages.
    """

    systems: list[str] = field(default_factory=list)
    cells: dict[tuple[str, str], PairGridCell] = field(default_factory=dict)


def build_grid(results: Iterable[PairResults]) -> PairResultGrid:
    """Return the grid of the results of several pairs of systems."""
    grid = PairResultGrid()
    for one in results:
        for name in one.systems.values():
            if name not in grid.systems:
                grid.systems.append(name)
        for each in one.cells:
            at = one.systems[each.origin], one.systems[each.target]
            cell = grid.cells.setdefault(at, PairGridCell())
            cell.add(each.scenario, each.outcome.result, each.outcome.why)
            for role, rules in each.broken.items():
                cell.broken.setdefault(one.systems[role], set()).update(rules)
    return grid


def list_grid_lines(grid: PairResultGrid) -> Iterator[str]:
    """Yield the lines of the grid as text. A cell shows each result that occurred, with the letters of the scenarios
    that had this result.
    """
    names = {name: one_line(name, MAX_SHOWN_SYSTEM_NAME_CHARACTERS) for name in grid.systems}
    texts = {at: _summarize_cell(cell) for at, cell in grid.cells.items()}
    first = max(len("from \\ to"), *(map(len, names.values())))
    widths = {
        name: max(len(names[name]), *(len(text) for (_, target), text in texts.items() if target == name), 1)
        for name in grid.systems
    }
    yield "  ".join(["from \\ to".ljust(first), *(names[name].ljust(widths[name]) for name in grid.systems)]).rstrip()
    for origin in grid.systems:
        row = [texts.get((origin, target), "-").ljust(widths[target]) for target in grid.systems]
        yield "  ".join([names[origin].ljust(first), *row]).rstrip()
    yield "  ".join(f"{letter} {name}" for name, letter in LETTER_BY_SCENARIO.items())
    for (origin, target), cell in grid.cells.items():
        for system, rules in sorted(cell.broken.items()):
            yield f"{names[origin]} -> {names[target]}: {names[system]} breaks {', '.join(sorted(rules))}"


def _summarize_cell(cell: PairGridCell) -> str:
    found = [f"{result} {letters}" for result in ScenarioResult if (letters := cell.join_scenario_letters(result))]
    if cell.broken:
        found.append(f"rules broken {len(set().union(*cell.broken.values()))}")
    return ", ".join(found)


def build_grid_page(grid: PairResultGrid) -> str:
    """Return the grid as one HTML page, in which texts from systems are escaped."""
    return _TEMPLATE_ENVIRONMENT.get_template("grid.html").render(
        grid=grid,
        results=list(ScenarioResult),
        letters=LETTER_BY_SCENARIO,
        scenarios=SCENARIOS,
        names=_shorten_system_name,
    )


def _shorten_system_name(text: str) -> str:
    return one_line(text, MAX_SHOWN_SYSTEM_NAME_CHARACTERS)
