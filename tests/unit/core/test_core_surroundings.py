"""MS-MQSO 5.1.1.1, 5.5.3, 5.5.5, 6.6.2: a queue manager that loses a service on which it depends, is stopped, or cannot
start.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.enterprise.state_restoring import RestoreError
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.driver import Core
from reference_qm.surface.effects import CloseTransport, CommandCompleted, CommandRejected, Persist, RestartQueueManager
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import (
    Command,
    CoordinatorChanged,
    Endpoint,
    Input,
    PersistFailed,
    QueueManagerStarted,
    QueueManagerStopped,
    RecordPersisted,
    ResourcesChanged,
    TransportAccepted,
)

TX = "private$\\tx"
TO = f"DIRECT=TCP:127.0.0.1\\{TX}"
CONFIG = QueueManagerConfig(UUID(int=7), queues=(QueueSettings(TX, transactional=True),))
NOW = Now(0, 1_700_000_000)
SOUND: dict[str, object] = {"identifier": str(CONFIG.identifier)}
DAMAGED = {"damage:1": "damaged"}


def collect_effects(core: Core, *events: Input) -> list[Any]:
    """Return the effects of a core for the given inputs; each of its writes succeeds at once."""
    effects: list[Any] = []
    waiting = list(events)
    while waiting:
        new = core.handle(waiting.pop(0), NOW)
        waiting += [RecordPersisted(one.token) for one in new if isinstance(one, Persist)]
        effects += new
    return effects


def asked(core: Core, request: Any) -> Any:
    """Return the answer to a request: the values of its result, or the error of its refusal."""
    answers = [
        one for one in collect_effects(core, Command(1, request)) if isinstance(one, CommandCompleted | CommandRejected)
    ]
    return answers[-1].result.values if isinstance(answers[-1], CommandCompleted) else answers[-1].error


@pytest.fixture
def core() -> QueueManager:
    made = QueueManager(CONFIG, SeededEntropy("around"))
    made.restore({})
    collect_effects(made, QueueManagerStarted())
    return made


def test_lost_coordinator_aborts_only_its_undecided_transactions(core):
    external, prepared, own = (
        asked(core, commands.BeginTransaction(external=kind))["transaction"] for kind in (True, True, False)
    )
    asked(core, commands.SendMessage(TO, body=b"x", transaction=UUID(prepared)))
    asked(core, commands.PrepareTransaction(UUID(prepared)))
    collect_effects(core, CoordinatorChanged(available=False))
    states = {one["transaction"]: one["state"] for one in asked(core, commands.ListQueues())["transactions"]}
    assert states == {prepared: "prepared", own: "active"}
    assert external not in states
    for request in (commands.BeginTransaction(external=True), commands.CommitTransaction(UUID(prepared))):
        assert "MQ_ERROR_DTC_CONNECT" in asked(core, request)
    assert asked(core, commands.CommitTransaction(UUID(own))) == {"outcome": "committed"}
    collect_effects(core, CoordinatorChanged(available=True))
    assert asked(core, commands.CommitTransaction(UUID(prepared))) == {"outcome": "committed"}


def test_short_resources_throttle_queue_manager_until_sufficient(core):
    collect_effects(core, ResourcesChanged(low=True))
    assert "quota of the queue manager" in asked(core, commands.SendMessage(TO, body=b"x", transactional=True))
    collect_effects(core, ResourcesChanged(low=False))
    assert "message_id" in asked(core, commands.SendMessage(TO, body=b"x", transactional=True))


def test_throttled_queue_manager_accepts_no_message_for_an_outgoing_queue(core):
    message = commands.SendMessage("DIRECT=TCP:10.0.0.9\\q", body=b"x")
    collect_effects(core, ResourcesChanged(low=True))
    assert "quota of the queue manager" in asked(core, message)
    collect_effects(core, ResourcesChanged(low=False))
    assert "message_id" in asked(core, message)


def test_stopped_queue_manager_refuses_all_requests(core):
    collect_effects(core, QueueManagerStopped())
    here, there = Endpoint("127.0.0.1", 1801), Endpoint("127.0.0.2", 4000)
    assert [type(one) for one in collect_effects(core, TransportAccepted("in-1", there, here))] == [CloseTransport]
    assert "MQ_ERROR_SERVICE_NOT_AVAILABLE" in asked(core, commands.CreateQueue("private$\\new"))
    assert asked(core, commands.Identity())["guid"] == str(CONFIG.identifier)
    assert collect_effects(core, PersistFailed(99, "too late")) == []


def test_start_on_unusable_store_is_retried_after_120_s_then_every_900_s():
    installed = QueueManagerInstallation(CONFIG, SeededEntropy("damaged"))
    collect_effects(installed({}), QueueManagerStarted())
    for wait_s in (120, 900, 900):
        core = installed(DAMAGED)
        collect_effects(core, QueueManagerStarted())
        assert "MQ_ERROR_SERVICE_NOT_AVAILABLE" in asked(core, commands.CreateQueue("private$\\new"))
        assert core.next_due() == wait_s * 1_000
        assert core.handle_timer(Now(wait_s * 1_000, NOW.utc_s + wait_s)) == [RestartQueueManager()]
    repaired = installed({})
    collect_effects(repaired, QueueManagerStarted())
    assert "format_names" in asked(repaired, commands.CreateQueue("private$\\new"))
    collect_effects(installed(DAMAGED), QueueManagerStarted())


def test_first_start_on_unusable_store_fails():
    with pytest.raises(RestoreError):
        QueueManagerInstallation(CONFIG, SeededEntropy("damaged"))(DAMAGED)


def test_initialization_retry_interval_is_kept_after_success():
    installed = QueueManagerInstallation(CONFIG, SeededEntropy("damaged"))
    collect_effects(installed({}), QueueManagerStarted())
    collect_effects(installed(DAMAGED), QueueManagerStarted())
    repaired = installed(SOUND)
    kept = {
        name: value
        for one in collect_effects(repaired, QueueManagerStarted())
        if isinstance(one, Persist)
        for name, value in one.record.items()
    }
    assert kept["initialization_retry_s"] == 900
    another = QueueManagerInstallation(CONFIG, SeededEntropy("another process"))
    collect_effects(another(SOUND | {"initialization_retry_s": 900}), QueueManagerStarted())
    with_damage = another(DAMAGED)
    collect_effects(with_damage, QueueManagerStarted())
    assert with_damage.next_due() == 900_000
