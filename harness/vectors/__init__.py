"""Test vectors for implementers' unit tests: packets and RPC stubs with the values of their fields.

``rows`` has a row with its craft function for each vector, ``covering`` the covering array of messages, ``reading``
reads the fields of bytes, ``write`` makes the JSON files. ``schema.json`` describes a file.
"""
