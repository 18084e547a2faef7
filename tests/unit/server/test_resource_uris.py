"""URIs of resources are made as the SDK makes them."""

import pytest
from mcp.shared.uri_template import UriTemplate

from mcp_memory.server.resources.catalogue import FAMILIES, match
from mcp_memory.server.resources.uris import uri_of

ODD = ("Ines", "a/b?c&d=e#f", "{x}", "100 %", "Zoë ~._-", "\n", "名前")


@pytest.mark.parametrize("template", FAMILIES, ids=lambda one: one.name)
def test_a_uri_with_odd_values_is_the_same_as_the_sdks_and_gives_the_values_back(template):
    sdk = UriTemplate.parse(template.uri)
    for value in ODD:
        values = dict.fromkeys(sdk.variable_names, value)
        assert uri_of(template.name, values) == sdk.expand(values)
        assert match(uri_of(template.name, values)) == (template, values)


def test_values_after_the_question_mark_may_be_missing_and_others_are_ignored():
    assert uri_of("entity", {"space": "a", "name": "b", "depth": "2"}) == "memory://a/entities/b"
    assert uri_of("graph", {"space": "a", "as_of": "2024"}) == "memory://a/graph?as_of=2024"
