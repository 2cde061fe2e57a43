"""The pages, written without Spark."""

import csv
import json
import re
from dataclasses import replace

import pytest
from crawl import dead_links, files_that_nothing_leads_to
from made import CONTOSO, FABRIKAM, contents, day, frame, rule, run, standing, written
from make_runs import HOSTILE_TEXTS

from reports.errata import Erratum, known_errata
from reports.model import Beside, Change, Coverage, Member, Pair, System
from reports.site import environment
from reports.site.packets import dissection, octets
from reports.site.rule_pages import frames_for
from reports.text import OCTETS_SHOWN, slug

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


def page_of(site, name):
    return (site / name).read_text(encoding="utf-8")


def only_rule_page(site):
    (page,) = (site / "rules").iterdir()
    return page.read_text(encoding="utf-8")


def system_page(site, system):
    return page_of(site, f"systems/{system.key}.html")


def rows_of(site, table):
    return list(csv.DictReader((site / "data" / f"{table}.csv").read_text().splitlines()))


def test_a_rule_page_is_complete(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.pcapng").write_bytes(b"capture")
    fail = standing(
        RULE, CONTOSO, "fail", [frame(4, hex="4c494f52", octets=4)], expected="closed", observed="open",
        reason="because", test="suites/t.py::t", capture="a.pcapng", errata=("E25",), notes=("a note",),
    )  # fmt: skip
    made = contents([CONTOSO], [RULE], [fail], [run("r1", CONTOSO)])
    site, missing = written(tmp_path, made, {"r1": tmp_path / "run"})
    page = only_rule_page(site)
    for words in (
        "closed",
        "open",
        "because",
        "suites/t.py<",
        ">t<",
        "E25",
        "a note",
        "says 1",
        "MUST",
        "|LIOR|",
        "frame 4",
    ):
        assert words in page
    assert "SUT → peer" in page
    assert "mqconform run --rule MQQB-2.1.1-01 --sut FILE" in page
    assert 'href="https://learn.microsoft.com/x"' in page
    assert f'href="../errata.html#{slug("E25")}"' in page
    (capture,) = re.findall(r'href="\.\./(captures/[^"]+)"', page)
    assert (site / capture).read_bytes() == b"capture"
    assert missing == []


def test_a_capture_outside_of_the_run_folder_is_not_copied(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "secret").write_text("secret")
    made = contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "pass", capture="../secret")])
    site, missing = written(tmp_path, made, {"r1": tmp_path / "run"})
    assert missing == ["r1: ../secret"]
    assert not (site / "captures").exists()
    assert "is not a file of the run folder" in only_rule_page(site)


def test_the_field_that_decides_is_marked_in_octets_and_dissection(tmp_path):
    shown = frame(
        1, hex="00112233445566778899", octets=10, dissection="A = 1\nB = 2", first=6, last=9, marked=((6, 11),)
    )
    assert [text for text, is_marked in octets(shown) if is_marked] == ["66 77", "88 99", "fw.."]
    assert dissection(shown) == [("A = 1\n", False), ("B = 2", True)]
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail", [shown])]))
    page = only_rule_page(site)
    assert "<mark>66 77</mark>" in page
    assert "<mark>B = 2</mark>" in page
    assert "octets <strong>6 to 9</strong> decide" in page


def test_octets_are_shown_with_offset_and_letters():
    data = b"\x10\xc0\x0b\x00LIOR" + bytes(12)
    shown = "".join(text for text, _ in octets(frame(1, hex=data.hex(), octets=20))).splitlines()
    assert shown[0] == "0000  10 c0 0b 00 4c 49 4f 52  00 00 00 00 00 00 00 00  |....LIOR........|"
    assert shown[1] == "0010  00 00 00 00                                       |....|"
    for first in range(20):
        marked = octets(frame(1, hex=data.hex(), octets=20, first=first, last=first + 2))
        assert "".join(text for text, _ in marked).splitlines() == shown


