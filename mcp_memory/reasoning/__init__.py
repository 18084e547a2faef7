"""The judgements that the rooms ask for: ``embedded`` (no LLM), ``anthropic`` (Claude), and who of them is asked."""
