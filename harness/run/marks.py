"""Marks of a check: the rules that the check judges, and the capabilities and facilities that the check needs."""

from __future__ import annotations

import pytest


def covers(*rules: str) -> pytest.MarkDecorator:
    """Mark a check with the ids of the rules of the catalogue that it judges, whole: ``MQQB-3.1.5.8.1-01``.

    A failure cites the sentences of these rules. After ``make tags`` an editor leads from an id to its row.
    """
    return pytest.mark.covers(*rules)


def sut_survives(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that the system must survive: the tester asks it for a session before and after the check.

    A system that answers before the check and not after it fails these rules; without arguments, all rules that the
    check covers.
    """
    return pytest.mark.sut_survives(*rules)


def malforms(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that breaks rules of level MUST with packets of its own; ``prove`` allows no others."""
    return pytest.mark.malforms(*rules)


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a check with the capabilities and facilities that the check needs."""
    return pytest.mark.needs(*names)
