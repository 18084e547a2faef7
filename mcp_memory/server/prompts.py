"""What people pick and fill in: prompts of a menu, and completion of what goes into them and into URIs of resources.

Names and arguments of the prompts are in ``resources/prompts.json``, their texts in ``prompts/mcp/``. Spaces, entities,
relations, operators and ids are completed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mcp_types import (
    Completion,
    GetPromptResult,
    Prompt,
    PromptMessage,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
)
from pydantic import TypeAdapter

from mcp_memory import texts
from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.operators import OPERATORS
from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

PROMPTS = tuple(TypeAdapter(list[Prompt]).validate_json(texts.resource("prompts.json")))
_ABSENT = {"topic": "this whole conversation", "relation": "it", "operator": "whichever fits"}
"""Text of an argument that was left out."""


def fill(name: str, values: Mapping[str, str]) -> GetPromptResult:
    """Return a prompt with its arguments filled in.

    Raises:
        InvalidInput: there is no such prompt or argument, or one is missing.
    """
    prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if prompt is None:
        known = ", ".join(prompt.name for prompt in PROMPTS)
        raise InvalidInput("name", f"there is no prompt {name!r}", f"There are: {known}.")
    arguments = {argument.name: argument for argument in prompt.arguments or ()}
    for unknown in values.keys() - arguments:
        raise InvalidInput(unknown, f"the prompt {name!r} has no such argument", f"Known here: {', '.join(arguments)}.")
    given = {key: value for key, value in values.items() if value.strip()}
    for argument in arguments.values():
        if argument.required and argument.name not in given:
            raise InvalidInput(argument.name, "is missing", "It cannot be left out.")
    text = texts.prompt(f"mcp/{name}.txt").substitute(_ABSENT | given)
    message = PromptMessage(role="user", content=TextContent(type="text", text=text.strip()))
    return GetPromptResult(description=prompt.description, messages=[message])


MOST_COMPLETIONS = 100
"""Most values in a completion; the protocol allows no more."""


async def complete(
    memory: Memory,
    reference: PromptReference | ResourceTemplateReference,
    argument: str,
    prefix: str,
    values: Mapping[str, str],
) -> Completion:
    """Return the values of an argument that begin with a prefix, in any case."""
    caller = CALLER.get()
    async with memory.store.reading() as view:
        name = values.get("space", MEANT_SPACE.get())
        options: Iterable[str] = ()
        if argument == "space":
            options = sorted(caller.visible(view.spaces))
        elif caller.may(("read",), name):
            options = _in_space(view.space(name), reference, argument)
        matching = [option for option in options if option.casefold().startswith(prefix.casefold())]
    return Completion(
        values=matching[:MOST_COMPLETIONS], total=len(matching), has_more=len(matching) > MOST_COMPLETIONS
    )


def _in_space(space: Space, reference: PromptReference | ResourceTemplateReference, argument: str) -> Iterable[str]:
    from mcp_memory.domain.relations import relations  # which no client needs to wait for that completes nothing
    from mcp_memory.server.resources import catalogue

    if argument == "id" and isinstance(reference, ResourceTemplateReference):
        return catalogue.ids_of(reference.uri, space)
    if argument in ("name", "entity", "about"):
        return sorted(space.facts.name(key) for key in space.facts.entities())
    if argument == "relation":  # first those that facts of the space have
        return dict.fromkeys([*sorted({row.relation for row in space.facts.rows}), *(one.name for one in relations())])
    return OPERATORS if argument == "operator" else ()
