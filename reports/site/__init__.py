"""The static site.

It works from file:// without a network; without its scripts only search and comparison are missing.
"""

from reports.site.environment import environment
from reports.site.writer import write_site

__all__ = ["environment", "write_site"]
