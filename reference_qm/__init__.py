"""The reference queue manager, which knows nothing about tests."""
