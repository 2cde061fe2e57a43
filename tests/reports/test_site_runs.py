"""The pages of runs, the changes by a run, and the comparison of two systems; written without Spark."""

import json
import re
from dataclasses import replace

import pytest
from crawl import dead_links
from made import CONTOSO, FABRIKAM, contents, day, frame, rule, run, standing, written
from site_pages import page_of, rows_of, system_page

from reports.model import Change, Pair, RootCause, System
from reports.roots import MAX_SHOWN_ROOT_CAUSES, read_root_causes
from reports.text import MAX_SHOWN_CHARACTERS, make_slug

RULE = rule(1, link="https://learn.microsoft.com/x")


def test_a_run_has_a_page_with_its_whole_selection_its_command_and_its_junit(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "junit.xml").write_text("<testsuites/>")
    selection = "--select MQMQ -k " + " or ".join(f"test_{number}" for number in range(100))
    changed = Change("Contoso", "", RULE.rule, "r2", day(3), "1.0", "fail", "1.0", "pass", "newly failing")
    runs = [run("r1", CONTOSO, selection="all"), run("r2", CONTOSO, 2, selection=selection)]
    made = contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail", run="r2")], runs, changes=[changed])
    site, _ = written(tmp_path, made, {"r2": tmp_path / "run"})
    page = page_of(site, f"runs/{make_slug('r2')}.html")
    assert selection in page
    assert "mqconform run --sut FILE --select MQMQ -k &#39;test_0 or " in page
    assert page.index("newly failing") < page.index(RULE.rule)
    (junit,) = re.findall(r'href="\.\./(runs/[^"]+\.junit\.xml)"', page)
    assert page_of(site, junit) == "<testsuites/>"
    first = page_of(site, f"runs/{make_slug('r1')}.html")
    assert "This is the first run of the system" in first
    assert "<code>mqconform run --sut FILE</code>" in first
    for name in ("runs.html", f"systems/{CONTOSO.key}.html", f"rules/{make_slug(RULE.rule)}.html", "index.html"):
        assert f'{make_slug("r2")}.html"' in page_of(site, name), name


def test_first_page_shows_changes_of_latest_run(tmp_path):
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


def test_comparison_uses_data_of_all_systems(tmp_path):
    newer = System("Contoso", "1.1", "", 5)
    standings = [standing(RULE, CONTOSO, "pass"), standing(RULE, newer, "fail")]
    site, _ = written(tmp_path, contents([FABRIKAM, CONTOSO, newer], [RULE], standings))
    page = page_of(site, "compare.html")
    chosen = re.findall(r'<option value="([^"]+)" selected>', page)
    assert chosen == [CONTOSO.key, newer.key]
    assert 'href="compare.html"' in page_of(site, "index.html")
    alone, _ = written(tmp_path / "alone", contents([CONTOSO], [RULE]))
    assert not (alone / "compare.html").exists()


def test_run_page_lists_rejected_verdict_lines(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [], [run("r1", CONTOSO)], [(17, "empty line")]))
    page = page_of(site, "runs.html")
    assert "17" in page
    assert "empty line" in page
    assert "1 line of the verdict files" in page_of(site, "index.html")


def test_pairs_of_systems_have_their_own_page(tmp_path):
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
    assert page.count("no result") == 3
    assert re.search(rf'class="worst-fail">\s*<th scope="row"><a href="systems/{FABRIKAM.key}', page)
    assert 'href="pairs.html"' in page_of(site, "index.html")
    assert [(row["role"], row["fail"], row["pass"]) for row in rows_of(site, "pairs")] == [
        ("sender", "", "3"),
        ("receiver", "", "2"),
        ("receiver", "1", "2"),
    ]


def test_site_without_pairs_of_systems_has_no_pairs_page(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE]))
    assert not (site / "pairs.html").exists()
    assert "pairs.html" not in page_of(site, "index.html")


