"""The driver of a SUT that is a capture: it does what it did, as long as the harness does what it did.

A check is deterministic when time, chance and what comes from outside are given. All of it is in its capture: packets,
the control channel and the set-up (harness/sut/replay_tape.py). So the check runs again, in time that jumps, and comes
to a verdict of its own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from jsonschema import Draft202012Validator

from harness import errors
from harness.errors import HarnessError, MqconformError, UsageError
from harness.printable import one_line
from harness.run_folder import capture_of
from harness.sut import control as control_errors
from harness.sut.replay_items import Item, Note, items_of
from harness.sut.replay_player import NotReplayable, Player, ReplayEnvironment
from harness.sut.replay_tape import SAVED, TAPE_SCHEMA
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile, parse_sut_file
from harness.sut.sut_process import Death
from harness.sut.timeouts import Timeouts

_NUMBERS = ("tcp_port", "ping_port", "rpc_port", "scale", "first_message_id", "found_at_port")
_FLAGS = ("shared", "knows_peer", "forgets", "peer_returns", "controls_environment")
_SETUP = Draft202012Validator(
    {
        "type": "object",
        "required": ["schema", "began", "virtual", "file", "identifier", "facilities", "keys", "timeouts", *SAVED],
        "properties": {
            "schema": {"const": TAPE_SCHEMA},
            "began": {
                "type": "object",
                "required": ["monotonic_ms", "utc_s", "epoch_us"],
                "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 2**53},
            },
            "virtual": {"type": "boolean"},
            "file": {"type": "object", "additionalProperties": {"type": "object"}},
            "identifier": {"type": ["string", "null"], "maxLength": 40},
            "facilities": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
            "keys": {"type": "string", "pattern": "^([0-9a-f]{2})*$"},
            "timeouts": {"type": "object", "additionalProperties": {"type": ["integer", "boolean"]}},
            "own": {"type": "string", "maxLength": 100},
            **{
                key: {"type": "integer", "minimum": 0, "maximum": 2**31}
                for key in ("tcp_port", "ping_port", "rpc_port", "scale", "first_message_id", "found_at_port")
            },
            **{
                key: {"type": "boolean"}
                for key in ("shared", "knows_peer", "forgets", "peer_returns", "controls_environment")
            },
        },
    }
)
_REFUSALS: Mapping[str, type[MqconformError]] = {
    one.__name__: one
    for module in (control_errors, errors)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, MqconformError)
} | {NotShown.__name__: NotShown}


DIFFERENCES_FILE = "not-replayed.json"


class ReplayDriver:
    """The SUT of every check of a run is that check's capture. ``captures``: by check, where it is not the usual."""

    def __init__(self, file: SutFile, run: Path, captures: Mapping[str, str], out: Path | None) -> None:
        self.file = file
        self.shared = self.beside_others = False
        self.wait_s = 0
        self.identifier: UUID | None = None
        self._run = run
        self._captures = captures
        self.out = out
        self.differences: dict[str, str] = {}
        """Of the checks that cannot be replayed, why."""

    def start(self) -> None:
        """Do nothing: there is nothing but files."""

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        try:
            return self._open(seed, needs)
        except (MqconformError, OSError) as error:
            self.differences[seed] = one_line(str(error), 300)
            raise NotReplayable(str(error)) from error

    def _open(self, seed: str, needs: Collection[str]) -> Sut:
        if "topology" in needs:
            raise NotReplayable("a check of three systems")
        items = items_of(self._run / self._captures.get(seed, capture_of(seed)))
        setup = _setup_of(items)
        began = setup["began"]
        player = Player(items, began, lambda why: self.differences.setdefault(seed, why))
        environment = ReplayEnvironment(player, began, virtual=setup["virtual"])
        player.environment = environment
        view = _ReplaySut(
            _file_of(setup),
            environment,
            ReplayControl(player, environment),
            identifier=None if setup["identifier"] is None else UUID(setup["identifier"]),
            facilities=frozenset(setup["facilities"]),
            encryption_keys=bytes.fromhex(setup["keys"]),
            timeouts=Timeouts(**setup["timeouts"]),
            **{name: setup[name] for name in ("tcp_port", "ping_port", "rpc_port", "scale")},
        )
        for name in SAVED:
            setattr(view, name, setup[name])
        view.tape = player
        return view

    def ended(self, within_s: float = 0) -> str | None:
        """Return None: what ended then is told by its packets."""
        return None

    def ended_meanwhile(self, *, hung_up: bool) -> str | None:
        """Return None, as above."""
        return None

    def death(self, check: str | None) -> Death | None:
        """Return None, as above."""
        return None

    def start_again(self) -> None:
        """Do nothing."""

    def confirm(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Write down, beside the run that is made, which checks could not be replayed, and why."""
        if self.out is not None:
            text = json.dumps(self.differences, indent=1)
            (self.out / DIFFERENCES_FILE).write_text(text, encoding="utf-8")


def _setup_of(items: list[Item]) -> dict[str, Any]:
    if not items or not isinstance(first := items.pop(0), Note) or not isinstance(first.said.get("setup"), dict):
        raise NotReplayable("its capture has no set-up: it was recorded by an older harness, or changed")
    setup: dict[str, Any] = first.said["setup"]
    if (error := next(_SETUP.iter_errors(setup), None)) is not None:
        raise NotReplayable(f"the set-up in its capture: {one_line(error.message, 200)}")
    return setup


def _file_of(setup: Mapping[str, Any]) -> SutFile:
    try:
        return parse_sut_file(setup["file"])
    except (UsageError, AttributeError, TypeError) as error:
        raise NotReplayable(f"the set-up in its capture: {error}") from error


class _ReplaySut(Sut):
    """A view that leaves everything as it is: what comes after the check has no say in its verdict."""

    def tidy(self) -> None:
        assert isinstance(self.tape, Player)
        self.tape.end()

    def close(self) -> None:
        self.tidy()


class ReplayControl:
    """The control channel of a capture: it answers what it answered, when it did."""

    def __init__(self, player: Player, environment: ReplayEnvironment) -> None:
        self._player = player
        self._environment = environment

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("call", verb, arguments)
        return found

    def begin(self, verb: str, **arguments: Any) -> int:
        return int(self._ask("begin", verb, arguments))

    def _ask(self, how: str, verb: str, arguments: Mapping[str, Any]) -> Any:
        self._player.asked(how, verb, arguments)
        self._environment.run_until(self._player.has_answer, self._player.rest_ms())
        said = self._player.take_answer()
        _raise_refusal(said)
        return said["answered"]

    def answer(self, request: int) -> dict[str, Any] | None:
        said = self._player.late.pop(request, None)
        if said is None:
            return None
        _raise_refusal(said)
        found: dict[str, Any] = said["answer"]
        return found

    def close(self) -> None:
        """Do nothing."""


def _raise_refusal(said: Mapping[str, Any]) -> None:
    if "refused" in said:
        raise _REFUSALS.get(str(said["refused"]), HarnessError)(str(said.get("why", "")))
