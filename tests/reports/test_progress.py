"""What a long command says."""

import io

import pytest

from reports.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def said(out, times):
    clock = iter([0.0, *times])
    progress = Progress("rollup", out, lambda: next(clock))
    for done, _ in enumerate(times):
        progress("pages of rules", done, 10)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("out", [Terminal, io.StringIO])
def test_a_short_command_says_nothing(out):
    assert said(out(), [1.0, 2.0, 4.9]) == []


def test_a_terminal_hears_the_stage_and_the_time_that_is_left():
    assert said(Terminal(), [0.0, 4.0, 8.0])[-1] == (
        "mqconform rollup: pages of rules, 2 of 10, about 32 s left, 8 s so far"
    )


def test_a_pipe_hears_a_line_a_minute():
    lines = said(io.StringIO(), [float(second) for second in range(0, 200, 2)])
    assert [line.rpartition(", ")[2] for line in lines] == ["6 s so far", "66 s so far", "2 min so far", "3 min so far"]


def test_a_terminal_is_not_flooded():
    assert len(said(Terminal(), [5 + step / 100 for step in range(200)])) <= 3
