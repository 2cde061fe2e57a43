"""Makes interop matrices from verdict files, with Spark. It reads only result files."""