def test_octets_of_a_huge_packet_are_bounded():
    lines = "".join(text for text, _ in octets(frame(1, hex=bytes(range(250)).hex() * 20, octets=5_000))).splitlines()
    assert len(lines) == OCTETS_SHOWN // 16 + 1
    assert lines[-1] == f"… {5_000 - OCTETS_SHOWN} more octets"


@pytest.mark.parametrize("digits", ["<script>", "abc", "0x10"])
def test_octets_that_are_no_hexadecimal_say_so(digits):
    assert octets(frame(1, hex=digits, octets=1))[0][0].startswith("not hexadecimal")


@pytest.mark.parametrize("marked", [((5, 2),), ((0, 99),), ((0, 3), (1, 2))])
def test_a_mark_that_cannot_be_is_left_out(marked):
    assert "".join(text for text, _ in dissection(frame(1, dissection="A = 1", marked=marked))) == "A = 1"


def test_packets_are_made_from_the_capture_when_the_verdict_has_none(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.pcapng").write_bytes(b"capture")
    named = frame(7, hex="", octets=0, dissection="", first=0, last=1)
    one = standing(RULE, CONTOSO, "fail", [named], capture="a.pcapng")
    show = lambda path, asked: (frame(7, hex=path.read_bytes().hex(), octets=7, dissection=asked.rule),)  # noqa: E731
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]), {"r1": tmp_path / "run"}, show=show)
    assert "|capture|" in only_rule_page(site)


def test_the_state_is_shown_where_no_packet_decides(tmp_path):
    state = replace(RULE, observe="inspect")
    site, _ = written(tmp_path, contents([CONTOSO], [state], [standing(state, CONTOSO, "fail", observed="Quota 7")]))
    page = only_rule_page(site)
    assert "State observed" in page
    assert "there is no packet" in page


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_is_text_wherever_it_stands(tmp_path, text):
    system = System(text, text, text, 2)
    older = replace(system, version="0", order=1)
    words = dict.fromkeys(("title", "role", "why", "observe", "level", "form", "section", "observed"), text)
    evil = replace(rule(1, says=text), **words)
    unseen = replace(evil, rule="MQQB-1-02", observe="none", section="1", level="MUST")
    later = Beside("inconclusive", text, day(2), text, text)
    shown = standing(
        evil, system, "fail", [frame(1, direction=text, transport=text, hex=text, dissection=text)], expected=text,
        observed=text, reason=text, test=text, capture=text, reach=text, run=text, errata=(text,), notes=(text,),
        beside=(later,),
    )  # fmt: skip
    passed = standing(unseen, system, "pass", beside=(later,), retired=True)
    made = contents(
        [older, system], [evil, unseen], [shown, passed, standing(evil, older, "pass", beside=(later,))],
        [run(text, system, vendor=text, reach=text, harness=text, selection=text, aborted=text, folder=text)],
        [(1, text)], [Change(text, text, evil.rule, text, day(1), text, "fail", text, "pass", text)],
        coverage=(Coverage("MQQB", "1", text, "MUST", 1, 1, 0, 0, 1),), titles={"MQQB": text},
        members=(Member(text, text, text, text, text),),
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


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "http://x", 'https://x" onclick="y', "https://x y", "HTTPS://x", "\nhttps://x"]
)
def test_only_a_plain_https_link_is_a_link(tmp_path, link):
    evil = rule(1, link=link)
    site, _ = written(tmp_path, contents([CONTOSO], [evil], [standing(evil, CONTOSO, "pass")]))
    links = re.findall(r'href="([^"]*)"', only_rule_page(site))
    if link.startswith('https://x"'):
        assert all(not each.startswith("https") or "&#34;" in each for each in links)
    else:
        assert all(not each.lower().strip().startswith(("http", "java")) for each in links)
    assert 'onclick="' not in only_rule_page(site)


