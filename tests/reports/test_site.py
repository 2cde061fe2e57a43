"""The pages, written without Spark."""

import re
from dataclasses import replace

import pytest
from made import CONTOSO, FABRIKAM, cell, frame, judgement, rollup, rule, run
from make_runs import HOSTILE_TEXTS

from reports.model import Coverage, Member, Sut
from reports.site import environment, frames_for, write_site

TAGS = {
    *("html", "head", "meta", "title", "link", "body", "a", "header", "nav", "main", "footer", "p", "h1", "h2", "bdi"),
    *("strong", "span", "div", "section", "svg", "rect", "ul", "li", "fieldset", "legend", "label", "input", "table"),
    *("caption", "thead", "tbody", "tfoot", "tr", "th", "td", "dl", "dt", "dd", "details", "summary", "code", "figure"),
    *("figcaption", "pre"),
}
RULE = rule(1, link="https://learn.microsoft.com/x")


def written(tmp_path, result):
    site = tmp_path / "site"
    missing = write_site(result, site)
    return site, missing


def only_rule_page(site):
    (page,) = (site / "rules").iterdir()
    return page.read_text(encoding="utf-8")


def test_a_rule_page_is_complete(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.pcapng").write_bytes(b"capture")
    fail = judgement(
        9, "fail", [frame(4, hex="4c494f52", octets=4)], expected="closed", observed="open", reason="because",
        test="suites/t.py::t", capture="a.pcapng", errata=("E25",), notes=("a note",),
    )  # fmt: skip
    runs = [run("r1", CONTOSO, [RULE], folder=tmp_path / "run")]
    site, missing = written(tmp_path, rollup(runs, [cell(RULE, CONTOSO, fail, judgement(8, "pass"))]))
    page = only_rule_page(site)
    for words in (
        "closed",
        "open",
        "because",
        "suites/t.py::t",
        "E25",
        "a note",
        "says 1",
        "MUST",
        "|LIOR|",
        "frame 4",
        "SUT → peer",
    ):
        assert words in page
    assert 'href="https://learn.microsoft.com/x"' in page
    (capture,) = re.findall(r'href="\.\./(captures/[^"]+)"', page)
    assert (site / capture).read_bytes() == b"capture"
    assert missing == []


def test_a_capture_outside_of_the_run_folder_is_not_copied(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "secret").write_text("secret")
    runs = [run("r1", CONTOSO, [RULE], folder=tmp_path / "run")]
    site, missing = written(tmp_path, rollup(runs, [cell(RULE, CONTOSO, judgement(1, "pass", capture="../secret"))]))
    assert missing == ["r1: ../secret"]
    assert not (site / "captures").exists()
    assert "is not a file of the run folder" in only_rule_page(site)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_is_text_wherever_it_stands(tmp_path, text):
    sut = Sut(text, text)
    evil = rule(1, says=text, title=text, role=text, why=text, observe=text, level=text, form=text, section=text)
    shown = judgement(
        1, "fail", [frame(1, direction=text, transport=text, hex=text, dissection=text)], expected=text, observed=text,
        reason=text, test=text, capture=text, level=text, reach=text, errata=(text,), notes=(text,),
    )  # fmt: skip
    evil = replace(evil, observed=text)
    unseen = replace(evil, rule="MQQB-1-02", observe="none", section="1", level="MUST")
    counted = Coverage("MQQB", "1", text, "MUST", 1, 1, 0, 0, 1)
    made = replace(run(text, sut, [evil, unseen]), coverage=(counted,), titles={"MQQB": text})
    site, _ = written(tmp_path, rollup([made], [cell(evil, sut, shown, run=text)], [(1, text)]))
    pages = list(site.rglob("*.html"))
    assert len(pages) == 7
    for path in pages:
        assert re.fullmatch(r"[a-z0-9-]+\.html", path.name)
        page = path.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|svg onload)", page)
        assert all(char.isprintable() or char in "\n\t" for char in page)
        assert set(re.findall(r"<([a-z0-9]+)", page)) <= TAGS
        assert "content=\"default-src 'none'; style-src" in page
        assert len(page) < 80_000


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "http://x", 'https://x" onclick="y', "https://x y", "HTTPS://x", "\nhttps://x"]
)
def test_only_a_plain_https_link_is_a_link(tmp_path, link):
    evil = rule(1, link=link)
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [evil])], [cell(evil, CONTOSO, judgement(1, "pass"))]))
    links = re.findall(r'href="([^"]*)"', only_rule_page(site))
    if link.startswith('https://x"'):
        assert all(not each.startswith("https") or "&#34;" in each for each in links)
    else:
        assert all(not each.lower().strip().startswith(("http", "java")) for each in links)
    assert 'onclick="' not in only_rule_page(site)


