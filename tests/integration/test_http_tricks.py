"""Requests over HTTP that say two things at once, or say one in an odd way, reach nothing that their token does not."""

import json

import httpx2
import pytest
from integration.http_server import listening
from integration.test_http_attacks import HEADERS, LIST, grant, guarded, post, request, tool
from word_memory import WordMemory

pytestmark = pytest.mark.anyio
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
NAMED = [("Mcp-Method", "tools/call"), ("Mcp-Name", "memory_reconstruct")]
ANNS = tool("memory_reconstruct", query="pump", space="ann")
TEXT = json.dumps(ANNS)


def recall_in(space):
    arguments = {"query": "pump", "space": space}
    return request("tools/call", name="memory_reconstruct", arguments=arguments, _meta=META)


def modern(*headers):
    return [("MCP-Protocol-Version", MODERN), *(headers or NAMED)]


TRICKS = {
    "a header names another space than the call": (modern(*NAMED, ("Mcp-Param-Space", "bob")), recall_in("ann"), 403),
    "two headers name two spaces": (
        modern(*NAMED, ("Mcp-Param-Space", "bob"), ("Mcp-Param-Space", "ann")), recall_in("ann"), 403,
    ),
    "a header names a space that the call has not": (modern(*NAMED, ("Mcp-Param-Space", "ann")), recall_in("bob"), 400),
    "no header names the space": (modern(), recall_in("bob"), 400),
    "the headers name a harmless method": (
        modern(("Mcp-Method", "tools/list"), ("Mcp-Name", "memory_status")), recall_in("ann"), 403,
    ),
    "the headers name another tool": (
        modern(("Mcp-Method", "tools/call"), ("Mcp-Name", "memory_status"), ("Mcp-Param-Space", "bob")),
        recall_in("bob"), 400,
    ),
    "several calls in one body": ([], [ANNS, LIST], 400),
    "one key twice, the foreign space last": ([], TEXT.replace('"space"', '"space": "bob", "space"'), 403),
    "one key twice, the tool last": ([], TEXT.replace('"name"', '"name": "memory_status", "name"'), 403),
    "a mark before the body": ([], b"\xef\xbb\xbf" + TEXT.encode(), 400),
    "another encoding": ([], TEXT.encode("utf-16"), 400),
    "another case": ([], tool("memory_reconstruct", query="pump", space="ANN"), 403),
    "another method in a header": ([("X-HTTP-Method-Override", "GET")], ANNS, 403),
    "an encoding that it has not": ([("Content-Encoding", "gzip")], ANNS, 403),
    "another user in a header": ([("X-Forwarded-User", "ann"), ("X-Remote-User", "ann")], ANNS, 403),
    "another path in a header": ([("X-Original-URL", "/healthz"), ("X-Rewrite-URL", "/healthz")], ANNS, 403),
}  # fmt: skip


@pytest.mark.parametrize(("headers", "body", "status"), TRICKS.values(), ids=TRICKS)
async def test_a_request_that_says_two_things_is_refused(headers, body, status, tmp_path):
    async with guarded(tmp_path, WordMemory(), json=True) as (url, file, ann):
        assert (await post(url, ann, tool("memory_write", text="The pump leaks."))).status_code == 200
        bob = file.add(grant("bob", "bob"))
        usual = HEADERS | {"Authorization": f"Bearer {bob}", "Content-Type": "application/json"}
        given = [*(pair for pair in usual.items() if pair[0] not in dict(headers)), *headers]
        content = body if isinstance(body, (str, bytes)) else json.dumps(body)
        async with httpx2.AsyncClient() as http:
            reply = await http.post(f"{url}/mcp", headers=given, content=content)
    assert reply.status_code == status, reply.text
    assert "leaks" not in reply.text


async def test_other_methods_and_other_spellings_of_the_path_need_a_token_as_well(tmp_path):
    async with guarded(tmp_path) as (url, _, ann), httpx2.AsyncClient() as http:
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"):
            assert (await http.request(method, f"{url}/mcp", headers=HEADERS)).status_code == 401, method
            if method != "GET":
                allowed = HEADERS | {"Authorization": f"Bearer {ann}"}
                assert (await http.request(method, f"{url}/mcp", headers=allowed)).status_code == 405, method
        for path in ("/mcp/", "/mcp%2f", "/./mcp", "/x/../mcp", "//mcp", "/MCP", "/mcp;x", "/metrics/", "/mcp/mcp"):
            reply = await http.post(f"{url}{path}", headers=HEADERS, json=LIST)
            assert reply.status_code in (401, 404), path
            reply = await http.post(f"{url}{path}", headers=HEADERS | {"Host": "evil.example"}, json=LIST)
            assert reply.status_code in (421, 404), path


async def test_an_address_with_a_slash_at_its_end_is_served_too():
    async with listening() as url, httpx2.AsyncClient() as http:
        assert (await http.post(f"{url}/mcp/", headers=HEADERS, json=request("ping"))).status_code in (200, 400)
