"""The protocol: a reference queue manager that knows nothing of tests."""
