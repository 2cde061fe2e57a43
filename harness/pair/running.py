"""Run all scenarios in both directions. Each scenario has a capture, in which passive predicates judge the packets
of both systems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import ConformanceFailure, SutUnavailable
from harness.foreign.check import check_capture
from harness.foreign.findings import build_findings
from harness.judging.verdicts import Verdict
from harness.pair.outcomes import ScenarioOutcome, ScenarioResult
from harness.pair.scenarios import SCENARIOS, Scenario, find_missing_facilities
from harness.pair.systems import ROLE_OF_SYSTEM_A, ROLE_OF_SYSTEM_B, PairDrivers, PairOfSystems
from harness.rules.catalogue import Catalogue
from harness.sut.control import Unsupported

ORIGIN_AND_TARGET_ROLES_OF_BOTH_DIRECTIONS = (
    (ROLE_OF_SYSTEM_A, ROLE_OF_SYSTEM_B),
    (ROLE_OF_SYSTEM_B, ROLE_OF_SYSTEM_A),
)


@dataclass(slots=True)
class DirectionResult:
    """The result of a scenario in one direction. It consists of the outcome, the capture, and the rules that each
    system broke in the capture.
    """

    scenario: str
    origin: str
    target: str
    outcome: ScenarioOutcome
    capture: str = ""
    broken: dict[str, list[str]] = field(default_factory=dict)


def run_pair(
    drivers: PairDrivers,
    out: Path,
    catalogue: Catalogue,
    report: Callable[[DirectionResult], None],
    scenarios: Iterable[Scenario] = SCENARIOS,
) -> list[DirectionResult]:
    """Run the scenarios of a pair. ``report`` is called with each result. Captures are written to the folder
    ``out``.
    """
    cells = []
    for scenario in scenarios:
        for origin, target in ORIGIN_AND_TARGET_ROLES_OF_BOTH_DIRECTIONS:
            cell = _run_scenario_in_direction(drivers, out, catalogue, scenario, origin, target)
            report(cell)
            cells.append(cell)
    return cells


def _run_scenario_in_direction(
    drivers: PairDrivers, out: Path, catalogue: Catalogue, scenario: Scenario, origin: str, target: str
) -> DirectionResult:
    name = f"{scenario.name.replace(' ', '-')}-{origin}-{target}"
    capture = out / f"{name}.pcapng"
    identifiers = {}
    with drivers.open_pair(name, capture) as pair:
        identifiers = {one.sut.guid: role for role, one in pair.sides.items()}
        outcome = find_missing_facilities(scenario, pair.sides[origin], pair.sides[target]) or run_scenario(
            scenario, pair, origin, target
        )
    cell = DirectionResult(scenario.name, origin, target, outcome)
    if capture.is_file():
        cell.capture = capture.name
        for finding in build_findings(check_capture(capture, catalogue)):
            roles = {identifiers[one] for one in finding.system.identifiers if one in identifiers}
            rules = [one.rule for one in finding.of(Verdict.FAIL)]
            for role in roles if rules else ():
                cell.broken[role] = sorted({*cell.broken.get(role, []), *rules})
    return cell


def run_scenario(scenario: Scenario, pair: PairOfSystems, origin: str, target: str) -> ScenarioOutcome:
    """Run a scenario; return its outcome, even if the scenario ends early."""
    try:
        return scenario.run(pair, pair.sides[origin], pair.sides[target])
    except Unsupported as error:
        return ScenarioOutcome(ScenarioResult.UNSUPPORTED, str(error))
    except (ConformanceFailure, SutUnavailable) as error:
        return ScenarioOutcome(ScenarioResult.BROKEN, str(error))
