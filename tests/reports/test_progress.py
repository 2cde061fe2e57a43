"""The progress reports of a long command."""

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


def test_terminal_shows_stage_and_remaining_time_on_one_line():
    assert said(Terminal(), [0.0, 4.0, 8.0])[-1] == (
        "\x1b[2Kmqconform rollup: pages of rules, 2 of 10, about 32 s left, 8 s so far"
    )


def test_progress_line_fits_terminal_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    (line,) = said(Terminal(), [9.0])[1:]
    assert line.endswith("…")
    assert len(line.removeprefix("\x1b[2K")) < 40


def test_pipe_gets_a_progress_line_each_half_minute():
    lines = said(io.StringIO(), [float(second) for second in range(0, 130, 2)])
    assert [line.rpartition(", ")[2] for line in lines] == [
        "6 s so far",
        "36 s so far",
        "66 s so far",
        "1 min 36 s so far",
        "2 min 6 s so far",
    ]


def test_progress_is_printed_while_java_uses_standard_streams(monkeypatch, tmp_path):
    heard, java = tmp_path / "stderr", tmp_path / "java.log"
    times = iter([0.0])
    with heard.open("w") as stderr, java.open("w") as log:
        monkeypatch.setattr("sys.stderr", stderr)
        with Progress("rollup", clock=lambda: next(times, 9.0)) as progress:
            os.dup2(log.fileno(), stderr.fileno())
            progress("starting Java")
    assert heard.read_text() == "mqconform rollup: starting Java, 9 s so far\n"
    assert java.read_text() == ""


def test_durations_are_formatted_in_hours_and_minutes():
    assert [_format_seconds(each) for each in (0, 89.4, 90, 599, 3_000, 7_300)] == [
        *("0 s", "89 s", "1 min 30 s", "9 min 59 s", "50 min", "2 h 2 min"),
    ]


def test_progress_updates_on_terminal_are_limited():
    assert len(said(Terminal(), [5 + step / 100 for step in range(200)])) <= 4


def test_resting_progress_is_silent_until_next_stage():
    clock = iter([0.0, 9.0, 50.0, 54.0, 56.0])
    out = io.StringIO()
    progress = Progress("rollup", out, lambda: next(clock))
    progress("one look")
    progress.pause()
    progress._print_line(99.0)
    for _ in range(3):
        progress("another look")
    assert [line.rpartition(", ")[2] for line in out.getvalue().splitlines()] == ["9 s so far", "6 s so far"]


@pytest.mark.parametrize(("out", "end"), [(Terminal, "\r\x1b[2K"), (io.StringIO, "so far\n")])
def test_long_silent_stage_is_reported_and_line_is_erased(monkeypatch, out, end):
    monkeypatch.setattr("reports.progress.TERMINAL_INTERVAL_S", 0.01)
    clock = iter([0.0, 1.0, *map(float, range(9, 10_000))])
    heard = out()
    with Progress("rollup", heard, lambda: next(clock)) as progress:
        progress("one job of Spark's")
        while "so far" not in heard.getvalue():
            progress._ended.wait(0.01)
    assert "one job of Spark's, " in heard.getvalue()
    assert heard.getvalue().endswith(end)
