"""Writes matrix.json, the matrix for machines (docs/reports.md describes it)."""

from __future__ import annotations

import json
from pathlib import Path

from reports.model import SiteContents
from reports.vocabulary import VERDICT_NAMES


def write_matrix(contents: SiteContents, path: Path) -> None:
    """Write matrix.json."""
    path.write_text(json.dumps(build_matrix(contents), indent=1) + "\n", encoding="ascii")


def build_matrix(contents: SiteContents) -> dict[str, object]:
    """Return the matrix as JSON values: systems, sections with numbers of rules by verdict, and numbers of lines."""
    totals = contents.totals()
    return {
        "schema": 2,
        "verdicts": list(VERDICT_NAMES),
        "input": {
            "lines": contents.kept + contents.rejected_count,
            "kept": contents.kept,
            "rejected": contents.rejected_count,
        },
        "runs": [
            {
                "run": run.run,
                "sut": run.system,
                "started": run.started.isoformat(),
                "finished": run.finished.isoformat() if run.finished else None,
                "reach": run.reach,
                "exit": run.exit,
                "partial": run.partial,
                "roots": [{"said": root.said, "checks": sorted(root.checks)} for root in run.roots],
                "kept": run.kept,
                "rejected": run.rejected,
            }
            for run in contents.runs
        ],
        "suts": [
            {
                "key": system.key,
                "name": system.name,
                "version": system.version,
                "profile": system.profile,
                "page": f"site/systems/{system.key}.html",
                "rules": dict(totals[system.key]),
            }
            for system in contents.systems
        ],
        "sections": [
            {
                "document": section.document,
                "section": section.section,
                "title": section.title,
                "rules": len(section.rules),
                "page": f"site/sections/{section.slug}.html",
                "suts": {key: dict(counts) for key, counts in section.counts.items()},
            }
            for section in contents.sections()
        ],
    }
