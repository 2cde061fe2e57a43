"""The time limit for the computation of a check."""

from __future__ import annotations

import signal

import pytest

from harness.errors import EndlessComputation
from harness.run.computing import limit_computing_time


def test_endless_computation_is_interrupted_and_the_next_has_its_own_limit() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    for _ in range(2):
        with (
            pytest.raises(EndlessComputation, match="computation has not ended after 0 s of CPU time"),
            limit_computing_time(0.02),
        ):
            while True:
                pass
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_repeated_endless_computation_is_interrupted_each_time() -> None:
    ended = 0
    with limit_computing_time(0.02):
        while ended < 3:
            try:
                while True:
                    pass
            except EndlessComputation:
                ended += 1
