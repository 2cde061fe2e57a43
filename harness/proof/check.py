"""Define a description of a check for the proof. It contains the id, rules and needs of the check, but no code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_NO_VARIED_PARAMETERS: Mapping[str, Sequence[str]] = {}


class CheckDescription(NamedTuple):
    """The description of a check. Each parameter set of a function is a separate check. ``id``:
    ``suites/<document>/<section>/<module>::<name>``. ``covered_rules``: the rules that the check judges. ``needs``: the
    capabilities and facilities that the check requires. ``varied_parameters``: the values of each parameter that the
    check varies.
    """

    id: str
    covered_rules: list[str]
    needs: list[str]
    varied_parameters: Mapping[str, Sequence[str]] = _NO_VARIED_PARAMETERS
