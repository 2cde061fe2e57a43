"""The ids of rules in the spellings that users type."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.rules.catalogue import load_catalogue
from harness.rules.naming import find_document, find_rule_id, select_rules

RULES = load_catalogue()


def test_rule_ids_and_documents_are_recognized_in_any_letter_case():
    assert find_rule_id(RULES, " mqqb-2.1.2-d01") == "MQQB-2.1.2-D01"
    assert [find_document(RULES.list_documents(), text) for text in ("mqqb", "MS-MQQP")] == ["MQQB", "MQQP"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mqqb-2.1.2-91", "unknown rule 'mqqb-2.1.2-91'; did you mean MQQB-2.1.2-01"),
        ("\x1b[31m", r"unknown rule '\x1b[31m'; `mqconform rules` lists all rules"),
    ],
)
def test_unknown_rule_is_refused_with_remedy(text: str, said: str):
    with pytest.raises(UsageError) as refused:
        find_rule_id(RULES, text)
    assert str(refused.value).startswith(said)


def test_unknown_document_is_refused_with_known_documents():
    with pytest.raises(UsageError, match="unknown document 'MQAC'; known: MQQB, MQMQ, MQQP"):
        find_document(RULES.list_documents(), "MQAC")


def test_known_bugs_are_selected_like_a_document():
    chosen = select_rules(RULES, ["regressions"])
    assert {RULES[name].folder.split("/")[1] for name in chosen} == {"regressions"}
    assert all(set(RULES[name].violates) <= set(RULES) and RULES[name].violates for name in chosen)


def test_empty_selection_selects_all_rules():
    assert select_rules(RULES, []) == frozenset(RULES)


def test_selection_accepts_a_document_a_section_with_subsections_or_a_rule():
    assert select_rules(RULES, ["mqqp"]) == {rule.id for rule in RULES.document("MQQP")}
    found = {RULES[name].section for name in select_rules(RULES, ["MQQB-3.1.5.1"])}
    assert {"3.1.5.1", "3.1.5.1.1"} <= found
    assert not found & {"3.1.5", "3.1.5.2", "3.1.5.10"}
    assert select_rules(RULES, ["mqqb-2.1.2-01"]) == {"MQQB-2.1.2-01"}


def test_selection_joins_criteria_of_one_kind_and_intersects_kinds():
    found = select_rules(RULES, ["MQQB-2.1", "mqmq-2.2.19", "level=must not", "Level=MUST", "observe=passive"])
    assert {RULES[name].level for name in found} <= {"MUST", "MUST NOT"}
    assert {RULES[name].document for name in found} == {"MQQB", "MQMQ"}
    assert {RULES[name].observe for name in found} == {"passive"}


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        (["level=always"], "level='always': the value must be one of MUST, MUST NOT"),
        (["colour=red"], "unknown criterion 'colour'; known: level, role, observe"),
        (["MQQB-9.9"], "unknown rule 'MQQB-9.9'"),
        (["MQBB-3.1"], "'MQBB-3.1': unknown document 'MQBB'; known: "),
        (["MQQB-2.1.2-01", "level=SHOULD NOT"], "no rule matches all of MQQB-2.1.2-01, level=SHOULD NOT"),
    ],
)
def test_selection_without_match_is_refused(criteria: list[str], said: str):
    with pytest.raises(UsageError) as refused:
        select_rules(RULES, criteria)
    assert said in str(refused.value)
