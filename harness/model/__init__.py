"""Small models of the behavior that the documents require, independent of the reference queue manager."""
