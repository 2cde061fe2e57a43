"""Prints every measured figure of the project with its target (``python -m benchmarks``).

``python -m benchmarks lake lake_tables`` runs only the named modules.
"""

from __future__ import annotations

import sys
from types import ModuleType

from benchmarks import (
    anybody,
    codecs,
    commands,
    demo,
    foreign_captures,
    lake,
    lake_cluster,
    lake_judging,
    lake_site,
    lake_tables,
    loopback,
    memory,
    passive_judging,
    proof,
    releases,
    remote_reads,
    suites_virtual,
    virtual_week,
    walk,
    whole_releases,
)

BUNDLED_PACKAGES_PATH: tuple[ModuleType, ...] = (
    codecs,
    walk,
    passive_judging,
    foreign_captures,
    loopback,
    remote_reads,
    memory,
    virtual_week,
    suites_virtual,
    commands,
    anybody,
    proof,
    releases,
    whole_releases,
    demo,
    lake,
    lake_cluster,
    lake_tables,
    lake_judging,
    lake_site,
)


def main(names: list[str]) -> None:
    """Run the benchmarks one by one, because two benchmarks that run at the same time on two cores would disturb
    each other's measurements.
    """
    parts = {part.__name__.rpartition(".")[2]: part for part in BUNDLED_PACKAGES_PATH}
    if unknown := [name for name in names if name not in parts]:
        sys.exit(f"unknown benchmark {unknown[0]}; known: {', '.join(parts)}")
    for name, part in parts.items():
        if names and name not in names:
            continue
        print(f"== {str(part.__doc__).splitlines()[0]}")
        for line in part.measure():
            print(f"   {line}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
