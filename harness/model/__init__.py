"""Small models of the behaviour that the documents require, independent of the reference queue manager."""
