"""Define the marks of checks. A mark states which rules a check judges, which capabilities and facilities it needs,
or which parameters it varies.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.errors import HarnessError
from harness.varying.parameters import PARAMETERS


def covers(*rules: str) -> pytest.MarkDecorator:
    """Mark a check with the complete ids of the rules that it judges, such as ``MQQB-3.1.5.8.1-01``. A failure of
    the check cites the sentences of these rules. After ``make tags``, an editor can jump from an id to its row in
    rules.toml.
    """
    return pytest.mark.covers(*rules)


def sut_survives(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that the system must survive. The tester requests a session before and after the check. If the
    system answers before the check but not after it, the given rules fail or, if no rules are given, all rules that
    the check covers.
    """
    return pytest.mark.sut_survives(*rules)


def malforms(*rules: str) -> pytest.MarkDecorator:
    """Mark a check whose peer deliberately sends packets that break the given MUST rules. ``prove`` permits no other
    check to break a MUST rule.
    """
    return pytest.mark.malforms(*rules)


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a check with the capabilities and facilities that the check needs."""
    return pytest.mark.needs(*names)


def varied(*parameters: str, **values: Sequence[str]) -> pytest.MarkDecorator:
    """Mark a check whose rules hold for every value of the given parameters (``harness/varying/parameters.py``).

    The check runs once with default values, and again with each row of a covering array. In these runs, messages,
    queues and reads take the values of the row wherever the check gives no value. ``values`` limits a parameter to
    some of its values; ``_`` stands for a space in them.
    """
    chosen = {name: [value.name for value in PARAMETERS.get(name, ())] for name in parameters}
    chosen |= {name.replace("_", " "): list(names) for name, names in values.items()}
    for name, names in chosen.items():
        known = [value.name for value in PARAMETERS.get(name, ())]
        if not names or not set(names) <= set(known):
            raise HarnessError(f"@varied: {name} has no values {', '.join(names) or 'at all'}; known: {known}")
    return pytest.mark.varied(chosen)
