"""Judgements without an LLM: rules and arithmetic over what is stored; nothing leaves the machine."""
