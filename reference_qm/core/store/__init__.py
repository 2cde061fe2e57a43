"""Records: messages as packets, what is written to disk and to the directory, and what goes on when that answers."""
