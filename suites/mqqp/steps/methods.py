"""Checks that run for several methods of qm2qm, each with the rules of its own section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import pytest

from harness.run.marks import covers


def parametrize_by_method_with_rules(methods: Mapping[str, Mapping[str, Sequence[str]]]) -> pytest.MarkDecorator:
    """Return a decorator that runs a check for several methods, each with the rules of the method's own section. The
    rules of each method are grouped by the part of the check that judges them.
    """
    return pytest.mark.parametrize(
        ("by", "rules"),
        [
            pytest.param(by, rules, marks=covers(*dict.fromkeys(chain.from_iterable(rules.values()))), id=by)
            for by, rules in methods.items()
        ],
    )
