"""A plugin for ``PYTEST_PLUGINS``: a run that a test will kill does not end before the kill, even if the test acts
late.

MQ_HOLD has the form ``N:FILE``: each process waits in its Nth check until FILE exists.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from patience import until

AFTER, _, GO = os.environ["MQ_HOLD"].partition(":")
begun = itertools.count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    if next(begun) == int(AFTER):
        until(Path(GO).exists, "the end of the hold")
