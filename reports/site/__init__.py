"""The static site.

It works from file:// without a network; without its scripts, only its search and comparison do not work.
"""

from reports.site.environment import build_template_environment
from reports.site.writer import write_site

__all__ = ["build_template_environment", "write_site"]
