"""From verdict files to interop matrices (Spark); reads result files only."""
