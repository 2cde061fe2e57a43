"""The I/O of the reference queue manager: all its sockets, files and real time are in this package."""
