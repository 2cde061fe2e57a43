"""Defines how many examples Hypothesis tries in each test.

No test limits the time of an example or of its generation, because both times depend on the load of the machine. CI
draws the same examples each time (Hypothesis' own profile `ci`, selected by the variable CI). The variable MQ_EXAMPLES
multiplies the number of examples, for a longer search.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

FEW, SOME, MANY = 50, 100, 200
"""The number of examples: FEW if an example takes milliseconds, such as a file or a conversation; MANY for hostile
bytes, which are cheap because most of them are refused at once; SOME for all other tests.
"""
FACTOR = int(os.environ.get("MQ_EXAMPLES", "1"))


def budget(examples: int, *, with_fixtures: bool = False, **more: Any) -> settings:
    """Return the Hypothesis settings of a test that tries the given number of examples.

    ``with_fixtures``: whether the test has fixtures that all of its examples share; ``more``: other settings of
    Hypothesis.
    """
    unchecked = [HealthCheck.too_slow, *([HealthCheck.function_scoped_fixture] if with_fixtures else [])]
    return settings(max_examples=examples * FACTOR, deadline=None, suppress_health_check=unchecked, **more)


settings.register_profile("mqconform", budget(SOME))
settings.load_profile("mqconform")
