"""matrix.json: the same matrix for machines (docs/reports.md describes it)."""

from __future__ import annotations

import json
from pathlib import Path

from reports.model import Rollup, tally
from reports.vocabulary import VERDICTS


def write_matrix(rollup: Rollup, path: Path) -> None:
    """Write matrix.json."""
    path.write_text(json.dumps(matrix(rollup), indent=1) + "\n", encoding="ascii")


def matrix(rollup: Rollup) -> dict[str, object]:
    """Return the matrix as JSON values: SUTs, sections with counts of rules by verdict, the lines accounted for."""
    return {
        "schema": 1,
        "verdicts": list(VERDICTS),
        "input": {
            "lines": rollup.kept + rollup.rejected_count,
            "kept": rollup.kept,
            "rejected": rollup.rejected_count,
        },
        "runs": [
            {
                "run": run.run,
                "sut": run.sut.key,
                "started": run.started.isoformat(),
                "finished": run.finished.isoformat() if run.finished else None,
                "reach": run.reach,
                "exit": run.exit,
                "kept": rollup.totals[run.run].kept,
                "rejected": rollup.totals[run.run].rejected,
            }
            for run in rollup.runs
        ],
        "suts": [
            {
                "key": sut.key,
                "name": sut.name,
                "version": sut.version,
                "rules": dict(tally(cell for cell in rollup.cells if cell.sut == sut)),
            }
            for sut in rollup.suts
        ],
        "sections": [
            {
                "document": section.document,
                "section": section.section,
                "title": section.title,
                "rules": len(section.rules),
                "page": f"site/sections/{section.slug}.html",
                "suts": {sut.key: dict(counts) for sut, counts in section.counts().items()},
            }
            for section in rollup.sections()
        ],
    }