def test_frames_of_the_worst_verdicts_come_first_and_equals_take_turns():
    many = [frame(number) for number in range(9)]
    third = System("Third", "1")
    standings = [
        standing(RULE, CONTOSO, "pass", many),
        standing(RULE, FABRIKAM, "fail", many[:3]),
        standing(RULE, third, "pass", many),
    ]
    assert frames_for(standings) == {FABRIKAM.key: 3, CONTOSO.key: 3, third.key: 2}


def test_a_page_says_how_many_frames_and_systems_it_leaves_out(tmp_path):
    systems = [System("Many", str(number), "", number) for number in range(30)]
    full = [frame(number) for number in range(10)]
    standings = [standing(RULE, each, "fail" if each.order > 9 else "pass", full) for each in systems]
    site, _ = written(tmp_path, contents(systems, [RULE], standings))
    page = only_rule_page(site)
    assert page.count('class="frame"') == 8
    assert page.count('class="panel worst-fail"') == 12
    assert page.count('class="panel worst-pass"') == 2
    assert "2 more frames" not in page
    assert "8 further systems" in page
    assert all((f'id="{each.key}"' in page) for each in systems if each.order > 9)
    assert re.search(r"pass</span>\s*10 systems</dt>\s*</div>", page)
    assert page.index('class="panel worst-fail"') < page.index('class="panel worst-pass"')


def test_a_system_page_shows_its_failures_first_and_how_to_repeat_them(tmp_path):
    rules = [rule(number, says=f"<b>rule {number}</b>") for number in range(1, 5)]
    standings = [
        standing(rules[0], CONTOSO, "pass"),
        standing(rules[1], CONTOSO, "warn", expected="3", observed="4"),
        standing(rules[2], CONTOSO, "fail", expected="closed", observed="open", partial=True, errata=("E1",)),
    ]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings, [run("r1", CONTOSO, partial=True)]))
    page = system_page(site, CONTOSO)
    assert page.index('id="fail"') < page.index('id="warn"') < page.index('id="documents"')
    failure = page[page.index('id="fail"') : page.index('id="warn"')]
    for words in (
        "&lt;b&gt;rule 3",
        "closed",
        "open",
        "mqconform run --rule MQQB-2.1.1-03 --sut FILE",
        "partial run",
        "E1",
    ):
        assert words in failure
    assert "<strong>3</strong> of 4 rules judged" in page
    untried = page[page.index("not judged</span> 1 rule: ") :]
    assert untried.index("the latest run is not whole") < untried.index("<code>mqconform run --sut FILE</code>")
    rows = rows_of(site, f"system-{CONTOSO.key}-findings")
    assert [(row["rule"], row["verdict"], row["repeat"]) for row in rows] == [
        ("MQQB-2.1.1-03", "fail", "mqconform run --rule MQQB-2.1.1-03 --sut FILE"),
        ("MQQB-2.1.1-02", "warn", "mqconform run --rule MQQB-2.1.1-02 --sut FILE"),
    ]
    assert "fail" in (site / "badges" / f"{CONTOSO.key}.svg").read_text()


def test_many_failures_are_all_named(tmp_path):
    rules = [rule(number) for number in range(1, 131)]
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(each, CONTOSO, "fail") for each in rules]))
    page = system_page(site, CONTOSO)
    assert "30 further rules" in page
    assert all(each.rule in page for each in rules)


def test_a_card_says_how_much_of_the_catalogue_was_judged_and_leads_to_the_failures(tmp_path):
    rules = [rule(number, checked=True) for number in range(1, 101)]
    rules.append(rule(101, checked=False))
    standings = [standing(rules[0], CONTOSO, "pass"), standing(rules[1], FABRIKAM, "fail")]
    runs = [run("r1", CONTOSO, aborted="the SUT is gone"), run("r2", FABRIKAM, 2, finished=None)]
    site, _ = written(tmp_path, contents([CONTOSO, FABRIKAM], rules, standings, runs))
    page = page_of(site, "index.html")
    assert page.count('1 of 100 rules judged <span class="whole">(1 %)</span>') == 2
    assert re.search(r'class="f-pass" x="0.0" y="0" width="1.0"', page)
    assert f'href="systems/{FABRIKAM.key}.html#fail"' in page
    assert "aborted: the SUT is gone" in page
    assert "did not finish" in page


