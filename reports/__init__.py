"""Makes interop matrices from result files, with Spark. The package reads no other files."""
