"""MS-MQSO 5.5.4 Directory Unavailable: loss and return of the directory."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, each, facts, holds, none
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqp.steps.reader import CommandOutcome, Reader
from suites.mqso.steps.timers import list_running_directory_timers


def _receive_from_private_queue(peer: Peer, sut: Sut, name: str) -> list[str]:
    """Create a private queue, and receive from it one message from an application and one from the peer; return the
    labels.
    """
    try:
        queue = sut.new_queue(name)
    except ControlRefused:
        return [Outcome.REFUSED]
    sut.send_here(queue, ["own"], delivery="recoverable")
    session, refused = peer.try_to_open_session()
    if session is None or refused is not None:
        return [f"no session: {refused}"]
    session.send(peer.recoverable_message(destination=f"TCP:{sut.address}\\{queue}", label="of the peer"))
    peer.eventually(lambda: len(sut.labels(queue)) == 2)
    return [sut.read_label("receive", queue=queue) for _ in range(2)]


EXPECTED_QUEUE_OUTCOMES = {
    "sent": each(Outcome.DONE, "send"),
    "received": ["1", "public"],
    "outcome": Outcome.DONE,
    "left": {"transactional": ["2", "3"], "public": []},
    "by_cursor": ["2", "3"],
}


def _use_queues_by_direct_name_and_get_outcomes(sut: Sut, public: str) -> dict[str, object]:
    """Use a transactional and a public queue of the SUT by their direct names: send to them, receive in a transaction
    if the SUT supports transactions, and read by a cursor.
    """
    queue = sut.new_queue("offline-transactional", transactional=True)
    sent = {label: sut.attempt(sut.send_here, queue, [label], delivery="transactional") for label in ("1", "2")}
    sent["public"] = sut.attempt(sut.send_here, public, ["public"], delivery="recoverable")
    received: list[str] = []
    outcome: str = Outcome.DONE
    if sut.has("transactions"):
        transaction = sut.control.call("begin")["transaction"]
        received.append(sut.read_label("receive", queue=queue, transaction=transaction))
        sent["3"] = sut.attempt(sut.send_here, queue, ["3"], delivery="transactional", transaction=transaction)
        outcome = sut.attempt("commit", transaction=transaction)
    else:
        received.append(sut.read_label("receive", queue=queue))
        sent["3"] = sut.attempt(sut.send_here, queue, ["3"], delivery="transactional")
    received.append(sut.read_label("receive", queue=public))
    handle = sut.control.call("open_queue", queue=queue, access="peek")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    by_cursor = [sut.read_label(verb, cursor=cursor) for verb in ("peek_message", "peek_next")]
    left = {"transactional": sut.labels(queue), "public": sut.labels(public)}
    return {"sent": sent, "received": received, "outcome": outcome, "left": left, "by_cursor": by_cursor}


def _get_outcomes_or_first_refusal(sut: Sut, public: str) -> dict[str, object]:
    """Use queues that need no directory; return the labels, or the first refusal if the SUT refuses a request."""
    try:
        return _use_queues_by_direct_name_and_get_outcomes(sut, public)
    except ControlRefused as error:
        return {"refused": str(error)}


@needs("directory", "environment", "inspect", "queue_control", "send", "receive")
@covers(
    "MQSO-5.1.1.1-D06",
    "MQSO-5.1.1.1-D07",
    "MQSO-5.5.4-01",
    "MQSO-5.5.4-05",
    "MQSO-5.5.4-06",
    "MQSO-5.5.4-07",
    "MQSO-5.5.4-08",
    "MQQB-3.1.7.4-08",
)
def test_loss_of_directory_fails_public_operations_until_return(peer, sut, judge):
    """While the directory is unavailable, the SUT shows DirectoryOffline and refuses to create or delete a public
    queue. It still uses, changes, purges and deletes private queues, and keeps a message to a public format name. When
    the directory is available again, the SUT creates a public queue and sends the message. The check repeats these
    steps in a second outage, which outlasts the Directory Online Timer.
    """
    enterprise = Enterprise(peer, sut)
    if not enterprise.await_directory_online():  # a check before this one may have taken it away
        raise ConformanceFailure("the SUT has no directory at the start of the check")
    sender = Sender(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    public = enterprise.create_queue()
    sut.change_environment(directory=False)
    label = sut.control.call("get_queue", name=public).get("label")
    observed = {
        "creation": enterprise.attempt_creation_of_public_queue(),
        "change": sut.attempt("set_queue", name=public, label="changed while offline"),
        "deletion": sut.attempt(sut.delete_queue, public),
        "second creation": enterprise.attempt_creation_of_public_queue(),
    }
    judge("MQSO-5.5.4-06", expected=each(Outcome.REFUSED, "operation on a public queue"), observed=observed)
    observed = {"label": sut.control.call("get_queue", name=public).get("label")}
    judge("MQSO-5.5.4-06", expected=facts(label=label), observed=observed, case="public queue after refused changes")
    judge(
        "MQSO-5.5.4-05",
        "MQSO-5.1.1.1-D06",
        expected=holds("DirectoryOffline is true"),
        observed=bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryOffline")),
    )
    judge(
        "MQSO-5.5.4-07",
        expected=["own", "of the peer"],
        observed=_receive_from_private_queue(peer, sut, "private"),
        case="labels in the private queue",
    )
    changed = sut.new_queue("changed")
    outcomes = {
        "change": sut.attempt("set_queue", name=changed, label="changed offline"),
        "purge": sut.attempt("purge", queue=changed),
        "delete": sut.attempt(sut.delete_queue, changed),
    }
    judge("MQSO-5.5.4-07", expected=each(Outcome.DONE, "operation on a private queue"), observed=outcomes)
    judge(
        "MQSO-5.5.4-07",
        expected=Outcome.REFUSED,
        observed=sut.attempt("get_queue", name=changed),
        case="query of the deleted queue",
    )
    judge(
        "MQSO-5.5.4-07",
        expected=facts(**EXPECTED_QUEUE_OUTCOMES),
        observed=_get_outcomes_or_first_refusal(sut, public),
        case="operations without the directory",
    )
    kinds = ("recoverable", "transactional", "express", "transactional")
    judge(
        "MQSO-5.1.1.1-D07",
        expected=each(Outcome.DONE, "send"),
        observed={
            f"{tag} {delivery}": sut.attempt(sender.send, tag, delivery=delivery)
            for tag, delivery in enumerate(kinds, 1)
        },
        case="send requests of the application",
    )
    early_session = sender.poll_session(sut.connect_timeout_ms)
    early_tags = [] if early_session is None else Sender.list_tags(sender.collect_messages(early_session, 1))
    judge(
        "MQSO-5.1.1.1-D07",
        expected=facts(ApplicationTags_of_the_sent_messages=[], number_of_waiting_messages=len(kinds)),
        observed={
            "ApplicationTags_of_the_sent_messages": early_tags,
            "number_of_waiting_messages": sut.outgoing_queue(sender.to)["count"],
        },
    )
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    offline = read_data_model_element(sut.inspect_queue_manager(), "DirectoryOffline")
    observed = {
        "DirectoryOffline": bool(offline),
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
    }
    observed["change_of_a_public_queue"] = sut.attempt("set_queue", name=public, label="changed")
    observed["label"] = sut.control.call("get_queue", name=public).get("label")
    expected = facts(
        DirectoryOffline=False,
        creation_of_a_public_queue=Outcome.DONE,
        change_of_a_public_queue=Outcome.DONE,
        label="changed",
    )
    judge("MQSO-5.5.4-01", "MQSO-5.5.4-08", expected=expected, observed=observed)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, len(kinds))
    judge(
        "MQQB-3.1.7.4-08",
        "MQSO-5.1.1.1-D07",
        expected=any_order(1, 2, 3, 4),
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    if session is not None:
        session.acknowledge_all()
    sut.change_environment(directory=False)
    observed = {
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
        "DirectoryOffline": enterprise.is_directory_offline(),
    }
    judge(
        "MQSO-5.5.4-05",
        "MQSO-5.5.4-06",
        "MQSO-5.1.1.1-D06",
        expected=facts(creation_of_a_public_queue=Outcome.REFUSED, DirectoryOffline=True),
        observed=observed,
    )
    enterprise.await_expiry_of_online_timer()
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    observed = {
        "DirectoryOffline": enterprise.is_directory_offline(),
        "deletion": sut.attempt(sut.delete_queue, public),
    }
    expected = facts(DirectoryOffline=False, deletion=Outcome.DONE)
    judge("MQSO-5.5.4-01", "MQSO-5.5.4-08", expected=expected, observed=observed, case="return after a second outage")


@needs("directory", "environment", "inspect", "queue_control", "send", "receive", "restart")
@covers("MQSO-5.5.4-01", "MQSO-5.5.4-02", "MQSO-5.5.4-03", "MQSO-6.4.1-D01", "MQSO-6.6.2-D01", "MQSO-4.3.1.3-D01")
def test_start_without_directory_is_in_workgroup_mode(peer, sut, judge):
    """A SUT that is restarted while the directory is unavailable shows DirectoryIntegrated False, has only private
    queues, and runs no directory timer. The return of the directory does not change this. After a restart while the
    directory is available, the SUT shows DirectoryIntegrated True; its own directory object and that of its public
    queue are unchanged.
    """
    enterprise = Enterprise(peer, sut)
    public = enterprise.create_queue(label="of the check")
    sut.send_here(public, ["kept"], delivery="recoverable")
    sut.change_environment(directory=False)
    sut.restart()

    def is_directory_integrated() -> bool:
        return bool(read_data_model_element(sut.inspect_queue_manager(), "DirectoryIntegrated"))

    judge(
        "MQSO-5.5.4-01",
        "MQSO-5.5.4-02",
        expected=facts(DirectoryIntegrated=False),
        observed={"DirectoryIntegrated": is_directory_integrated()},
    )
    running = list_running_directory_timers(sut.inspect_queue_manager())
    judge("MQSO-6.4.1-D01", expected=none("running directory timer"), observed=running)
    outcomes = {
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
        "messages_in_the_private_queue": _receive_from_private_queue(peer, sut, "private"),
    }
    refused = {
        "change": sut.attempt("set_queue", name=public, label="changed without a directory"),
        "deletion": sut.attempt(sut.delete_queue, public),
    }
    judge("MQSO-5.5.4-03", expected=each(Outcome.REFUSED, "operation on a public queue"), observed=refused)
    judge(
        "MQSO-5.5.4-03",
        "MQSO-4.3.1.3-D01",
        expected=facts(
            creation_of_a_public_queue=Outcome.REFUSED, messages_in_the_private_queue=["own", "of the peer"]
        ),
        observed=outcomes,
    )
    sut.restart()
    observed = {
        "DirectoryIntegrated": is_directory_integrated(),
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
    }
    expected = facts(DirectoryIntegrated=False, creation_of_a_public_queue=Outcome.REFUSED)
    judge("MQSO-5.5.4-02", expected=expected, observed=observed, case="after a second start without the directory")
    judge(
        "MQSO-5.5.4-03",
        expected=facts(**EXPECTED_QUEUE_OUTCOMES),
        observed=_get_outcomes_or_first_refusal(sut, sut.new_queue("plain")),
        case="operations of workgroup mode",
    )
    sut.change_environment(directory=True)
    peer.settle()
    integrated = is_directory_integrated()
    judge("MQSO-5.5.4-02", expected=False, observed=integrated, case="DirectoryIntegrated before the next restart")
    object_before = [sut.read_directory_object(), enterprise.read_directory_object(public)]
    sut.restart()
    observed = {
        "DirectoryIntegrated": is_directory_integrated(),
        "creation_of_a_public_queue": enterprise.attempt_creation_of_public_queue(),
        "label_in_the_public_queue": sut.labels(public),
    }
    judge(
        "MQSO-5.5.4-02",
        expected=facts(
            DirectoryIntegrated=True, creation_of_a_public_queue=Outcome.DONE, label_in_the_public_queue=["kept"]
        ),
        observed=observed,
    )
    object_after = [sut.read_directory_object(), enterprise.read_directory_object(public)]
    judge("MQSO-6.6.2-D01", expected=object_before, observed=object_after)


@needs("directory", "environment", "restart", "remote_read", "qm2qm")
@covers("MQSO-5.5.4-03")
def test_start_without_directory_reads_queues_of_other_queue_managers(peer, sut, judge):
    """A SUT that is restarted while the directory is unavailable opens a queue of the peer by its direct format name,
    peeks at a message and receives it. The same requests succeed when the directory is available again, before the
    next restart.
    """
    sut.change_environment(directory=False)
    sut.restart()
    for available in (False, True):
        sut.change_environment(directory=available)
        peer.settle()
        reader = Reader(peer, sut)
        opened = reader.begin("remote_open", queue=reader.format_name)
        observed: dict[str, str] = {"opening": opened.outcome()}
        remote = opened.wait().get("remote")
        for verb in ("remote_peek", "remote_receive"):
            asked = remote is not None
            observed[verb] = reader.begin(verb, remote=remote, timeout_ms=0).outcome() if asked else Outcome.REFUSED
        judge(
            "MQSO-5.5.4-03",
            expected=facts(
                opening=CommandOutcome.SUCCESS,
                remote_peek=CommandOutcome.SUCCESS,
                remote_receive=CommandOutcome.SUCCESS,
            ),
            observed=observed,
            case="requests for a queue of the peer",
        )
        reader.server.close()
    sut.restart()
