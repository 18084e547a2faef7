"""A long-term memory for any client of the Model Context Protocol.

``server/tools/`` has one file for each tool: it checks the arguments and words the reply. ``memory.py`` calls the
service of the tool. ``services/`` runs the steps of a call, the rooms (``search``, ``navigation``, …) compute, and
``storage/`` keeps the rows. ``wiring.py`` opens the adapters, ``settings.py`` loads the configuration.
``docs/ARCHITECTURE.md`` walks one write and one answer from file to file.
"""

__version__ = "0.1.0"
