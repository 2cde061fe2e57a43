"""MS-MQSO 5.5.2 Transient Network Failure: the peer cannot be reached for a time."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.expectations import each, facts
from harness.peer.peer import Peer
from harness.peer.raw_ends import RawListener
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.opening import accept_establish_request, respond_to_parameters, respond_to_request
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender, list_tags
from suites.mqqp.steps.reader import CommandOutcome, Reader


@needs("send", "queues")
@covers("MQSO-4.3.1.2-D03", "MQSO-5.1.1.2-D09", "MQSO-5.5.2-01", "MQSO-5.5.2-D01")
@pytest.mark.parametrize("attempts", [3, 12])
def test_waiting_messages_are_transferred_after_outage(peer, sut, judge, attempts):
    """The SUT sends an unacknowledged message again on each of the next two connections. The third connection is lost
    before its session is open. After an outage of any length, the SUT sends this message and five new messages of all
    kinds, in order.
    """
    to = peer.direct_name("mqc-outage")
    listener = peer.listen_without_core()
    sut.send(to, body="message 1", application_tag=1, delivery="recoverable")
    connection, request = accept_establish_request(listener)
    number = respond_to_parameters(connection, respond_to_request(connection, request))
    connection.end()
    for _ in range(2):
        frames = _receive_on_next_connection(peer, listener)
        judge(
            "MQSO-5.1.1.2-D09",
            expected=[1],
            observed=list_tags(frames),
            evidence=[number, *frames],
            case="ApplicationTags of the sent messages",
        )
    lost_early = listener.accept()
    if lost_early is not None:
        lost_early.poll("EstablishConnection")
        lost_early.end()
    listener.close()
    kinds = ("express", "recoverable", "transactional", "transactional")
    accepted = {
        f"{delivery} message {tag}": sut.attempt(
            sut.send, to, body=f"message {tag}", application_tag=tag, delivery=delivery
        )
        for tag, delivery in enumerate(kinds, 2)
    }
    peer.pass_time(attempts * sut.duration_ms(RETRY_INTERVAL_MS))
    late = {"body": "message 6", "application_tag": 6, "delivery": "transactional"}
    accepted["message 6 after failed attempts"] = sut.attempt(sut.send, to, **late)
    judge("MQSO-5.5.2-01", expected=each(Outcome.DONE, "send"), observed=accepted, case="sends during the outage")
    frames = _receive_on_next_connection(peer, peer.listen_without_core(ping=False))
    judge(
        "MQSO-5.5.2-01",
        "MQSO-5.5.2-D01",
        "MQSO-4.3.1.2-D03",
        expected=[1, 2, 3, 4, 5, 6],
        observed=list_tags(frames),
        evidence=[number, *frames],
        case="ApplicationTags of the sent messages",
    )


def _receive_on_next_connection(peer: Peer, listener: RawListener) -> list[Frame]:
    """Wait for the SUT to connect, receive the messages that it sends, and close the connection; return the frames."""
    connection = listener.accept()
    if connection is None:
        return []
    respond_to_parameters(connection, respond_to_request(connection, connection.expect("EstablishConnection")))
    peer.pass_time(peer.sut.quiet_ms)
    frames = connection.messages
    connection.end()
    return frames


@covers("MQSO-5.1.1.2-D09", "MQSO-5.5.2-D01")
@pytest.mark.parametrize("attempts", [3, 12])
def test_own_messages_of_sut_are_transferred_after_outage(peer, sut, judge, attempts):
    """The SUT sends an unacknowledged message, which may be an acknowledgment that the SUT itself created. It sends
    this message again on the next connection. After a short or a long outage, it sends this message and two new
    messages.
    """
    to = peer.direct_name("mqc-own")
    listener = peer.listen_without_core()
    make_sut_send_message(peer, sut, to, tag=1, delivery="recoverable")
    connection, request = accept_establish_request(listener)
    number = respond_to_parameters(connection, respond_to_request(connection, request))
    connection.end()
    frames = _receive_on_next_connection(peer, listener)
    judge(
        "MQSO-5.1.1.2-D09",
        expected=[1],
        observed=list_tags(frames),
        evidence=[number, *frames],
        case="numbers of the sent messages",
    )
    listener.close()
    for tag, delivery in enumerate(("express", "recoverable"), 2):
        make_sut_send_message(peer, sut, to, tag=tag, delivery=delivery)
    peer.pass_time(attempts * sut.duration_ms(RETRY_INTERVAL_MS))
    frames = _receive_on_next_connection(peer, peer.listen_without_core(ping=False))
    judge(
        "MQSO-5.5.2-D01",
        expected=[1, 2, 3],
        observed=list_tags(frames),
        evidence=[number, *frames],
        case="numbers of the sent messages",
    )


@needs("remote_read", "qm2qm")
@covers("MQSO-5.5.2-03", "MQSO-5.5.2-04", "MQSO-5.5.2-05")
def test_remote_queue_cannot_be_read_during_outage(peer, sut, judge):
    """While the peer cannot be reached, the SUT cannot open or read a queue of the peer; when the peer can be reached
    again, the SUT can open and read the queue.
    """
    reader = Reader(peer, sut)
    reader.server.close()
    judge(
        "MQSO-5.5.2-04",
        expected=CommandOutcome.NO_SUCCESS,
        observed=reader.begin("remote_open", queue=reader.format_name).outcome(),
        case="opening of the remote queue",
    )
    for _ in range(2):
        reader = Reader(peer, sut)
        opened = reader.begin("remote_open", queue=reader.format_name)
        judge(
            "MQSO-5.5.2-05",
            expected=CommandOutcome.SUCCESS,
            observed=opened.outcome(),
            case="opening of the remote queue",
        )
        remote = opened.wait().get("remote")
        observed = {
            "receive": reader.begin("remote_receive", remote=remote, timeout_ms=0).outcome(),
            "peek": reader.begin("remote_peek", remote=remote, timeout_ms=0).outcome(),
            "purge": reader.begin("remote_purge", remote=remote).outcome(),
            "cursor": reader.begin("remote_open_cursor", remote=remote).outcome(),
        }
        judge("MQSO-5.5.2-05", expected=each(CommandOutcome.SUCCESS, "request for the remote queue"), observed=observed)
        reader.server.close()
        for association in reader.server.associations:
            association.end()
        by_identifier = {"remote": remote, "lookup_id": 1, "seek": "current"}
        requests = {
            "receive": reader.begin("remote_receive", remote=remote, timeout_ms=0).outcome(),
            "waiting receive": reader.begin("remote_receive", remote=remote, timeout_ms=500).outcome(),
            "peek": reader.begin("remote_peek", remote=remote, timeout_ms=0).outcome(),
            "receive by LookupIdentifier": reader.begin("remote_receive_by_lookup_id", **by_identifier).outcome(),
            "peek by LookupIdentifier": reader.begin("remote_peek_by_lookup_id", **by_identifier).outcome(),
            "purge": reader.begin("remote_purge", remote=remote).outcome(),
            "cursor": reader.begin("remote_open_cursor", remote=remote).outcome(),
            "open": reader.begin("remote_open", queue=reader.format_name).outcome(),
        }
        judge(
            "MQSO-5.5.2-03",
            "MQSO-5.5.2-04",
            expected=each(CommandOutcome.NO_SUCCESS, "request for the remote queue"),
            observed=requests,
        )


@needs("send", "queue_control")
@covers("MQSO-4.3.1.2-D03", "MQSO-5.1.1.2-D09", "MQSO-5.5.2-01", "MQSO-5.5.2-D01", "MQSO-3.3.4.5-D04")
def test_messages_of_two_queues_are_repeated_after_two_outages(peer, sut, judge):
    """Two outgoing queues each contain two transactional, two recoverable and an express message, which the peer has
    received but not acknowledged when the connections are lost. During the outage, an application sends new messages.
    After each of two outages, each queue sends its recoverable and its transactional messages in order, and keeps them
    until they are acknowledged.
    """
    names = [peer.direct_name(f"mqc-outage-{number}") for number in range(2)]
    sender = Sender(peer, sut, names[0])
    expected: dict[str, list[int]] = {to: [] for to in names}

    def send_messages_to_both_queues(first: int) -> None:
        for base, to in enumerate(names, 1):
            for tag, delivery in enumerate(("recoverable", "transactional", "recoverable", "transactional"), first):
                sut.send(to, body=f"{base} {tag}", application_tag=16 * base + tag, delivery=delivery)
                expected[to].append(tag)
            sut.send(to, body=f"{base} express", application_tag=16 * base, delivery="express")

    send_messages_to_both_queues(1)
    for outage in range(3):
        sessions = [session for _ in names if (session := sender.poll_session()) is not None]
        frames = [
            frame
            for session in sessions
            for frame in sender.collect_messages_until_silence(session, len(expected[names[0]]))
        ]
        observed = {}
        for base, to in enumerate(names, 1):
            mine = [one for one in frames if list_tags([one])[0] // 16 == base and list_tags([one])[0] % 16]
            observed[to] = {
                kind: [
                    tag % 16 for tag in list_tags([one for one in mine if bool(one["UserHeader"].TH) is transactional])
                ]
                for kind, transactional in (("recoverable", False), ("transactional", True))
            }
        wanted = {
            to: facts(recoverable=[one for one in sent if one % 2], transactional=[one for one in sent if not one % 2])
            for to, sent in expected.items()
        }
        judge.all(
            expected=wanted,
            observed=observed,
            evidence=frames,
            case=f"messages of each queue (earlier outages: {outage})",
        )
        if outage == 2:
            break
        for session in sessions:
            session.close()
        send_messages_to_both_queues(len(expected[names[0]]) + 1)
    for session in sessions:
        session.acknowledge_all()
