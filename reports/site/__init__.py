"""The static site. It works from file:// without a network; without its one script only the search is missing."""

from reports.site.environment import environment
from reports.site.writer import write_site

__all__ = ["environment", "write_site"]
