"""Create the report of ``mqconform attach``. The report lists the verbs and facilities of an agent. For each missing
facility, it states how many rules cannot be judged without it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.attach.conversation import Conversation
from harness.attach.findings import FACILITY_BY_VERB, AgentFindings, VerbState
from harness.attach.probes import AgentProbes
from harness.environment import RealEnvironment
from harness.errors import UsageError
from harness.printable import one_line
from harness.sut.agent import AgentStartedByCommand
from harness.sut.command_control import list_facilities
from harness.sut.control import CONTROL_ANSWER_TIMEOUT_MS
from harness.sut.endpoints import parse_endpoint
from harness.sut.stand_ins import list_needs_met_by_file
from harness.sut.sut_file import CAPABILITIES, MAX_NAME_CHARACTERS, SutFile, is_loopback
from harness.sut.wires import ControlRoute, TcpRoute
from reference_qm.control import VERBS_BY_FACILITY

LONGEST_AGENT_START_MS = 20_000
"""int ms: the maximum time to wait for the first answer from an agent that is started by a command. A SUT file can set
another limit.
"""
FACILITY_PROVIDED_BY_COMMANDS = "environment"
"""The facility ``environment``. If the agent does not provide it, the commands in the table ``[environment]`` of a SUT
file can provide it.
"""


@dataclass(frozen=True, slots=True)
class JudgeableRuleCounts:
    """The numbers of rules that can be judged. ``judgeable_rules_now`` counts the rules for the facilities and
    capabilities that the system has, ``total_rules`` for all facilities and capabilities.

    ``rules_gained_by_facility_alone`` contains, for each missing facility, the number of rules that this facility alone
    would add. ``rules_gained_by_facility_as_last_one`` contains, for each missing facility, the number of rules that
    this facility would add if no other facility were missing.
    """

    total_rules: int
    judgeable_rules_now: int
    rules_gained_by_facility_alone: Mapping[str, int]
    rules_gained_by_facility_as_last_one: Mapping[str, int]
    capabilities: str
    """The capabilities that the count assumes, as text: ``every capability``, or the capabilities of a SUT file."""


def count_judgeable_rules(judgeable: Any, announced: Collection[str], file: SutFile | None) -> JudgeableRuleCounts:
    """Count the rules that can be judged now, and the rules that each missing facility would add. ``judgeable`` is
    the method ``RuleInventory.list_judgeable_rules``.
    """
    declared = CAPABILITIES if file is None else [name for name, there in file.capabilities.items() if there]
    have = {*declared, *announced}
    if file is not None:
        have |= (
            list_needs_met_by_file(file)
            | list_facilities(file.commands)
            | ({FACILITY_PROVIDED_BY_COMMANDS} if file.environment.parts else set())
        )
    now = judgeable(have)
    missing = [name for name in VERBS_BY_FACILITY if name not in have]
    more = {name: len(judgeable({*have, name}) - now) for name in missing}
    full = {*have, *VERBS_BY_FACILITY}
    at_last = {name: len(judgeable(full) - judgeable(full - {name})) for name in missing}
    every = len(judgeable({*CAPABILITIES, *VERBS_BY_FACILITY}))
    whose = "every capability" if file is None else f"the capabilities of {file.path}"
    return JudgeableRuleCounts(every, len(now), more, at_last, whose)


def call_every_agent_verb(
    route: ControlRoute,
    word: str,
    queue: str | None,
    *,
    disruptive: bool = False,
    answer_ms: int = CONTROL_ANSWER_TIMEOUT_MS,
) -> AgentFindings:
    """Call every verb of an agent. Raise SutUnavailable with a one-line message if the agent does not identify
    itself.
    """
    environment = RealEnvironment()
    try:
        conversation = Conversation(environment, route, answer_ms)
        found = AgentProbes(conversation, word, queue, disruptive=disruptive).run_all_probes()
        conversation.close()
        return found
    finally:
        environment.close()
        if isinstance(route, AgentStartedByCommand):
            route.end()


def make_tcp_control_route(address: str) -> TcpRoute:
    """Return the route to an agent that listens at ``HOST:PORT``."""
    return TcpRoute(parse_endpoint(f"--address {address}", address))


def make_command_control_route(command: str) -> AgentStartedByCommand:
    """Return the route to an agent that is started by a command. The command is one string with the quoting of a
    shell.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command: {error}") from error
    if not words:
        raise UsageError("--command: the command is empty")
    return AgentStartedByCommand(lambda: words, None, LONGEST_AGENT_START_MS)


