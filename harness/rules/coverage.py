"""Count, for each section, the rules that have checks and the rules whose checks are proven. `mqconform rules
--coverage` and the site show these counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness.rules.catalogue import (
    DESCRIPTION_BY_ROW_CLASS,
    INDEX_ROW_FORMS_IN_CATALOGUE,
    ROW_CLASSES_OF_DEMANDS,
    Catalogue,
    IndexRow,
)

LEVELS = ("MUST", "SHOULD")
"""The levels by which rules are counted. A MUST NOT is counted as a MUST, and a SHOULD NOT as a SHOULD."""
ROW_CLASS_OF_DEMANDS = "demand"
ROW_CLASS_OF_REPEATED_DEMANDS = "clone"


@dataclass(slots=True)
class SectionCoverage:
    """The counts of the rules and steps of one section, one class and one level (``demand``: MUST or SHOULD).
    ``kind``: the class, which is demand (including garbled demands), event, lead, caller or definition; clones are
    not counted. ``rows``: the number of all ids in the document. ``catalogued``: the number of ids with a row in
    the catalogue. ``none``: the number of ids that cannot be observed; the row of each such id has the reason.
    """

    document: str
    section: str
    title: str
    demand: str
    kind: str = ROW_CLASS_OF_DEMANDS
    rows: int = 0
    catalogued: int = 0
    checked: int = 0
    proven: int = 0
    none: int = 0

    def add(self, other: SectionCoverage) -> None:
        """Add the counts of another section."""
        for name in ("rows", "catalogued", "checked", "proven", "none"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def count_coverage_by_section(
    catalogue: Catalogue, index: Mapping[str, IndexRow], checked: Collection[str], proven: Collection[str]
) -> list[SectionCoverage]:
    """Return the counts for every section of the documents that contains rules, in the order of the documents."""
    found: dict[tuple[str, str, str, str], SectionCoverage] = {}
    documents = catalogue.list_documents()
    for name, row in index.items():
        document, section, _ = name.split("-")
        if (
            row.form not in INDEX_ROW_FORMS_IN_CATALOGUE
            or row.kind == ROW_CLASS_OF_REPEATED_DEMANDS
            or document not in documents
        ):
            continue
        demand = row.level.split()[0]
        kind = ROW_CLASS_OF_DEMANDS if row.kind in ROW_CLASSES_OF_DEMANDS else row.kind
        one = SectionCoverage(document, section, row.title, demand, kind)
        counts = found.setdefault((document, section, demand, kind), one)
        counts.rows += 1
        counts.catalogued += name in catalogue
        counts.none += name in catalogue and catalogue[name].observe == "none"
        counts.checked += name in checked
        counts.proven += name in proven
    return sorted(
        found.values(),
        key=lambda one: (
            documents.index(one.document),
            [int(part) for part in one.section.split(".")],
            list(DESCRIPTION_BY_ROW_CLASS).index(one.kind),
            LEVELS.index(one.demand),
        ),
    )


def sum_coverage_of_sections(sections: list[SectionCoverage]) -> list[SectionCoverage]:
    """Return the sums over all sections as one row for each document, level and class. The demands of a document
    come first.
    """
    found: dict[tuple[str, str, str], SectionCoverage] = {}
    for one in sections:
        whole = SectionCoverage(one.document, "", "", one.demand, one.kind)
        found.setdefault((one.document, one.kind, one.demand), whole).add(one)
    documents = list(dict.fromkeys(one.document for one in sections))
    order = {
        key: (documents.index(key[0]), list(DESCRIPTION_BY_ROW_CLASS).index(key[1]), LEVELS.index(key[2]))
        for key in found
    }
    return [found[key] for key in sorted(found, key=order.__getitem__)]