def test_a_missing_root_is_named_before_its_symptoms_on_each_page(tmp_path):
    said, checks = "queues: plain private$\\mqc-plian: there is no <such> queue", ("suites/t.py::a", "suites/t.py::b")
    rules = [rule(number) for number in range(1, 4)]
    standings = [
        standing(of, CONTOSO, "inconclusive", test=test, reason=f"{said}; {of.rule}")
        for of, test in zip(rules, checks, strict=False)
    ]
    standings.append(standing(rules[2], CONTOSO, "inconclusive", test="suites/t.py::c", reason="it was slow"))
    runs = [run("r1", CONTOSO, counts={"inconclusive": 3}, roots=(RootCause(said, frozenset(checks)),))]
    site, _ = written(tmp_path, contents([CONTOSO], rules, standings, runs))
    shown = "queues: plain private$\\mqc-plian: there is no &lt;such&gt; queue"
    kept = shown.replace("private$\\mqc-plian:", '<span class="unbroken">private$\\mqc-plian:</span>')
    for name in (f"systems/{CONTOSO.key}.html", f"runs/{make_slug('r1')}.html", "index.html"):
        page = page_of(site, name)
        assert "(2 checks depend on it)" in page
        assert page.index(f"Fix this first: <bdi>{kept}") < page.index("count v-inconclusive"), name
    page = system_page(site, CONTOSO)
    assert page.index(">2 rules</span><span") < page.index(f"</span>: {shown}</h3>") < page.index("it was slow")
    assert page.index("Fix the problems above") < page.index("undecided: the reason")


@pytest.mark.parametrize("extra", [None, "", "{", "[]", '{"roots": 1}', '{"roots": [1, {"said": 2}, {"said": "x"}]}'])
def test_malformed_missing_roots_of_a_run_are_omitted(extra):
    assert read_root_causes(extra) == ()


def test_missing_roots_are_read_from_the_extra_fields_of_a_run():
    one = {"root": "queues plain", "said": "x" * 9_999, "checks": ["a", 1, "b"]}
    assert (
        read_root_causes(json.dumps({"roots": [one] * 99}))
        == (RootCause("x" * (MAX_SHOWN_CHARACTERS + 1), frozenset("ab")),) * MAX_SHOWN_ROOT_CAUSES
    )


def test_the_log_of_the_system_and_all_captures_here_are_on_the_page_of_the_run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "sut.log").write_bytes(b"begin" + b"<script>" * 200_000 + b"end")
    (folder / "control.log").write_bytes(b"")
    (folder / "sut-1.log").symlink_to(tmp_path / "secret")
    (folder / "a.pcapng").write_bytes(b"capture")
    one = standing(RULE, CONTOSO, "fail", [frame(1)], capture="a.pcapng")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one], [run("r1", CONTOSO)]), {"r1": folder})
    page = page_of(site, f"runs/{make_slug('r1')}.html")
    (log,) = re.findall(r'href="\.\./(runs/[a-z0-9.-]+\.txt)"', page)
    copied = (site / log).read_bytes()
    assert (len(copied), copied[-3:]) == (1 << 20, b"end")
    assert "1,600,008 octets (the page shows only the last ones)" in page
    (capture,) = re.findall(r'href="\.\./(captures/[^"]+)" download>a.pcapng', page)
    assert (site / capture).read_bytes() == b"capture"
    assert f'href="../runs/{make_slug("r1")}.html#files">log of the system' in page_of(
        site, f"rules/{make_slug(RULE.rule)}.html"
    )
    assert dead_links(site) == []


def test_run_page_names_shoulds_that_were_not_followed(tmp_path):
    rules = [rule(1), rule(2)]
    runs = [run("r1", CONTOSO, unfollowed=(rules[1].rule,)), run("r2", CONTOSO, 2)]
    site, _ = written(tmp_path, contents([CONTOSO], rules, [standing(rules[0], CONTOSO, "pass")], runs))
    said = [text for page in (site / "runs").glob("*.html") if "MUST rules whose" in (text := page.read_text())]
    assert len(said) == 1
    assert re.search(
        rf'that the system did not follow: <a href="[^"]*">{rules[1].rule}</a></p>',
        said[0],
    )


def test_page_of_run_without_change_reports_no_change_and_shows_local_folder(tmp_path):
    runs = [run("r1", CONTOSO), run("r2", CONTOSO, 2, folder="file:///runs/r2")]
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "pass")], runs))
    page = page_of(site, f"runs/{make_slug('r2')}.html")
    assert "No current verdict changed with this run." in page
    assert "<code>/runs/r2</code>" in page
