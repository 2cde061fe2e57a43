"""Puts the helpers of tests/unit/core on the import path of the tests of queues."""

import sys
from pathlib import Path

import pytest

CORE = str(Path(__file__).parents[1] / "core")
if CORE not in sys.path:
    sys.path.append(CORE)

from queueing_made import Reads, one_host, open_  # noqa: E402  tests/unit/core is on the path only now


@pytest.fixture
def host():
    return one_host()


@pytest.fixture
def reads(host):
    return Reads(host)


@pytest.fixture
def descriptor(host):
    return open_(host)
