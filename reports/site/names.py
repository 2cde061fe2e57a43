"""Builds the names of the site's pages. The names contain only [a-z0-9-], even if the name of a system contains other
characters.
"""

from __future__ import annotations

from reports.model import Section, System
from reports.text import make_slug

INDEX_PAGE, RULES_PAGE, RUNS_PAGE, COVERAGE_PAGE, ERRATA_PAGE = (
    "index.html",
    "rules.html",
    "runs.html",
    "coverage.html",
    "errata.html",
)
PAIRS_PAGE, COMPARE_PAGE = "pairs.html", "compare.html"
DOCUMENTS_STYLE_FILE, RULES_DATA_FILE = "documents.css", "rules-data.js"


def name_system_page(system: System) -> str:
    """Return the file name of the page of a system."""
    return f"systems/{system.key}.html"


def name_rule_page(rule: str) -> str:
    """Return the file name of the page of a rule."""
    return f"rules/{make_slug(rule)}.html"


def name_document_page(document: str, part: int = 0) -> str:
    """Return the file name of a page of a document. If the table has too many columns for one page, they are
    distributed over several pages; ``part`` is the number of the page, from 0.
    """
    return f"documents/{make_slug(document)}{_format_page_number_suffix(part)}.html"


def name_section_page(section: Section, part: int = 0) -> str:
    """Return the file name of a page of a section. If the table has too many columns for one page, they are distributed
    over several pages; ``part`` is the number of the page, from 0.
    """
    return f"sections/{section.slug}{_format_page_number_suffix(part)}.html"


def name_document_anchor(document: str) -> str:
    """Return the CSS class and the anchor of the items of a document on a system's page.

    The page shows only these items when the anchor is the target of a link.
    """
    return f"in-{make_slug(document)}"


def name_run_page(run: str) -> str:
    """Return the file name of the page of a run."""
    return f"runs/{make_slug(run)}.html"


def name_junit_file_of_run(run: str) -> str:
    """Return the file name of the copy of a run's JUnit file."""
    return f"runs/{make_slug(run)}.junit.xml"


def name_log_file_of_run(run: str, log: str) -> str:
    """Return the file name of the copy of a log of a run."""
    return f"runs/{make_slug(run)}.{make_slug(log)}.txt"


def name_erratum_page(entry: str) -> str:
    """Return the file name of the page of an erratum."""
    return f"errata/{make_slug(entry)}.html"


def name_badge_file(system: System) -> str:
    """Return the file name of the badge of a system."""
    return f"badges/{system.key}.svg"


def name_data_file(table: str, form: str) -> str:
    """Return the file name of a table for programs. ``form`` is csv or json."""
    return f"data/{table}.{form}"


def _format_page_number_suffix(part: int) -> str:
    return f"-{part + 1}" if part else ""
