"""A rule about receipt does not pass because of packets that the system sends."""

from __future__ import annotations

from collections import Counter

from harness.capture.golden import load_golden_capture
from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging.judge import MAX_SHOWN_PASSES_PER_RULE, Judge
from harness.judging.passive import load_predicates
from harness.judging.verdicts import Advice, Verdict, VerdictEntry
from harness.rules.catalogue import load_catalogue
from reference_qm.surface.inputs import Endpoint

SUT, PEER = Endpoint("127.0.0.2", 1801), Endpoint("127.0.0.1", 50_000)
ON_RECEIPT = ("on receipt", "ignore")


def sent_by_a_system() -> list[VerdictEntry]:
    """Judge a system that sends the packets of MS-MQQB section 4, which Windows sent, and receives none."""
    entries: list[VerdictEntry] = []

    passes = Counter(dict.fromkeys(load_predicates(), MAX_SHOWN_PASSES_PER_RULE))
    judge = Judge(load_catalogue(), entries, test="x", covers=(), capture="x", passes=passes)
    recorder = Recorder(VirtualEnvironment(), None)
    recorder.listeners.append(judge.packets.on_frame)
    connection = recorder.record_opening(PEER, SUT, by_peer=False)
    for frame in load_golden_capture().frames:
        if frame.transport == "udp":
            recorder.record_datagram(PEER, SUT, frame.data, from_sut=True)
        else:
            recorder.record_received(connection, frame.data)
    judge.conclude_passive_rules()
    return entries


def test_advice_and_receipt_rules_do_not_pass_by_sent_packets_only() -> None:
    catalogue, predicates = load_catalogue(), load_predicates()
    entries = sent_by_a_system()
    about_receipt = {
        rule
        for rule in predicates
        if predicates[rule].advice or any(word in catalogue[rule].says for word in ON_RECEIPT)
    }
    assert len(about_receipt) >= 46
    found = {entry.rule: entry for entry in entries if entry.rule in about_receipt}
    assert {entry.verdict for entry in found.values()} == {Verdict.NOT_EXERCISED}
    assert {entry.advice for entry in found.values()} == {Advice.FOLLOWED}
    assert len([entry for entry in entries if entry.verdict is Verdict.PASS]) >= 50
