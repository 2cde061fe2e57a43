"""Writes the page of all errata, and a separate page for each erratum that the verdicts of many rules name."""

from __future__ import annotations

from reports.model import CitedErratum
from reports.site import names
from reports.site.downloads import write_table
from reports.site.pages import SitePageWriter
from reports.text import get_natural_sort_key

RULES_PER_ERRATUM_SHOWN = 20
"""The maximum number of rules that the page of all errata names for each erratum."""


def write_errata(pages: SitePageWriter) -> None:
    """Write the pages of errata, and the table of errata for programs."""
    cited: dict[str, list[CitedErratum]] = {}
    for one in sorted(pages.contents.cited_errata, key=lambda one: get_natural_sort_key(one.erratum)):
        if one.rule in pages.contents.rules:
            cited.setdefault(one.erratum, []).append(one)
    others = [each for each in pages.errata if each not in cited]
    pages.write("errata.html", names.ERRATA_PAGE, cited=cited, others=others, rules_here=RULES_PER_ERRATUM_SHOWN)
    for entry, rules in cited.items():
        if len(rules) > RULES_PER_ERRATUM_SHOWN:
            pages.write("erratum.html", names.name_erratum_page(entry), entry=entry, rules=rules)
    rows = ((entry, one.rule, one.systems) for entry, rules in cited.items() for one in rules)
    write_table(pages.site, "errata", ("erratum", "rule", "systems"), rows)
