"""Extract facts from English text with rules: parse, match, produce, doubt (``extractor.py``)."""
