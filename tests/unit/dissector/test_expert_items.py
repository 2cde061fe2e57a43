"""The expert items of the dissector name a rule exactly where the passive predicate of that rule fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_dissector_agrees_with_wire import CRAFTED, TSHARK, lua, packets_of, run_tshark, write_stream

from harness.capture.recorder import Frame
from harness.dissector.expert_items import EXPERT_ITEMS
from harness.judging.passive import Context, load_predicates
from harness.wire import connection_parameters, dissect, kind, session_ack, user_message
from reference_qm.codec import parse_packet

pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed: apt-get install tshark")
__all__ = ["lua"]

UNUSED_OF_BASE = ("X0", "X1", "X2", "X3", "X4", "X5", "X6", "X8", "X9")
UNUSED_OF_USER = ("X1", "X2", "X3", "X4")
BREAKING: dict[str, list[Any]] = {
    "MQMQ-2.2.19.1-04": [user_message(transaction={}, base={"PR": 1})],
    "MQMQ-2.2.19.1-08": [connection_parameters(base={"DH": 1})],
    "MQMQ-2.2.19.1-13": [user_message(base={"TR": 1})],
    "MQMQ-2.2.19.1-25": [connection_parameters(base={"TimeToReachQueue": 5})],
    "MQMQ-2.2.19.2-04": [user_message(user={"QueueManagerAddress": 7})],
    "MQMQ-2.2.19.2-08": [user_message(user={"RC": 0x1E})],
    "MQMQ-2.2.19.2-09": [user_message(user={"DM": 2}), user_message(user={"DM": 3})],
    "MQMQ-2.2.19.2-20": [user_message(transaction={}, user={"DM": 0})],
    "MQMQ-2.2.19.2-25": [user_message(user={"AH": 1})],
    "MQMQ-2.2.19.3-20": [user_message(PrivacyLevel=2), user_message(PrivacyLevel=4)],
    "MQMQ-2.2.19.3-24": [user_message(EncryptionAlgorithm=0x6603)],
    "MQMQ-2.2.19.3-26": [
        user_message(PrivacyLevel=5, EncryptionAlgorithm=0x6602),
        user_message(PrivacyLevel=1, EncryptionAlgorithm=0x660E),
    ],
    "MQQB-2.2.1-02": [connection_parameters(internal={"PT": 4})],
    "MQQB-2.2.1-04": [session_ack(internal={"CS": 1})],
}
"""For each rule except those about unused bits, packets that break the rule."""


def break_unused_bits() -> dict[str, list[Any]]:
    """Return for each rule about an unused bit a packet in which this bit is set."""
    rules = [one for one in EXPERT_ITEMS if one.says.endswith(" is 0") and one.says.startswith("X")]
    names = {one.rule: (one.layers[0], one.says.partition(" ")[0]) for one in rules}
    assert sorted(name for layer, name in names.values() if layer == "base") == sorted(UNUSED_OF_BASE)
    assert sorted(name for layer, name in names.values() if layer == "user") == sorted(UNUSED_OF_USER)
    return {rule: [user_message(**{layer: {name: 1}})] for rule, (layer, name) in names.items()}


PACKETS = [*CRAFTED, *(one for packets in (BREAKING | break_unused_bits()).values() for one in packets)]


@pytest.fixture(scope="module")
def named(lua: Path, tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    """Return the rules that tshark names for each packet."""
    folder = tmp_path_factory.mktemp("items")
    capture = write_stream(folder / "all.pcap", [bytes(one) for one in PACKETS])
    protos = packets_of(run_tshark(lua, capture, "-T", "pdml"))
    assert len(protos) == len(PACKETS)
    wanted = {"msmq.rule." + one.rule.replace(".", "_").replace("-", "_").lower(): one.rule for one in EXPERT_ITEMS}
    return [
        {wanted[name] for one in proto.iter("field") if (name := one.get("name", "")) in wanted} for proto in protos
    ]


def test_rule_violating_packet_has_the_expert_item_of_its_rule(named: list[set[str]]) -> None:
    at = len(CRAFTED)
    for rule, packets in (BREAKING | break_unused_bits()).items():
        for _ in packets:
            assert rule in named[at], (rule, named[at])
            at += 1
    assert {one.rule for one in EXPERT_ITEMS} == set(BREAKING | break_unused_bits())


def test_expert_items_agree_with_the_passive_predicates(named: list[set[str]]) -> None:
    """The dissector names a rule for a packet exactly if the predicate of the rule fails. Packets that the predicate
    does not judge, such as packets of another kind, are not compared.
    """
    predicates = load_predicates()
    judged = 0
    for packet, rules in zip(PACKETS, named, strict=True):
        data = bytes(packet)
        name = kind(data)
        frame = Frame(1, 0, "sut->peer", "tcp", data, name)
        for item in EXPERT_ITEMS:
            rule = predicates[item.rule]
            if name not in rule.kinds:
                assert item.rule not in rules, (item.rule, dissect(data).summary())
                continue
            finding = rule.predicate(parse_packet(data), Context(frame, None))
            if isinstance(finding, tuple):
                judged += 1
                assert finding[0] == (item.rule not in rules), (item.rule, finding)
    assert judged > 10 * len(EXPERT_ITEMS)
