"""Compares runs of one SUT: ``python -m benchmarks.same_verdicts RUN RUN ...``.

Runs in virtual time by one worker must have equal lines, except for the name of the run and the time. Any other
runs must have the same verdicts for each test and rule, but the number of lines may differ. Exit code 0: the runs
are equal; 1: they differ, and the command prints the differences.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.judging.verdicts import read_verdicts
from harness.run_folder import RULES_FILE, VERDICTS_FILE

SHOWN = 20
KEYS_OF_ONE_RUN = ("run", "time", "ms")
"""The keys whose values differ from run to run."""


def count_verdicts(run: Path) -> Counter[tuple[str, ...]]:
    """Count the lines of a run by test, rule and verdict.

    A passive rule counts once per run and verdict: in real time, chance decides whether another packet arrives before
    the end of a check that does not wait for it.
    """
    rules = json.loads((run / RULES_FILE).read_text(encoding="utf-8"))["rules"]
    passive = {rule for rule, row in rules.items() if row["observe"] == "passive"}
    lines = [(line["test"], line["rule"], line["verdict"]) for line in read_verdicts(run / VERDICTS_FILE)]
    seen = {("some check", rule, verdict) for _, rule, verdict in lines if rule in passive}
    return Counter(line for line in lines if line[1] not in passive) + Counter(seen)


def read_comparable_lines(run: Path) -> list[str]:
    """Return every line of a run in order, without the keys whose values differ from run to run."""
    return [
        json.dumps({key: value for key, value in line.items() if key not in KEYS_OF_ONE_RUN}, sort_keys=True)
        for line in read_verdicts(run / VERDICTS_FILE)
    ]


def list_differences(runs: Sequence[Path]) -> Iterable[str]:
    """Yield a line for each verdict whose number in a run differs from its number in the first run."""
    first = count_verdicts(runs[0])
    for run in runs[1:]:
        other = count_verdicts(run)
        for sign, more in (("-", first - other), ("+", other - first)):
            for (test, rule, verdict), times in sorted(more.items()):
                yield f"{run}: {sign}{times} {verdict} {rule} {test}"


def main() -> int:
    """Compare the runs that the command line names."""
    runs = [Path(name) for name in sys.argv[1:]]
    if len(runs) < 2:
        sys.stderr.write("give at least two run folders\n")
        return 2
    found = list(list_differences(runs))
    for line in found[:SHOWN]:
        print(line)
    if found:
        print(f"{len(runs)} runs: {len(found)} differences")
        return 1
    total = sum(count_verdicts(runs[0]).values())
    bytes_too = all(read_comparable_lines(run) == read_comparable_lines(runs[0]) for run in runs[1:])
    print(f"{len(runs)} runs: the same {total} verdicts{', to the byte' if bytes_too else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
