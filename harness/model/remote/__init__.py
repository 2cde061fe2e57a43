"""The area of queues that clients read remotely."""
