"""The pages of the site, written without Spark."""

import json
import re
from dataclasses import replace

import pytest
from crawl import dead_links, files_that_nothing_leads_to
from made import CONTOSO, contents, day, frame, rule, run, standing, written
from make_runs import HOSTILE_TEXTS
from site_pages import only_rule_page, page_of

from reports.errata import Erratum, load_errata
from reports.model import Change, CoverageOfSection, ProtocolWithoutRules, System, UndecidedVerdictAfterDecision
from reports.site import build_template_environment
from reports.text import make_slug

TAGS = {
    *("html", "head", "meta", "title", "link", "body", "a", "header", "nav", "main", "footer", "p", "h1", "h2", "h3"),
    *("bdi", "strong", "span", "div", "section", "svg", "rect", "g", "ul", "li", "fieldset", "legend", "label"),
    *("caption", "thead", "tbody", "tfoot", "tr", "th", "td", "dl", "dt", "dd", "details", "summary", "code", "figure"),
    *("figcaption", "pre", "input", "table", "article", "ol", "mark", "form", "select", "option"),
}
SCRIPTS = {
    "rules.html": ("rules-data.js", "elements.js", "search.js"),
    "compare.html": ("rules-data.js", "elements.js", "compare.js"),
}
RULE = rule(1, link="https://learn.microsoft.com/x")


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_is_escaped_on_every_page(tmp_path, text):
    system = System(text, text, text, 2)
    older = replace(system, version="0", order=1)
    words = dict.fromkeys(("title", "role", "why", "observe", "level", "form", "section", "observed"), text)
    evil = replace(rule(1, says=text), **words)
    unseen = replace(evil, rule="MQQB-1-02", observe="none", section="1", level="MUST")
    later = UndecidedVerdictAfterDecision("inconclusive", text, day(2), text, text)
    shown = standing(
        evil, system, "fail", [frame(1, direction=text, transport=text, hex=text, dissection=text)], expected=text,
        observed=text, reason=text, test=text, capture=text, reach=text, run=text, errata=(text,), notes=(text,),
        later_undecided_verdicts=(later,),
    )  # fmt: skip
    passed = standing(unseen, system, "pass", later_undecided_verdicts=(later,), retired=True)
    made = contents(
        [older, system], [evil, unseen],
        [shown, passed, standing(evil, older, "pass", later_undecided_verdicts=(later,))],
        [run(text, system, vendor=text, reach=text, harness=text, selection=text, aborted=text, folder=text)],
        [(1, text)], [Change(text, text, evil.rule, text, day(1), text, "fail", text, "pass", text)],
        coverage=(CoverageOfSection("MQQB", "1", text, "MUST", 1, 1, 0, 0, 1),), titles={"MQQB": text},
        members=(ProtocolWithoutRules(text, text, text, text, text),),
    )  # fmt: skip
    site, _ = written(tmp_path, made)
    pages = list(site.rglob("*.html"))
    assert len(pages) == 14
    for path in pages:
        assert re.fullmatch(r"[a-z0-9-]+\.html", path.name)
        page = path.read_text(encoding="utf-8")
        assert re.findall(r"<script[^>]*>", page) == [
            f'<script src="{name}" defer>' for name in SCRIPTS.get(path.name, ())
        ]
        assert not re.search(r"<(img|svg onload)", page)
        assert all(char.isprintable() or char in "\n\t" for char in page)
        assert set(re.findall(r"<([a-z0-9]+)", page)) - {"script"} <= TAGS
        assert "content=\"default-src 'none'; style-src" in page
        assert "unsafe" not in page
        assert len(page) < 80_000
    for path in (site / "data").glob("*.json"):
        json.loads(path.read_text(encoding="ascii"))
        assert re.fullmatch(r"[a-z0-9-]+\.json", path.name)


def test_the_rules_of_a_section_begin_with_its_findings(tmp_path):
    rules = [rule(number) for number in (1, 2, 3)]
    verdicts = zip(rules, ("pass", "warn", "fail"), strict=True)
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(each, CONTOSO, what) for each, what in verdicts]))
    page = page_of(site, f"sections/{make_slug('MQQB 2.1.1')}.html")
    assert re.findall(r'<th scope="row"><a [^>]*>([^<]+)', page) == [rules[number].rule for number in (2, 1, 0)]


