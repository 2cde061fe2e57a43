"""Queues that clients read from afar."""
