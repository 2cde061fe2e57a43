"""The content that a reader needs on a page; each test covers a gap that was found in a site of real runs."""

import re

from made import CONTOSO, FABRIKAM, contents, day, frame, rule, run, standing, written

from reports.model import Change, CoverageOfSection, Pair, ProtocolWithoutRules
from reports.site.packets import format_octets, get_deciding_text

RULE = rule(1, observe="inspect")


def text_of(site, name):
    return (site / name).read_text(encoding="utf-8")


def only_page(site, folder):
    (page,) = (site / folder).glob("*.html")
    return page.read_text(encoding="utf-8")


def test_repeated_dump_lines_become_star_except_deciding_octets():
    data = bytes(16) + b"Z" * 80 + bytes(range(16)) + b"Z" * 33
    lines = "".join(text for text, _ in format_octets(frame(1, hex=data.hex(), octets=len(data)))).splitlines()
    assert [line[:4] for line in lines] == ["0000", "0010", "*", "0060", "0070", "*", "0090"]
    marked = format_octets(frame(1, hex=data.hex(), octets=len(data), first=0x42, last=0x43))
    lines = "".join(text for text, _ in marked).splitlines()
    assert [line[:4] for line in lines] == ["0000", "0010", "*", "0040", "0050", "0060", "0070", "*", "0090"]
    assert [text for text, is_marked in marked if is_marked] == ["5a 5a", "ZZ"]


def test_the_caption_of_a_packet_has_the_field_that_decides(tmp_path):
    one = frame(3, first=0, last=0, dissection="Header\n    A = 1  @0x0\n  B = 2", deciding_text_ranges=((7, 22),))
    assert get_deciding_text(one) == "A = 1  @0x0"
    assert get_deciding_text(frame(3)) == ""
    site, _ = written(tmp_path, contents([CONTOSO], [rule(1)], [standing(rule(1), CONTOSO, "fail", [one])]))
    assert "<mark>A = 1  @0x0</mark></figcaption>" in only_page(site, "rules")


def test_an_inspect_rule_shows_the_state_and_folds_the_packets_that_led_to_it(tmp_path):
    seen = standing(RULE, CONTOSO, "fail", [frame(1), frame(2)], expected="3 sessions", observed="2 sessions")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [seen]))
    page = only_page(site, "rules")
    assert '<dt>State expected</dt><dd class="state">3 sessions' in page
    assert '<dt>State observed</dt><dd class="state"><bdi>2 sessions' in page
    assert (
        page.index("The state of the system")
        < page.index("<summary>2 packets before the state was read")
        < page.index("<figure")
    )
    assert "<details open><summary>2 packets" not in page


def test_verdict_without_expectation_shows_only_its_reason(tmp_path):
    seen = standing(RULE, CONTOSO, "inconclusive", reason="no answer")
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [seen]))
    page = only_page(site, "systems")
    assert "<dt>Expected</dt>" not in page
    assert "<dt>Reason</dt><dd><bdi>no answer" in page


def test_page_of_unchanged_rule_states_so(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "pass")]))
    assert "No run has changed the verdict" in only_page(site, "rules")


def test_every_table_is_written_as_csv_and_json(tmp_path):
    change = Change("Contoso", "", RULE.rule, "r2", day(2), "1.0", "fail", "0.9", "pass", "newly failing")
    made = contents(
        *([CONTOSO, FABRIKAM], [RULE], [standing(RULE, CONTOSO, "fail")], [run("r1", CONTOSO), run("r2", FABRIKAM)]),
        *([(3, "no JSON")], [change]),
        coverage=(CoverageOfSection("MQQB", "2.1.1", "Session", "MUST", 1, 1, 1, 1, 0),),
        members=(ProtocolWithoutRules("MQMR", "Routing", "a", "b", "c"),),
        pairs=(Pair(CONTOSO.key, "a", FABRIKAM.key, "b", "sender", {"pass": 1}),),
    )
    site, _ = written(tmp_path, made)
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        for table in page.split("<table")[1:]:
            links = re.findall(r'<p class="downloads">.*', table)
            assert links, path.name
            for form in ("csv", "json"):
                (name,) = re.findall(rf'href="([^"]+\.{form})"', links[0])
                assert (path.parent / name).stat().st_size > 20, (path.name, name)
    assert "/runs/x,3,no JSON" in text_of(site, "data/rejected.csv")
    assert "MQMR,Routing,a,b,c" in text_of(site, "data/members.csv")
