"""Closes the verdict files that tests of the harness have opened."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness_made import OPEN


@pytest.fixture(autouse=True)
def _close_logs() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
