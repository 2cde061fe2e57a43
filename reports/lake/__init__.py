"""The lake: tables of every run, in Parquet on any Hadoop file system (docs/reports.md)."""
