"""A check has its own queues and settings of the SUT, whatever runs before or in parallel, and restores the SUT at its
end.
"""

from __future__ import annotations

from typing import Any

import pytest
from harness_made import sut_file

from harness.environment import VirtualEnvironment
from harness.errors import HarnessError, SutUnavailable
from harness.sut.control import ContractBroken, ControlRefused, Unsupported
from harness.sut.shown import NotShown
from harness.sut.sut import Sut

ALL = frozenset({"queue_control", "send", "receive", "pause", "restart", "set_timers", "configure"})


class Scripted:
    """A control channel that records the requests, and refuses some of them."""

    def __init__(self, **answers: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers = answers
        self.closed = False

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        self.asked.append((verb, arguments))
        answer = self.answers.get(verb, {})
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    def begin(self, verb: str, **arguments: Any) -> int:
        raise NotImplementedError

    def answer(self, request: int) -> dict[str, Any] | None:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True

    def verbs(self) -> list[str]:
        return [verb for verb, _ in self.asked]


def view(control: Scripted, facilities: frozenset[str] = ALL, own: str = "abc", *, shared: bool = False) -> Sut:
    made = Sut(
        sut_file(),
        VirtualEnvironment(),
        control,
        identifier=None,
        facilities=facilities,
        tcp_port=1801,
        ping_port=3527,
        scale=1,
    )
    made.own, made.shared = own, shared
    return made


def test_each_check_gets_new_queues_that_are_deleted_at_its_end() -> None:
    control = Scripted()
    one = view(control)
    names = [one.queue(), one.queue("transactional"), one.new_queue("small", quota_kb=2), one.new_queue()]
    assert one.queue() == names[0]
    assert len({*names, view(Scripted(), own="abd").queue()}) == 5
    one.close()
    deleted = [arguments["name"] for verb, arguments in control.asked if verb == "delete_queue"]
    assert deleted == names[::-1]
    assert control.closed
    one.close()
    assert control.verbs().count("delete_queue") == len(names)


def test_number_in_created_queue_names_is_never_reused() -> None:
    one = view(Scripted())
    first = one.new_queue()
    one.delete_queue(first)
    assert one.new_queue() != first


def test_without_queue_control_the_queues_of_the_file_are_used() -> None:
    control = Scripted()
    one = view(control, frozenset({"receive"}))
    assert one.queue() == sut_file().queues.plain
    assert control.asked == [("purge", {"queue": sut_file().queues.plain})]
    one.close()
    assert control.verbs() == ["purge"]


@pytest.mark.parametrize(("left", "residue"), [([], []), (["main"], ["no queue"])])
def test_cleanup_of_an_already_deleted_queue_leaves_no_residue(left: list[str], residue: list[str]) -> None:
    control = Scripted(delete_queue=ControlRefused("no queue"), peek=ControlRefused("no queue"))
    one = view(control)
    main = one.new_queue("main")
    one.create_queue(f"{main};sub")
    control.answers["list"] = {"queues": [{"name": main.upper()} for _ in left]}
    one.close()
    assert one.residue == residue * 2
    deleted = [arguments["name"] for verb, arguments in control.asked if verb == "delete_queue"]
    assert deleted == [f"{main};sub", main]


def test_failed_cleanup_is_residue_and_other_cleanup_continues() -> None:
    control = Scripted(delete_queue=ControlRefused("it is open"), set_timers={"scale": 1})
    one = view(control)
    one.queue()
    one.pause("DIRECT=x")
    one.set_timers(scale=2)
    one.close()
    assert control.verbs()[-4:] == ["resume_queue", "delete_queue", "list", "set_timers"]
    assert one.residue == ["it is open"]


@pytest.mark.parametrize("broken", [Unsupported("cannot"), ContractBroken("control: `delete_queue`: no")])
def test_cleanup_refused_or_answered_wrongly_is_residue(broken: Exception) -> None:
    control = Scripted(delete_queue=broken, set_timers={"scale": 1})
    one = view(control)
    one.queue()
    one.set_timers(scale=2)
    one.close()
    assert control.verbs()[-1] == "set_timers"
    assert one.residue == [str(broken)]


@pytest.mark.parametrize("verb", ["set_timers", "configure"])
def test_property_missing_in_answer_cannot_be_changed(verb: str) -> None:
    control = Scripted(**{verb: {"scale": 1}})
    one = view(control)
    why = "the current value is missing from the answer"
    with pytest.raises(Unsupported, match=f"^{verb} of the SUT.s control channel cannot restore quota: {why}"):
        getattr(one, verb)(scale=2, quota=1)
    one.close()
    assert control.asked == [(verb, {})]


def test_offline_sut_is_brought_online_once_at_cleanup() -> None:
    control = Scripted()
    one = view(control)
    one.take_offline()
    one.bring_online()
    one.take_offline()
    one.close()
    one.close()
    assert control.verbs() == ["take_offline", "bring_online"] * 2


def test_lost_control_channel_ends_cleanup() -> None:
    one = view(Scripted(delete_queue=SutUnavailable("gone")))
    one.queue()
    one.close()
    assert one.residue == ["all objects that the check created or changed: gone"]


@pytest.mark.parametrize(
    "change", [Sut.restart, Sut.take_offline, lambda sut: sut.set_timers(scale=2), lambda sut: sut.configure(x=1)]
)
def test_shared_sut_refuses_changes_of_its_environment(change: Any) -> None:
    control = Scripted()
    one = view(control, shared=True)
    with pytest.raises(HarnessError, match="changes the SUT also for the checks that run in parallel"):
        change(one)
    assert one.must_repeat_alone
    assert control.asked == []


def test_kept_messages_are_recognized_by_id_and_removed() -> None:
    peer = sut_file().driver.peer_identifier
    found = [("{s}\\7", 1), (f"{{{peer}}}\\3", 2), (f"{{{peer}}}\\99999", 3), ("{s}\\8", 4)]
    messages = [{"message_id": name, "lookup_id": number} for name, number in found]
    control = Scripted(send={"message_id": "{s}\\7"}, peek={"messages": messages})
    one = view(control)
    one.send("DIRECT=x")
    assert [each["lookup_id"] for each in one.kept("system$;journal")] == [1, 2]
    one.close()
    taken = [arguments["lookup_id"] for verb, arguments in control.asked if verb == "receive_by_lookup_id"]
    assert taken == [1, 2]


def test_waiting_outgoing_messages_are_counted_per_destination_name() -> None:
    outgoing = [{"format_name": "DIRECT=TCP:127.0.0.9\\q", "count": 2}, {"format_name": "PRIVATE=X\\1", "count": 1}]
    one = view(Scripted(list={"outgoing": outgoing}))
    assert [one.count_waiting_messages([name]) for name in ("127.0.0.9", "private=x", "")] == [2, 1, 3]
    assert view(Scripted(), frozenset({"send"})).count_waiting_messages([""]) is None


def test_environment_is_restored_after_check_and_failure_ends_run():
    control = Scripted(environment={"storage": True, "coordinator": True})
    made = view(control, ALL | {"environment"})
    made.change_environment(storage=False)
    made.restore_state()
    assert control.asked[-1] == ("environment", {"storage": True})
    assert made.broken is None
    stuck = Scripted(environment={"storage": False})
    stuck.answers["environment"] = {"storage": True}
    made = view(stuck, ALL | {"environment"})
    made.change_environment(storage=False)
    stuck.answers["environment"] = {"storage": False}
    made.restore_state()
    assert made.broken is not None
    assert made.broken.endswith("its environment could not be restored: storage (the SUT reports the value False)")


RIGHT = {"coordinator": True, "directory": True, "storage": True, "clock": 0}


class Halting(Scripted):
    """A control channel that refuses to restore some parts of the environment."""

    def __init__(self, *stuck: str) -> None:
        super().__init__()
        self.there: dict[str, Any] = dict(RIGHT)
        self.stuck = stuck

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        super().call(verb, **arguments)
        for name, value in arguments.items() if verb == "environment" else ():
            if value == RIGHT[name] and name in self.stuck:
                raise ControlRefused(f"environment: no {name}")
            self.there[name] = value
        return dict(self.there)


def test_each_environment_part_is_restored_independently():
    control = Halting("clock", "directory")
    made = view(control, ALL | {"environment"})
    made.change_environment(coordinator=False, directory=False, storage=False)
    made.change_environment(clock=3600)
    made.restore_state()
    assert control.there == RIGHT | {"directory": False, "clock": 3600}
    assert made.broken is not None
    assert made.broken.endswith(
        "its environment could not be restored: clock (environment: no clock), directory (environment: no directory)"
    )


def test_change_of_a_missing_environment_part_is_not_observable():
    made = view(Scripted(environment={"storage": True}), ALL | {"environment"})
    with pytest.raises(NotShown, match="the part coordinator of the SUT's environment cannot be changed"):
        made.change_environment(coordinator=False)
