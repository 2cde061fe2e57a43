"""The part of the model in which clients read queues remotely."""
