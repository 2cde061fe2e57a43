"""The directory as effects and inputs: the queue manager starts only after the directory has answered, and commands
that change the directory wait for its answer.
"""

from __future__ import annotations

import pytest
from core_enterprise import PUBLIC, PUBLIC_NAME, RECEIVER, SENDER, Enterprise
from core_network import PLAIN, Host, Network, direct, guid

from reference_qm.config import QueueSettings
from reference_qm.directory import Queue, QueueManager, build_equality_filter
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryCreateRequest, DirectoryDeleteRequest, DirectoryWriteRequest
from reference_qm.surface.commands import CreateQueue, DeleteQueue, GetQueue, ListQueues, SetQueue
from reference_qm.surface.effects import CommandCompleted, CommandRejected, Persist, ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered, DirectoryChanged, QueueManagerStarted


@pytest.fixture
def enterprise() -> Enterprise:
    return Enterprise()


def slow(enterprise: Enterprise, number: int = RECEIVER) -> Host:
    """Return a host whose directory answers from now on only when the test lets it."""
    enterprise[number].slow_directory = True
    return enterprise[number]


def queues(host: Host) -> list[str]:
    return [queue["name"] for queue in host.ask(ListQueues())["queues"]]


# -- the start ------------------------------------------------------------------------------------------------------


def test_start_only_reads_the_directory(enterprise):
    host = enterprise[RECEIVER]
    core = host.installation(enterprise.network.entries[host.address])
    effects = core.handle(QueueManagerStarted(), enterprise.network.now)
    assert [one for one in effects if not isinstance(one, Persist)] == [ReadDirectory(1)]
    assert core.next_due() is None
    assert core.adm.QueueManagerState.value != "Ready"


def test_workgroup_mode_reads_no_directory():
    host = Network().host(1)
    effects = []
    host.read_directory = host.write_directory = effects.append
    host.restart()
    host.network.advance(13 * 3_600_000)
    host.handle(DirectoryChanged())
    host.refusal(CreateQueue("public"))
    assert effects == []


def test_inputs_before_the_directory_answers_are_processed_later_in_order(enterprise):
    host = enterprise.join(SENDER, slow_directory=True)
    enterprise[RECEIVER].send("DIRECT=TCP:10.0.0.1\\private$\\plain", b"from afar")
    tokens = [host.begin(CreateQueue("private$\\early")), host.begin(CreateQueue("private$\\early"))]
    enterprise.network.settle()
    assert host.answers == {}
    assert host.sent == []
    host.settle_directory()
    assert isinstance(host.answers[tokens[0]], CommandCompleted)
    assert isinstance(host.answers[tokens[1]], CommandRejected)
    assert host.bodies(PLAIN) == ["from afar"]


def test_inputs_waiting_for_directory_are_handled_in_order(enterprise):
    host = enterprise.join(SENDER, slow_directory=True)
    tokens = [host.begin(CreateQueue(f"private$\\{number}")) for number in range(3_000)]
    host.settle_directory()
    assert [type(host.answers[token]) for token in tokens] == [CommandCompleted] * len(tokens)
    assert queues(host)[-2:] == ["private$\\2998", "private$\\2999"]


def test_inputs_wait_until_configured_queues_are_published(enterprise):
    host = enterprise.join(SENDER, slow_directory=True, queues=(QueueSettings("new"),))
    token = host.begin(ListQueues())
    (read,) = host.unanswered
    host.unanswered.clear()
    everything = enterprise.directory.contents()[1]
    host.handle(DirectoryAnswered(read.token, Result.SUCCESS, elements=everything))
    (write,) = host.unanswered
    assert isinstance(write, WriteDirectory)
    assert isinstance(write.change, DirectoryCreateRequest)
    assert token not in host.answers
    host.settle_directory()
    assert [one["name"] for one in host.answers[token].result.values["queues"]] == ["new"]


def test_start_waits_for_unreadable_directory():
    """The start of the queue manager is repeated until the directory is readable. A directory that is unreachable
    instead means workgroup mode until the next start.
    """
    enterprise = Enterprise(numbers=())
    host = enterprise.join(RECEIVER, slow_directory=True)
    (read,) = host.unanswered
    host.unanswered.clear()
    host.handle(DirectoryAnswered(read.token, Result.GENERIC_ERROR))
    assert host.core.enterprise.state.DirectoryOffline
    assert "orders" not in queues(host)
    host.slow_directory = False
    enterprise.network.advance(60_000)
    assert not host.core.enterprise.state.DirectoryOffline
    assert host.core.adm.QueueCollection["orders"].Identifier == PUBLIC


def test_a_configured_queue_that_cannot_be_published_is_tried_again():
    enterprise = Enterprise(numbers=())
    host = enterprise.join(SENDER, slow_directory=True, queues=(QueueSettings("new"),))
    read = host.unanswered.pop()
    host.handle(DirectoryAnswered(read.token, Result.SUCCESS, elements=enterprise.directory.contents()[1]))
    write = host.unanswered.pop()
    host.handle(DirectoryAnswered(write.token, Result.GENERIC_ERROR))
    assert queues(host) == []
    host.slow_directory = False
    enterprise.network.advance(60_000)
    assert queues(host) == ["new"]


def test_configured_public_queue_is_saved_once():
    enterprise = Enterprise(network=Network(), numbers=(RECEIVER,))
    host = enterprise[RECEIVER]
    assert isinstance(enterprise.network, Network)
    assert f"queue:{PUBLIC}" in enterprise.network.entries[host.address]
    enterprise.network.kill(host)
    assert queues(host).count("orders") == 1


