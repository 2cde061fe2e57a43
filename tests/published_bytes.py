"""Provides the published packets of captures/foreign."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

from harness.paths import SAMPLE_CAPTURES_FOLDER

FOREIGN = SAMPLE_CAPTURES_FOLDER / "foreign"


@dataclass(frozen=True)
class Published:
    """A published packet with its source, as sources.toml describes it."""

    name: str
    file: str
    source: str
    licence: str
    transport: str
    sender: str
    what: str
    packet: str
    seen: tuple[str, ...] = ()
    first: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    answer_size: int = 0
    answer_status: int = 0

    @property
    def data(self) -> bytes:
        return bytes.fromhex((FOREIGN / self.file).read_text(encoding="ascii"))


def load_published() -> dict[str, Published]:
    tables = tomllib.loads((FOREIGN / "sources.toml").read_text(encoding="utf-8"))["bytes"]
    return {table["name"]: Published(**table) for table in tables}