def test_many_systems_are_split_over_pages(tmp_path):
    systems = [System(f"s{number}", "1", "", number) for number in range(45)]
    site, _ = written(tmp_path, contents(systems, [RULE], [standing(RULE, each, "pass") for each in systems]))
    pages = sorted(path.name for path in (site / "documents").iterdir())
    assert len(pages) == 3
    for path in (*(site / "documents").iterdir(), *(site / "sections").iterdir()):
        assert path.read_text().count('class="sut-column"') <= 20
    assert all(each.key in page_of(site, "index.html") for each in systems)


def test_coverage_page_has_counts_and_reasons(tmp_path):
    unseen = replace(rule(2), observe="none", why="<nobody> can", checked=False)
    counted = CoverageOfSection(
        RULE.document, RULE.section, RULE.title, "MUST", rows=4, catalogued=3, checked=1, proven=1, none=1
    )
    events = replace(counted, kind="event", rows=7, checked=5)
    clone = replace(rule(3), observe="none", why="a clone counts nowhere", kind="clone")
    member = ProtocolWithoutRules("MQCN", "Change Notification", "Nothing.", "Sends <none>.", "Its packets.")
    made = contents([CONTOSO], [RULE, unseen, clone], coverage=(counted, events), members=(member,))
    site, _ = written(tmp_path, made)
    page = page_of(site, "coverage.html")
    assert "1 of 4 checked (25.0 %), 100.0 % of the checked rules proven, 1 not observable, 2 open" in page
    assert "of class event: 5 of 7 checked" in page
    assert "a clone counts nowhere" not in page
    assert "&lt;nobody&gt; can" in page
    assert "Sends &lt;none&gt;." in page
    assert unseen.rule in page


def test_site_of_old_runs_states_that_coverage_is_unknown(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert "No run contains the coverage of the suites" in page_of(site, "coverage.html")


def test_rewritten_site_has_no_stale_pages(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").write_text("old")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert not (site / "old.html").exists()


def test_every_link_within_the_site_has_a_target(tmp_path):
    rules = [rule(number, section) for section in ("2.1.1", "3.1.5.10") for number in (1, 2)]
    systems = [replace(CONTOSO, version=f"1.{number}", order=number) for number in range(23)]
    verdicts = ("fail", "pass", "warn", "inconclusive")
    standings = [
        standing(each, system, verdicts[(number + system.order) % 4], errata=("E1",))
        for number, each in enumerate(rules)
        for system in systems
    ]
    made = contents(systems, rules, standings, [run("r1", systems[0]), run("r2", systems[0], 2)], [(1, "bad")])
    site, _ = written(tmp_path, made)
    assert dead_links(site) == []
    assert files_that_nothing_leads_to(site) == []


def test_errata_page_shows_cited_uncited_and_unknown_entries(tmp_path):
    known = {
        name: Erratum(name, f"<i>{name}</i> contradicts", (("one way", "pass"), ("the other", "fail")), *"rcw", is_open)
        for name, is_open in (("E1", False), ("E9", True))
    }
    one = standing(RULE, CONTOSO, "pass", errata=("E1", "E77"))
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]), errata=known)
    page = page_of(site, "errata.html")
    assert page.index("&lt;i&gt;E1&lt;/i&gt;") < page.index(RULE.rule) < page.index('id="others"') < page.index(">E9 ")
    assert "The installed suites have no such entry" in page[page.index(">E77") :]
    assert "settled by packets" in page[page.index('id="others"') :]
    assert "&lt;i&gt;E1&lt;/i&gt; contradicts" in only_rule_page(site)


def test_reports_find_the_errata_of_the_suites():
    known = load_errata()
    assert len(known) > 60
    assert all(each.says and len(each.readings) > 1 and each.choice for each in known.values())


def test_table_cell_that_begins_a_spreadsheet_formula_becomes_text(tmp_path):
    one = standing(RULE, CONTOSO, "fail", observed="=1+1")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]))
    table = site / "data" / f"system-{CONTOSO.key}-findings"
    assert "'=1+1" in table.with_suffix(".csv").read_text()
    assert json.loads(table.with_suffix(".json").read_text())[0]["observed"] == "=1+1"


def test_color_is_always_accompanied_by_symbol_or_word(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail")]))
    page = page_of(site, "index.html")
    for symbol, label in {"✗": "fail", "✓": "pass", "▲": "warn", "○": "not observable", "·": "no verdict"}.items():
        assert re.search(rf"{symbol}</span>\s*{label}", page)


def test_html_templates_always_autoescape():
    assert build_template_environment().autoescape is True
    assert build_template_environment().from_string("{{ x }}").render(x="<b>\u202e") == "&lt;b&gt;⟨U+202E⟩"
