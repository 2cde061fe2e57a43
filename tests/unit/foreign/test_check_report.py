"""The report of `check`: systems, rules with the frames of the file, the passed rules, and exit codes."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
import wrapped_captures as made
from scapy.layers.inet import IP, UDP
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from harness.foreign.files import read_frames
from harness.judging.passive import PASSIVE_RULES
from harness.paths import SUITES
from harness.wire import ping_request


def miscount(data):
    """Replace the count 5 in a SessionAck by 9."""
    if len(data) != 36 or data[4:8] != b"LIOR":
        return data
    return data[:28] + b"\x09\x00" + data[30:]


@pytest.fixture
def sound(tmp_path):
    return made.pcap(tmp_path / "sound.pcap", made.framed(made.converse(tmp_path / "own.pcapng")))


@pytest.fixture
def broken(tmp_path):
    frames = made.framed(made.converse(tmp_path / "own.pcapng", change=miscount), made.tagged_twice)
    return made.pcap(tmp_path / "broken.pcap", frames)


def run(*words):
    return CliRunner().invoke(app, ["check", *map(str, words)])


def test_sound_capture_exits_with_0_and_reports_exercised_rules(sound):
    done = run(sound, "--sut", "10.0.0.2")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"{sound}: 23 frames in 0.022 s, from 2023-11-14 22:13:20+00:00"
    (coverage,) = (line for line in lines if "passive rules applied" in line)
    assert coverage.endswith(
        f" of {len(PASSIVE_RULES)} passive rules applied: 0 broken, 0 not followed, {coverage.split()[-2]} kept"
    )
    assert "10.0.0.1:50000 to 10.0.0.2:1801: MSMQ, frames 3 to 23, 16 packets, whole" in done.stdout


def test_broken_rule_in_capture_exits_with_1_and_names_frame_time_field_and_filter(broken):
    done = run(broken, "--sut", "10.0.0.2")
    assert done.exit_code == 1
    said = done.stdout[done.stdout.index("broken: MQQB-3.1.6.4-06") :].splitlines()
    assert said[2:5] == [
        "    frame 20, 0.019 s: UserMsgSequenceNumber is 9, and the number of messages sent is 5",
        "      SessionHeader.UserMsgSequenceNumber at 28 to 29: 09 00",
        "    filter: frame.number == 20",
    ]


def test_json_report_of_capture_has_every_rule_with_its_packets(broken):
    done = run(broken, "--format", "json", "--sut", "10.0.0.2")
    (file,) = json.loads(done.stdout)["files"]
    (system,) = file["systems"]
    assert (system["name"], system["connections"], file["states"]) == ("10.0.0.2", {"acceptor": 1}, {"whole": 1})
    coverage = system["coverage"]
    assert coverage["passive_rules"] == len(PASSIVE_RULES)
    assert coverage["judged"] == sum(coverage[name] for name in ("pass", "fail", "warn") if name in coverage)
    rules = {rule["rule"]: rule for rule in system["rules"]}
    (packet,) = rules["MQQB-3.1.6.4-06"]["packets"]
    assert (packet["field"], packet["octets"]) == ("SessionHeader.UserMsgSequenceNumber", "09 00")


def test_junit_report_of_capture_has_suite_per_system_and_failure_per_broken_rule(broken):
    done = run(broken, "--format", "junit")
    suites = ElementTree.fromstring(done.stdout.encode())
    failed = {
        suite.get("name"): [case.get("name") for case in suite if case.find("failure") is not None] for suite in suites
    }
    assert {suite.get("name"): int(suite.get("failures")) for suite in suites} == {
        name: len(rules) for name, rules in failed.items()
    }
    assert failed == {
        "10.0.0.1 in broken.pcap": [],
        "10.0.0.2 in broken.pcap": ["MQQB-3.1.1.4-01", "MQQB-3.1.3.2-02", "MQQB-3.1.6.4-06", "MQQB-3.1.7.1.3-11"],
    }


def test_annotated_copy_of_capture_has_equal_frames_with_comments(broken, tmp_path):
    copy = tmp_path / "copy.pcapng"
    run(broken, "--annotated", copy)
    before, after = (list(read_frames(path, pytest.fail)) for path in (broken, copy))
    assert [one._replace(comment=None) for one in after] == before
    (comment,) = (one.comment for one in after if one.comment)
    assert "fail MQQB-3.1.6.4-06 (10.0.0.2): " in comment


def test_annotated_copy_of_capture_keeps_link_types_and_truncated_frames(tmp_path):
    packets = made.converse(tmp_path / "own.pcapng")
    frames = [made.framed([packet], made.LINKS[number % 7])[0] for number, packet in enumerate(packets)]
    path, copy = made.pcapng(tmp_path / "x", made.snapped(frames, 80)), tmp_path / "copy.pcapng"
    run(path, "--annotated", copy)
    assert list(read_frames(copy, pytest.fail)) == list(read_frames(path, pytest.fail))


def test_a_capture_without_a_queue_manager_exits_with_3(tmp_path, sound):
    path = made.pcap(tmp_path / "x.pcap", made.framed([b"E" * 40], made.cooked))
    done = run(path)
    assert (done.exit_code, "no packet from a queue manager that can be judged" in done.stderr) == (3, True)


def test_capture_of_which_no_packet_decides_a_rule_exits_with_5(tmp_path):
    ping = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=4057, dport=3527) / bytes(ping_request(Cookie=1))
    done = run(made.pcap(tmp_path / "ping.pcap", made.framed([bytes(ping)])))
    assert (done.exit_code, "sent: 1 Ping" in done.stdout) == (5, True)


def test_message_about_missing_system_names_systems_of_the_capture(sound):
    done = run(sound, "--sut", "10.9.9.9")
    missing = "no packet from a queue manager at 10.9.9.9 that can be judged; other systems in this capture: 10.0.0."
    assert (done.exit_code, missing in done.stderr, missing in done.stdout) == (3, True, True)


def test_file_that_is_not_a_capture_exits_with_2_after_other_files_are_judged(tmp_path, sound):
    other = tmp_path / "x.snoop"
    other.write_bytes(b"snoop\0\0\0")
    done = run(other, sound, tmp_path / "none")
    assert done.exit_code == 2
    assert f"{sound}: 23 frames" in done.stdout
    assert [line.partition(": ")[2] for line in done.stderr.splitlines()] == [
        f"{other}: a snoop file; convert it with: editcap -F pcapng x.snoop x.pcapng",
        f"{tmp_path / 'none'}: No such file or directory",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--sut", "nowhere"), "the value must be an IP address or ADDRESS:PORT"),
        (("--profile", "dos"), "--profile dos: unknown profile; known: none, windows-nt"),
        (("x", "--annotated", "y"), "this option annotates a copy of a single capture"),
    ],
)
def test_unknown_system_or_profile_of_capture_check_gives_one_line_error(sound, words, line):
    done = run(sound, *words)
    assert isinstance(done.exception, UsageError)
    assert line in str(done.exception)


def test_html_page_shows_the_broken_rule_with_its_packet_and_the_kept_rules(broken, tmp_path):
    page = tmp_path / "report.html"
    done = run(broken, "--sut", "10.0.0.2", "--html", page)
    assert done.exit_code == 1
    shown = page.read_text(encoding="utf-8")
    assert "<strong>MQQB-3.1.6.4-06</strong>" in shown
    assert "<td>UserMsgSequenceNumber is 9, and the number of messages sent is 5</td>" in shown
    assert "<td>28 to 29: <code>09 00</code></td>" in shown
    assert "<code>frame.number == 20</code>" in shown
    assert shown.count('<div class="rule fail">') == done.stdout.count("broken: MQ") > 0
    assert "Kept: " in shown


def test_html_page_shows_markup_in_a_file_name_as_text(sound, tmp_path):
    renamed = sound.rename(tmp_path / "<b>x&y.pcap")
    page = tmp_path / "report.html"
    assert run(renamed, "--html", page).exit_code == 0
    shown = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;x&amp;y.pcap" in shown
    assert "<b>" not in shown


def test_html_page_reports_a_capture_without_queue_managers(tmp_path):
    empty = made.pcap(tmp_path / "empty.pcap", made.framed([b"E" * 40], made.cooked))
    page = tmp_path / "report.html"
    run(empty, "--html", page)
    assert "no packet from a queue manager that can be judged" in page.read_text(encoding="utf-8")


def test_example_of_the_page_equals_the_output_of_the_command(monkeypatch):
    """The example in docs/check.md equals the output of the command, except sentences of rules and the number of
    passive rules.
    """
    page = (SUITES.parent / "docs" / "check.md").read_text(encoding="utf-8")
    words, *shown = re.search(r"^    \$ mqconform check (tests/.*(?:\n    .*)+)", page, re.MULTILINE)[1].splitlines()
    monkeypatch.chdir(SUITES.parent)
    printed = iter([without_sentence(line) for line in run(*words.split()).stdout.splitlines()])
    expected = [without_sentence(line[4:]) for line in shown if line != "    ..."]
    assert len(expected) > 10
    assert [line for line in expected if line not in printed] == []


def without_sentence(line):
    return re.sub(r"\(MUST\).*|\d+ of \d+ passive rules.*|expected: .*", "", line)
