"""Represent the findings in a checked capture as plain values. Reports in all formats are made from these values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.capture.recorder import Frame
from harness.foreign.check import CheckedCapture
from harness.foreign.conversations import MSMQ_PROTOCOL, RPC_PROTOCOL
from harness.foreign.systems import JudgedSystem
from harness.judging.judge import MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD
from harness.judging.passive import PASSIVE_RULES
from harness.judging.verdicts import DECIDED_VERDICTS, VERDICTS_WORST_FIRST, Advice, Verdict, VerdictEntry
from harness.wire.value_names import with_names

MAX_QUOTED_BYTES_OF_DECIDING_FIELD = 64
"""The maximum number of bytes of a deciding field that a report quotes."""


@dataclass(frozen=True, slots=True)
class EvidencePacket:
    """A packet that a verdict names. ``first``, ``last``: the int offsets of the deciding bytes in the packet, or
    None.
    """

    frame: int
    time_s: float
    observed: str
    field: str = ""
    first: int | None = None
    last: int | None = None
    octets: str = ""

    def to_json(self) -> dict[str, Any]:
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) not in ("", None)}


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """The result of judging one rule on the packets from one system."""

    rule: str
    level: str
    says: str
    verdict: Verdict
    expected: str
    reason: str
    advice: Advice | None
    errata: tuple[str, ...]
    notes: tuple[str, ...]
    packets: tuple[EvidencePacket, ...]

    @property
    def display_filter(self) -> str:
        """The Wireshark display filter for the packets that decided the rule."""
        return " || ".join(f"frame.number == {each.frame}" for each in self.packets)

    def to_json(self) -> dict[str, Any]:
        made = {
            "rule": self.rule,
            "level": self.level,
            "verdict": self.verdict,
            "says": self.says,
            "expected": self.expected,
            "reason": self.reason,
            "advice": self.advice,
            "errata": self.errata,
            "notes": self.notes,
            "packets": [each.to_json() for each in self.packets],
            "filter": self.display_filter,
        }
        return {key: value for key, value in made.items() if value}


@dataclass(frozen=True, slots=True)
class SystemFinding:
    """The findings about one system in a capture. ``unjudged_packet_count_by_reason``: the number of packets that could
    not be judged against a rule, by reason.
    """

    name: str
    system: JudgedSystem
    rules: tuple[RuleFinding, ...]
    unjudged_packet_count_by_reason: dict[str, int]

    def of(self, *verdicts: Verdict) -> list[RuleFinding]:
        """Return the rules with one of the given verdicts."""
        return [one for one in self.rules if one.verdict in verdicts]

    @property
    def decided_rule_count(self) -> int:
        """The number of rules that were judged on packets of the system and got a verdict."""
        return len(self.of(*DECIDED_VERDICTS))

    def to_json(self) -> dict[str, Any]:
        system = self.system
        return {
            "name": self.name,
            "identifiers": sorted(map(str, system.identifiers)),
            "server_class": sorted(system.server_class),
            "connections": dict(system.roles),
            "sent": dict(system.kinds),
            "coverage": {
                "passive_rules": len(PASSIVE_RULES),
                "judged": self.decided_rule_count,
                **{str(verdict): len(self.of(verdict)) for verdict in Verdict if self.of(verdict)},
            },
            "unjudged": self.unjudged_packet_count_by_reason,
            "rules": [one.to_json() for one in self.rules],
        }


def build_findings(checked: CheckedCapture) -> list[SystemFinding]:
    """Return the findings about each system, in the order of the systems' first packets. Call this function only
    once for each capture.
    """
    return [_build_system_finding(system, checked) for system in checked.traffic.systems.system_by_name.values()]


def format_capture_as_json(checked: CheckedCapture, systems: list[SystemFinding]) -> dict[str, Any]:
    """Return the report on one file as JSON values."""
    traffic = checked.traffic
    totals = traffic.totals
    return {
        "file": str(checked.path),
        "frames": traffic.frames,
        "start_us": traffic.start_us,
        "end_us": traffic.end_us,
        "damage": checked.damage_descriptions,
        "not_read": dict(traffic.unread_frame_count_by_reason),
        "conversations": dict(totals.conversation_count_by_kind),
        "states": dict(totals.conversation_count_by_state),
        "packets": {kind: totals.packets[kind] for kind in (MSMQ_PROTOCOL, RPC_PROTOCOL)},
        "packets_not_whole": totals.incomplete_packet_count,
        "interfaces": {str(uuid): count for uuid, count in totals.interfaces.items()},
        "listed": [{name: getattr(one, name) for name in one.__slots__} for one in totals.listed_conversations],
        "systems": [one.to_json() for one in systems],
    }


def _build_system_finding(system: JudgedSystem, checked: CheckedCapture) -> SystemFinding:
    by_rule: dict[str, list[VerdictEntry]] = {}
    for entry in system.remove_and_return_verdicts():
        by_rule.setdefault(entry.rule, []).append(entry)
    rules = tuple(_build_rule_finding(entries, system, checked) for _, entries in sorted(by_rule.items()))
    unjudged: dict[str, int] = {}
    for tally in system.judge.packets.tallies.values():
        for why, count in (tally.missing or {}).items():
            unjudged[why] = unjudged.get(why, 0) + count
    system.release_packets()
    return SystemFinding(system.name, system, rules, unjudged)


def _build_rule_finding(entries: list[VerdictEntry], system: JudgedSystem, checked: CheckedCapture) -> RuleFinding:
    worst = min(entries, key=lambda entry: VERDICTS_WORST_FIRST.index(entry.verdict))
    row = system.judge.catalogue[worst.rule]
    packets = tuple(
        shown
        for entry in entries
        if entry.verdict is worst.verdict
        for shown in _list_shown_packets(entry, system, checked)
    )
    return RuleFinding(
        worst.rule,
        worst.level,
        row.says,
        worst.verdict,
        with_names(worst.expected),
        worst.reason or "",
        worst.advice,
        worst.errata,
        worst.notes,
        packets,
    )


def _list_shown_packets(entry: VerdictEntry, system: JudgedSystem, checked: CheckedCapture) -> Iterator[EvidencePacket]:
    frames = _find_failing_frames(entry.rule, system)
    observed = with_names(entry.observed)
    for evidence in entry.evidence:
        frame = frames.get(evidence.frame)
        if frame is None:
            continue
        time_s = frame.time_ms / 1000
        if evidence.first is None or evidence.last is None or frame.size > MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD:
            yield EvidencePacket(evidence.frame, time_s, observed)
            continue
        octets = frame.data[evidence.first : evidence.last + 1]
        more = "…" if len(octets) > MAX_QUOTED_BYTES_OF_DECIDING_FIELD else ""
        named = [line.path for line in frame.lines if (line.start, line.end) == (evidence.first, evidence.last + 1)]
        field = ".".join(named[0]) if named else ""
        yield EvidencePacket(
            evidence.frame,
            time_s,
            observed,
            field,
            evidence.first,
            evidence.last,
            octets[:MAX_QUOTED_BYTES_OF_DECIDING_FIELD].hex(" ") + more,
        )


def _find_failing_frames(rule: str, system: JudgedSystem) -> dict[int, Frame]:
    tally = system.judge.packets.tallies[rule]
    frames = {frame.number: frame for frame, _ in tally.failures}
    if tally.first is not None:
        frames.setdefault(tally.first.number, tally.first)
    return frames
