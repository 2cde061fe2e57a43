"""The area of messages between two queue managers, in both directions."""
