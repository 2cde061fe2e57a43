"""The store in memory: entries by name, stored as text, up to a limit of size."""

from __future__ import annotations

import asyncio

import pytest

from reference_qm.surface.store import MemoryStore, StoreError


def test_memory_store_keeps_the_last_value_and_removes_deleted_keys():
    store = MemoryStore()
    asyncio.run(store.write([{"a": 1, "b": {"c": (None, "\ud800 ü", True)}}, {"a": 2, "gone": 3}]))
    asyncio.run(store.write([{"gone": None, "never there": None}]))
    assert store.read() == {"a": 2, "b": {"c": [None, "\ud800 ü", True]}}
    store.clear()
    assert store.read() == {}


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, float("nan"), object()])
def test_memory_store_refuses_records_that_are_not_json_serializable(value: object):
    store = MemoryStore()
    store.write_at_once([{"a": 1}])
    with pytest.raises(StoreError, match="a record cannot be written as JSON: "):
        store.write_at_once([{"a": 2}, {"b": value}])
    assert store.read() == {"a": 1}


def test_value_read_from_the_memory_store_is_a_copy():
    store = MemoryStore()
    value = ["kept"]
    store.write_at_once([{"a": value}])
    value.append("later")
    found = store.read()["a"]
    assert isinstance(found, list)
    found.clear()
    assert store.read() == {"a": ["kept"]}


def test_full_store_accepts_only_records_that_do_not_enlarge_it():
    store = MemoryStore(limit=20)
    store.write_at_once([{"a": "x" * 8}, {"b": "y" * 6}])  # 1 + 10 and 1 + 8 characters
    with pytest.raises(StoreError, match="the store in memory is full"):
        store.write_at_once([{"c": 1}])
    assert store.read() == {"a": "x" * 8, "b": "y" * 6}
    store.write_at_once([{"a": "z" * 8}])
    store.write_at_once([{"b": None}])
    store.write_at_once([{"c": 1}])
    assert store.read() == {"a": "z" * 8, "c": 1}
    store.clear()
    store.write_at_once([{"a": "x" * 17}])
