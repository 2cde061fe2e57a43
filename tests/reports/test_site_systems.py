"""The pages of systems and the first page: findings by cause, changes, cells; written without Spark."""

import re
from dataclasses import replace

from made import CONTOSO, FABRIKAM, contents, day, rule, run, standing, written
from site_pages import page_of, rows_of, system_page

from reports.model import Change, System, UndecidedVerdictAfterDecision
from reports.site.names import name_document_anchor
from reports.text import make_slug

RULE = rule(1, link="https://learn.microsoft.com/x")


def test_system_page_shows_failures_first_with_the_command_that_repeats_their_check(tmp_path):
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
    untried = page[page.index("no verdict</span> 1 rule: ") :]
    assert untried.index("the latest run is partial") < untried.index("<code>mqconform run --sut FILE</code>")
    rows = rows_of(site, f"system-{CONTOSO.key}-findings")
    assert [(row["rule"], row["verdict"], row["repeat"]) for row in rows] == [
        ("MQQB-2.1.1-03", "fail", "mqconform run --rule MQQB-2.1.1-03 --sut FILE"),
        ("MQQB-2.1.1-02", "warn", "mqconform run --rule MQQB-2.1.1-02 --sut FILE"),
    ]
    assert "fail" in (site / "badges" / f"{CONTOSO.key}.svg").read_text()


def test_system_page_names_all_of_many_failures(tmp_path):
    rules = [rule(number) for number in range(1, 131)]
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(each, CONTOSO, "fail") for each in rules]))
    page = system_page(site, CONTOSO)
    assert "30 further rules" in page
    assert all(each.rule in page for each in rules)


def test_card_shows_judged_share_and_links_to_failures(tmp_path):
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


def test_system_page_shows_changes_since_previous_version(tmp_path):
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
    first = page_of(site, f"rules/{make_slug(rules[0].rule)}.html")
    assert "newly failing" in first
    assert 'id="history"' in first
    rows = {row["rule"]: row for row in rows_of(site, f"system-{newer.key}")}
    assert (rows[rules[0].rule]["verdict"], rows[rules[0].rule]["verdict_before"]) == ("fail", "pass")
    assert "newly failing</span> 1" in page_of(site, "index.html")


def test_findings_of_one_cause_are_grouped_under_their_observation(tmp_path):
    rules = [rule(number, says=f"says {number}") for number in range(1, 5)]
    seen = {"expected": "['0x8009']", "observed": "['0x8000']", "test": "suites/t.py::a[0]"}
    standings = [standing(rules[0], CONTOSO, "fail", observed="kept open", test="suites/t.py::b")]
    standings += [standing(each, CONTOSO, "fail", **seen) for each in rules[1:]]
    names = {"['0x8000']": "0x8000 NackBadDestQueue"}
    made = contents([CONTOSO], rules, standings)
    site, _ = written(tmp_path, made, named=lambda text: names.get(text, text))
    page = system_page(site, CONTOSO)
    page = re.sub(r'</?span( class="of-all")?>|<span class="of-one[^>]*>[^<]*</span>', "", page)
    assert "4 rules, 2 causes" in page
    group = page[page.index("3 rules: observed 0x8000 NackBadDestQueue") : page.index("</section>")]
    assert [f"says {number}" in group for number in (1, 2, 3, 4)] == [False, True, True, True]
    assert page.index("</section>") < page.index("says 1")
    assert "<bdi>0x8000 NackBadDestQueue" in page_of(site, f"rules/{make_slug(rules[1].rule)}.html")


