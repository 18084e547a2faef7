"""What a client can read without a tool: the guide, and what a space holds, one file for each kind of content."""
