"""An issuer of tokens on loopback, with its metadata and its published keys, and tokens as it signs them."""

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

AUDIENCE = "https://memory.example/mcp"
HEADER = {"alg": "ES256", "kid": "one", "typ": "at+jwt"}


class PublishedIssuer:
    """The pages of an issuer, and how often each was asked for. Use it as a context."""

    def __enter__(self):
        self.asked, self.keys, self.down, self.broken = [], {}, False, False
        issuer = self

        class Pages(BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked.append(self.path)
                page = None if issuer.down else issuer.pages().get(self.path)
                self.send_response(200 if page else 404)
                self.end_headers()
                broken = issuer.broken and self.path == "/keys"
                self.wfile.write(b"<html>" if broken else json.dumps(page or {}).encode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self.home = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.home}/realm"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.key = self.add_key("one")
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def pages(self):
        secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}
        return {
            "/.well-known/oauth-authorization-server/realm": {"issuer": self.url, "jwks_uri": f"{self.home}/keys"},
            "/keys": {"keys": [secret, *self.keys.values()]},
        }

    def add_key(self, name):
        key = ec.generate_private_key(ec.SECP256R1())
        self.keys[name] = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())) | {"kid": name, "use": "sig"}
        return key

    def claims(self, **other):
        told = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 60}
        return told | {"scp": ["memory:read:*"]} | other

    def signed(self, payload=None, header=HEADER, key=None):
        """Return a token; what the library refuses to sign is signed by hand, and a text stands for itself."""
        said = [one if isinstance(one, str) else json.dumps(one) for one in (header, payload or self.claims())]
        text = ".".join(base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in said)
        algorithm = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
        signature = algorithm.sign(text.encode(), key or self.key)
        return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
