"""The judgements that the rooms ask for, by whoever judges: ``embedded`` (no LLM) first."""