def test_the_page_of_a_run_names_what_should_have_been_followed_beside_a_must(tmp_path):
    rules = [rule(1), rule(2)]
    runs = [run("r1", CONTOSO, unfollowed=(rules[1].rule,)), run("r2", CONTOSO, 2)]
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(rules[0], CONTOSO, "pass")], runs))
    said = [text for page in (site / "runs").glob("*.html") if "SHOULD not followed" in (text := page.read_text())]
    assert len(said) == 1
    assert re.search(rf'SHOULD not followed beside a MUST: <a href="[^"]*">{rules[1].rule}</a></p>', said[0])


def test_what_changed_since_the_version_before_is_shown(tmp_path):
    newer = System("Contoso", "1.1", "", 5)
    rules = [rule(number) for number in range(1, 4)]
    old = [standing(each, CONTOSO, verdict) for each, verdict in zip(rules, ("pass", "fail", "pass"), strict=True)]
    new = [standing(each, newer, verdict) for each, verdict in zip(rules, ("fail", "pass", "pass"), strict=True)]
    change = Change("Contoso", "", rules[0].rule, "r9", day(3), "1.1", "fail", "1.0", "pass", "newly failing")
    site, _ = written(tmp_path, contents([CONTOSO, newer], rules, old + new, changes=[change]))
    page = system_page(site, newer)
    changes = page[page.index('id="changes"') :]
    assert re.search(rf"newly failing</span> 1 rule</summary><ul>\s*<li>.*{rules[0].rule}", changes)
    assert re.search(rf"newly passing</span> 1 rule</summary><ul>\s*<li>.*{rules[1].rule}", changes)
    assert 'id="changes"' not in system_page(site, CONTOSO)
    first = page_of(site, f"rules/{slug(rules[0].rule)}.html")
    assert "newly failing" in first
    assert 'id="history"' in first
    rows = {row["rule"]: row for row in rows_of(site, f"system-{newer.key}")}
    assert (rows[rules[0].rule]["verdict"], rows[rules[0].rule]["verdict_before"]) == ("fail", "pass")
    assert "newly failing</span> 1" in page_of(site, "index.html")


def test_findings_of_one_cause_stand_together_under_what_was_seen(tmp_path):
    rules = [rule(number, says=f"says {number}") for number in range(1, 5)]
    seen = {"expected": "['0x8009']", "observed": "['0x8000']", "test": "suites/t.py::a[0]"}
    standings = [standing(rules[0], CONTOSO, "fail", observed="kept open", test="suites/t.py::b")]
    standings += [standing(each, CONTOSO, "fail", **seen) for each in rules[1:]]
    names = {"['0x8000']": "0x8000 NackBadDestQueue"}
    made = contents([CONTOSO], rules, standings)
    site, _ = written(tmp_path, made, named=lambda text: names.get(text, text))
    page = system_page(site, CONTOSO)
    assert "4 rules, 2 causes" in page
    group = page[page.index("3 rules, 1 check: observed 0x8000 NackBadDestQueue") : page.index("</section>")]
    assert [f"says {number}" in group for number in (1, 2, 3, 4)] == [False, True, True, True]
    assert page.index("</section>") < page.index("says 1")
    assert "<bdi>0x8000 NackBadDestQueue" in page_of(site, f"rules/{slug(rules[1].rule)}.html")


