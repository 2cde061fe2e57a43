"""`mqconform attach` reports the example agent as correct, and names the one defect of each broken agent."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S

from harness.attach.attach import (
    JudgeableRuleCounts,
    call_every_agent_verb,
    count_judgeable_rules,
    draft_sut_file,
    format_findings_as_json,
    list_report_lines,
    make_command_control_route,
    make_tcp_control_route,
    write_sut_file_draft,
)
from harness.attach.findings import FACILITY_BY_VERB, AgentFindings, VerbState
from harness.errors import SutUnavailable, UsageError
from harness.paths import SUITES
from harness.proof.inventory import RuleInventory
from harness.sut.agent import AgentStartedByCommand
from harness.sut.sut_file import CAPABILITIES, parse_sut_file
from reference_qm.control import VERBS_BY_FACILITY

EXAMPLE = SUITES.parent / "examples" / "agent" / "agent.py"
LONG_MS = PATIENCE_S * 1_000
SOON_MS = 4_000
"""Timeouts in ms: SOON_MS for requests without an answer, LONG_MS for requests whose answer takes milliseconds."""
COUNTED = JudgeableRuleCounts(10, 6, {"inspect": 3}, {"inspect": 4}, "every capability")
ANSWERS = """
def answer(self, answer, to=agent.Conversation.answer):
    {}
agent.Conversation.answer = answer
"""
"""Code that changes the answers of the example agent."""
NONE_OF_THESE = """
def {verb}(self, queue="", timeout_ms=0):
    {body}
