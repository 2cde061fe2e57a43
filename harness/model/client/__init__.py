"""The area of a system that reads queues of another queue manager."""
