"""The models convict no system that follows a permitted reading of an erratum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.explore.areas import AREA_BY_NAME
from harness.explore.explored import AreaExplorer
from harness.model.steps import Step
from harness.sut.sut_file import CAPABILITIES, load_sut_file
from harness.sut.virtual_driver import VirtualDriver


def _take(name: str, **arguments: Any) -> Step:
    return Step(name, arguments)


def _send(message: str, to: str = "direct") -> Step:
    return _take("send" if to == "direct" else "send_private", message=message, to=to, delivery="express")


def _respond(to: str = "direct", how: str = "valid") -> Step:
    return _take("respond", to=to, how=how, unused=[])


def _parametrize(window: int = 64, to: str = "direct") -> Step:
    return _take("parametrize", to=to, how="valid", window=window, unused=[])


def _establish(session: str, server: str = "null") -> Step:
    return _take("establish", session=session, server=server, client="peer", stamp=1, se=1, ignored=[])


def _accept(session: str) -> tuple[Step, ...]:
    parameters = _take("parametrize", session=session, recoverable_ms=500, window=64, ignored=[])
    return _take("connect", session=session), _establish(session), parameters


def _deliver_in_sequence(queue: str, unused: tuple[str, ...] = (), number: int = 1, session: str = "s") -> Step:
    place = {"sequence": 1, "number": number, "previous": number - 1}
    plain: dict[str, Any] = {"size": 0, "acks": [], "journal": [], "details": {}, "final": False}
    message = {"session": session, "message": f"m{number}", "queue": queue}
    return _take("deliver_in_sequence", **message, **place, **plain, unused=list(unused))


def _deliver(message: str, queue: str, size: int = 0, journal: tuple[str, ...] = ()) -> Step:
    plain: dict[str, Any] = {"acks": [], "application_tag": 0, "late": False, "journal": list(journal), "details": {}}
    fixed = {"delivery": "recoverable", "priority": 3, "size": size, **plain, "unused": []}
    return _take("deliver", session="s", message=message, queue=queue, **fixed)


def _ship(message: str, to: str = "near") -> Step:
    plain: dict[str, Any] = {"priority": 3, "size": 0, "journal": [], "properties": {}}
    return _take("ship_message", message=message, to=to, delivery="express", **plain)


def _send_locally(message: str) -> Step:
    plain: dict[str, Any] = {"size": 0, "acks": ["positive_receive"], "journal": [], "application_tag": 0}
    fixed = {"priority": 3, "delivery": "express", **plain, "body_type": 0, "life_s": 0xFFFF_FFFF, "transaction": None}
    return _take("send", message=message, queue="one", **fixed)


def _read_remote(read: str, *, receives: bool) -> Step:
    return _take(
        "read_remote", read=read, handle="h", receives=receives, method="RemoteQMStartReceive2", wait_ms=40_000
    )


_OPEN_DIRECT = (_respond(), _parametrize())
_OPEN_REMOTE = (
    _take("associate", client="k"),
    _take(
        "open_remote",
        handle="h",
        client="k",
        queue="one",
        access="receive",
        deny_receive=False,
        ignored="own",
        reserved=0,
    ),
)
_WAIT = _take("wait", ms=45_000)
_SEND_RECOVERABLE = _take("send", session="s", recoverable=True, wrong=None)
_SEND_HEADER = _take("send", session="s", recoverable=False, wrong=0)
_SESSION_ACK = _take("acknowledge", session="s", wrong=0, wrong_recoverable=0, ignored=[])
_REST = _take("rest_until_acknowledged")
SEQUENCES: dict[tuple[str, str], tuple[Step, ...]] = {
    ("E10.2", "sessions"): (_take("connect", session="s"), _establish("s", "foreign")),
    ("E11.2", "connecting"): (_send("m1"), _send("m2", "private"), *_OPEN_DIRECT, _respond("private")),
    ("E13.2", "connecting"): (
        *(_send("m1", "private"), _send("m2"), _respond("private", "parameters")),
        *(_take("wait", ms=26_000), _take("wait", ms=14_000)),
    ),
    ("E13.2", "sessions"): (
        *(_take("connect", session="one"), _REST, _REST),
        *(*_accept("two"), _REST, _REST),
    ),
    ("E15.2", "connecting"): (_send("m1"), _send("m2", "private"), *_OPEN_DIRECT),
    ("E16.5", "transfer"): (
        *(_take("connect", session="s"), _take("silence_peer", on=True), _ship("m1"), _ship("m2")),
        _take("silence_peer", on=False),
    ),
    ("E19.2", "sessions"): (*_accept("s"), _SEND_RECOVERABLE, _SEND_RECOVERABLE, _REST, _SEND_HEADER),
    ("E19.2", "transfer"): (
        *(_take("connect", session="s"), _deliver("m0", "nowhere"), _deliver_in_sequence("one"), _REST),
        *(_deliver("m2", "one", 66_000), _deliver("m3", "one", 66_000), _deliver("m4", "one")),
    ),
    ("E25.2", "connecting"): (_send("m1"), _send("m2"), _respond(), _parametrize(1)),
    ("E25.3", "connecting"): (
        *(_send("m1"), _send("m2"), _respond(), _parametrize(1)),
        *(_take("acknowledge", to="direct", number=1, unused=[]), _send("m3")),
    ),
    ("E31.2", "transfer"): (_take("connect", session="s"), _deliver_in_sequence("two", ("transaction.X1",))),
    ("E41.3", "transfer"): (
        *(_take("connect", session="s"), _deliver_in_sequence("two"), _take("connect", session="t")),
        *(_deliver_in_sequence("two", number=2, session="t"), _take("hang_up", session="s")),
        _deliver_in_sequence("two", number=3, session="t"),
    ),
    ("E47.2", "transfer"): (
        *(_take("connect", session="s"), _deliver("m1", "one", journal=("positive",))),
        _take("receive", read="r", queue="one", wait_ms=0, transaction=None),
    ),
    ("E50.2", "connecting"): (_send("m1"), *_OPEN_DIRECT, _WAIT),
    ("E51.2", "remote"): (*_OPEN_REMOTE, _read_remote("r", receives=True), _take("cancel_remote", read="r")),
    ("E52.2", "remote"): (
        *(*_OPEN_REMOTE, _read_remote("r", receives=False), _take("cancel_remote", read="r")),
        _take("close_remote", handle="h"),
    ),
    ("E57.2", "remote"): (
        *(*_OPEN_REMOTE, _send_locally("m1")),
        _take("look_up_remote", read="r", handle="h", message="m1", seek="current", receives=True),
        _take("end_read", read="r", acknowledge=False),
    ),
    ("E65.2", "connecting"): (
        *(_send("m1"), _send("m2"), *_OPEN_DIRECT),
        *(
            _take("acknowledge", to="direct", number=1, unused=[]),
            _take("acknowledge", to="direct", number=1, unused=[]),
        ),
    ),
}
"""For each reading and area, steps in which a system with the reading differs from the reference."""


@pytest.fixture(scope="module")
def virtual(tmp_path_factory: pytest.TempPathFactory):
    path: Path = tmp_path_factory.mktemp("sut") / "virtual.toml"
    declared = "".join(f"{name} = true\n" for name in CAPABILITIES)
    path.write_text(f'[sut]\nname = "reference"\n[driver]\nkind = "virtual"\n[capabilities]\n{declared}')
    return load_sut_file(path)


@pytest.mark.parametrize(("reading", "area"), SEQUENCES)
def test_model_permits_every_permitted_reading(virtual, reading: str, area: str) -> None:
    steps = list(SEQUENCES[reading, area])
    following = replace(virtual, reference=replace(virtual.reference, faults=(f"reading-{reading}",)))
    for system in (virtual, following):
        walk = AreaExplorer(VirtualDriver(system), AREA_BY_NAME[area]).replay_steps(steps)
        assert walk.divergence is None
        assert walk.steps == steps


@pytest.mark.parametrize("header", [_SEND_HEADER, _SESSION_ACK])
def test_model_expects_that_a_header_after_an_uncounted_message_closes_the_session(virtual, header: Step) -> None:
    following = replace(virtual, reference=replace(virtual.reference, faults=("reading-E19.2",)))
    steps = [*_accept("s"), _SEND_RECOVERABLE, header, _SESSION_ACK]
    walk = AreaExplorer(VirtualDriver(following), AREA_BY_NAME["sessions"]).replay_steps(steps)
    assert walk.divergence is None
    assert walk.steps == steps[:-1]  # the session is closed, so that the last step is impossible
