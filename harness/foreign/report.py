"""Write the report of `mqconform check` as text, as JSON and as a JUnit XML file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from xml.etree import ElementTree

from harness.foreign.check import CheckedCapture
from harness.foreign.conversations import MSMQ_PROTOCOL, RPC_PROTOCOL
from harness.foreign.findings import RuleFinding, SystemFinding, format_capture_as_json
from harness.judging.passive import PASSIVE_RULES
from harness.judging.verdicts import VERDICTS_OF_BROKEN_RULES, Advice, Verdict
from harness.printable import one_line

MAX_LISTED_CONVERSATIONS_AND_REASONS = 20
"""The maximum number of conversations, and of reasons, in the text. The JSON report contains all of them."""
LONGEST_TEXT_CHARACTERS = 300
FindingsByCapture = Sequence[tuple[CheckedCapture, list[SystemFinding]]]
_RESULT_TEXT_BY_VERDICT = MappingProxyType({Verdict.FAIL: "broken", Verdict.WARN: "not followed"})


def format_report_as_text(findings: FindingsByCapture) -> str:
    """Return the report as text for readers."""
    return "\n".join(line for one in findings for line in _list_report_lines(*one)) + "\n"


def format_report_as_json(findings: FindingsByCapture) -> str:
    """Return the report as JSON for programs."""
    made = {"schema": 1, "files": [format_capture_as_json(checked, systems) for checked, systems in findings]}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def format_report_as_junit(findings: FindingsByCapture) -> str:
    """Return the report as JUnit XML. Each system is a test suite, and each rule whose subject occurred is a test
    case.
    """
    root = ElementTree.Element("testsuites", name="mqconform check")
    for checked, systems in findings:
        for system in systems:
            name = f"{system.name} in {checked.path.name}"
            suite = ElementTree.SubElement(root, "testsuite", name=name, tests=str(len(system.rules)), errors="0")
            suite.set("failures", str(len(system.of(Verdict.FAIL))))
            for rule in system.rules:
                _add_test_case(suite, rule)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


REPORT_FORMATTER_BY_FORMAT_NAME: Mapping[str, Callable[[FindingsByCapture], str]] = MappingProxyType(
    {"text": format_report_as_text, "json": format_report_as_json, "junit": format_report_as_junit}
)


def _add_test_case(suite: ElementTree.Element, rule: RuleFinding) -> None:
    section = rule.rule.rpartition("-")[0].replace("-", ".", 1)
    case = ElementTree.SubElement(suite, "testcase", classname=section, name=rule.rule)
    if rule.verdict is Verdict.FAIL:
        ElementTree.SubElement(
            case, "failure", message=one_line(rule.says, LONGEST_TEXT_CHARACTERS)
        ).text = _format_rule_for_xml(rule)
    elif rule.verdict is Verdict.WARN:
        ElementTree.SubElement(case, "system-out").text = _format_rule_for_xml(rule)
    elif rule.verdict is Verdict.NOT_EXERCISED:
        ElementTree.SubElement(case, "skipped", message=one_line(rule.reason, LONGEST_TEXT_CHARACTERS))


def _format_rule_for_xml(rule: RuleFinding) -> str:
    text = "\n".join(_format_rule_finding(rule))
    return "".join(char for char in text if char == "\n" or char.isprintable())


def _list_report_lines(checked: CheckedCapture, systems: list[SystemFinding]) -> Iterator[str]:
    traffic = checked.traffic
    totals = traffic.totals
    span = (traffic.end_us - traffic.start_us) / 1_000_000
    yield f"{checked.path}: {traffic.frames:,} frames in {span:,.3f} s{_format_capture_start(traffic.start_us)}"
    yield from (f"  {line}" for line in checked.damage_descriptions)
    others = (
        totals.conversation_count_by_kind.total()
        - totals.conversation_count_by_kind[MSMQ_PROTOCOL]
        - totals.conversation_count_by_kind[RPC_PROTOCOL]
    )
    counts = totals.conversation_count_by_kind
    judged = f"{counts[MSMQ_PROTOCOL]:,} of queue managers, {counts[RPC_PROTOCOL]:,} of DCE/RPC"
    yield f"  connections: {judged}, {others:,} other connections"
    for one in totals.listed_conversations[:MAX_LISTED_CONVERSATIONS_AND_REASONS]:
        frames = f"frames {one.first_frame} to {one.last_frame}"
        yield f"    {one.client} to {one.server}: {one.kind}, {frames}, {one.packets:,} packets, {one.state}"
        yield from (f"      {gap}" for gap in one.gaps)
    if len(totals.listed_conversations) > MAX_LISTED_CONVERSATIONS_AND_REASONS:
        more = len(totals.listed_conversations) - MAX_LISTED_CONVERSATIONS_AND_REASONS
        yield f"    and {more:,} more (--format json lists them)"
    if totals.incomplete_packet_count:
        yield f"  incomplete packets, which are not judged: at least {totals.incomplete_packet_count:,}"
    if totals.interfaces:
        from harness.wire.rpc_interfaces import INTERFACES  # harness.wire takes a second to import

        bound = [f"{INTERFACES.get(uuid, str(uuid))} {count} times" for uuid, count in totals.interfaces.most_common()]
        yield f"  bound DCE/RPC interfaces: {', '.join(bound[:MAX_LISTED_CONVERSATIONS_AND_REASONS])}"
    for why, count in traffic.unread_frame_count_by_reason.most_common(MAX_LISTED_CONVERSATIONS_AND_REASONS):
        yield f"  not read: {count:,} {why}"
    if not systems:
        yield f"  {traffic.systems.describe_unjudged_capture()}"
    for system in systems:
        yield ""
        yield from _format_system_finding(system)


def _format_capture_start(start_us: int) -> str:
    if not start_us:
        return ""
    return f", from {datetime.fromtimestamp(start_us / 1_000_000, UTC).isoformat(sep=' ', timespec='seconds')}"


def _format_system_finding(finding: SystemFinding) -> Iterator[str]:
    system = finding.system
    yield f"system {finding.name}"
    if system.identifiers:
        yield f"  identifiers: {', '.join(sorted(map(str, system.identifiers)))}"
    if system.server_class:
        classes = [("not a server-class system", "server-class system")[each] for each in sorted(system.server_class)]
        yield f"  operating system, by its OS bit: {' and '.join(classes)}"
    roles = [f"{role or 'unknown role'} of {count:,}" for role, count in sorted(system.roles.items())]
    sent = [f"{count:,} {kind}" for kind, count in system.kinds.most_common()]
    yield f"  connections: {', '.join(roles) or 'none'}; sent: {', '.join(sent) or 'nothing'}"
    kept = f"{len(finding.of(Verdict.PASS))} kept"
    broken = ", ".join(f"{len(finding.of(verdict))} {name}" for verdict, name in _RESULT_TEXT_BY_VERDICT.items())
    yield f"  {finding.decided_rule_count} of {len(PASSIVE_RULES)} passive rules applied: {broken}, {kept}"
    for why, count in sorted(finding.unjudged_packet_count_by_reason.items(), key=lambda one: -one[1])[
        :MAX_LISTED_CONVERSATIONS_AND_REASONS
    ]:
        yield f"  rules could not be judged on packets ({count:,} times): {why}"
    for rule in finding.of(*VERDICTS_OF_BROKEN_RULES):
        yield from (f"  {line}" for line in _format_rule_finding(rule))
    for rule in finding.rules:
        if rule.advice is Advice.MISSED:
            observed = one_line(rule.packets[0].observed, LONGEST_TEXT_CHARACTERS)
            yield f"  {rule.rule}: its recommendation (SHOULD) was not followed: {observed}"


def _format_rule_finding(rule: RuleFinding) -> Iterator[str]:
    yield f"{_RESULT_TEXT_BY_VERDICT[rule.verdict]}: {rule.rule} ({rule.level}) {rule.says}"
    yield f"  expected: {one_line(rule.expected, LONGEST_TEXT_CHARACTERS)}"
    for each in rule.packets:
        yield f"  frame {each.frame}, {each.time_s:.3f} s: {one_line(each.observed, LONGEST_TEXT_CHARACTERS)}"
        if each.octets:
            yield f"    {each.field or 'bytes'} at {each.first} to {each.last}: {each.octets}"
    if rule.reason:
        yield f"  {one_line(rule.reason, LONGEST_TEXT_CHARACTERS)}"
    if rule.errata:
        yield f"  errata: {', '.join(rule.errata)}"
    yield f"  filter: {rule.display_filter}"
