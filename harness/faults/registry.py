"""Register the faults by name, and create a queue manager with some of them."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from harness.errors import UnknownFault
from harness.mutation.exchange import FunctionCodeReplacement
from harness.mutation.mutants import compile_mutant, find_mutant
from harness.paths import SUITES
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect
from reference_qm.surface.inputs import Input

EffectFilter = Callable[[Effect], Iterable[Effect]]
InputFilter = Callable[[Input], Iterable[Input]]


@dataclass(slots=True)
class FaultyCore:
    """A queue manager with faults. It has the interface of ``QueueManager``, but faults change its inputs and
    outputs.
    """

    core: QueueManager
    effect_filters: list[EffectFilter] = field(default_factory=list)
    input_filters: list[InputFilter] = field(default_factory=list)
    clock_filters: list[Callable[[Now], Now]] = field(default_factory=list)
    """Functions that change the current time before it is passed to the queue manager."""
    actions_after_each_input: list[Callable[[QueueManager], None]] = field(default_factory=list)
    actions_at_restart: list[Callable[[FaultyCore], None]] = field(default_factory=list)
    context_of_computation: AbstractContextManager[object] = field(default_factory=nullcontext)
    """The context that is active only while this core computes. Other cores of the process, such as the peer's
    core, run outside this context.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        """Restore the state from the disk. Afterwards, if the disk was not empty, apply the faults that act at a
        restart.
        """
        with self.context_of_computation:
            self.core.restore(entries)
        if entries:
            for again in self.actions_at_restart:
                again(self)

    def handle(self, event: Input, now: Now) -> list[Effect]:
        """Pass an input to the core, through the input filters."""
        inputs: list[Input] = [event]
        for filter_ in self.input_filters:
            inputs = [out for one in inputs for out in filter_(one)]
        effects: list[Effect] = []
        with self.context_of_computation:
            for one in inputs:
                effects += self.core.handle(one, self._apply_clock_faults(now))
        return self._filter_effects(effects)

    def next_due(self) -> int | None:
        """Return the time at which the next timer expires, in monotonic ms."""
        return self.core.next_due()

    def handle_timer(self, now: Now) -> list[Effect]:
        """Handle the timers that are due."""
        with self.context_of_computation:
            effects = self.core.handle_timer(self._apply_clock_faults(now))
        return self._filter_effects(effects)

    def _apply_clock_faults(self, now: Now) -> Now:
        for clock in self.clock_filters:
            now = clock(now)
        return now

    def _filter_effects(self, effects: list[Effect]) -> list[Effect]:
        for filter_ in self.effect_filters:
            effects = [out for one in effects for out in filter_(one)]
        for change in self.actions_after_each_input:
            change(self.core)
        return effects


Install = Callable[[FaultyCore], None]
"""The type of functions that install a fault in a core."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A deliberate violation of a rule. ``breaks``: the rule that the fault breaks, or several rules if the documents
    state one demand several times. ``reading``: the alternative reading of an erratum that the fault follows without
    breaking a rule, such as E41.2, the second reading of erratum E41. ``around``: the context in which the core is
    created and runs. ``file``: the file that registers the fault, such as
    ``suites/mqqb/s2_2_1_internal_header/faults.py``. ``blind``: whether the author of the fault had read the rule, but
    not the checks of the rule.
    """

    name: str
    breaks: tuple[str, ...]
    says: str
    install: Install
    reading: str | None = None
    around: AbstractContextManager[object] = field(default_factory=nullcontext)
    file: str | None = None
    blind: bool = False


_FAULT_FILE_PATTERN = "*/*/faults*.py"
"""The pattern for the paths of files of the suites that register faults."""
_FAULTS: dict[str, Fault] = {}


def add(name: str, breaks: str | Iterable[str], says: str, install: Install, **more: Any) -> None:
    """Register a fault."""
    if name in _FAULTS:
        raise ValueError(f"two faults are named {name}")
    rules = (breaks,) if isinstance(breaks, str) else tuple(breaks)
    _FAULTS[name] = Fault(name, rules, says, install, file=_get_registering_file(), **more)


def _get_registering_file() -> str | None:
    """Return the path of the file of the suites that is being imported and registers a fault."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "<module>" and module.startswith("suites."):
            return f"{module.replace('.', '/')}.py"
        frame = frame.f_back
    return None


def register_variant_of_reading(reading: str, says: str, install: Install) -> None:
    """Register a variant of the reference that follows an alternative interpretation (reading) of an erratum and breaks
    no rule.
    """
    add(f"reading-{reading}", (), says, install, reading=reading)


def wrap(make: Callable[[], QueueManager], names: Iterable[str]) -> FaultyCore:
    """Return a new core with the named faults; raise UnknownFault for an unknown name."""
    faults = [find_fault(name) for name in names]
    with ExitStack() as stack:
        for fault in faults:
            stack.enter_context(fault.around)
        faulty = FaultyCore(make())
    for fault in faults:
        fault.install(faulty)
    return faulty


def find_fault(name: str) -> Fault:
    """Return the fault with the given name. If the name is the name of a mutant of the reference, return the mutant
    as a fault; raise UnknownFault for an unknown name.
    """
    if name not in _FAULTS:
        import_faults(_list_fault_files_containing(name))
    known = _FAULTS if name in _FAULTS else load_faults()
    if name in known:
        return known[name]
    if ":" in name:
        return make_fault_from_mutant(name)
    near = ", ".join(difflib.get_close_matches(name, known)) or "none"
    raise UnknownFault(f"{name}: there is no such fault; similar ones: {near}")


def _list_fault_files_containing(name: str) -> list[Path]:
    """Return the files of faults that contain a name as a string. A process that needs one fault imports only these
    files, because importing all files takes most of a second.
    """
    literal = f'"{name}"'.encode()
    return [file for file in SUITES.glob(_FAULT_FILE_PATTERN) if literal in file.read_bytes()]


def make_fault_from_mutant(name: str) -> Fault:
    """Return a fault that runs the code of a mutant instead of the code of the reference."""
    mutant = find_mutant(name)
    exchange = FunctionCodeReplacement(*compile_mutant(mutant))

    def install_mutant(faulty: FaultyCore) -> None:
        if mutant.runs_outside_core_calls:
            exchange.__enter__()  # never undone, because the directory belongs to this system until the process ends
        else:
            faulty.context_of_computation = exchange

    return Fault(name, (), f"{mutant.before} -> {mutant.changed_line}", install_mutant, around=exchange)


@cache
def load_faults() -> dict[str, Fault]:
    """Import the fault files of every section of the suites; return all faults by name."""
    import_faults(SUITES.glob(_FAULT_FILE_PATTERN))
    return _FAULTS


def import_faults(files: Iterable[Path]) -> list[Fault]:
    """Import files of faults; return all registered faults, including faults that were registered earlier."""
    for file in sorted(files):
        importlib.import_module(".".join(["suites", *file.relative_to(SUITES).with_suffix("").parts]))
    return list(_FAULTS.values())
