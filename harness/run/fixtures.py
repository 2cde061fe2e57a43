"""Define the pytest fixtures of checks that need one system: the system, its peer, its remote interfaces, and the
judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from harness.capture.recorder import Frame, Recorder
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.peer.afterwards import accept_messages_left_by_earlier_tests
from harness.peer.peer import Peer
from harness.run.checks import find_needs, get_check_id, needs_known_peer
from harness.run.ending import end_run
from harness.run.rows import FixturesOfCurrentRow
from harness.run.stash import (
    ATTEMPT_KEY,
    CURRENT_ROW_KEY,
    DRIVER_KEY,
    IS_CHECK_REPEATED_ALONE_KEY,
    JUDGE_KEY,
    PEER_PACKET_JUDGE_KEY,
    RESIDUE_KEY,
    RUN_KEY,
    get_attempt_capture_path,
)
from harness.sut.stand_ins import describe_unmet_need
from harness.sut.sut import Sut
from harness.sut.sut_file import CAPABILITIES
from harness.sut.worker_configurations import find_second_peer_address

if TYPE_CHECKING:
    from harness.peer.remote import RemoteReaderOfSut


@pytest.fixture
def sut(request: pytest.FixtureRequest) -> Iterator[Sut]:
    """Yield the system under test. Skip a check that needs a capability which the system lacks."""
    config, test = request.config, str(get_check_id(request.node))
    run = config.stash[RUN_KEY]
    number = len(run.earlier_verdicts.checks_with_verdicts) + request.session.items.index(request.node)
    fresh_peer = None if needs_known_peer(request.node) else number
    attempt = request.node.stash.get(ATTEMPT_KEY, 0)
    word = f"{run.unique_run_string} {attempt}" if attempt else run.unique_run_string
    view = config.stash[DRIVER_KEY].open(test, word, fresh_peer, find_needs(request.node))
    view.environment.limit_check_time(config.getoption("check_limit") * 1_000)
    try:
        _meet_needs(request.node, view)
        yield view
    finally:
        with closing(view.environment):
            view.close()
        config.stash[RESIDUE_KEY] += [{"check": test, "what": what} for what in view.residue]
        request.node.stash[IS_CHECK_REPEATED_ALONE_KEY] = view.must_repeat_alone
        if view.broken is not None:
            end_run(request.session, view.broken)


@pytest.fixture
def peer(request: pytest.FixtureRequest, sut: Sut, judge: Judge) -> Iterator[Peer]:
    """Yield the SUT's peer. Record all packets between SUT and peer, and judge these packets with the passive
    predicates.
    """
    test = str(get_check_id(request.node))
    recorder = Recorder(sut.environment, get_attempt_capture_path(request.node))
    tape = None if "topology" in find_needs(request.node) else sut.tape  # the capture contains three systems
    if tape is not None:
        tape.begin(recorder, sut, request.config.stash[RUN_KEY].id, test)
    counterpart = Peer(sut.environment, sut, recorder, seed=test)
    rows = request.node.stash[CURRENT_ROW_KEY] = FixturesOfCurrentRow(counterpart, judge)
    earlier: list[Frame] = []

    def judge_or_note(frame: Frame) -> None:
        if rows.peer.is_about_message_of_earlier_test(frame):
            earlier.append(frame)
            rows.judge.packets.note(frame)
        else:
            rows.judge.packets.on_frame(frame)

    def compare_answer(verb: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        rows.judge.packets.compare_messages().on_answer(verb, arguments, answer)

    if sut.observe_answers(compare_answer):
        judge.packets.compare_messages()
    recorder.listeners.append(judge_or_note)
    if (mirror := request.config.stash.get(PEER_PACKET_JUDGE_KEY, None)) is not None:
        recorder.listeners.append(mirror.on_frame)
    accept_messages_left_by_earlier_tests(counterpart)
    yield counterpart
    if tape is not None:
        tape.end()
    if earlier:
        sut.residue.append(
            f"{len(earlier)} answers to messages from earlier checks arrived in this check, the first: {earlier[0]}"
        )
    rows.peer.close()
    del request.node.stash[CURRENT_ROW_KEY]  # pytest keeps the items, and with the rows all packets, until the run ends


@pytest.fixture
def second_host(peer: Peer, sut: Sut, judge: Judge) -> Peer:
    """Return a second peer of the SUT, which has its own identifier and uses a different address of this machine. Skip
    the check if the machine has no second address for a peer.
    """
    address = find_second_peer_address(sut.file.driver)
    if address is None:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT file has no driver.second_peer_address")
        pytest.skip("the peer has no second address")
    return peer.create_second_host(address)


@pytest.fixture
def remote(peer: Peer, sut: Sut) -> RemoteReaderOfSut:
    """Return the SUT's interfaces for remote reading. A check that uses this fixture needs the capability qm2qm."""
    from harness.peer.remote import (
        RemoteReaderOfSut,  # the import of scapy's DCE/RPC takes longer than all other imports
    )

    return RemoteReaderOfSut(peer, sut)


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Judge:
    """Return the judge, which compares expectations with observations and records verdicts."""
    made: Judge = request.node.stash[JUDGE_KEY]
    return made


def _meet_needs(item: pytest.Item, sut: Sut) -> None:
    """Skip a check that needs a capability which the SUT lacks, and record the reason. This happens before the other
    fixtures of the check are set up.
    """
    lacking = [need for need in find_needs(item) if not sut.has(need)]
    if not lacking:
        return
    declared = [need for need in lacking if need in CAPABILITIES]
    if declared:
        item.stash[JUDGE_KEY].give_up(Verdict.NOT_APPLICABLE, f"the SUT file does not declare {', '.join(declared)}")
    else:
        why = f"no control channel offers {', '.join(map(describe_unmet_need, lacking))}"
        item.stash[JUDGE_KEY].give_up(Verdict.NOT_OBSERVABLE, why)
    pytest.skip(f"the SUT has no {', '.join(lacking)}")