def test_a_cell_leads_to_the_findings_of_its_document_or_to_its_sections(tmp_path):
    other = replace(rule(1), rule="MQMQ-2.1.1-01", document="MQMQ")
    made = contents([CONTOSO], [RULE, other], [standing(RULE, CONTOSO, "fail"), standing(other, CONTOSO, "pass")])
    site, _ = written(tmp_path, made)
    index = page_of(site, "index.html")
    (anchor,) = re.findall(rf'<td class="cell worst-fail"><a href="systems/{CONTOSO.key}.html#([^"]+)"', index)
    assert re.search(r'<td class="cell worst-pass"><a href="documents/mqmq-[0-9a-f]+.html"', index)
    assert f'class="todo worst-fail of {anchor}"' in system_page(site, CONTOSO)
    assert f"body:has(#{anchor}:target) .of:not(.{anchor}) {{ display: none; }}" in page_of(site, "documents.css")
    section = page_of(site, f"sections/{slug('MQQB 2.1.1')}.html")
    assert f'href="../rules/{slug(RULE.rule)}.html#{CONTOSO.key}"' in section


def test_the_rules_of_a_section_begin_with_its_findings(tmp_path):
    rules = [rule(number) for number in (1, 2, 3)]
    verdicts = zip(rules, ("pass", "warn", "fail"), strict=True)
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(each, CONTOSO, what) for each, what in verdicts]))
    page = page_of(site, f"sections/{slug('MQQB 2.1.1')}.html")
    assert re.findall(r'<th scope="row"><a [^>]*>([^<]+)', page) == [rules[number].rule for number in (2, 1, 0)]


def test_a_run_has_a_page_with_its_whole_selection_its_command_and_its_junit(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "junit.xml").write_text("<testsuites/>")
    selection = "--select MQMQ -k " + " or ".join(f"test_{number}" for number in range(100))
    changed = Change("Contoso", "", RULE.rule, "r2", day(3), "1.0", "fail", "1.0", "pass", "newly failing")
    runs = [run("r1", CONTOSO, selection="all"), run("r2", CONTOSO, 2, selection=selection)]
    made = contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail", run="r2")], runs, changes=[changed])
    site, _ = written(tmp_path, made, {"r2": tmp_path / "run"})
    page = page_of(site, f"runs/{slug('r2')}.html")
    assert selection in page
    assert "mqconform run --sut FILE --select MQMQ -k &#39;test_0 or " in page
    assert page.index("newly failing") < page.index(RULE.rule)
    (junit,) = re.findall(r'href="\.\./(runs/[^"]+\.junit\.xml)"', page)
    assert page_of(site, junit) == "<testsuites/>"
    first = page_of(site, f"runs/{slug('r1')}.html")
    assert "No verdict that stands differs" in first
    assert "<code>mqconform run --sut FILE</code>" in first
    for name in ("runs.html", f"systems/{CONTOSO.key}.html", f"rules/{slug(RULE.rule)}.html", "index.html"):
        assert f'{slug("r2")}.html"' in page_of(site, name), name


def test_what_the_latest_run_changed_is_on_the_first_page(tmp_path):
    rules = [rule(number) for number in range(1, 9)]
    changes = [
        Change("Contoso", "", each.rule, "r2", day(3), "1.0", "fail", "1.0", "pass", "newly failing") for each in rules
    ]
    old = replace(changes[0], run="r1", change="newly passing", verdict="pass")
    runs = [run("r1", CONTOSO), run("r2", CONTOSO, 2)]
    standings = [standing(each, CONTOSO, "fail") for each in rules]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings, runs, changes=[*changes, old]))
    page = page_of(site, "index.html")
    new = page[page.index('id="new"') : page.index("</ul>", page.index('id="new"'))]
    assert "newly failing</span> 8" in new
    assert "newly passing" not in new
    assert new.count('href="rules/') == 5
    assert "and 3 more" in new
    assert page.index('id="new"') < page.index('id="matrix"') < page.index('class="legend"')


def test_two_systems_are_compared_by_the_data_of_all(tmp_path):
    newer = System("Contoso", "1.1", "", 5)
    standings = [standing(RULE, CONTOSO, "pass"), standing(RULE, newer, "fail")]
    site, _ = written(tmp_path, contents([FABRIKAM, CONTOSO, newer], [RULE], standings))
    page = page_of(site, "compare.html")
    chosen = re.findall(r'<option value="([^"]+)" selected>', page)
    assert chosen == [CONTOSO.key, newer.key]
    assert 'href="compare.html"' in page_of(site, "index.html")
    alone, _ = written(tmp_path / "alone", contents([CONTOSO], [RULE]))
    assert not (alone / "compare.html").exists()


