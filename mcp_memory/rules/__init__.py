"""The embedded engine: rules that read facts from text and choose answers, without a language model."""
