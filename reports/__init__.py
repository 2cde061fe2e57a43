"""Makes interop matrices from the result files of runs, with Spark. The package reads only these files."""