def test_a_cell_leads_to_the_findings_of_its_document_or_to_its_sections(tmp_path):
    other = replace(rule(1), rule="MQMQ-2.1.1-01", document="MQMQ")
    made = contents([CONTOSO], [RULE, other], [standing(RULE, CONTOSO, "fail"), standing(other, CONTOSO, "pass")])
    site, _ = written(tmp_path, made)
    index = page_of(site, "index.html")
    (anchor,) = re.findall(rf'<td class="cell worst-fail"><a href="systems/{CONTOSO.key}.html#([^"]+)"', index)
    assert re.search(r'<td class="cell worst-pass"><a href="documents/mqmq-[0-9a-f]+.html"', index)
    assert f'class="todo worst-fail of {anchor}"' in system_page(site, CONTOSO)
    assert f"body:has(#{anchor}:target) .of:not(.{anchor}), " in page_of(site, "documents.css")
    section = page_of(site, f"sections/{make_slug('MQQB 2.1.1')}.html")
    assert f'href="../rules/{make_slug(RULE.rule)}.html#{CONTOSO.key}"' in section


def test_each_profile_has_its_own_system_page(tmp_path):
    other = replace(CONTOSO, profile="directory", order=9)
    standings = [standing(RULE, CONTOSO, "pass"), standing(RULE, other, "fail")]
    site, _ = written(tmp_path, contents([CONTOSO, other], [RULE], standings))
    assert 'id="changes"' not in system_page(site, other)
    assert "directory" in system_page(site, other)


def test_later_undecided_and_retired_verdicts_are_listed_separately(tmp_path):
    rules = [rule(1), rule(2)]
    later = UndecidedVerdictAfterDecision("inconclusive", "r7", day(7), "t", "it was slow")
    standings = [
        standing(rules[0], CONTOSO, "pass", later_undecided_verdicts=(later,)),
        standing(rules[1], CONTOSO, "fail", retired=True),
    ]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings))
    page = system_page(site, CONTOSO)
    assert "it was slow" in page[page.index('id="beside"') :]
    assert "2026-11-07" in page
    assert rules[1].rule in page[page.index('id="retired"') :]
    assert 'id="fail"' not in page
    retired = page_of(site, f"rules/{make_slug(rules[1].rule)}.html")
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


def test_counted_rules_are_judged_plus_unjudged_rules(tmp_path):
    rules = [*(rule(number) for number in (1, 2, 3)), rule(4, observe="none"), rule(5, observe="none")]
    standings = [standing(rules[0], CONTOSO, "pass"), standing(rules[4], CONTOSO, "not_observable")]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings))
    page = system_page(site, CONTOSO)
    assert "<strong>1</strong> of 4 rules judged" in page
    assert "no verdict</span> 2 rules: " in page
    assert '<td class="number">4</td>' in page[page.index('id="documents"') :], "the table counts the same rules"
    assert "5 rules, 4 of which the suites check" in page_of(site, "rules.html")


def test_matrix_cell_of_document_without_verdict_shows_no_verdict(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [rule(1), rule(2)]))
    page = page_of(site, "index.html")
    cell = page[page.index('<td class="cell worst-not_judged">') :]
    assert '2<span class="vh"> no verdict' in cell[: cell.index("</td>")]


def test_headings_count_rules_of_filtered_document(tmp_path):
    other = replace(rule(9), rule="MQMQ-2.1.1-09", document="MQMQ")
    rules, seen = [rule(1), rule(2), other], {"observed": "kept open", "test": "suites/t.py::a"}
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(each, CONTOSO, "fail", **seen) for each in rules]))
    page = system_page(site, CONTOSO)
    numbers = {"MQQB": "2 rules", "MQMQ": "1 rule"}
    for heading in re.findall(r"<h[23][^>]*>.*?</h[23]>", page):
        if "of-all" in heading:
            assert '<span class="of-all">3 rules</span>' in heading
            assert all(
                f'<span class="of-one {name_document_anchor(name)}">{said}</span>' in heading
                for name, said in numbers.items()
            )
    style = page_of(site, "documents.css")
    shown = f"body:has(#{name_document_anchor('MQMQ')}:target)"
    assert f"{shown} .of:not(.{name_document_anchor('MQMQ')}), {shown} .of-all {{ display: none; }}" in style
    assert f"{shown} .of-one.{name_document_anchor('MQMQ')} {{ display: inline; }}" in style
    assert "The same of:" not in page, "a filter may hide what it would be the same as"
