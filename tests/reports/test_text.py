"""Strings from tested systems are made safe to display."""

import re

from hypothesis import given
from hypothesis import strategies as st

from reports.text import (
    clip_text,
    escape_unprintable_characters,
    format_document_name,
    get_natural_sort_key,
    get_section_sort_key,
    is_specification,
    make_slug,
    one_line,
)

ANYTHING = st.text(alphabet=st.characters(exclude_categories=()))


@given(ANYTHING)
def test_slug_contains_no_path_characters(text):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{8}", make_slug(text))
    assert len(make_slug(text)) <= 49


def test_different_texts_have_different_slugs_even_on_a_file_system_without_case():
    names = ["Contoso", "contoso", "contoso!", "", "-", "../x", "x"]
    assert len({make_slug(name) for name in names}) == len(names)


@given(ANYTHING)
def test_visible_text_has_no_invisible_character(text):
    assert all(char.isprintable() or char in "\n\t" for char in escape_unprintable_characters(text))
    escape_unprintable_characters(text).encode("utf-8")


@given(ANYTHING)
def test_one_line_text_contains_no_line_break(text):
    assert len(one_line(text, 20).splitlines()) <= 1
    assert len(one_line(text, 20)) <= 20


def test_direction_marks_and_escape_characters_are_shown_as_code_points():
    assert escape_unprintable_characters("a\u202eb\x1b[31m") == "a⟨U+202E⟩b⟨U+001B⟩[31m"


def test_long_text_is_clipped_with_note():
    assert clip_text("x" * 100, 10).startswith("x" * 10 + "…")
    assert "verdicts.jsonl" in clip_text("x" * 100, 10)
    assert clip_text("x" * 10, 10) == "x" * 10


def test_sections_and_rules_sort_by_number():
    assert sorted(["3.1.10", "3.1.9", "3.1", "A.1"], key=get_section_sort_key) == ["A.1", "3.1", "3.1.9", "3.1.10"]
    assert sorted(["R-10", "R-9"], key=get_natural_sort_key) == ["R-9", "R-10"]


@given(st.lists(ANYTHING, max_size=4))
def test_any_section_and_rule_can_be_sorted(texts):
    assert len(sorted(texts, key=get_section_sort_key)) == len(sorted(texts, key=get_natural_sort_key))


def test_document_name_has_ms_prefix_only_for_specifications():
    names = ("MQQB", "ROBUSTNESS", "REGRESSIONS")
    assert [format_document_name(name) for name in names] == ["MS-MQQB", "Robustness", "Regressions"]
    assert [is_specification(name) for name in names] == [True, False, False]
