"""Two systems that are both somebody else's: they exchange messages through the tester's relays.

``systems`` opens both and relays their traffic, ``scenarios`` has what they do, ``outcomes`` what came of it,
``running`` runs all scenarios in both directions, ``grid`` shows the result.
"""
