"""Formats a history as text and JSON. Strings of a system are escaped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from reports.lake.history import HistoryEntry, VerdictHistory
from reports.text import one_line
from reports.vocabulary import SEVERITY_BY_VERDICT


def format_history_text(history: VerdictHistory) -> str:
    """Return lines for a terminal: the current verdicts, then the runs, latest first."""
    shown = len(history.entries)
    lines = [f"{one_line(history.about)}: {history.runs} runs{f', the last {shown}' if shown < history.runs else ''}"]
    lines += [
        *(history.entries[0].roots if history.entries else ()),
        "now:",
        *(f"  {one_line(system, 80)}: {verdict} ({run})" for system, verdict, run in history.now),
        "runs:",
    ]
    for entry in history.entries:
        lines.append(
            f"  {entry.started}  {_describe_verdicts(entry)}  {one_line(entry.system, 80)}, {_describe_run(entry)}"
        )
        lines += [f"      {line}" for line in (*entry.roots, *map(one_line, entry.changes))]
    return "\n".join(lines) + "\n"


def format_as_json(history: VerdictHistory) -> str:
    """Return the history as JSON with the keys ``about``, ``runs``, ``now`` and ``entries``."""
    now = [{"system": system, "verdict": verdict, "of": of} for system, verdict, of in history.now]
    return json.dumps({"schema": 1, **asdict(history), "now": now}, indent=1, ensure_ascii=True) + "\n"


HISTORY_FORMATTER_BY_NAME: dict[str, Callable[[VerdictHistory], str]] = {
    "text": format_history_text,
    "json": format_as_json,
}


def _describe_verdicts(entry: HistoryEntry) -> str:
    if entry.verdict is not None:
        return entry.verdict
    return (
        ", ".join(f"{entry.counts[name]} {name}" for name in SEVERITY_BY_VERDICT if name in entry.counts)
        or "no verdict"
    )


def _describe_run(entry: HistoryEntry) -> str:
    marks = [one_line(entry.run, 120), one_line(entry.reach, 20), "partial" if entry.partial else ""]
    return ", ".join(filter(None, marks))
