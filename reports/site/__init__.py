"""Writes the static site.

The site works from file:// without a network. Only search and comparison need scripts.
"""

from reports.site.environment import build_template_environment
from reports.site.writer import write_site

__all__ = ["build_template_environment", "write_site"]
