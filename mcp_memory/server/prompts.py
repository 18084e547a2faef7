"""Prompts that a person picks from a menu; their texts are in ``prompts/mcp/``."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from mcp_memory import texts
from mcp_memory.errors import InvalidInput

PROMPTS = (
    Prompt(
        name="remember",
        title="Remember this conversation",
        description="Save what matters from this conversation.",
        arguments=[PromptArgument(name="topic", description="Only what concerns this; left out: everything.")],
    ),
    Prompt(
        name="recall",
        title="Recall",
        description="Answer a question from memory, with citations.",
        arguments=[PromptArgument(name="question", description="What you want to know.", required=True)],
    ),
    Prompt(
        name="investigate",
        title="Investigate",
        description="Walk memory step by step: keep what helps, see what is missing, conclude, with citations.",
        arguments=[
            PromptArgument(name="question", description="What you want to find out.", required=True),
            PromptArgument(name="operator", description="The step to begin with; left out: whichever fits."),
        ],
    ),
    Prompt(
        name="review",
        title="Review",
        description="What changed about someone or something, with times.",
        arguments=[
            PromptArgument(name="about", description="A person, place or thing.", required=True),
            PromptArgument(name="relation", description="Only this of it, such as lives_in; left out: everything."),
        ],
    ),
    Prompt(
        name="consolidate",
        title="Consolidate",
        description="Organise memory around a goal: join what belongs together, and names that mean one thing.",
        arguments=[PromptArgument(name="goal", description="A question or topic.", required=True)],
    ),
)
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
