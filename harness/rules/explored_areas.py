"""List the areas of `mqconform explore` (random exploration) in which a model cites a rule."""

from __future__ import annotations

import re
from collections import defaultdict

from harness.paths import SUITES

_MODELS_FOLDER = SUITES.parent / "harness" / "model"
_RULE_ID = re.compile(r'"([A-Z]+-[0-9.]+-[A-Z]?[0-9]+)"')


def list_explored_areas() -> dict[str, list[str]]:
    """Return the explored areas by rule id. The rule ids are found in the source text of the models."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(path for path in _MODELS_FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"):
        text = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))
        for rule in dict.fromkeys(_RULE_ID.findall(text)):
            found[rule].append(folder.name)
    return dict(found)
