"""List, for each rule, the areas of random exploration (`mqconform explore`) whose model cites the rule."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from harness.paths import SUITES

_MODELS_FOLDER = SUITES.parent / "harness" / "model"
_QUOTED_RULE_ID_PATTERN = re.compile(r'"([A-Z]+-[0-9.]+-[A-Z]?[0-9]+)"')


def list_explored_areas() -> dict[str, list[str]]:
    """Return the explored areas by rule id. The rule ids are found in the source text of the models. A constant of a
    module that several models share belongs to every area whose model names the constant.
    """
    shared = _read_shared_constants()
    found: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(path for path in _MODELS_FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"):
        text = _read_model_modules(folder)
        named = [shared[name] for name in dict.fromkeys(re.findall(r"\w+", text)) if name in shared]
        for rule in dict.fromkeys(_QUOTED_RULE_ID_PATTERN.findall("\n".join([text, *named]))):
            found[rule].append(folder.name)
    return dict(found)


def _read_model_modules(folder: Path) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))


def _read_shared_constants() -> dict[str, str]:
    """Return the source text of each public constant of the modules that the models share."""
    constants: dict[str, str] = {}
    for file in sorted(_MODELS_FOLDER.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                constants[statement.target.id] = ast.get_source_segment(text, statement) or ""
    return constants
