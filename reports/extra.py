"""Names the packages of the extras ``mqconform[reports]`` and ``[sql]``, which a plain installation does not have."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType

from reports.rollup_error import RollupError

PACKAGES_BY_EXTRA = MappingProxyType({"reports": ("pyspark", "pyarrow", "pandas"), "sql": ("duckdb",)})
"""The packages that each extra installs."""


def describe_missing_requirements() -> str | None:
    """Return one line that names the missing requirements of reports and the remedy, or None if nothing is missing."""
    from reports.java import check_java

    try:
        require_installed_packages()
        check_java()
    except RollupError as error:
        return str(error)
    return None


def require_installed_packages(extra: str = "reports") -> None:
    """Raise `RollupError` with the remedy if a package of the extra is missing."""
    missing = [name for name in PACKAGES_BY_EXTRA[extra] if find_spec(name) is None]
    if missing:
        raise RollupError(
            f"these packages are missing: {', '.join(missing)}; install the extra: pip install 'mqconform[{extra}]'"
        )
