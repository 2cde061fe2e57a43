"""Find rules and documents by the names that users type, in upper or lower case. For an unknown name, suggest similar
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from types import MappingProxyType

from harness.errors import UsageError
from harness.rules.catalogue import MEANING_BY_OBSERVE_VALUE, PROTOCOL_ROLES, REQUIREMENT_LEVELS, Catalogue, Rule

MAX_SUGGESTED_NAMES = 3
"""The maximum number of similar ids that a message suggests."""
_SORT_KEY_BY_ORDER: MappingProxyType[str, tuple[Sequence[str], Callable[[Rule], str]]] = MappingProxyType(
    {
        "level": (REQUIREMENT_LEVELS, lambda rule: rule.level),
        "role": (PROTOCOL_ROLES, lambda rule: rule.role),
        "observe": (tuple(MEANING_BY_OBSERVE_VALUE), lambda rule: rule.observe),
    }
)
"""The criteria for selecting rules, in addition to document and section. Each criterion has its possible values,
and a function that returns the value of a rule.
"""


def find_rule_id(catalogue: Collection[str], text: str) -> str:
    """Return the correct form of a rule id that a user typed; raise UsageError, with the most similar ids, if the
    id is unknown.
    """
    wanted = text.strip().upper()
    if wanted in catalogue:
        return wanted
    same = [name for name in catalogue if _strip_leading_zeros(name) == _strip_leading_zeros(wanted)]
    near = list(dict.fromkeys([*same, *get_close_matches(wanted, catalogue, n=MAX_SUGGESTED_NAMES)]))[
        :MAX_SUGGESTED_NAMES
    ]
    hint = f"did you mean {', '.join(near)}?" if near else "`mqconform rules` lists all rules"
    raise UsageError(f"unknown rule {text!a}; {hint}")


def _strip_leading_zeros(name: str) -> str:
    """Return a rule id in which numbers have no leading zeros, such as 3 instead of 03."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", name)


def find_document(documents: Iterable[str], text: str) -> str:
    """Return the document that a user typed (such as ``mqqb`` or ``MS-MQQB``); raise UsageError, with the list of
    documents, if the name is unknown.
    """
    known = list(documents)
    wanted = text.strip().upper().removeprefix("MS-")
    if wanted not in known:
        raise UsageError(f"unknown document {text!a}; known: {', '.join(known)} (or MS-{known[0]})")
    return wanted


def select_rules(catalogue: Catalogue, criteria: Iterable[str]) -> frozenset[str]:
    """Return the rules that meet all criteria. A criterion has one of these forms:

    - ``MQQB`` (a document), ``MQQB-3.1.5`` (a section with its subsections), or ``MQQB-3.1.5.4.1-10`` (a rule);
    - ``level=MUST``, ``role=acceptor``, or ``observe=wire``.

    A rule must meet at least one of the given criteria of each kind. Raise UsageError for an unknown criterion, or if
    no rule meets all criteria.
    """
    kinds: dict[str, set[str]] = {}
    words = list(criteria)
    for word in words:
        key, separator, value = word.partition("=")
        kind = key.strip().lower() if separator else "place"
        found = (
            _select_rules_by_criterion_value(catalogue, kind, value)
            if separator
            else _select_rules_by_document_or_section(catalogue, word)
        )
        kinds.setdefault(kind, set()).update(found)
    chosen = frozenset(catalogue).intersection(*kinds.values())
    if words and not chosen:
        raise UsageError(f"no rule matches all of {', '.join(words)}; `mqconform rules` lists all rules")
    return chosen


def _select_rules_by_criterion_value(catalogue: Catalogue, key: str, value: str) -> set[str]:
    if key not in _SORT_KEY_BY_ORDER:
        raise UsageError(
            f"unknown criterion {key!a}; known: {', '.join(_SORT_KEY_BY_ORDER)}, a document, a section, a rule"
        )
    values, of = _SORT_KEY_BY_ORDER[key]
    meant = next((one for one in values if one.lower() == value.strip().lower()), None)
    if meant is None:
        raise UsageError(f"{key}={value!a}: the value must be one of {', '.join(values)}")
    return {name for name, rule in catalogue.items() if of(rule) == meant}


def _select_rules_by_document_or_section(catalogue: Catalogue, word: str) -> set[str]:
    wanted = word.strip().upper().removeprefix("MS-")
    if wanted in catalogue:
        return {wanted}
    document, _, section = wanted.partition("-")
    documents = dict.fromkeys(rule.document for rule in catalogue.values())
    if document not in documents:
        raise UsageError(f"{word!a}: unknown document {document!a}; known: {', '.join(documents)}")
    found = {
        name
        for name, rule in catalogue.items()
        if rule.document == document and (not section or f"{rule.section}.".startswith(f"{section}."))
    }
    return found or {find_rule_id(catalogue, word)}
