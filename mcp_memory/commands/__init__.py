"""Commands for people: look at the memory from a terminal, and move it.

    arguments.py   the commands: what does each, what it takes, and examples
    terminal.py    what is printed: escaped, coloured on a terminal only, or JSON
    show.py        ``mcp-memory show``, ``list`` and ``search``
    view.py        ``mcp-memory view``: the graph in a browser
    care.py        ``mcp-memory status``, ``doctor``, ``forget`` and ``token``
    transfer.py    ``mcp-memory export``, ``import``, ``backup`` and ``restore``
    trials.py      ``mcp-memory check`` and ``demo``: start a server, and talk to it as a client
    install.py     ``mcp-memory install``: the clients, and how an entry of their files changes

Commands open the store as any other process does, so they work while servers run on it. Looking stores nothing, and
loads the model only to search.
"""
