"""The MCP server: names, schemas and texts of tools, resources and prompts; it computes nothing itself."""
