"""The procedures of the specification, one module per part of it."""
