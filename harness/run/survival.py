"""Determine whether the system survives a check. The tester requests a session before and after each check that is
marked with ``sut_survives``, and after any other check that failed or broke off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure, SutUnavailable
from harness.judging.robustness import ROBUSTNESS_DOCUMENT, RULE_BY_CONDITION, SystemCondition, SystemDiagnosis
from harness.judging.verdicts import Verdict, VerdictEntry, read_verdicts

if TYPE_CHECKING:
    from harness.judging.judge import Judge
    from harness.peer.peer import Peer
    from harness.run.run import ConformanceRun

SURVIVAL_MARK = "sut_survives"
WAIT_FOR_EXIT_STATUS_S = 0.5
"""int s: how long to wait, after a process has lost its connections, until it is known whether the process has
ended.
"""
_WAS_SUT_ALIVE_BEFORE_CHECK_KEY: pytest.StashKey[bool] = pytest.StashKey()


def require_sut_alive_before(item: pytest.Item) -> None:
    """Make sure that the system is alive before a check marked with ``sut_survives``."""
    peer = _get_peer_of_check(item)
    if peer is not None and item.get_closest_marker(SURVIVAL_MARK) is not None:
        item.stash[_WAS_SUT_ALIVE_BEFORE_CHECK_KEY] = diagnose_system(peer).is_alive


def require_sut_alive_after(item: pytest.Item, judge: Judge) -> None:
    """Request a session after a check that is marked with ``sut_survives``, or that failed or broke off. Record the
    finding.
    """
    peer, mark = _get_peer_of_check(item), item.get_closest_marker(SURVIVAL_MARK)
    if peer is None:
        return
    if (says := peer.environment.flood_description) is not None:  # the packets of this check are ignored
        flood = SystemDiagnosis(SystemCondition.FLOODS, says, tuple(peer.recorder.frames[-1:]))
        judge.record_breakdown(flood, ())
        return
    if mark is not None:
        wanted, rules = item.stash.get(_WAS_SUT_ALIVE_BEFORE_CHECK_KEY, False), mark.args or judge.covers
    else:
        wanted, rules = _may_sut_have_stopped_running(peer, judge), ()
    if not wanted:
        return
    diagnosis = diagnose_system(peer)
    if not diagnosis.is_alive:
        judge.record_breakdown(diagnosis, rules)


def record_survival(run: ConformanceRun) -> None:
    """At the end of a run, record that a real system survived the run, unless a check found the opposite."""
    if run.timeouts is None or run.timeouts["measured"] is None or not run.ids_of_run_checks:
        return
    found = {line["rule"] for line in read_verdicts(run.verdict_log.path) if line["document"] == ROBUSTNESS_DOCUMENT}
    for row in RULE_BY_CONDITION.values():
        if row.id not in found:
            said = f"no violation in {len(run.ids_of_run_checks)} checks"
            run.verdict_log.append(
                VerdictEntry(
                    row.id, row.document, row.section, row.level, Verdict.PASS, expected=row.says, observed=said
                )
            )


def _get_peer_of_check(item: pytest.Item) -> Peer | None:
    found: Peer | None = item.funcargs.get("peer")  # type: ignore[attr-defined]
    return found


def _may_sut_have_stopped_running(peer: Peer, judge: Judge) -> bool:
    """Return whether a system that answered earlier may no longer be running."""
    sut = peer.sut
    if sut.identifier is None:
        return False
    if sut.process_ended(0) is not None or sut.hangs():
        return True
    closed = any(connection.closed_by == "sut" for connection in peer.recorder.connections)
    return closed or bool(judge.reasons or judge.failed)


def diagnose_system(peer: Peer) -> SystemDiagnosis:
    """Request a session on a new connection, as any queue manager may at any time (MS-MQQB 3.1.5.3.1). Return the
    condition of the system.
    """
    from harness.wire import establish_connection

    sut = peer.sut
    try:
        connection = peer.connect()
    except SutUnavailable as error:
        how = sut.process_ended(WAIT_FOR_EXIT_STATUS_S)
        return SystemDiagnosis(
            SystemCondition.CRASHED, str(error) if how is None else f"the process of the system ended with {how}"
        )
    asked = connection.send(establish_connection(ClientGuid=peer.identifier))
    try:
        answer = connection.poll("EstablishConnection")
    except ConformanceFailure as late:
        return SystemDiagnosis(SystemCondition.ALIVE, str(late), (asked,))
    closed = connection.closed_by_sut
    connection.close()
    if answer is None:
        if closed:
            return SystemDiagnosis(
                SystemCondition.ALIVE, "the system closes a connection that requests a session", (asked,)
            )
        says = f"the system accepts connections, but does not answer within {sut.response_timeout_ms} ms"
        return SystemDiagnosis(SystemCondition.HANGS, says, (asked,))
    guid = _get_server_guid(answer.packet)
    if sut.identifier is not None and not sut.may_be_another_system and guid not in (sut.identifier, None):
        return SystemDiagnosis(
            SystemCondition.RESTARTED,
            f"the system changed its identifier from {sut.identifier} to {guid}",
            (asked, answer),
        )
    if sut.environment.pulse is not None and sut.environment.pulse.was_gone and not sut.restarted:
        return SystemDiagnosis(
            SystemCondition.RESTARTED, "the system did not listen for a time, but is listening now", (asked, answer)
        )
    return SystemDiagnosis(SystemCondition.ALIVE, "the system answers", (asked, answer))


def _get_server_guid(packet: Any) -> UUID | None:
    try:
        return UUID(str(packet["EstablishConnectionHeader"].ServerGuid))
    except (IndexError, ValueError):
        return None
