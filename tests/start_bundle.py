"""Start an extracted bundle as a host does whose user set nothing, and let it remember.

python tests/start_bundle.py FOLDER UV [placeholders]

``placeholders`` leaves ``${user_config.…}`` as it is, as some hosts do.
"""

import json
import os
import re
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

SETTING = re.compile(r"\$\{user_config\.\w+\}")
SAID = {"id": "m1", "speaker": "Ines", "text": "I moved to Porto on 8 September 2024."}


def parameters_of(folder: Path, command: str, home: Path, given: str | None) -> StdioServerParameters:
    """Return how a host starts the server of a bundle: by uv, or a Python that has what uv would install.

    ``given`` is what the person gave to every question; None leaves the placeholders.
    """

    def filled(text: str) -> str:
        text = text.replace("${__dirname}", str(folder))
        return text if given is None else SETTING.sub(given, text)

    started = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["server"]["mcp_config"]
    arguments = [filled(argument) for argument in started["args"]]
    if Path(command).stem != started["command"]:
        assert arguments[:3] == ["run", "--directory", str(folder)]
        arguments = arguments[3:]
    places = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "LOCALAPPDATA": str(home / "data")}
    kept = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "SSL_")) or name == "PATH"}
    env = {**kept, **places, **{name: filled(value) for name, value in started["env"].items()}}
    return StdioServerParameters(command=command, args=arguments, cwd=str(folder), env=env)


async def answer_of(parameters: StdioServerParameters) -> tuple[dict, dict]:
    """Return the reply to a question about what was just written, and the status."""
    async with Client(parameters, read_timeout_seconds=600) as client:
        written = await client.call_tool("memory_write", {"messages": [SAID], "session": "s", "wait": True})
        assert not written.is_error, written.content
        answered = await client.call_tool("memory_answer", {"question": "Where did Ines move to?"})
        status = await client.call_tool("memory_status", {})
        return answered.structured_content, status.structured_content


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    given = None if "placeholders" in sys.argv[3:] else ""
    answer, status = anyio.run(answer_of, parameters_of(folder, sys.argv[2], folder.parent / "home", given))
    assert answer["answer"] == "Porto", answer
    sys.stdout.write(f"the bundle answers; its store is {status['storage']['uri']}\n")


if __name__ == "__main__":
    main()
