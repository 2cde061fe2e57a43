"""Makes a queue manager behave like a release of Windows, according to the product notes of the specifications."""
