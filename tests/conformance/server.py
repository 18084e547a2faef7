"""The server over HTTP with the tools, resources and prompts that the conformance suite calls.

They are added to ours by the same classes, so the suite tests how this server calls tools, reads resources, fills
prompts and reports progress. The memory is the tests' fake one. ``python server.py PORT`` serves
everybody; with ``--token`` a token is needed, which is put into each request here, since the suite cannot send one.
"""

import sys
from pathlib import Path
from string import Template as Text
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from mcp_types import Prompt, PromptArgument
from mcp_types import Tool as ToolDefinition
from word_memory import word_memory

from mcp_memory import texts
from mcp_memory.configurable import AccessSettings
from mcp_memory.domain.access import RIGHTS, Grant, Permission
from mcp_memory.errors import InvalidInput
from mcp_memory.server import app, prompts
from mcp_memory.server.http import listener
from mcp_memory.server.resources.catalogue import FAMILIES, Family
from mcp_memory.server.resources.uris import URIS
from mcp_memory.server.tools.arguments import Input
from mcp_memory.server.tools.catalogue import TOOLS, Tool
from mcp_memory.server.tools.replies import reply_of
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_access, token_file


class Arguments(Input):
    """What the suite sends."""

    message: str | None = None


async def say(_progress):
    return "This is a simple text response for testing."


async def fail(_progress):
    raise InvalidInput("nothing", "this tool intentionally returns an error for testing", "There is none.")


async def advance(progress):
    for done in (0, 50, 100):
        await progress(done, 100, "working")
    return "Done."


def fixture(act):
    async def run(_memory, _request, _args, progress):
        return reply_of([await act(progress)], engine="caller", warnings=[])

    return Tool(Arguments, lambda args: args, run)


for name, act in {
    "test_simple_text": say,
    "test_error_handling": fail,
    "test_tool_with_progress": advance,
    "test_logging_tool": say,
}.items():
    TOOLS[name] = fixture(act)
    schema = {"type": "object", "properties": {"message": {"type": "string"}}}
    app.DEFINITIONS[name] = ToolDefinition(name=name, description="A tool of the suite.", input_schema=schema)


async def text_of(_memory, values):
    return f"The content of the text resource {values.get('id', '')}."


for name in ("test://static-text", "test://watched-resource", "test://template/{id}/data"):
    URIS[name] = name
    FAMILIES.append(Family(name, "Of the suite.", text_of, mime_type="text/plain"))

ARGUMENTS = [PromptArgument(name=name, description="Any text.", required=True) for name in ("arg1", "arg2")]
prompts.PROMPTS += (
    Prompt(name="test_simple_prompt", description="Of the suite."),
    Prompt(name="test_prompt_with_arguments", description="Of the suite.", arguments=ARGUMENTS),
)
TEXTS = {
    "mcp/test_simple_prompt.txt": Text("This is a simple prompt for testing."),
    "mcp/test_prompt_with_arguments.txt": Text("Prompt with arguments: arg1='$arg1', arg2='$arg2'"),
}
known = texts.prompt
texts.prompt = lambda name: TEXTS.get(name) or known(name)


def with_token(app, token):
    async def add(scope, receive, send):
        if scope["type"] == "http":
            scope = scope | {"headers": [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]}
        await app(scope, receive, send)

    return add


if __name__ == "__main__":
    memory = word_memory()

    async def opened():
        return memory

    with TemporaryDirectory() as folder:
        settings = Settings(access=AccessSettings(str(Path(folder, "tokens.json"))))
        grant = Grant("suite", (Permission("*", RIGHTS),))
        token = token_file(settings).add(grant) if "--token" in sys.argv else None
        listening = listener(settings, ("127.0.0.1", int(sys.argv[1])), opened, open_access(settings))
        if token:
            listening.config.app = with_token(listening.config.app, token)
        listening.run()
