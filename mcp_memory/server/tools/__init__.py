"""The tools, one file each: arguments, description, checks, and the reply; `catalogue` lists them."""
