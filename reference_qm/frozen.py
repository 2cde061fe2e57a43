"""Frozen dataclasses of which millions are made: that nothing changes them is checked by mypy, not while they are made.

At run time ``dataclasses`` lets a frozen class set each field through ``object.__setattr__``: five times as slow as
plain assignment, and half of what a message cost. Hash and equality are those of a frozen class.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, **options: Any) -> Any:
        """Take what ``dataclasses.dataclass`` takes."""
        return dataclasses.dataclass(unsafe_hash=frozen, **options)
