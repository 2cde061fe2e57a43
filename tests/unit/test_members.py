"""The protocols of the system for which the suites have no rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.rules.catalogue import load_catalogue
from harness.rules.members import load_members


def test_every_protocol_named_by_the_overview_has_a_members_row_or_rules() -> None:
    named = {"MQMP", "MQBR", "MQDS", "MQDSSM", "MQMR", "MQRR", "MQCN", "MQSD", "MQAC", "MQSRM"}
    with_rules = {row.document for row in load_catalogue().values()}
    assert {one.name for one in load_members()} == named
    assert with_rules.isdisjoint(named)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[MQCN]\ntitle = "a"\nexercised = "b"\nreference = "c"\n', "left_out of [MQCN] is missing or is not a string"),
        ('[MQCN]\ntitle = ""\nexercised = "b"\nreference = "c"\nleft_out = "d"\n', "title of [MQCN] is missing"),
        ("MQCN = 3\n", "title of [MQCN] is missing"),
        (
            '[MQCN]\ntitle = "a"\nexercised = "b"\nreference = "c"\nleft_out = "d"\nwhy = "e"\n',
            "[MQCN] has the unknown key why; known: title, exercised, reference, left_out",
        ),
    ],
)
def test_incomplete_row_of_members_file_gives_one_line_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "members.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_members(tmp_path)
    assert said in str(caught.value)
