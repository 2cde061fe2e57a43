"""Messages between two queue managers: those that come, and those that go."""
