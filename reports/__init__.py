"""Makes interop matrices from the result files of runs, with Spark. These files are the only input of the package."""
