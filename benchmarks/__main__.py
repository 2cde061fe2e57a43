"""``python -m benchmarks``: print every figure of the project, each beside what it is measured against."""

from __future__ import annotations

from benchmarks import (
    anybody,
    codecs,
    demo,
    lake,
    lake_cluster,
    lake_tables,
    loopback,
    memory,
    passive_judging,
    proof,
    remote_reads,
    suites_virtual,
    virtual_week,
)


def main() -> None:
    """Run them one after the other: two cores are too few to measure two things at once."""
    for part in (
        codecs,
        passive_judging,
        loopback,
        remote_reads,
        memory,
        virtual_week,
        suites_virtual,
        anybody,
        proof,
        demo,
        lake,
        lake_cluster,
        lake_tables,
    ):
        print(f"== {str(part.__doc__).splitlines()[0]}")
        for line in part.measure():
            print(f"   {line}", flush=True)


if __name__ == "__main__":
    main()
