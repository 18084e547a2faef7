"""A long-term memory for any client of the Model Context Protocol.

Follow one memory through the code: ``server/tools.py`` takes the call, ``services/`` says what happens in which
order, the rooms (``language``, ``search``, …) do the thinking, and ``storage/`` keeps the rows.
"""

__version__ = "0.1.0"
