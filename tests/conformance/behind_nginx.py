"""Serve behind a real nginx with the shipped configuration, and try what a proxy makes possible.

``python behind_nginx.py``: ``nginx`` and ``openssl`` are on the path. Of the configuration only places change: names of
replicas, ports and paths.
"""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import anyio
import httpx2
from integration.http_server import SETTINGS, free_port, listening
from integration.http_server import head as head_of

from mcp_memory.configurable import AccessSettings
from mcp_memory.domain.access import RIGHTS, Grant, Permission
from mcp_memory.wiring import open_access, token_file

CONF = Path(__file__).parents[2] / "packaging" / "compose" / "nginx.conf"
NAME = "memory.example"
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


def head(token, *lines, host=NAME):
    return head_of(token, more="".join(f"{line}\r\n" for line in lines), host=host)


def configured(folder, port, replica):
    """Write the shipped configuration with places of this machine."""
    text = re.sub(r"\n +server memory-[23]:.*", "", CONF.read_text("utf-8"))
    text = text.replace("memory-1:8765", replica).replace("listen 443", f"listen 127.0.0.1:{port}")
    text = text.replace("/etc/nginx/certificates", str(folder)).replace(" 20s;", " 2s;")
    text = text.replace("rate=50r/s", "rate=1r/s").replace("burst=200", "burst=10")
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"    {one}_temp_path {folder}/{one};\n" for one in kept)
    text = text.replace("http {\n", f"http {{\n    access_log off;\n{places}", 1)
    (folder / "nginx.conf").write_text(f"daemon off;\npid {folder}/pid;\nerror_log {folder}/log;\n{text}")
    subject = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *files, *subject]
    subprocess.run(made, check=True, capture_output=True)


def started(folder):
    return subprocess.Popen([shutil.which("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder)])


def raw(folder, port, *parts, tls=True):
    """Return what nginx or the server says to bytes."""
    context = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        stream = context.wrap_socket(plain, server_hostname=NAME) if tls else plain
        for part in parts:
            stream.sendall(part)
        try:
            return stream.recv(65_536)
        except ConnectionError:
            return b""


async def main(folder):
    port = free_port()
    access = AccessSettings(str(folder / "tokens.json"))
    http = replace(SETTINGS.http, url=f"https://{NAME}/mcp", proxies="127.0.0.1", stateless=True)
    settings = replace(SETTINGS, access=access, http=http)
    token = token_file(settings).add(Grant("ann", (Permission("ann", RIGHTS),)))
    done = []

    async def expect(what, parts, words, *, tls=True):
        said = await anyio.to_thread.run_sync(lambda: raw(folder, port, *parts, tls=tls))
        assert any(word in said for word in words), (what, said[:600])
        done.append(what)
        return said

    async with listening(settings, open_access(settings)) as url:
        configured(folder, port, url.removeprefix("http://"))
        nginx = started(folder)
        try:
            for _ in range(100):
                if nginx.poll() is None and socket.socket().connect_ex(("127.0.0.1", port)) == 0:
                    break
                await anyio.sleep(0.05)
            length = f"Content-Length: {len(PING)}"
            await expect("a call over TLS", (head(token, length), PING), [b" 200 "])
            await expect("plain HTTP at the port of TLS", (head(token, length), PING), [b" 400 "], tls=False)
            both = head(token, length, "Transfer-Encoding: chunked")
            await expect("two lengths", (both, b"2d\r\n" + PING + b"\r\n0\r\n\r\n"), [b" 400 "])
            await expect("another name", (head(token, length, host="evil.example"), PING), [b" 421 "])
            absolute = head(token, length).replace(b"POST /mcp", b"POST https://evil.example/mcp")
            await expect("another name in the target", (absolute, PING), [b" 421 ", b" 400 "])
            forged = ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http", "Forwarded: host=evil.example")
            said = await expect("forged forwarding", (head("x", length, *forged), PING), [b" 401 "])
            assert b"evil" not in said
            slow = await anyio.to_thread.run_sync(lambda: raw(folder, port, head(token, length), b"{"))
            assert not slow or b" 408 " in slow, slow  # a timeout would have been an error
            done.append("a slow body")
            await expect("a large body", (head(token, "Content-Length: 17000000"),), [b" 413 "])
            flood = partial(raw, folder, port, head("wrong", length), PING)
            said = [await anyio.to_thread.run_sync(flood) for _ in range(20)]
            assert b" 429 " in said[-1], said[-1]
            done.append("a flood of wrong tokens")
            await expect("a right token meanwhile", (head(token, length), PING), [b" 200 "])
            trusted = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
            async with httpx2.AsyncClient(verify=trusted) as client:
                began = time.monotonic()
                target = f"https://127.0.0.1:{port}/readyz"
                ready = await client.get(target, headers={"Host": NAME}, extensions={"sni_hostname": NAME})
                assert (ready.text, time.monotonic() - began < 5) == ("ok", True)
        finally:
            nginx.terminate()
            nginx.wait()
    sys.stdout.write(f"behind nginx: {', '.join(done)}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        anyio.run(main, Path(place))
