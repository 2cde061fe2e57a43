"""The pages of rules: verdicts, packets and the deciding field, written without Spark."""

import re
from dataclasses import replace

import pytest
from made import CONTOSO, FABRIKAM, contents, frame, rule, run, standing, written
from site_pages import only_rule_page, page_of, system_page

from reports.model import System
from reports.site.packets import format_dissection, format_octets
from reports.site.rule_pages import count_frames_per_system
from reports.text import MAX_SHOWN_OCTETS, make_slug

RULE = rule(1, link="https://learn.microsoft.com/x")


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
    assert f'href="../errata.html#{make_slug("E25")}"' in page
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
        1,
        hex="00112233445566778899",
        octets=10,
        dissection="A = 1\nB = 2",
        first=6,
        last=9,
        deciding_text_ranges=((6, 11),),
    )
    assert [text for text, is_marked in format_octets(shown) if is_marked] == ["66 77", "88 99", "fw.."]
    assert format_dissection(shown) == [("A = 1\n", False), ("B = 2", True)]
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [standing(RULE, CONTOSO, "fail", [shown])]))
    page = only_rule_page(site)
    assert "<mark>66 77</mark>" in page
    assert "<mark>B = 2</mark>" in page
    assert "octets <strong>6 to 9</strong> decide" in page


def test_octets_are_shown_with_offset_and_letters():
    data = b"\x10\xc0\x0b\x00LIOR" + bytes(12)
    shown = "".join(text for text, _ in format_octets(frame(1, hex=data.hex(), octets=20))).splitlines()
    assert shown[0] == "0000  10 c0 0b 00 4c 49 4f 52  00 00 00 00 00 00 00 00  |....LIOR........|"
    assert shown[1] == "0010  00 00 00 00                                       |....|"
    for first in range(20):
        marked = format_octets(frame(1, hex=data.hex(), octets=20, first=first, last=first + 2))
        assert "".join(text for text, _ in marked).splitlines() == shown


def test_octets_of_a_huge_packet_are_bounded():
    lines = "".join(
        text for text, _ in format_octets(frame(1, hex=bytes(range(250)).hex() * 20, octets=5_000))
    ).splitlines()
    assert len(lines) == MAX_SHOWN_OCTETS // 16 + 1
    assert lines[-1] == f"… {5_000 - MAX_SHOWN_OCTETS} more octets"


@pytest.mark.parametrize("digits", ["<script>", "abc", "0x10"])
def test_invalid_hexadecimal_octets_are_reported(digits):
    assert format_octets(frame(1, hex=digits, octets=1))[0][0].startswith("not hexadecimal")


@pytest.mark.parametrize("marked", [((5, 2),), ((0, 99),), ((0, 3), (1, 2))])
def test_mark_outside_of_the_dissection_text_is_omitted(marked):
    assert (
        "".join(text for text, _ in format_dissection(frame(1, dissection="A = 1", deciding_text_ranges=marked)))
        == "A = 1"
    )


def test_packets_are_read_from_capture_when_verdict_has_none(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.pcapng").write_bytes(b"capture")
    named = frame(7, hex="", octets=0, dissection="", first=0, last=1)
    one = standing(RULE, CONTOSO, "fail", [named], capture="a.pcapng")
    shown = frame(7, octets=7, capture_ms=1_203)
    show = lambda path, asked: (replace(shown, hex=path.read_bytes().hex(), dissection=asked.rule),)  # noqa: E731
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [one]), {"r1": tmp_path / "run"}, find_packets=show)
    page = only_rule_page(site)
    assert "|capture|" in page
    assert "1,203 ms from its first packet to its last" in page


def test_the_state_is_shown_where_no_packet_decides(tmp_path):
    state = replace(RULE, observe="inspect")
    site, _ = written(tmp_path, contents([CONTOSO], [state], [standing(state, CONTOSO, "fail", observed="Quota 7")]))
    page = only_rule_page(site)
    assert "State observed" in page
    assert "there is no packet" in page


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "http://x", 'https://x" onclick="y', "https://x y", "HTTPS://x", "\nhttps://x"]
)
def test_only_plain_https_addresses_become_links(tmp_path, link):
    evil = rule(1, link=link)
    site, _ = written(tmp_path, contents([CONTOSO], [evil], [standing(evil, CONTOSO, "pass")]))
    links = re.findall(r'href="([^"]*)"', only_rule_page(site))
    if link.startswith('https://x"'):
        assert all(not each.startswith("https") or "&#34;" in each for each in links)
    else:
        assert all(not each.lower().strip().startswith(("http", "java")) for each in links)
    assert 'onclick="' not in only_rule_page(site)


def test_frames_are_shown_worst_verdict_first_equal_verdicts_in_turn():
    many = [frame(number) for number in range(9)]
    third = System("Third", "1")
    standings = [
        standing(RULE, CONTOSO, "pass", many),
        standing(RULE, FABRIKAM, "fail", many[:3]),
        standing(RULE, third, "pass", many),
    ]
    assert count_frames_per_system(standings) == {FABRIKAM.key: 3, CONTOSO.key: 3, third.key: 2}


def test_page_states_number_of_omitted_frames_and_systems(tmp_path):
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


def test_unjudged_rule_has_a_page_with_that_state(tmp_path):
    site, _ = written(tmp_path, contents([CONTOSO], [RULE], [], [run("r1", CONTOSO)]))
    assert "no verdict" in only_rule_page(site)
    assert "No judged rule fails" in system_page(site, CONTOSO)


def test_rule_without_a_check_has_no_repeat_command(tmp_path):
    unseen = rule(1, observe="none", why="nobody can")
    site, _ = written(tmp_path, contents([CONTOSO], [unseen], [], [run("r1", CONTOSO)]))
    page = only_rule_page(site)
    assert "nobody can" in page
    assert "mqconform run" not in page


def test_rule_page_shows_depth_of_test(tmp_path):
    deep = replace(rule(1), varied=("body", "priority"), cells=1, explored=("queues",))
    page = only_rule_page(written(tmp_path, contents([CONTOSO], [deep]))[0])
    assert "varied: body, priority; states and events: 1 cell; random exploration: queues<" in page
    assert "<dt>Depth" not in only_rule_page(written(tmp_path / "plain", contents([CONTOSO], [RULE]))[0])


def test_verdict_with_only_a_reason_has_no_empty_headings(tmp_path):
    one = standing(RULE, CONTOSO, "inconclusive", expected="", observed="", reason="the session was lost")
    other = standing(RULE, FABRIKAM, "fail", expected="closed", observed="")
    site, _ = written(tmp_path, contents([CONTOSO, FABRIKAM], [RULE], [one, other]))
    panels = only_rule_page(site).split('<section class="panel')[1:]
    (lost,) = [panel for panel in panels if "the session was lost" in panel]
    (failed,) = [panel for panel in panels if "closed" in panel]
    assert "<dt>Expected" not in lost
    assert "<dt>Observed</dt><dd><bdi>nothing</bdi>" in failed


def test_rule_group_outside_the_documents_has_its_title_without_prefix(tmp_path):
    title = "Robustness: what a system does"
    one = replace(rule(1), rule="ROBUSTNESS-1", document="ROBUSTNESS")
    site, _ = written(tmp_path, contents([CONTOSO], [one, RULE], titles={"ROBUSTNESS": title, "MQQB": "Binary"}))
    page = page_of(site, "index.html")
    assert f'"><span class="soft"><bdi>{title}' in page
    assert 'MS-MQQB <span class="soft"><bdi>Binary' in page