def test_frames_of_the_worst_verdicts_come_first_and_equals_take_turns():
    many = [frame(number) for number in range(9)]
    cells = [
        cell(RULE, CONTOSO, judgement(1, "pass", many)),
        cell(RULE, FABRIKAM, judgement(2, "fail", many[:3]), judgement(3, "pass", many)),
    ]
    chosen = frames_for(cells)
    assert chosen[FABRIKAM, 2] == tuple(many[:3])
    assert sum(len(frames) for frames in chosen.values()) == 8
    assert (len(chosen[CONTOSO, 1]), len(chosen[FABRIKAM, 3])) == (3, 2)


def test_a_page_says_how_many_frames_and_verdicts_it_leaves_out(tmp_path):
    full = judgement(1, "fail", [frame(number) for number in range(10)])
    one = cell(RULE, CONTOSO, full)
    one.counts["pass"] = 6
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], [one]))
    page = only_rule_page(site)
    assert page.count('class="frame"') == 8
    assert "2 more frames" in page
    assert "6 further verdicts" in page


def test_the_words_of_the_latest_run_are_shown(tmp_path):
    seen = replace(RULE, observed="by looking")
    old = replace(run("r0", CONTOSO, [RULE]), titles={"MQQB": "Old title"})
    new = replace(run("r1", CONTOSO, [seen], day=2), titles={"MQQB": "Binary Protocol"})
    site, _ = written(tmp_path, rollup([new, old], [cell(RULE, CONTOSO, judgement(1, "pass"))]))
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "Binary Protocol" in index
    assert "Old title" not in index
    assert "<dd>by looking</dd>" in only_rule_page(site)


def test_a_rule_that_nobody_judged_has_a_page_and_says_so(tmp_path):
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], []))
    assert "not judged" in only_rule_page(site)
    assert "not judged" in (site / "index.html").read_text(encoding="utf-8")


def test_a_killed_run_says_so_and_rejected_lines_are_listed(tmp_path):
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], [], [(17, "empty line")]))
    page = (site / "runs.html").read_text(encoding="utf-8")
    assert "did not finish" in page
    assert "17" in page
    assert "empty line" in page
    assert "1 line of the verdict files" in (site / "index.html").read_text(encoding="utf-8")


def test_the_coverage_page_counts_and_says_why(tmp_path):
    unseen = replace(rule(2), observe="none", why="<nobody> can", checked=False)
    counted = Coverage(
        RULE.document, RULE.section, RULE.title, "MUST", rows=4, catalogued=3, checked=1, proven=1, none=1
    )
    old = run("r0", CONTOSO, [RULE])
    events = replace(counted, kind="event", rows=7, checked=5)
    clone = replace(rule(3), observe="none", why="a clone counts nowhere", kind="clone")
    member = Member("MQCN", "Change Notification", "Nothing.", "Sends <none>.", "Its packets.")
    new = replace(run("r1", CONTOSO, [RULE, unseen, clone]), coverage=(counted, events), members=(member,))
    site, _ = written(tmp_path, rollup([old, new], [cell(RULE, CONTOSO, judgement(1, "pass"))]))
    page = (site / "coverage.html").read_text(encoding="utf-8")
    assert "1 of 4 checked (25.0 %), 100.0 % of those proven, 1 not observable, 2 open" in page
    assert "of class event: 5 of 7 checked" in page
    assert "a clone counts nowhere" not in page
    assert "&lt;nobody&gt; can" in page
    assert "Sends &lt;none&gt;." in page
    assert unseen.rule in page
    assert "<bdi>r1</bdi>" in page


def test_a_site_of_old_runs_says_that_it_knows_no_coverage(tmp_path):
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], [cell(RULE, CONTOSO, judgement(1, "pass"))]))
    assert "No run says what the suites check" in (site / "coverage.html").read_text(encoding="utf-8")


def test_stale_pages_do_not_stay(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.html").write_text("old")
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], []))
    assert not (site / "old.html").exists()


def test_every_link_within_the_site_leads_somewhere(tmp_path):
    rules = [rule(number, section) for section in ("2.1.1", "3.1.5.10") for number in (1, 2)]
    cells = [cell(each, sut, judgement(1, "pass")) for each in rules for sut in (CONTOSO, FABRIKAM)]
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, rules), run("r2", FABRIKAM, rules)], cells))
    for path in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]*)"', path.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.is_file(), f"{path.name}: {link}"
            assert not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8"), f"{path.name}: {link}"


def test_colour_is_never_alone(tmp_path):
    site, _ = written(tmp_path, rollup([run("r1", CONTOSO, [RULE])], [cell(RULE, CONTOSO, judgement(1, "fail"))]))
    page = (site / "index.html").read_text(encoding="utf-8")
    for symbol, label in {"✗": "fail", "✓": "pass", "▲": "warn", "○": "not observable", "·": "not judged"}.items():
        assert re.search(rf"{symbol}</span>\s*{label}", page)


def test_autoescape_is_always_on():
    assert environment().autoescape is True
    assert environment().from_string("{{ x }}").render(x="<b>\u202e") == "&lt;b&gt;⟨U+202E⟩"
