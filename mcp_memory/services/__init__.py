"""What happens in a call, step by step; the rooms compute.

``write``, ``answer`` (recall too), ``explore`` and ``evolve`` serve the tools. ``ingest`` derives rows from texts,
``graph`` draws. ``recall``, ``learn``, ``points`` and ``background`` hold what several of them need.
"""
