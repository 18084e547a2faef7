"""Let a real OAuth 2.1 server (oidc-provider) issue tokens, and check what the server makes of them.

``python against_issuer.py FOLDER``: FOLDER holds issuer.mjs and the installed package; ``node`` is on the path.
"""

import base64
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import anyio
import httpx2
from integration.http_server import SETTINGS, client_of, listening

from mcp_memory.configurable import AccessSettings
from mcp_memory.wiring import open_access

PORT = 8958
ISSUER, AUDIENCE = f"http://127.0.0.1:{PORT}", "https://memory.example/mcp"


async def token_for(resource, scope):
    asked = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
    async with httpx2.AsyncClient() as http:
        reply = await http.post(f"{ISSUER}/token", data=asked, auth=("agent", "a-secret-of-the-agent"))
        return reply.raise_for_status().json()["access_token"]


async def status_of(url, token):
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers) as http:
        return (await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})).status_code


async def main(folder, issuer):
    async with httpx2.AsyncClient() as http:
        for _ in range(100):
            try:
                assert (await http.get(f"{ISSUER}/.well-known/openid-configuration")).json()["issuer"] == ISSUER
                break
            except httpx2.TransportError:
                await anyio.sleep(0.2)
    access = AccessSettings(str(folder / "tokens.json"), issuer=ISSUER, audience=AUDIENCE)
    settings = replace(SETTINGS, access=access)
    async with listening(settings, open_access(settings)) as url:
        token = await token_for(AUDIENCE, "memory:read:team memory:write:team")
        async with client_of(url, token) as client:
            for space, allowed in (("team", True), ("notes", False), ("default", False)):
                written = await client.call_tool("memory_write", {"text": "It leaks.", "space": space})
                assert bool(written.is_error) != allowed, space
            assert (await client.call_tool("memory_status", {})).structured_content["space"] == "team"
        assert await status_of(url, await token_for("https://else.example/mcp", "memory:read:team")) == 401
        assert await status_of(url, await token_for(AUDIENCE, "")) == 403
        signed, _, signature = token.rpartition(".")
        forged = [f"{signed}.", f"{signed}.{signature[:-4]}AAAA", f"{token}.{signature}", f"{token}AA"]
        header = base64.urlsafe_b64encode(b'{"alg": "RS256", "kid": "new", "typ": "at+jwt"}').decode().rstrip("=")
        unknown = f"{header}.{token.partition('.')[2]}"
        for wrong in (*forged, unknown):
            assert await status_of(url, wrong) == 401, wrong
        issuer.kill()
        issuer.wait()
        assert await status_of(url, token) == 400  # let in, as its key is known; without a session
        assert await status_of(url, unknown) == 401
        assert await status_of(url, token) == 400
    sys.stdout.write("tokens of oidc-provider: let in, kept to their spaces, and refused for another audience\n")
    sys.stdout.write("forged ones: refused; with the issuer gone, known keys go on and others are refused\n")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    issuer = subprocess.Popen(["node", "issuer.mjs", str(PORT)], cwd=place, stderr=subprocess.DEVNULL)
    try:
        anyio.run(main, place, issuer)
    finally:
        issuer.kill()
        issuer.wait()
