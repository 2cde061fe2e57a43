"""Prints the cost of the tests: the CPU seconds of each track of ``make test``, and the ten most expensive tests.

``test_costs.py FOLDER`` prints the costs from FOLDER, to which each track wrote one JSON file (tests/costs.py).
``test_costs.py run FILE -- COMMAND ...`` runs the command of a track without pytest, writes the cost of the command
to FILE, and exits with the exit code of the command.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_SHOWN_TESTS = 10


def main() -> int:
    """Carry out the subcommand that the arguments name, and return its exit code."""
    if sys.argv[1:2] == ["run"]:
        return run_and_measure(Path(sys.argv[2]), sys.argv[4:])
    for line in list_report_lines(Path(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
    return 0


def run_and_measure(path: Path, command: list[str]) -> int:
    """Run a command, and write the CPU seconds that the command and its children used."""
    done = subprocess.run(command, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"({path.stem})": round(used.ru_utime + used.ru_stime, 3)}), encoding="utf-8")
    return done.returncode


def list_report_lines(folder: Path) -> Iterator[str]:
    """Yield the lines of the report."""
    tracks = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    totals = {name: sum(spent.values()) for name, spent in tracks.items()}
    each = ", ".join(f"{name} {total:.0f}" for name, total in sorted(totals.items(), key=lambda one: -one[1]))
    yield f"{sum(totals.values()):.0f} CPU-s in total: {each}"
    yield f"the {MAX_SHOWN_TESTS} most expensive tests and shared fixtures, in CPU-s:"
    spent = [(cpu_s, name) for of_track in tracks.values() for name, cpu_s in of_track.items()]
    for cpu_s, name in sorted(spent, reverse=True)[:MAX_SHOWN_TESTS]:
        yield f"{cpu_s:8.1f}  {name}"


if __name__ == "__main__":
    sys.exit(main())
