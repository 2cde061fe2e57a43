"""Writes the page of pairs: the scenarios that two systems ran with each other, and runs with a topology."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from reports.model import Exchange, Pair, get_worst_verdict
from reports.site import names
from reports.site.downloads import write_table
from reports.site.pages import SitePageWriter, get_table_width_class
from reports.text import get_natural_sort_key
from reports.vocabulary import SCENARIO_RESULTS, VERDICT_NAMES


@dataclass(frozen=True, slots=True)
class ShownExchange:
    """An exchange, with its anchor on the page and the path of the copy of its capture."""

    exchange: Exchange
    anchor: str
    capture: str | None


def write_pairs(pages: SitePageWriter) -> None:
    """Write the page of pairs if the lake has a pair of systems or a scenario with two systems."""
    contents = pages.contents
    if contents.pairs or contents.exchanges:
        pages.write(
            "pairs.html", names.PAIRS_PAGE, grid=_build_scenario_grid(pages), topologies=_build_topologies(pages)
        )


def _build_scenario_grid(pages: SitePageWriter) -> dict[str, object]:
    """Return the grid of scenarios. The origins of messages are in rows, their targets in columns, and each cell
    contains the scenarios by result.
    """
    exchanges = sorted(
        pages.contents.exchanges,
        key=lambda one: (get_natural_sort_key(one.origin_name), get_natural_sort_key(one.target_name), one.position),
    )
    shown = [
        ShownExchange(one, f"exchange-{number}", pages.captures.copy_capture(one.pair, one.capture))
        for number, one in enumerate(exchanges, 1)
    ]
    called = {key: name for one in exchanges for key, name in _get_system_names(one).items()}
    systems = sorted(called, key=lambda key: get_natural_sort_key(called[key]))
    cells: dict[tuple[str, str], dict[str, list[ShownExchange]]] = {}
    for each in shown:
        cells.setdefault((each.exchange.origin, each.exchange.target), {}).setdefault(each.exchange.result, []).append(
            each
        )
    columns = ("origin", "origin_name", "target", "target_name", "scenario", "result", "why", "broken", "started")
    if exchanges:
        rows = (tuple(_get_cell_value(one, name) for name in columns) for one in exchanges)
        write_table(pages.site, "exchanges", columns, rows)
    return {
        "called": called,
        "systems": systems,
        "cells": cells,
        "results": tuple(reversed(SCENARIO_RESULTS)),
        "shown": shown,
        "letters": {one.scenario: one.letter for one in sorted(exchanges, key=lambda one: one.position) if one.letter},
        "wide": get_table_width_class(len(systems)),
    }


def _get_system_names(exchange: Exchange) -> dict[str, str]:
    return {exchange.origin: exchange.origin_name, exchange.target: exchange.target_name}


def _get_cell_value(exchange: Exchange, name: str) -> object:
    if name == "broken":
        return " ".join(f"{key}:{rule}" for key, rules in sorted(exchange.broken.items()) for rule in rules)
    return getattr(exchange, name)


def _build_topologies(pages: SitePageWriter) -> dict[str, object]:
    """Return the table of topologies. The systems are in rows, their counterparts in columns, and each cell
    contains the numbers of rules by role and verdict.
    """
    pairs = sorted(
        pages.contents.pairs,
        key=lambda one: (get_natural_sort_key(one.a_name), get_natural_sort_key(one.b_name), one.role),
    )
    called = {key: name for one in pairs for key, name in ((one.a, one.a_name), (one.b, one.b_name))}
    cells: dict[tuple[str, str], list[Pair]] = {}
    sums: dict[str, Counter[str]] = {}
    for one in pairs:
        sums.setdefault(one.a, Counter()).update(one.counts)
        cells.setdefault((one.a, one.b), []).append(one)
    if pairs:
        rows = ((one.a, one.a_name, one.role, one.b, one.b_name, *map(one.counts.get, VERDICT_NAMES)) for one in pairs)
        write_table(pages.site, "pairs", ("a", "a_name", "role", "b", "b_name", *VERDICT_NAMES), rows)
    return {
        "called": called,
        "rows": [(a, get_worst_verdict(counts)) for a, counts in sums.items()],
        "across": sorted({one.b for one in pairs}, key=lambda key: get_natural_sort_key(called[key])),
        "cells": cells,
        "wide": get_table_width_class(len({one.b for one in pairs})),
    }
