// An OAuth 2.1 server on loopback, for against_issuer.py: it gives a client JWTs for the resource that it names.
import Provider from 'oidc-provider';

const port = Number(process.argv[2]);
const scope = 'memory:read:team memory:write:team memory:read:notes';
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'agent',
      client_secret: 'a-secret-of-the-agent',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: scope.split(' '),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        scope,
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 60,
      }),
    },
  },
});
provider.listen(port, '127.0.0.1');
