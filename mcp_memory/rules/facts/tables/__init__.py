"""Tables of words by kind, to read and to extend: nouns, tools, words of articles, closed classes."""
