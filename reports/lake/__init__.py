"""Implements the lake: the tables of all runs, in Parquet on any Hadoop file system (docs/reports.md)."""
