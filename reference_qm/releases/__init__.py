"""A queue manager configured as a release of Windows: what the appendices of product behaviour say of it."""
