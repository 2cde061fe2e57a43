"""What a long command says."""

import io
import os

import pytest

from reports.progress import Progress, _format_seconds


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
def test_short_command_prints_no_progress(out):
    assert said(out(), [1.0, 2.0, 4.9]) == []


def test_a_terminal_hears_the_stage_and_the_time_that_is_left_on_one_line():
    assert said(Terminal(), [0.0, 4.0, 8.0])[-1] == (
        "\x1b[2Kmqconform rollup: pages of rules, 2 of 10, about 32 s left, 8 s so far"
    )


def test_a_line_is_no_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    (line,) = said(Terminal(), [9.0])[1:]
    assert line.endswith("…")
    assert len(line.removeprefix("\x1b[2K")) < 40


def test_a_pipe_hears_a_line_each_half_minute():
    lines = said(io.StringIO(), [float(second) for second in range(0, 130, 2)])
    assert [line.rpartition(", ")[2] for line in lines] == [
        "6 s so far",
        "36 s so far",
        "66 s so far",
        "1 min 36 s so far",
        "2 min 6 s so far",
    ]


def test_what_is_said_while_java_has_the_standard_streams_is_heard(monkeypatch, tmp_path):
    heard, java = tmp_path / "stderr", tmp_path / "java.log"
    times = iter([0.0])
    with heard.open("w") as stderr, java.open("w") as log:
        monkeypatch.setattr("sys.stderr", stderr)
        with Progress("rollup", clock=lambda: next(times, 9.0)) as progress:
            os.dup2(log.fileno(), stderr.fileno())
            progress("starting Java")
    assert heard.read_text() == "mqconform rollup: starting Java, 9 s so far\n"
    assert java.read_text() == ""


def test_hours_and_minutes_are_in_words():
    assert [_format_seconds(each) for each in (0, 89.4, 90, 599, 3_000, 7_300)] == [
        *("0 s", "89 s", "1 min 30 s", "9 min 59 s", "50 min", "2 h 2 min"),
    ]


def test_a_terminal_is_not_flooded():
    assert len(said(Terminal(), [5 + step / 100 for step in range(200)])) <= 4


def test_a_command_that_rests_is_quiet_and_begins_anew():
    clock = iter([0.0, 9.0, 50.0, 54.0, 56.0])
    out = io.StringIO()
    progress = Progress("rollup", out, lambda: next(clock))
    progress("one look")
    progress.rest()
    progress._print_line(99.0)
    for _ in range(3):
        progress("another look")
    assert [line.rpartition(", ")[2] for line in out.getvalue().splitlines()] == ["9 s so far", "6 s so far"]


@pytest.mark.parametrize(("out", "end"), [(Terminal, "\r\x1b[2K"), (io.StringIO, "so far\n")])
def test_a_stage_that_says_nothing_is_heard_of_and_the_line_is_erased(monkeypatch, out, end):
    monkeypatch.setattr("reports.progress.WATCHED_S", 0.01)
    clock = iter([0.0, 1.0, *map(float, range(9, 10_000))])
    heard = out()
    with Progress("rollup", heard, lambda: next(clock)) as progress:
        progress("one job of Spark's")
        while "so far" not in heard.getvalue():
            progress._ended.wait(0.01)
    assert "one job of Spark's, " in heard.getvalue()
    assert heard.getvalue().endswith(end)
