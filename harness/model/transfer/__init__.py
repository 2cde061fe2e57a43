"""The part of the model in which two queue managers send each other messages."""
