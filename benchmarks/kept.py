"""Reads and writes the kept figures in benchmarks/kept.toml, and compares them with new measurements."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from harness.errors import MqconformError

KEPT_FILE = Path(__file__).with_name("kept.toml")
TOLERATED_GROWTH = 0.2
HEAD = "# What commands cost when `make bench-keep` measured them: ratios are multiples of the yardstick (cpu.py).\n"


class BadKeptFile(MqconformError):
    """The file of the kept figures cannot be read."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}; `git checkout {path}` restores it, or delete it and `make bench-keep` writes a new one"
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """The cost of one command. `measured` names the day and the machine of the measurement."""

    ratio: float
    cpu_s: float
    wanted_cpu_s: float
    measured: str

    def __str__(self) -> str:
        return f"{self.ratio:.2f} x yardstick, {self.cpu_s:.2f} CPU-s (target: {self.wanted_cpu_s:g} CPU-s)"


@dataclass(frozen=True, slots=True)
class Change:
    """The kept and the present figure of a command. A missing figure is None."""

    name: str
    kept: Figure | None
    now: Figure | None

    @property
    def is_worse(self) -> bool:
        """Return whether the ratio of the command grew by more than the tolerance."""
        return self.growth > TOLERATED_GROWTH

    @property
    def growth(self) -> float:
        """Return the relative growth of the ratio. The growth is below zero if the command became cheaper."""
        if self.kept is None or self.now is None:
            return 0.0
        return self.now.ratio / self.kept.ratio - 1

    def __str__(self) -> str:
        if self.now is None:
            return f"{self.name}: kept {self.kept}, not measured now"
        if self.kept is None:
            return f"{self.name}: {self.now}, no kept figure: `make bench-keep` keeps it"
        worse = ", WORSE by more than a fifth" if self.is_worse else ""
        return f"{self.name}: kept {self.kept.ratio:.2f}, now {self.now}, {self.growth:+.0%}{worse}"


def compare(kept: Mapping[str, Figure], measured: Iterable[tuple[str, Figure]]) -> Iterator[Change]:
    """Return the change of each measured command, followed by the kept commands that were not measured."""
    missing = dict(kept)
    for name, now in measured:
        yield Change(name, missing.pop(name, None), now)
    for name, figure in missing.items():
        yield Change(name, figure, None)


def read_kept(path: Path = KEPT_FILE) -> dict[str, Figure]:
    """Return the kept figures by the names of their commands."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadKeptFile(path, getattr(error, "strerror", None) or str(error)) from error
    return {name: _figure(path, name, table) for name, table in tables.items()}


def write_kept(figures: Mapping[str, Figure], path: Path = KEPT_FILE) -> None:
    """Write the given figures to the file of kept figures, and replace its content."""
    tables = (
        f'\n["{name}"]\nratio = {figure.ratio:.3f}\ncpu_s = {figure.cpu_s:.3f}\n'
        f'wanted_cpu_s = {figure.wanted_cpu_s}\nmeasured = "{figure.measured}"\n'
        for name, figure in figures.items()
    )
    path.write_text(HEAD + "".join(tables), encoding="utf-8")


def _figure(path: Path, name: str, table: object) -> Figure:
    wanted = {field.name: field.name == "measured" for field in fields(Figure)}
    if not isinstance(table, dict) or set(table) != set(wanted):
        raise BadKeptFile(path, f'"{name}" is not a table of {", ".join(wanted)}')
    for key, is_text in wanted.items():
        value = table[key]
        if is_text and not isinstance(value, str):
            raise BadKeptFile(path, f'{key} of "{name}" is {value!r}, not a text')
        if not is_text and not (isinstance(value, int | float) and value > 0):
            raise BadKeptFile(path, f'{key} of "{name}" is {value!r}, not a number above zero')
    return Figure(**table)