agent.Verbs.{verb} = {verb}
"""


def changed(patch: str, *, start_ms: int = 20_000) -> AgentStartedByCommand:
    """Return the example agent, changed by the given code."""
    script = f"import os, sys; sys.path.insert(0, {str(EXAMPLE.parent)!r}); import agent\n{patch}\nagent.main()"
    return AgentStartedByCommand(lambda: [sys.executable, "-S", "-E", "-c", script], None, start_ms)


def broken(patch: str = "", *, answer_ms: int = LONG_MS) -> AgentFindings:
    """Try it out."""
    return call_every_agent_verb(changed(patch), "test", None, answer_ms=answer_ms)


def states(found: AgentFindings) -> dict[str, set[str]]:
    return {state: {one.verb for one in found.verbs.values() if one.state is state} for state in VerbState}


# -- agents that keep the contract ----------------------------------------------------------------------------------


def test_example_agent_carries_out_announced_verbs() -> None:
    found = broken()
    assert found.matches_announced_facilities, found.problems
    assert found.announced == ("queue_control", "send", "receive")
    of = states(found)
    assert of[VerbState.WRONG] == of[VerbState.SILENT] == of[VerbState.REFUSED] == set()
    assert {"create_queue", "delete_queue", "send", "peek", "receive", "cancel", "purge"} <= of[VerbState.WORKS]
    assert {"inspect", "begin", "remote_open", "move"} <= of[VerbState.MISSING]
    assert found.verbs.keys() == FACILITY_BY_VERB.keys() | {"identity", "cancel", "stop"}
    assert [found.describe_facility(name) for name in ("queue_control", "receive", "inspect")] == [
        "works",
        "announced, but these verbs do not work: open_queue, move",
        "missing",
    ]


def test_agent_answers_out_of_order_are_accepted() -> None:
    later = "import threading; threading.Timer(0.02 * (answer['id'] % 3), to, (self, answer)).start()"
    assert broken(ANSWERS.format(later)).matches_announced_facilities


def test_attach_over_tcp_gives_same_report() -> None:
    command = [sys.executable, "-S", "-E", str(EXAMPLE), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        where = process.stderr.readline().strip().removeprefix("agent: listens at ")
        found = call_every_agent_verb(make_tcp_control_route(where), "test", None)
        process.terminate()
    assert found.matches_announced_facilities, found.problems
    assert "127.0.0.1" in draft_sut_file(found, where, None)


# -- agents that do not ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("print('Welcome!', flush=True)", "b'Welcome!'; nothing but answers may be written to standard output"),
        ("sys.exit('no such key')", "ended with exit status 1: no such key"),
        ("agent.main = lambda: None", "identity: ended with exit status 0 and wrote nothing to standard error"),
        (
            ANSWERS.format("to(self, answer | {'protocol': 3})"),
            "speaks version 3 of the control protocol; this harness",
        ),
        (ANSWERS.format("to(self, answer | {'protocol': '2\\x1b[2J'})"), r"speaks version '2\x1b[2J' of the control"),
        (ANSWERS.format("to(self, answer | {'guid': 7})"), "identity: guid: 7 is not of type 'string'"),
        (
            ANSWERS.format("to(self, {'id': answer['id'], 'ok': False, 'error': 'no\\n'})"),
            "refused the request 'identity': no",
        ),
        (
            ANSWERS.format("to(self, answer | {'id': 'x'})"),
            "in time; an answer arrived with an id that no request has: 'x'",
        ),
    ],
)
def test_agent_without_identity_gives_one_line_error(patch: str, words: str) -> None:
    with pytest.raises(SutUnavailable) as caught:
        call_every_agent_verb(
            changed(patch, start_ms=SOON_MS if "in time" in words else LONG_MS), "test", None, answer_ms=1
        )
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def dies() -> AgentFindings:
    return broken(NONE_OF_THESE.format(verb="purge", body="sys.stderr.write('out of luck\\n'); os._exit(3)"))


def says_noise() -> AgentFindings:
    return broken(
        NONE_OF_THESE.format(verb="purge", body="self.system.find('x') if os.write(1, b'Done.\\n') < 0 else 0")
    )


def hangs() -> AgentFindings:
    return broken(ANSWERS.format("('purged' in answer) or to(self, answer)"), answer_ms=700)


def holds_up() -> AgentFindings:
    body = (
        f"import time; time.sleep({2 * SOON_MS / 1_000} if timeout_ms else 0); return {{'message': self.taken(queue)}}"
    )
    patch = "agent.threading.Thread.start = lambda self: self.run()\n"
    patch += "agent.Verbs.taken = lambda self, queue: (found := self.system.find(queue)) and found.pop(0) or None\n"
    return broken(patch + NONE_OF_THESE.format(verb="receive", body=body), answer_ms=SOON_MS)


def knows_other_ids() -> AgentFindings:
    return broken(ANSWERS.format("to(self, answer); 'purged' in answer and to(self, {'id': 99_999, 'ok': True})"))


def answers_twice() -> AgentFindings:
    return broken(ANSWERS.format("to(self, answer); 'purged' in answer and to(self, answer)"))


def breaks_the_schema() -> AgentFindings:
    return broken(ANSWERS.format("to(self, answer | ({'purged': 'all'} if 'purged' in answer else {}))"))


def does_nothing() -> AgentFindings:
    return broken(NONE_OF_THESE.format(verb="purge", body="return {'purged': 0}"))


def loses_messages() -> AgentFindings:
    return broken("agent.ToyQueues.send = lambda self, *given: '{' + self.identifier + '}' + chr(92) + '1'")


def says_yes_to_all() -> AgentFindings:
    return broken(
        "agent.Conversation.do = lambda self, number, verb, arguments, do=agent.Conversation.do: "
        "{} if verb == 'mqconform_nonsense' else do(self, number, verb, arguments)"
    )


def announces_too_much() -> AgentFindings:
    return broken("agent.FACILITIES += ['time\\x1b[2Jtravel', 'inspect']\nagent.Verbs.inspect = lambda self: {}")


def has_a_hostile_name() -> AgentFindings:
    return broken("agent.ToyQueues.name = 'x\\x1b]0;y\\x07[red]\\n'")


def refuses() -> AgentFindings:
    return broken(NONE_OF_THESE.format(verb="purge", body="raise agent.Refused('not today\\x07')"))


@pytest.mark.parametrize(
    ("try_it", "said"),
    [
        (dies, "wrong: the agent stopped answering: ended with exit status 3: out of luck"),
        (says_noise, "wrong: the agent stopped answering: a line is not a JSON object with an id: b'Done.'"),
        (hangs, "  purge                         silent           no answer arrived in time"),
        (
            holds_up,
            f"  {'receive':30}{'wrong':17}the agent answers no other request while receive waits",
        ),
        (knows_other_ids, "wrong: answers that match no request: 1, with the ids 99999"),
        (answers_twice, "wrong: answers that match no request: 1, with the ids "),
        (breaks_the_schema, "  purge                         wrong            purged: 'all' is not of type 'integer'"),
        (does_nothing, "  purge                         wrong            a message is still in the queue"),
        (
            loses_messages,
            "  peek                          wrong            the message sent to DIRECT=OS:.\\private$\\mqc",
        ),
        (says_yes_to_all, "wrong: the agent did not refuse the unknown verb mqconform_nonsense"),
        (announces_too_much, "wrong: the answer to identity announces time<U+001B>[2Jtravel, which is not a facility"),
        (announces_too_much, "  inspect                       wrong            the answer has no 'adm'"),
        (has_a_hostile_name, "x<U+001B>]0;y<U+0007>[red] 1.0 (Example), queue manager "),
        (refuses, "  purge                         refused          not today<U+0007>"),
    ],
)
def test_attach_names_each_deviation_of_an_agent(try_it: Callable[[], AgentFindings], said: str) -> None:
    found = try_it()
    report = list(list_report_lines(found, COUNTED))
    assert any(line.startswith(said) for line in report), report
    assert all(line.isprintable() for line in report)
    assert found.matches_announced_facilities is (try_it is has_a_hostile_name)
    assert (
        json.loads(json.dumps(format_findings_as_json(found, COUNTED)))["right"] is found.matches_announced_facilities
    )


def test_verbs_are_not_tried_after_the_agent_has_ended() -> None:
    of = states(dies())
    assert {"inspect", "begin", "delete_queue"} <= of[VerbState.NOT_TRIED]
    assert of[VerbState.SILENT] == {"purge"}


# -- what it makes of it --------------------------------------------------------------------------------------------


def test_cost_of_a_missing_facility_is_the_number_of_rules_it_would_add() -> None:
    tests = {"A-1": ["a", "b"], "A-2": ["b"], "A-3": ["c"], "A-4": ["d"]}
    needs = {"a": {"send"}, "b": {"send", "inspect"}, "c": {"receive", "inspect"}, "d": {"security"}}
    frozen = {check: frozenset(names) for check, names in needs.items()}
    inventory = RuleInventory({}, tests, {}, {"A-5": ""}, frozenset(), needs=frozen)  # type: ignore[arg-type]
    counted = count_judgeable_rules(inventory.list_judgeable_rules, ("send",), None)
    assert (counted.total_rules, counted.judgeable_rules_now) == (5, 3)
    assert {name: more for name, more in counted.rules_gained_by_facility_alone.items() if more} == {"inspect": 1}
    assert {name: more for name, more in counted.rules_gained_by_facility_as_last_one.items() if more} == {
        "inspect": 2,
        "receive": 1,
    }
    bare = parse_sut_file({"sut": {"name": "x"}, "driver": {"kind": "external"}})
    assert count_judgeable_rules(inventory.list_judgeable_rules, VERBS_BY_FACILITY, bare).judgeable_rules_now == 4
    assert (
        count_judgeable_rules(inventory.list_judgeable_rules, VERBS_BY_FACILITY, bare).rules_gained_by_facility_alone
        == {}
    )


def test_attach_draft_is_valid_sut_file_for_any_agent_name() -> None:
    found = AgentFindings(name='a "quoted"\\ \x1b\n \U0001f600', vendor="", version="1")
    for address, command in (("10.0.0.5:9801", None), ("[::1]:9801", None), (None, 'ssh host "C:\\agent 1.exe"')):
        file = parse_loosely(draft_sut_file(found, address, command))
        assert file["sut"]["vendor"] == "unknown"
        assert file["capabilities"] == dict.fromkeys(CAPABILITIES, False)
        if address != "10.0.0.5:9801":  # which is to be allowed first
            assert parse_sut_file(file).control.kind == ("stdio" if command else "jsonl")
        if command:
            assert file["control"]["command"] == ["ssh", "host", "C:\\agent 1.exe"]


def parse_loosely(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def test_draft_of_sut_file_overwrites_no_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    write_sut_file_draft(path, "one")
    with pytest.raises(UsageError, match="already exists; give another name"):
        write_sut_file_draft(path, "two")
    assert path.read_text() == "one"
    with pytest.raises(UsageError, match="No such file"):
        write_sut_file_draft(tmp_path / "none" / "sut.toml", "two")


@pytest.mark.parametrize("address", ["host", "host:", ":1", "host:x", "host:0", "host:65536"])
def test_invalid_agent_address_gives_one_line_error(address: str) -> None:
    with pytest.raises(UsageError, match=r"(address must be HOST:PORT|port must be 1 to 65535)"):
        make_tcp_control_route(address)


@pytest.mark.parametrize("command", ["", "'x"])
def test_invalid_agent_command_gives_one_line_error(command: str) -> None:
    with pytest.raises(UsageError, match="--command"):
        make_command_control_route(command)
