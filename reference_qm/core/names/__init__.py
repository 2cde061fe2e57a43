"""Names: which queue, queue manager, key or account a name means, and the numbers that are given out."""
