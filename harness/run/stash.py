"""Define the keys under which a run stores values in pytest's session and in each check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.run.checks import find_covered_rules, get_check_id

if TYPE_CHECKING:
    from harness.judging.judge import Judge
    from harness.judging.mirrored import PeerPacketJudge
    from harness.judging.verdicts import VerdictReceiver
    from harness.run.check_prerequisites import CheckPrerequisites
    from harness.run.named_roots import RootCauses
    from harness.run.results import RuleResult
    from harness.run.rows import FixturesOfCurrentRow
    from harness.run.run import ConformanceRun
    from harness.sut.drivers import SutDriver

RUN_KEY: pytest.StashKey[ConformanceRun] = pytest.StashKey()
DRIVERS_KEY: pytest.StashKey[list[SutDriver]] = pytest.StashKey()
"""The drivers of all workers of the run."""
DRIVER_KEY: pytest.StashKey[SutDriver] = pytest.StashKey()
"""The driver of this process."""
VERDICT_LOG_KEY: pytest.StashKey[VerdictReceiver] = pytest.StashKey()
"""The log to which this process writes its verdicts."""
FINAL_RESULTS_KEY: pytest.StashKey[list[RuleResult]] = pytest.StashKey()
"""The final verdict of every rule, which is set at the end of the run."""
JUDGE_KEY: pytest.StashKey[Judge] = pytest.StashKey()
CURRENT_ROW_KEY: pytest.StashKey[FixturesOfCurrentRow] = pytest.StashKey()
"""The peer and the judge with which a varied check runs for the current row of its covering array."""
RESIDUE_KEY: pytest.StashKey[list[dict[str, str]]] = pytest.StashKey()
"""The residue that this process found."""
ROOT_CAUSES_KEY: pytest.StashKey[RootCauses] = pytest.StashKey()
"""The root causes (missing prerequisites) that this process found."""
CHECK_PREREQUISITES_KEY: pytest.StashKey[CheckPrerequisites] = pytest.StashKey()
"""The prerequisites on which the verdicts of a check depend."""
IS_CHECK_REPEATED_ALONE_KEY: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a check must be repeated while no other check runs."""
PROCESS_END_REPORTED_KEY: pytest.StashKey[bool] = pytest.StashKey()
"""Whether the verdicts of a check report the end of the SUT's process."""
PEER_PACKET_JUDGE_KEY: pytest.StashKey[PeerPacketJudge] = pytest.StashKey()
"""The judge of the peer's packets while ``prove`` runs the checks on the reference without faults."""
ATTEMPT_KEY: pytest.StashKey[int] = pytest.StashKey()
"""The number of earlier attempts at this check."""


def release_packets(item: pytest.Item) -> None:
    """Drop the references to the packets of a finished check. Pytest keeps the item of the check until the run
    ends, and the last traceback until the next failure.
    """
    if JUDGE_KEY in item.stash:
        del item.stash[JUDGE_KEY]
    for name in ("last_exc", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)


def get_attempt_capture_path(item: pytest.Item) -> Path | None:
    """Return the path of the capture of this attempt at a check, or None in a proof, which reads no captures."""
    run = item.config.stash[RUN_KEY]
    return (
        None
        if run.is_part_of_proof
        else run.capture_path(str(get_check_id(item)), attempt=item.stash.get(ATTEMPT_KEY, 0))
    )


def make_judge(item: pytest.Item) -> Judge:
    """Return the judge of a check. The judge writes to the log of this process."""
    from harness.judging.judge import Judge
    from harness.run_folder import CAPTURES_FOLDER

    run, path = item.config.stash[RUN_KEY], str(get_check_id(item))
    path_of_capture = get_attempt_capture_path(item)
    capture = None if path_of_capture is None else f"{CAPTURES_FOLDER}/{path_of_capture.name}"
    log = item.config.stash[VERDICT_LOG_KEY]
    profile = run.file.sut.profile
    covers = find_covered_rules(item)
    return Judge(
        run.catalogue, log, test=path, covers=covers, capture=capture, passes=run.pass_count_by_rule, profile=profile
    )
