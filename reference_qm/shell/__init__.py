"""Implements the I/O of the reference queue manager. Only this package uses sockets, files and real time."""
