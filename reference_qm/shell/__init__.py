"""The only place of the reference queue manager with sockets, files and real time."""
