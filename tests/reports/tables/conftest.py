"""Provides one Spark session and one lake, with hand-made cases among random runs, for all tests of the tables."""

from __future__ import annotations

import os

import pytest
from lake_of_cases import lake_of_cases
from lake_rows import add_random_runs, make_all

SEEDS = os.environ.get("MQ_LAKE_SEEDS", "7").split(",")


@pytest.fixture(scope="package", params=SEEDS)
def lake(request, spark, tmp_path_factory):
    made = add_random_runs(lake_of_cases(), int(request.param))
    return make_all(made, spark, tmp_path_factory.mktemp("lake"))