def list_report_rows_of_facilities(
    found: AgentFindings, counted: JudgeableRuleCounts
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of the report, one for each facility and one for each of its verbs. The cells of a row are
    facility, verb, state and remark.
    """
    for verb in ("identity", "cancel", "stop"):
        yield "", verb, str(found.verbs[verb].state), found.verbs[verb].said
    for name in VERBS_BY_FACILITY:
        yield name, "", found.describe_facility(name), _describe_facility_cost(counted, name)
        for one in found.list_verbs_of_facility(name):
            yield "", one.verb, str(one.state), one.said


def _describe_facility_cost(counted: JudgeableRuleCounts, facility: str) -> str:
    """Return a text that states how many rules a missing facility would add. The first number counts the rules that
    need no other missing facility. The second number counts the rules that could be judged if every other missing
    facility were also provided.
    """
    if facility not in counted.rules_gained_by_facility_alone:
        return ""
    more, at_last = (
        counted.rules_gained_by_facility_alone[facility],
        counted.rules_gained_by_facility_as_last_one[facility],
    )
    return f"costs {more} rules" + (f", {at_last} when no other facility is missing" if at_last != more else "")


def list_report_lines(found: AgentFindings, counted: JudgeableRuleCounts) -> Iterator[str]:
    """Yield the lines of a report in plain text."""
    yield describe_identity_of_agent(found)
    for facility, verb, state, said in list_report_rows_of_facilities(found, counted):
        shown = f"{facility or '  ' + verb:32}{state}"
        yield f"{shown:48} {said}".rstrip()
    yield from list_summary_lines(found, counted)


def describe_identity_of_agent(found: AgentFindings) -> str:
    """Return one line that describes the system. Its data come from the system's answer to the verb identity."""
    named = " ".join(part for part in (found.name, found.version) if part) or "no name"
    vendor = f" ({found.vendor})" if found.vendor else ""
    return (
        f"{named}{vendor}, queue manager {found.guid}, control protocol {found.protocol}; "
        f"the first answer took {found.first_ms} ms, the next {found.usual_ms} ms"
    )


def list_summary_lines(found: AgentFindings, counted: JudgeableRuleCounts) -> Iterator[str]:
    """Yield the lines of the summary: the violations of the protocol, the verbs to correct, and the rules that can
    be judged.
    """
    for problem in found.problems:
        yield f"wrong: {problem}"
    wrong = [one.verb for one in found.verbs.values() if one.state in (VerbState.WRONG, VerbState.SILENT)]
    if wrong:
        yield f"verbs to correct: {', '.join(wrong)}"
    have = f"the announced facilities and {counted.capabilities}"
    yield f"{counted.judgeable_rules_now} of {counted.total_rules} rules can be judged with {have}"


def format_findings_as_json(found: AgentFindings, counted: JudgeableRuleCounts) -> dict[str, Any]:
    """Return the report as a JSON object."""
    tree = asdict(found)
    tree["verbs"] = [asdict(one) | {"facility": FACILITY_BY_VERB.get(one.verb)} for one in found.verbs.values()]
    tree["facilities"] = {
        name: {
            "announced": name in found.announced,
            "state": found.describe_facility(name),
            "costs": counted.rules_gained_by_facility_alone.get(name, 0),
            "costs_at_last": counted.rules_gained_by_facility_as_last_one.get(name, 0),
        }
        for name in VERBS_BY_FACILITY
    }
    rules = {"judged": counted.judgeable_rules_now, "of": counted.total_rules, "capabilities": counted.capabilities}
    return tree | {"rules": rules, "right": found.matches_announced_facilities}


def draft_sut_file(found: AgentFindings, address: str | None, command: str | None) -> str:
    """Return the draft of a SUT file, which is derived from the findings about an agent."""
    host = "127.0.0.1" if address is None else address.rpartition(":")[0].strip("[]")
    remote = "" if is_loopback(host) else "allow_remote = false           # true: packets may be sent to this address\n"
    control = (
        f'kind = "jsonl"\naddress = {_quote_toml(str(address))}'
        if command is None
        else f'kind = "stdio"\ncommand = [{", ".join(_quote_toml(word) for word in shlex.split(command))}]'
    )
    capabilities = "".join(f"{name + ' = false':31}# {what}\n" for name, what in CAPABILITIES.items())
    return (
        "# A draft by mqconform attach: check each value. docs/sut-file.md describes all keys.\n"
        f"[sut]\nname = {_quote_agent_name_for_toml(found.name or 'my system')}\n"
        f"vendor = {_quote_agent_name_for_toml(found.vendor or 'unknown')}\n"
        f"version = {_quote_agent_name_for_toml(found.version or 'unknown')}\n"
        f'[driver]\nkind = "external"\naddress = {_quote_toml(host)}\n{remote}'
        "tcp_port = 1801\nping_port = 3527\nrpc_port = 2103\n"
        'peer_address = "127.0.0.2"     # the address of the tester\n'
        f"[control]\n{control}\n[capabilities]                 # set to true what the system provides\n{capabilities}"
    )


def _quote_agent_name_for_toml(text: str) -> str:
    """Return a name that an agent sent as a TOML string, on one line and without control characters."""
    return _quote_toml(one_line(text, MAX_NAME_CHARACTERS))


def _quote_toml(text: str) -> str:
    """Return any text as a TOML string."""
    escaped = "".join(
        f"\\{one}" if one in '"\\' else one if one.isprintable() else f"\\u{min(ord(one), 0xFFFD):04x}" for one in text
    )
    return f'"{escaped}"'


def write_sut_file_draft(path: Path, text: str) -> None:
    """Write the draft of a SUT file to a path; raise UsageError if the path already exists."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"--write {path} already exists; give another name") from None
    except OSError as error:
        raise UsageError(f"--write {path}: {error.strerror}") from error
