"""Replaces a part of a queue manager (one of the objects that make it up) by an instance of a subclass. The subclass
adds a fault, or imitates a release of Windows.
"""

from __future__ import annotations

from reference_qm.core.part import QM, QueueManagerPart


def replace_part_by_subclass(qm: QM, cls: type[QueueManagerPart]) -> None:
    """Replace a part of the queue manager by an instance of a subclass. Earlier replacements of the part stay in
    effect.

    Raise TypeError for a class that is derived from no part or from several parts.
    """
    attribute = find_part_attribute(qm, find_replaced_part(cls))
    current = type(getattr(qm, attribute))
    setattr(qm, attribute, type(cls.__name__, (cls, current), {})(qm))


def find_replaced_part(cls: type[QueueManagerPart]) -> type[QueueManagerPart]:
    """Return the part of the queue manager from which a class is derived."""
    parts = [base for base in cls.__mro__ if QueueManagerPart in base.__bases__]
    if len(parts) != 1:
        raise TypeError(f"{cls.__name__} derives from {len(parts)} parts of the queue manager: it may replace only one")
    return parts[0]


def find_part_attribute(qm: QM, part: type[QueueManagerPart]) -> str:
    """Return the name of the queue manager's attribute that refers to a part."""
    for name, value in vars(qm).items():
        if isinstance(value, part):
            return name
    raise TypeError(f"{part.__name__} is not a part of the queue manager: see reference_qm/core/parts.py")
