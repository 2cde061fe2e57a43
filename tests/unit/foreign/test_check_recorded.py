"""Captures that tshark and tcpdump recorded during a run have the same verdicts as the harness's own captures of this
run.

scripts/record_foreign.py recorded the captures; text2pcap wrote the captures with link types 0 and 108. A foreign
capture also contains the packets before the first check, so it may decide more rules.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import pytest

from harness.foreign.check import check_capture
from harness.foreign.systems import RequestedSystem
from harness.judging.captured import judge_capture
from harness.judging.passive import load_predicates
from harness.judging.verdicts import DECIDED_VERDICTS, Verdict, get_worst_verdict
from harness.rules.catalogue import load_catalogue

RECORDED = Path(__file__).parent / "recorded"
CATALOGUE = load_catalogue()
ADDRESS = {"ipv6": "fd77::10.77.0.2"}
WHOLE = (
    "cooked_v1",
    "cooked_v2",
    "fragments",
    "ipv6",
    "loopback",
    "loopback_pcap",
    "loop",
    "null",
    "loss",
    "many",
    "nanoseconds",
    "raw",
    "reordering",
    "two_link_types",
    "vlan",
)
REWRITTEN = {"loop": "loopback", "null": "loopback"}
INCOMPLETE = {"lost_frames": {"with gaps", "joined late"}, "middle": {"joined late"}, "snaplen": {"with gaps"}}


def judge_foreign_capture(name):
    """Return the standing verdict of each rule, and the states of the connections of queue managers."""
    (path,) = (RECORDED / name).glob("capture.*")
    traffic = check_capture(path, CATALOGUE, RequestedSystem.parse(ADDRESS.get(name, "10.77.0.2"))).traffic
    found = defaultdict(list)
    for system in traffic.systems.system_by_name.values():  # two on loopback, where the system also connects to itself
        for entry in system.remove_and_return_verdicts():
            found[entry.rule].append(entry.verdict)
    return {
        rule: get_worst_verdict(verdicts) for rule, verdicts in found.items()
    }, traffic.totals.conversation_count_by_state


def judge_own_captures(name, folder):
    """Return the standing verdict of each rule in the captures of the harness."""
    found = defaultdict(list)
    for packed in (RECORDED / REWRITTEN.get(name, name) / "own").iterdir():
        path = folder / packed.stem
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        for entry in judge_capture(path, "own", CATALOGUE).entries:
            found[entry.rule].append(entry.verdict)
    return {rule: get_worst_verdict(verdicts) for rule, verdicts in found.items()}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_foreign_capture_has_the_verdicts_of_the_own_captures(name, tmp_path):
    foreign, states = judge_foreign_capture(name)
    own = judge_own_captures(name, tmp_path)
    assert {rule: foreign.get(rule) for rule in own} == own
    assert Verdict.FAIL not in foreign.values()
    assert len([verdict for verdict in own.values() if verdict in DECIDED_VERDICTS]) >= len(load_predicates()) // 2
    assert states["whole"] >= 25


@pytest.mark.parametrize("name", INCOMPLETE)
def test_incomplete_foreign_capture_of_a_conforming_system_has_no_fail(name, tmp_path):
    foreign, states = judge_foreign_capture(name)
    own = judge_own_captures(name, tmp_path)
    assert states.keys() >= INCOMPLETE[name]
    assert set(foreign.values()) == {Verdict.PASS, Verdict.NOT_EXERCISED}
    decided = [rule for rule, verdict in foreign.items() if verdict is Verdict.PASS]
    assert len(decided) >= 15
    assert {own.get(rule, Verdict.PASS) for rule in decided} == {Verdict.PASS}


def test_the_large_capture_has_a_hundred_conversations():
    _, states = judge_foreign_capture("many")
    assert states["whole"] >= 100
