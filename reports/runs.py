"""Run folders: what the harness left, read and checked before Spark is started."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from reports.model import DEMAND, Coverage, Member, Rule, Run, Sut
from reports.records import Record, clean
from reports.rollup_error import RollupError
from reports.text import one_line

DOCUMENT = "[A-Z][A-Z0-9]{1,15}"
"""The name of a document, as a regular expression."""


def load_runs(folders: Iterable[Path]) -> list[Run]:
    """Read the run folders; two may not be the same run, one must hold something. Raises `RollupError`."""
    by_run: dict[str, Run] = {}
    for folder in folders:
        run = load_run(folder)
        if known := by_run.get(run.run):
            raise RollupError(f"run {one_line(run.run)!r} is given twice: {known.folder} and {run.folder}")
        by_run[run.run] = run
    if not any(run.verdicts.stat().st_size for run in by_run.values()):
        raise RollupError(f"no verdicts to roll up: {', '.join(str(run.verdicts) for run in by_run.values())} empty")
    return list(by_run.values())


def load_run(folder: Path) -> Run:
    """Read one run folder's run.json and rules.json. Raises `RollupError`."""
    if not folder.is_dir():
        raise RollupError(f"no run folder at {folder}")
    folder = nameable(folder)
    for name in ("verdicts.jsonl", "run.json", "rules.json"):
        if inside(folder, name) is None:
            raise RollupError(f"{folder} is not a run folder: it has no file {name} of its own")
    path = folder / "run.json"
    record = Record(_object(path), str(path))
    sut = record.record("sut")
    rules = Record(_object(folder / "rules.json"), str(folder / "rules.json"))
    return Run(
        folder=folder,
        run=record.text("run"),
        started=record.moment("started"),
        finished=record.moment("finished") if record.has("finished") else None,
        sut=Sut(sut.text("name"), sut.text("version")),
        vendor=sut.text("vendor", ""),
        profile=sut.text("profile", ""),
        reach=record.text("reach", ""),
        harness=record.text("harness", ""),
        selection=record.text("selection", ""),
        exit=record.whole("exit"),
        rules=_load_rules(rules.record("rules")),
        coverage=tuple(map(_coverage, rules.records("coverage"))),
        members=tuple(map(_member, rules.records("members"))) if rules.has("members") else (),
        titles=_titles(rules.record("documents")) if rules.has("documents") else {},
    )


def nameable(path: Path) -> Path:
    """Return the absolute path. Raises `RollupError` when it is not UTF-8, as Spark needs it."""
    path = path.resolve()
    try:
        path.as_posix().encode("utf-8")
    except UnicodeEncodeError as error:
        raise RollupError(
            f"the path {one_line(str(path))} is not UTF-8 here: rename it or use a UTF-8 locale"
        ) from error
    return path


def inside(folder: Path, relative: str) -> Path | None:
    """Return the regular file ``relative`` of a resolved folder; None when there is none or the path leaves the folder.

    Absolute paths, ".." and links that lead out are all "leaves the folder".
    """
    if not relative or "\0" in relative or "\\" in relative:
        return None
    path = Path(relative)
    if path.is_absolute() or ".." in path.parts:
        return None
    try:
        target = (folder / path).resolve()
        return target if target.is_relative_to(folder) and target.is_file() else None
    except (OSError, RuntimeError, UnicodeError):  # too long a name, a loop of links, a lone surrogate
        return None


def count_lines(path: Path) -> int:
    """Count the lines of a file, the last one also when nothing ends it."""
    lines, last = 0, b"\n"
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return lines + (last != b"\n")


def _titles(documents: Record) -> dict[str, str]:
    return {clean(name): documents.text(name) for name in documents.values}


def _load_rules(rows: Record) -> dict[str, Rule]:
    rules = {}
    for name in rows.values:
        row = rows.record(name)
        if not re.fullmatch(DOCUMENT, row.text("document")):
            raise RollupError(f"{row.where}: document must be a short name such as MQQB")
        rules[clean(name)] = Rule(
            rule=clean(name),
            document=row.text("document"),
            section=row.text("section"),
            level=row.text("level"),
            **{
                key: row.text(key, "")
                for key in ("title", "form", "observe", "observed", "role", "says", "why", "link")
            },
            checked=row.flag("checked"),
            proven=row.flag("proven"),
            kind=row.text("kind", DEMAND),
        )
    return rules


def _coverage(row: Record) -> Coverage:
    document, demand = row.text("document"), row.text("demand")
    if not re.fullmatch(DOCUMENT, document) or demand not in ("MUST", "SHOULD"):
        raise RollupError(f"{row.where}: document must be a short name such as MQQB, demand MUST or SHOULD")
    counts = {key: row.whole(key) or 0 for key in ("rows", "catalogued", "checked", "proven", "none")}
    return Coverage(document, row.text("section"), row.text("title"), demand, **counts, kind=row.text("kind", DEMAND))


def _member(row: Record) -> Member:
    return Member(*(row.text(key) for key in ("name", "title", "exercised", "reference", "left_out")))


def _object(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RollupError(f"{path} cannot be read as JSON: {one_line(str(error))}") from error
