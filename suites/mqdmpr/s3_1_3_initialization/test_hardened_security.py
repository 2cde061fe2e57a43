"""MS-MQDMPR 3.1.3 Initialization, 3.1.1.1 HardenedSecurity, 3.1.1.3 Locked: a start with and without hardened security
mode.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure, SutUnavailable
from harness.expectations import any_order, each, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, varied
from harness.sut.control import UNUSABLE_CHANNEL_ERRORS
from suites.mqdmpr.steps import openings
from suites.mqqb.steps.hardening import harden_security
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

SERVED_OUTCOME, NOT_SERVED_OUTCOME = "served by the SUT", "not served by the SUT"
LOCKED_QUEUE_STATE = "Locked"
TAG_OFFSET_OF_SECOND_MESSAGES = 100
"""The difference between the ApplicationTags of the two messages to one queue."""


@needs("restart", "configure", "send", "queue_control", "qm2qm")
@covers(
    "MQDMPR-3.1.1.1-D02",
    "MQDMPR-3.1.1.3-07",
    "MQDMPR-3.1.3-D13",
    "MQDMPR-3.1.3-D14",
    "MQDMPR-3.1.7.1.5-97",
)
@varied("time to reach queue", "label", acknowledgments=("none", "of arrival"))
def test_hardened_security_mode_stops_all_transfers(peer, sut, remote, judge):
    """In hardened security mode, even after a restart, the SUT accepts neither RPC calls nor sessions, and its outgoing
    queues to a direct, a private and a public name are Locked. When the mode has been switched off, the SUT sends the
    waiting messages of all outgoing queues.
    """
    configuration = sut.control.call("configure")
    if "hardened_security" not in configuration:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT shows no setting hardened_security")
        return
    judge(
        "MQDMPR-3.1.1.1-D02",
        expected=False,
        observed=configuration["hardened_security"],
        case="hardened_security before the check",
    )
    to = peer.direct_name("mqc-hardened")
    other = (
        peer.build_private_format_name_of_peer() if sut.has("private_names") else peer.direct_name("mqc-hardened-too")
    )
    others = [other, peer.format_name_of_public_queue] if sut.has("public_names") else [other]
    sender = Sender(peer, sut, to)
    with harden_security(sut):
        for time in ("first", "second"):
            sut.restart()
            if time == "first":
                if sut.has("open_to_send"):  # what it is before anything is to be sent
                    together = [peer.direct_name(f"mqc-{letter}-{sut.own}") for letter in "ab"]
                    by_host_name = rf"DIRECT=OS:mqc-{sut.own}.example\private$\hardened"
                    several = [",".join(together)] if sut.has("several_queues") else together
                    for name in (to, *others, by_host_name, *several):
                        openings.open_to_send(sut, name)
                    for name in (to, *others, by_host_name, *together):
                        judge(
                            "MQDMPR-3.1.7.1.5-97",
                            expected=LOCKED_QUEUE_STATE,
                            observed=sut.outgoing_queue(name)["state"],
                            case=f"State of the outgoing queue for {name}",
                        )
                sender.send(1, delivery="transactional")
                for tag, name in enumerate(others, 2):
                    for each_tag in (tag, tag + TAG_OFFSET_OF_SECOND_MESSAGES):
                        text = f"message {each_tag}"
                        sut.send(name, body=text, application_tag=each_tag, delivery="recoverable")
            state_before = sut.outgoing_queue(to)["state"]
            session_of_sut = sender.poll_session(sut.connect_timeout_ms)
            observed = {
                "State_of_the_queue_before_the_wait": state_before,
                "State_of_the_queue_after_the_wait": sut.outgoing_queue(to)["state"],
                "State_of_the_other_queues": [sut.outgoing_queue(name)["state"] for name in others],
                "session of the SUT": session_of_sut is None or "opened",
            }
            transfers = {
                "RPC": _get_rpc_service_outcome(remote.open),
                "sessions": _get_rpc_service_outcome(lambda: peer.open_raw()),
            }
            judge("MQDMPR-3.1.1.1-D02", expected=each(NOT_SERVED_OUTCOME, "transport"), observed=transfers)
            rule_of_start = "MQDMPR-3.1.7.1.5-97" if time == "first" else "MQDMPR-3.1.3-D14"
            judge(
                "MQDMPR-3.1.1.3-07",
                rule_of_start,
                expected={
                    "State_of_the_queue_before_the_wait": LOCKED_QUEUE_STATE,
                    "State_of_the_queue_after_the_wait": LOCKED_QUEUE_STATE,
                    "State_of_the_other_queues": [LOCKED_QUEUE_STATE for _ in others],
                    "session of the SUT": holds("none"),
                },
                observed=observed,
            )
    frames: list[Frame] = []
    tags = [1, *(tag + offset for tag in range(2, len(others) + 2) for offset in (0, TAG_OFFSET_OF_SECOND_MESSAGES))]
    while len(frames) < len(tags) and (session := sender.poll_session()) is not None:
        collected = sender.collect_messages_until_silence(session, 2)
        session.acknowledge_all()
        for frame in collected:
            if frame["UserHeader"].TH:
                session.send(build_order_ack(peer, frame))
        frames += collected
    judge(
        "MQDMPR-3.1.3-D13",
        expected={
            "numbers_of_the_messages_sent": any_order(*tags),
            "State_of_the_queue": holds("not Locked", otherwise=LOCKED_QUEUE_STATE),
        },
        observed={
            "numbers_of_the_messages_sent": Sender.list_tags(frames),
            "State_of_the_queue": sut.outgoing_queue(to)["state"] != LOCKED_QUEUE_STATE,
        },
        evidence=frames,
    )


def _get_rpc_service_outcome(step: Callable[[], object]) -> str:
    try:
        step()
    except UNUSABLE_CHANNEL_ERRORS:
        raise
    except (ConformanceFailure, SutUnavailable):
        return NOT_SERVED_OUTCOME
    return SERVED_OUTCOME
