"""How many examples Hypothesis tries: every budget of the tests, and what no example is held to: a speed.

An example may take as long as it likes, and so may making it: both depend on what else the machine does. CI draws the
same examples each time (Hypothesis' own profile `ci`, by the variable CI). MQ_EXAMPLES: a factor, for a search.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

FEW, SOME, MANY = 50, 100, 200
"""For examples that take milliseconds, as a file or a conversation does; for others; for hostile bytes, which are cheap
because most are refused at once."""
FACTOR = int(os.environ.get("MQ_EXAMPLES", "1"))


def budget(examples: int, *, with_fixtures: bool = False, **more: Any) -> settings:
    """Return the settings of a test that tries so many examples.

    ``with_fixtures``: it has fixtures that all of its examples share; ``more``: other settings of Hypothesis.
    """
    unchecked = [HealthCheck.too_slow, *([HealthCheck.function_scoped_fixture] if with_fixtures else [])]
    return settings(max_examples=examples * FACTOR, deadline=None, suppress_health_check=unchecked, **more)


settings.register_profile("mqconform", budget(SOME))
settings.load_profile("mqconform")
