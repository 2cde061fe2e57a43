"""Save a walk (a sequence of steps) in which the system diverged from the model, and describe the walk in lines of
text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.explore.walk import Walk
from harness.model.agreement import describe_value
from harness.model.steps import Model, Step

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class SavedWalk:
    """The steps of a walk that was saved to a file, and the explored area. The steps can be repeated."""

    area: str
    steps: tuple[Step, ...]


def save_walk(path: Path, area: str, system: str, seed: str, walk: Walk) -> None:
    """Write to a file a walk (a sequence of steps) in which the system diverged from the model."""
    assert walk.divergence is not None
    content = {
        "schema": SCHEMA_VERSION,
        "area": area,
        "sut": system,
        "seed": seed,
        "steps": [{"step": one.name, **one.arguments} for one in walk.steps],
        "rules": list(walk.divergence.rules),
        "differences": list(walk.divergence.differences),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load_steps(path: Path) -> SavedWalk:
    """Read the steps from a file; raise UsageError if ``mqconform explore`` did not write the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(Step(one["step"], {n: v for n, v in one.items() if n != "step"}) for one in content["steps"])
        return SavedWalk(str(content["area"]), steps)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a sequence of `mqconform explore`: {error!r}") from error


def describe_walk(walk: Walk, model: type[Model], says: Mapping[str, str]) -> Iterator[str]:
    """Yield lines that describe a walk (a sequence of steps) in which the system diverged from the model: the broken
    rules with their sentences, and the steps with their answers.

    Arguments that have their simplest value are omitted.
    """
    assert walk.divergence is not None
    for rule in walk.divergence.rules:
        yield f"fail {rule}  {says.get(rule, '')}".rstrip()
    for number, taken in enumerate(walk.taken_steps, 1):
        simple = model.transitions[taken.step.name].simplest_arguments
        told = {
            name: value for name, value in taken.step.arguments.items() if name not in simple or simple[name] != value
        }
        yield f"{number:>4}  {Step(taken.step.name, told)}{_describe_answers(taken.observed)}"
    for difference in walk.divergence.differences:
        yield f"      {difference}"


def _describe_answers(answers: Mapping[str, Any]) -> str:
    told = [
        describe_value(value) if name == "answer" else f"{name}: {describe_value(value)}"
        for name, value in answers.items()
    ]
    return f" -> {'; '.join(told)}" if told else ""
