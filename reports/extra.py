"""The packages of the extra ``mqconform[reports]``, which a plain installation does not have."""

from __future__ import annotations

from importlib.util import find_spec

from reports.rollup_error import RollupError

PACKAGES = ("pyspark", "pyarrow", "pandas")


def confirm_installed() -> None:
    """Raise `RollupError` with the remedy when a package of the extra is missing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise RollupError(f"{', '.join(missing)} not installed; install the extra: pip install 'mqconform[reports]'")
