"""Measures the costs of commands, in CPU seconds and as multiples of the cost of a fixed computation (the
yardstick) that is measured at the same time.

``python -m benchmarks.commands`` compares the costs with the recorded figures, and exits with 1 if a figure has
increased by more than a fifth. ``python -m benchmarks.commands --keep`` records the figures. ``--short`` omits the
commands that take minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.cpu import measure_cpu_s, measure_yardstick_s
from benchmarks.kept import KEPT_FILE, Figure, compare, read_kept, write_kept
from harness.errors import MqconformError
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT

MQCONFORM = str(Path(sys.executable).with_name("mqconform"))
MAKE_TEST = "make test"
TEST_COSTS = Path("out/test-costs")


@dataclass(frozen=True, slots=True)
class Command:
    """A measured command, with its arguments and its maximum cost."""

    arguments: str
    wanted_cpu_s: float
    runs: int = 5
    warm_ups: int = 1

    @property
    def is_short(self) -> bool:
        """Return whether the command takes only seconds, so that the benchmark runs it several times."""
        return self.runs > 1


SUT = "--sut SUT --out OUT"  # both words are replaced by paths in a temporary folder
COMMANDS = {
    # The command is so short that single runs differ by a fifth.
    "mqconform --version": Command("--version", 0.15, runs=15),
    "mqconform serve --help": Command("serve --help", 0.4),
    "mqconform explain ID": Command("explain MQQB-3.1.5.4.1-10", 0.3),
    "mqconform run --rule ID": Command(f"run --rule MQQB-3.1.5.5.5-01 {SUT}", 1.0),
    "mqconform run, all suites": Command(f"run {SUT}", 28, runs=1),
    # The command takes minutes, and the suites' run has warmed its files.
    "mqconform prove": Command("prove --jobs 2", 400, runs=1, warm_ups=0),
}
MAKE_TEST_WANTED_CPU_S = 450


def measure() -> Iterator[str]:
    """Measure all commands."""
    for name, figure in measure_commands():
        yield f"{name}: {figure}"


def measure_commands(*, short: bool = False) -> Iterator[tuple[str, Figure]]:
    """Measure each command, or with ``--short`` each short command. For `make test`, use the recorded cost of its
    last run.
    """
    for name, command in COMMANDS.items():
        if command.is_short or not short:
            yield name, measure_command(command)
    test_cpu_s = read_last_test_cpu_s(TEST_COSTS, os.environ.get("MQ_TRACKS", "").split())
    if test_cpu_s is not None and not short:
        yield (
            MAKE_TEST,
            build_figure(test_cpu_s, median(measure_yardstick_s() for _ in range(3)), MAKE_TEST_WANTED_CPU_S),
        )


def measure_command(command: Command) -> Figure:
    """Measure the cost of one command: the median cost of its runs, divided by the median cost of the yardsticks
    that run between them.
    """
    for _ in range(command.warm_ups):
        _run(command)
    yardsticks, spent = [measure_yardstick_s()], []
    for _ in range(command.runs):
        spent.append(_run(command))
        yardsticks.append(measure_yardstick_s())
    return build_figure(median(spent), median(yardsticks), command.wanted_cpu_s)


def build_figure(spent_s: float, yardstick: float, wanted_cpu_s: float) -> Figure:
    """Return a figure with the present date and a description of this machine."""
    machine = f"{_processor()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    return Figure(spent_s / yardstick, spent_s, wanted_cpu_s, f"{datetime.date.today()}, {machine}")


def read_last_test_cpu_s(folder: Path, tracks: list[str]) -> float | None:
    """Return the cost of the last `make test`, or None if one of its tracks has not finished."""
    costs = [folder / f"{track}.json" for track in tracks]
    if not costs or not all(path.exists() for path in costs):
        return None
    return sum(sum(json.loads(path.read_text(encoding="utf-8")).values()) for path in costs)


def keep_figures(*, short: bool) -> None:
    """Write the figure of each command as soon as it is measured. The figures of commands that are not measured
    stay unchanged.
    """
    kept = read_kept(KEPT_FILE) if KEPT_FILE.exists() else {}
    for name, now in measure_commands(short=short):
        print(f"{name}: {now}", flush=True)
        kept[name] = now
        write_kept(kept, KEPT_FILE)


def find_worse(*, short: bool) -> list[str]:
    """Print the change of each command, and return the names of the commands that became more expensive."""
    names = []
    for change in compare(read_kept(), measure_commands(short=short)):
        print(change, flush=True)
        if change.is_worse:
            names.append(change.name)
    return names


def main(arguments: list[str]) -> None:
    """Record the figures, or compare them with the recorded figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commands", description=str(__doc__).splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write the figures to benchmarks/kept.toml")
    parser.add_argument("--short", action="store_true", help="omit the commands that take minutes")
    asked = parser.parse_args(arguments)
    try:
        if asked.keep:
            keep_figures(short=asked.short)
        elif names := find_worse(short=asked.short):
            sys.exit(f"worse by more than a fifth: {', '.join(names)}")
    except MqconformError as error:
        sys.exit(str(error))


def _run(command: Command) -> float:
    with tempfile.TemporaryDirectory() as name:
        sut = Path(name) / "sut.toml"
        sut.write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
        paths = {"SUT": str(sut), "OUT": str(Path(name) / "run")}
        return measure_cpu_s([MQCONFORM, *(paths.get(word, word) for word in command.arguments.split())])


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main(sys.argv[1:])
