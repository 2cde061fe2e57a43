"""Define the marks of checks: the rules that a check judges, and the capabilities and facilities that it needs."""

from __future__ import annotations

import pytest


def covers(*rules: str) -> pytest.MarkDecorator:
    """Mark a check with the complete ids of the rules that it judges, such as ``MQQB-3.1.5.8.1-01``. A failure cites
    the sentences of these rules. After ``make tags``, an editor finds the row of an id.
    """
    return pytest.mark.covers(*rules)


def sut_survives(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that the system must survive: the tester requests a session before and after the check. A system
    that answers before the check, but not after it, fails the given rules, or, without arguments, all rules that the
    check covers.
    """
    return pytest.mark.sut_survives(*rules)


def malforms(*rules: str) -> pytest.MarkDecorator:
    """Mark a check that breaks these MUST rules with packets of the peer on purpose; ``prove`` permits no other check
    to break a MUST.
    """
    return pytest.mark.malforms(*rules)


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a check with the capabilities and facilities that the check needs."""
    return pytest.mark.needs(*names)