def test_restart_before_the_answer_of_the_directory_repeats_the_start(enterprise):
    host = enterprise.join(SENDER, slow_directory=True)
    host.begin(ListQueues())
    host.restart()
    assert not host.core.begun
    host.settle_directory()
    assert host.core.begun
    assert host.answers == {}


# -- commands that change the directory -----------------------------------------------------------------------------

CHANGES = {
    "create": (CreateQueue("sales"), DirectoryCreateRequest),
    "set": (SetQueue("orders", label="new"), DirectoryWriteRequest),
    "delete": (DeleteQueue("orders"), DirectoryDeleteRequest),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_command_is_completed_with_the_answer_of_the_directory(enterprise, name):
    request, change = CHANGES[name]
    host = slow(enterprise)
    before = queues(host), host.ask(GetQueue("orders"))
    token = host.begin(request)
    (effect,) = host.unanswered
    assert isinstance(effect.change, change)
    assert token not in host.answers
    assert (queues(host), host.ask(GetQueue("orders"))) == before
    host.settle_directory()
    assert isinstance(host.answers[token], CommandCompleted)


@pytest.mark.parametrize("status", [Result.DIRECTORY_NOT_CONNECTED, Result.GENERIC_ERROR])
@pytest.mark.parametrize("name", CHANGES)
def test_without_the_directory_a_command_is_refused_in_one_line_and_nothing_is_changed(enterprise, name, status):
    request, _ = CHANGES[name]
    host = slow(enterprise)
    before = queues(host), host.ask(GetQueue("orders"))
    token = host.begin(request)
    host.handle(DirectoryAnswered(host.unanswered.pop().token, status))
    answer = host.answers[token]
    assert isinstance(answer, CommandRejected)
    assert "in the directory" in answer.error or "from the directory" in answer.error
    assert answer.error.endswith("(MQ_ERROR_NO_DS): try again when the directory is available")
    assert "\n" not in answer.error
    assert (queues(host), host.ask(GetQueue("orders"))) == before


def test_one_of_two_concurrent_deletions_succeeds(enterprise):
    host = slow(enterprise)
    tokens = [host.begin(DeleteQueue("orders")) for _ in range(2)]
    host.settle_directory()
    assert [type(host.answers[token]) for token in tokens] == [CommandCompleted, CommandRejected]


def test_directory_change_is_undone_when_the_disk_refuses_it():
    enterprise = Enterprise(network=Network(), numbers=(RECEIVER,))
    host = enterprise[RECEIVER]
    host.disk = "broken"
    assert "the message could not be saved" in host.refusal(CreateQueue("sales"))
    assert (
        enterprise.directory.read("Queue", build_equality_filter("Pathname", "host4\\sales")).rDirectoryObject is None
    )
    assert "the message could not be saved" in host.refusal(SetQueue("orders", label="new"))
    (orders,) = (one for one in enterprise.directory.contents()[1] if isinstance(one, Queue))
    assert orders.Label == ""


def test_new_own_queue_is_found_while_the_directory_is_away(enterprise):
    host = enterprise[RECEIVER]
    host.ask(CreateQueue("sales"))
    identifier = host.core.adm.QueueCollection["sales"].Identifier
    enterprise.directory.connected = False
    assert host.core.enterprise.find_queue(identifier).Pathname == "host4\\sales"


# -- what others change ---------------------------------------------------------------------------------------------


def test_last_directory_state_is_used_until_a_change_is_noticed(enterprise):
    host = slow(enterprise, SENDER)
    enterprise.update(QueueManager(Identifier=guid(RECEIVER), QualifiedComputerName="elsewhere", JournalQuota=3))
    assert host.core.enterprise.find_queue_manager("Identifier", guid(RECEIVER)).JournalQuota != 3
    host.settle_directory()
    assert host.core.enterprise.find_queue_manager("Identifier", guid(RECEIVER)).JournalQuota == 3


def test_unreadable_directory_keeps_its_last_content(enterprise):
    host = slow(enterprise, SENDER)
    host.handle(DirectoryChanged())
    host.handle(DirectoryAnswered(host.unanswered.pop().token, Result.GENERIC_ERROR))
    assert host.core.enterprise.find_queue(PUBLIC) is not None
    assert not host.core.enterprise.state.DirectoryOffline


def test_lost_directory_is_noticed_at_once_and_its_return_at_the_timer(enterprise):
    host = enterprise[SENDER]
    enterprise.directory.connected = False
    assert host.core.enterprise.state.DirectoryOffline
    assert host.core.enterprise.find_queue(PUBLIC) is None
    enterprise.directory.connected = True
    assert host.core.enterprise.state.DirectoryOffline
    enterprise.network.advance(60_000)
    assert not host.core.enterprise.state.DirectoryOffline
    host.send(PUBLIC_NAME, b"again")
    enterprise.settle()
    assert enterprise[RECEIVER].bodies("orders") == ["again"]


def test_timers_of_the_documents_trigger_directory_reads(enterprise):
    host = slow(enterprise, SENDER)
    enterprise.network.advance(3_600_000 - 1)
    assert host.unanswered == []
    enterprise.network.advance(1)
    assert [type(effect) for effect in host.unanswered] == [ReadDirectory] * 2, "of the gates and of the routing table"


def test_direct_format_names_need_no_directory_answer(enterprise):
    host = slow(enterprise, SENDER)
    host.handle(DirectoryChanged())
    host.send(direct(RECEIVER), b"direct")
    assert enterprise[RECEIVER].bodies(PLAIN) == ["direct"]
