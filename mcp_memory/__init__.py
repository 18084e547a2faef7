"""A long-term memory for any client of the Model Context Protocol.

``server/tools/`` has one file for each tool: it checks the arguments and words the reply. ``memory.py`` calls the
service of the tool. ``services/`` runs the steps of a call, the rooms (``search``, ``navigation``, …) compute, and
``storage/`` keeps the rows. ``wiring.py`` opens the adapters, ``settings.py`` loads the configuration.
``docs/ARCHITECTURE.md`` walks one write and one answer from file to file.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""NumPy's library starts a thread for each processor, and each waits busily for the next product: beside other work a
recall took five times the processor time. It reads this when NumPy is imported, which this package does later."""

__version__ = "0.1.0"
