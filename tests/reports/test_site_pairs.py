"""The page of pairs: the grid of scenarios, and their results; written without Spark."""

import re

from crawl import dead_links
from made import CONTOSO, contents, day, rule, written
from site_pages import page_of, rows_of

from reports.model import Exchange

RULE = rule(1)
HOSTILE = "<script>window.pwned=1</script>"


def exchange(origin, target, result, position=0, **values):
    scenario, letter = (("express", "E"), ("restart", "S"), ("large", "L"))[position]
    words = {"scenario": scenario, "letter": letter, "why": "", "pair": "p1", "capture": "", "started": day(1)}
    words |= {"broken": {}} | values
    names = {"origin_name": f"{origin} 1", "target_name": f"{target} 1"}
    return Exchange(**{"origin": origin, "target": target, "position": position, "result": result} | names | words)


def write_pairs(tmp_path, *exchanges):
    made = contents([CONTOSO], [RULE], exchanges=exchanges)
    return written(tmp_path, made, {"p1": tmp_path / "pair"})[0]


def cells_of(page):
    """Return the words in the cells of the grid, row by row."""
    table = page[page.index('<table class="matrix pairs">') : page.index("</table>")]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [
        [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_grid_shows_scenarios_by_result_in_each_direction(tmp_path):
    site = write_pairs(
        tmp_path,
        exchange("b", "a", "pass"),
        exchange("a", "b", "unsupported", 1, why="b lacks restart"),
        exchange("a", "b", "pass"),
        exchange("a", "b", "pass", 2),
        exchange("a", "c", "fail"),
    )
    page = page_of(site, "pairs.html")
    assert cells_of(page) == [
        ["from \\ to", "a 1", "b 1", "c 1"],
        ["a 1", "no result", "pass E L unsupported S", "fail E"],
        ["b 1", "pass E", "no result", "no result"],
        ["c 1", "no result", "no result", "no result"],
    ]
    assert "E express, S restart, L large" in page
    assert 'href="pairs.html"' in page_of(site, "index.html")
    assert dead_links(site) == []
    assert [(row["origin"], row["target"], row["result"]) for row in rows_of(site, "exchanges")] == [
        ("a", "b", "pass"),
        ("a", "b", "unsupported"),
        ("a", "b", "pass"),
        ("a", "c", "fail"),
        ("b", "a", "pass"),
    ]


def test_letter_leads_to_result_with_reason_rules_and_capture(tmp_path):
    (tmp_path / "pair").mkdir()
    (tmp_path / "pair" / "express-A-B.pcapng").write_bytes(b"capture")
    broken = {CONTOSO.key: [RULE.rule, "MQQB-9.9.9-01"]}
    one = exchange(CONTOSO.key, "b", "fail", why="missing: one", capture="express-A-B.pcapng", broken=broken)
    site = write_pairs(tmp_path, one)
    page = page_of(site, "pairs.html")
    (anchor,) = re.findall(r'<a href="#([^"]+)" title="express">E</a>', page)
    row = re.search(rf'<tr id="{anchor}">.*?</tr>', page, re.DOTALL)[0]
    assert f'href="systems/{CONTOSO.key}.html"' in row
    assert "missing: one" in row
    assert re.search(rf'<a href="rules/[^"]+">{RULE.rule}</a>', row)
    assert "<bdi>MQQB-9.9.9-01</bdi>" in row
    (capture,) = re.findall(r'href="([^"]+)" download>express-A-B', row)
    assert (site / capture).read_bytes() == b"capture"
    assert dead_links(site) == []


def test_texts_of_a_pair_are_escaped(tmp_path):
    texts = dict.fromkeys(("scenario", "letter", "why", "capture", "origin_name", "target_name"), HOSTILE)
    one = exchange("a", "b", "broken", **texts, broken={"b": [HOSTILE]})
    page = page_of(write_pairs(tmp_path, one), "pairs.html")
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") > 6
