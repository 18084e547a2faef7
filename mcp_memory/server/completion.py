"""Complete what people fill into prompts and URIs of resources: spaces, entities, relations, operators, ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, get_args

from mcp_types import Completion, PromptReference, ResourceTemplateReference

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.relations import relations
from mcp_memory.server.resources import catalogue
from mcp_memory.server.tools.explore import OperatorName

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

COMPLETIONS = 100
"""Most values in a completion; the protocol allows no more."""


async def complete(
    memory: Memory,
    reference: PromptReference | ResourceTemplateReference,
    argument: str,
    prefix: str,
    values: Mapping[str, str],
) -> Completion:
    """Return the values of an argument that begin with a prefix, in any case.

    Args:
        memory: of the caller.
        reference: the prompt or the template that has the argument.
        argument: its name.
        prefix: what is typed so far.
        values: of other arguments; ``space`` says where to look.
    """
    caller = CALLER.get()
    async with memory.store.reading() as view:
        name = values.get("space", MEANT_SPACE.get())
        options: Iterable[str] = ()
        if argument == "space":
            options = sorted(caller.visible(view.spaces))
        elif caller.may(("read",), name):
            options = _in_space(view.space(name), reference, argument)
        matching = [option for option in options if option.casefold().startswith(prefix.casefold())]
    return Completion(values=matching[:COMPLETIONS], total=len(matching), has_more=len(matching) > COMPLETIONS)


def _in_space(space: Space, reference: PromptReference | ResourceTemplateReference, argument: str) -> Iterable[str]:
    if argument == "id" and isinstance(reference, ResourceTemplateReference):
        return catalogue.ids_of(reference.uri, space)
    if argument in ("name", "entity", "about"):
        return sorted(space.facts.name(key) for key in space.facts.entities())
    if argument == "relation":  # first those that facts of the space have
        return dict.fromkeys([*sorted({row.relation for row in space.facts.rows}), *(one.name for one in relations())])
    return get_args(OperatorName) if argument == "operator" else ()