def test_profiles_are_systems_of_their_own(tmp_path):
    other = replace(CONTOSO, profile="directory", order=9)
    standings = [standing(RULE, CONTOSO, "pass"), standing(RULE, other, "fail")]
    site, _ = written(tmp_path, contents([CONTOSO, other], [RULE], standings))
    assert 'id="changes"' not in system_page(site, other)
    assert "directory" in system_page(site, other)


def test_later_undecided_and_retired_verdicts_stand_apart(tmp_path):
    rules = [rule(1), rule(2)]
    later = Beside("inconclusive", "r7", day(7), "t", "it was slow")
    standings = [
        standing(rules[0], CONTOSO, "pass", beside=(later,)),
        standing(rules[1], CONTOSO, "fail", retired=True),
    ]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings))
    page = system_page(site, CONTOSO)
    assert "it was slow" in page[page.index('id="beside"') :]
    assert "2026-11-07" in page
    assert rules[1].rule in page[page.index('id="retired"') :]
    assert 'id="fail"' not in page
    retired = page_of(site, f"rules/{slug(rules[1].rule)}.html")
    assert "Retired" in retired
    assert "fail" not in re.sub(r"<[^>]*>", "", page_of(site, "index.html").partition('class="filter"')[0])


def test_history_of_a_system_is_drawn(tmp_path):
    runs = [run(f"r{number}", CONTOSO, number, counts={"pass": number, "fail": 1}) for number in (1, 2, 3)]
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail")], runs))
    page = system_page(site, CONTOSO)
    trend = page[page.index('class="trend"') : page.index("</svg>", page.index('class="trend"'))]
    assert trend.count("<g>") == 3
    assert trend.count('class="f-fail"') == 3
    history = page[page.index('class="runs"') :]
    assert history.index(">r3<") < history.index(">r1<")


def test_many_systems_are_shown_a_few_at_a_time(tmp_path):
    systems = [System(f"s{number}", "1", "", number) for number in range(45)]
    site, _ = written(tmp_path, contents(systems, [RULE], [standing(RULE, each, "pass") for each in systems]))
    pages = sorted(path.name for path in (site / "documents").iterdir())
    assert len(pages) == 3
    for path in (*(site / "documents").iterdir(), *(site / "sections").iterdir()):
        assert path.read_text().count('class="sut-column"') <= 20
    assert all(each.key in page_of(site, "index.html") for each in systems)


def test_a_rule_that_nobody_judged_has_a_page_and_says_so(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [], [run("r1", CONTOSO)]))
    assert "not judged" in only_rule_page(site)
    assert "Nothing fails of what was judged" in system_page(site, CONTOSO)


def test_rejected_lines_are_listed(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [], [run("r1", CONTOSO)], [(17, "empty line")]))
    page = page_of(site, "runs.html")
    assert "17" in page
    assert "empty line" in page
    assert "1 line of the verdict files" in page_of(site, "index.html")


def test_the_coverage_page_counts_and_says_why(tmp_path):
    unseen = replace(rule(2), observe="none", why="<nobody> can", checked=False)
    counted = Coverage(
        RULE.document, RULE.section, RULE.title, "MUST", rows=4, catalogued=3, checked=1, proven=1, none=1
    )
    events = replace(counted, kind="event", rows=7, checked=5)
    clone = replace(rule(3), observe="none", why="a clone counts nowhere", kind="clone")
    member = Member("MQCN", "Change Notification", "Nothing.", "Sends <none>.", "Its packets.")
    made = contents([CONTOSO], [RULE, unseen, clone], coverage=(counted, events), members=(member,))
    site, _ = written(tmp_path, made)
    page = page_of(site, "coverage.html")
    assert "1 of 4 checked (25.0 %), 100.0 % of those proven, 1 not observable, 2 open" in page
    assert "of class event: 5 of 7 checked" in page
    assert "a clone counts nowhere" not in page
    assert "&lt;nobody&gt; can" in page
    assert "Sends &lt;none&gt;." in page
    assert unseen.rule in page


