"""Create test vectors for implementers' unit tests. The vectors are packets and RPC stubs with the values of their
fields.

``packet_rows`` and ``rpc_rows`` list the vectors, ``covering`` builds the covering array of messages, ``reading``
reads the fields from bytes, and ``write`` writes the JSON files. ``schema.json`` describes the format of a file.
"""
