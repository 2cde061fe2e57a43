"""Directory objects are converted to stored records and back."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from budgets import FEW, budget
from directory_made import SITE_A
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.directory.objects import (
    STORED_TYPE_BY_NAME,
    DirectoryObject,
    QueueManager,
    Site,
    list_directory_attributes,
)
from reference_qm.directory.records import RecordError, convert_from_record, convert_to_record

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(sorted(STORED_TYPE_BY_NAME)),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["type", "Name", "Identifier", "SiteIdentifierList"]), inner)
    ),
    max_leaves=10,
)


@budget(FEW)
@given(
    element=st.sampled_from(sorted(STORED_TYPE_BY_NAME)).flatmap(lambda name: st.from_type(STORED_TYPE_BY_NAME[name]))
)
def test_directory_record_round_trips(element: DirectoryObject) -> None:
    read = convert_from_record(json.loads(json.dumps(convert_to_record(element))))
    names = list_directory_attributes(type(element))
    assert [getattr(read, name) for name in names] == [getattr(element, name) for name in names]


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ([], "a directory object must be a JSON object"),
        ({}, "type: must be one of QueueManager"),
        ({"type": ["Site"]}, "type: must be one of"),
        ({"type": "Site", "Color": 1}, "Site has no attributes Color"),
        ({"type": "Site", "Identifier": "x"}, "Site.Identifier: UUID is expected"),
        ({"type": "Site", "Identifier": 5}, "Site.Identifier: UUID is expected"),
        ({"type": "Site", "Security": "0g"}, "Site.Security: bytes is expected"),
        ({"type": "Site", "ForeignSite": 1}, "Site.ForeignSite: bool is expected"),
        ({"type": "RoutingLink", "ActualCost": True}, "RoutingLink.ActualCost: int is expected"),
        ({"type": "QueueManager", "SiteIdentifierList": "x"}, "SiteIdentifierList: a list is expected"),
        ({"type": "QueueManager", "SiteIdentifierList": [None]}, "SiteIdentifierList: UUID is expected"),
        (
            {"type": "QueueManager", "OperatingSystemType": "Linux"},
            "OperatingSystemType: OperatingSystemType is expected",
        ),
    ],
)
def test_invalid_directory_record_gives_one_line_error(record: object, complaint: str) -> None:
    with pytest.raises(RecordError, match=complaint) as raised:
        convert_from_record(record)
    assert "\n" not in str(raised.value)


@given(JSON)
def test_arbitrary_directory_record_raises_only_the_typed_error(record: object) -> None:
    with suppress(RecordError):
        assert isinstance(convert_from_record(record), DirectoryObject)


def test_unpublished_attributes_are_not_written() -> None:
    site = Site(Identifier=SITE_A, SiteGateCollection=(QueueManager(),))
    assert "SiteGateCollection" not in convert_to_record(site)
