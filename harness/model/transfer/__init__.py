"""The area of messages that two queue managers send each other."""
