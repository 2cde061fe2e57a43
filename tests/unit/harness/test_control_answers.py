"""The harness uses no answer that breaks the contract of the control protocol, whichever part of the answer
is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st
from test_control import control, reply

from harness.environment import VirtualEnvironment
from harness.sut.control import ContractBroken, Control, VirtualControl
from harness.sut.control_schema import find_error_in_answer
from reference_qm.surface.commands import Result

RECORDED: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("recorded_answers.json").read_text(encoding="utf-8")
)
"""An answer of the reference for each verb, recorded in a run of all checks."""
NEED_NOTHING = ("list", "inspect", "set_timers", "configure", "begin")
"""The verbs that can be called without arguments."""
GONE = object()
WRONG = st.one_of(
    st.just(GONE),
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.just("x" * 200_000),
    st.just([[[]]]),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
)


def by_lines(answer: dict[str, Any]) -> Control:
    made, _ = control(lambda stream, asked: reply(stream, **{**answer, "id": asked["id"]}))
    return made


def in_this_process(answer: dict[str, Any]) -> Control:
    values = {name: value for name, value in answer.items() if name not in ("id", "ok")}
    host = SimpleNamespace(
        environment=VirtualEnvironment(),
        begin=lambda request: 1,
        answers={1: Result(values)},
        lives=True,
        restart=None,
        reset=None,
    )
    return VirtualControl(host)  # type: ignore[arg-type]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value of an answer, as a tuple of keys and indexes."""
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in named:
        if at or name not in ("id", "ok"):
            yield (*at, name)
            yield from places(part, (*at, name))


def changed(answer: dict[str, Any], at: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(answer))
    owner: Any = found
    for name in at[:-1]:
        owner = owner[name]
    if value is GONE:
        del owner[at[-1]]
    else:
        owner[at[-1]] = value
    return found


def channels(verb: str, answer: dict[str, Any]) -> Iterator[Control]:
    """Yield control channels that return the given answer: one over a connection, and for verbs that need no argument
    also one in this process.
    """
    yield by_lines(answer)
    if verb in NEED_NOTHING:
        yield in_this_process(answer)


@pytest.mark.parametrize("verb", [verb for verb in RECORDED if any(places(RECORDED[verb])) and verb != "identity"])
@given(data=st.data())
@budget(FEW // 5)
def test_altered_control_answer_is_refused_with_its_verb_unless_still_valid(verb: str, data: st.DataObject) -> None:
    answer = changed(RECORDED[verb], data.draw(st.sampled_from(list(places(RECORDED[verb])))), data.draw(WRONG))
    complaint = find_error_in_answer(verb, answer)
    for made in channels(verb, answer):
        if complaint is None:
            assert made.call(verb)["ok"] is True
            continue
        with pytest.raises(ContractBroken) as caught:
            made.call(verb)
        assert str(caught.value).startswith(f"control: `{verb}`: ")
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("verb", RECORDED)
def test_control_answer_value_of_wrong_type_is_refused(verb: str) -> None:
    assert find_error_in_answer(verb, RECORDED[verb]) is None
    for at in places(RECORDED[verb]):
        assert find_error_in_answer(verb, changed(RECORDED[verb], at, [[[]]])) is not None, at