def test_a_site_of_old_runs_says_that_it_knows_no_coverage(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert "No run says what the suites check" in page_of(site, "coverage.html")


def test_stale_pages_do_not_stay(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").write_text("old")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert not (site / "old.html").exists()


def test_every_link_within_the_site_leads_somewhere(tmp_path):
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


def test_pairs_are_a_page_of_their_own(tmp_path):
    pairs = (
        Pair(CONTOSO.key, "Contoso 1.0", FABRIKAM.key, "Fabrikam 2.2", "sender", {"pass": 3}),
        Pair(FABRIKAM.key, "Fabrikam 2.2", CONTOSO.key, "Contoso 1.0", "receiver", {"fail": 1, "pass": 2}),
        Pair(FABRIKAM.key, "Fabrikam 2.2", "elsewhere", "<b>else</b>", "receiver", {"pass": 2}),
    )
    site, _ = written(tmp_path, contents([CONTOSO, FABRIKAM], [RULE], pairs=pairs))
    page = page_of(site, "pairs.html")
    assert f'href="systems/{CONTOSO.key}.html"' in page
    assert "&lt;b&gt;else&lt;/b&gt;" in page
    assert page.count("as receiver") == 2
    assert page.count("never met") == 3
    assert re.search(rf'class="worst-fail">\s*<th scope="row"><a href="systems/{FABRIKAM.key}', page)
    assert 'href="pairs.html"' in page_of(site, "index.html")
    assert [(row["role"], row["fail"], row["pass"]) for row in rows_of(site, "pairs")] == [
        ("sender", "", "3"),
        ("receiver", "", "2"),
        ("receiver", "1", "2"),
    ]


def test_without_other_systems_there_are_no_pairs(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert not (site / "pairs.html").exists()
    assert "pairs.html" not in page_of(site, "index.html")


def test_errata_have_their_texts(tmp_path):
    known = {
        name: Erratum(name, f"<i>{name}</i> contradicts", (("one way", "pass"), ("the other", "fail")), *"rcw", is_open)
        for name, is_open in (("E1", False), ("E9", True))
    }
    one = standing(RULE, CONTOSO, "pass", errata=("E1", "E77"))
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]), errata=known)
    page = page_of(site, "errata.html")
    assert page.index("&lt;i&gt;E1&lt;/i&gt;") < page.index(RULE.rule) < page.index('id="others"') < page.index(">E9 ")
    assert "The suites that are installed here have no such entry" in page[page.index(">E77") :]
    assert "settled by bytes" in page[page.index('id="others"') :]
    assert "&lt;i&gt;E1&lt;/i&gt; contradicts" in only_rule_page(site)


def test_the_errata_of_the_suites_are_found():
    known = known_errata()
    assert len(known) > 60
    assert all(each.says and len(each.readings) > 1 and each.choice for each in known.values())


def test_a_cell_that_a_spreadsheet_would_compute_is_text(tmp_path):
    one = standing(RULE, CONTOSO, "fail", observed="=1+1")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]))
    table = site / "data" / f"system-{CONTOSO.key}-findings"
    assert "'=1+1" in table.with_suffix(".csv").read_text()
    assert json.loads(table.with_suffix(".json").read_text())[0]["observed"] == "=1+1"


def test_colour_is_never_alone(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail")]))
    page = page_of(site, "index.html")
    for symbol, label in {"✗": "fail", "✓": "pass", "▲": "warn", "○": "not observable", "·": "not judged"}.items():
        assert re.search(rf"{symbol}</span>\s*{label}", page)


def test_autoescape_is_always_on():
    assert environment().autoescape is True
    assert environment().from_string("{{ x }}").render(x="<b>\u202e") == "&lt;b&gt;⟨U+202E⟩"
