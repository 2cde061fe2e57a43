"""Read the marks of collected checks: the rules that each check covers, and the capabilities that it needs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from harness.paths import SUITES


def get_check_id(item: pytest.Item) -> str | None:
    """Return the id of a check, ``suites/<document>/<section>/<module>::<name>``, or None for a test outside the
    suites.
    """
    return _build_check_id(item.path, item.nodeid)


@lru_cache(maxsize=4096)
def _build_check_id(path: Path, nodeid: str) -> str | None:
    if not path.is_relative_to(SUITES):
        return None
    return f"suites/{path.relative_to(SUITES).as_posix()}::{nodeid.split('::', 1)[1]}"


def explain_missing_collection(report: pytest.CollectReport) -> str:
    """Return a one-line message about the exception that prevented the import of a file of checks. The message names
    the file and contains the text of the exception.
    """
    lines = str(report.longrepr).splitlines()
    said = [line[1:].strip() for line in lines if line.startswith("E ")] or [line for line in lines if line.strip()]
    return f"suites/{report.nodeid}: {said[-1] if said else 'cannot be read'}; correct or remove the file"


def find_covered_rules(item: pytest.Item) -> tuple[str, ...]:
    """Return the rules that a check covers, in the order of its marks."""
    rules = [rule for marker in item.iter_markers("covers") for rule in marker.args]
    return tuple(dict.fromkeys(rules))


def find_malformed_rules(item: pytest.Item) -> frozenset[str]:
    """Return the rules that the peer of a check deliberately breaks with its packets."""
    return frozenset(rule for marker in item.iter_markers("malforms") for rule in marker.args)


def find_needs(item: pytest.Item) -> tuple[str, ...]:
    """Return the capabilities and facilities that a check needs, in the order of its marks."""
    needs = [need for marker in item.iter_markers("needs") for need in marker.args]
    return tuple(dict.fromkeys(needs))


def find_varied_parameters(item: pytest.Item) -> dict[str, list[str]]:
    """Return the parameters that a check varies, with the names of their values. The first name of each parameter
    is its default value.
    """
    marker = item.get_closest_marker("varied")
    return dict(marker.args[0]) if marker is not None else {}


def needs_sut_alone(item: pytest.Item) -> bool:
    """Return whether a check affects other checks on the same SUT, so that it must run alone."""
    from harness.sut.worker_configurations import NEEDS_THAT_FORBID_OTHER_WORKERS

    return not NEEDS_THAT_FORBID_OTHER_WORKERS.isdisjoint(find_needs(item))


def needs_known_peer(item: pytest.Item) -> bool:
    """Return whether a check needs a SUT that was configured for the peer of the check, for example with a route to the
    peer.
    """
    from harness.sut.sut_file import KNOWN_PEER_CAPABILITIES

    return not KNOWN_PEER_CAPABILITIES.isdisjoint(find_needs(item))
