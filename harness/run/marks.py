"""Marks of a check: the rules that it judges and what it cannot do without."""

from __future__ import annotations

import pytest


def covers(*rules: str) -> pytest.MarkDecorator:
    """Mark a check with the ids of the rules of the catalogue that it judges, whole: ``MQQB-3.1.5.8.1-01``.

    A failure cites their sentences. An editor looks them up after ``make tags``, and leads from an id to its row.
    """
    return pytest.mark.covers(*rules)


def goes_on(*rules: str) -> pytest.MarkDecorator:
    """Mark a check of something that a system has to put up with: it must be alive before and afterwards.

    When it was, and is not any more, these rules fail; without any, all that the check covers.
    """
    return pytest.mark.goes_on(*rules)


def malforms(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that breaks rules of level MUST with packets of its own; ``prove`` allows no others."""
    return pytest.mark.malforms(*rules)


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a check with the capabilities and facilities that it cannot do without."""
    return pytest.mark.needs(*names)
