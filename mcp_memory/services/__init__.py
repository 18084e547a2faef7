"""One file for each tool: what happens, in which order. The rooms hold the thinking."""
