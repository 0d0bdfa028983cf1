import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider, type Configuration } from 'oidc-provider';

interface Issuer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface TestIssuer extends Issuer {
  /** An access token for the audience, with this subject and role, as the provider signs it now. */
  accessToken(options: {
    readonly subject: string;
    readonly role?: unknown;
    readonly audience?: string;
    readonly oid?: string;
  }): Promise<string>;
}

/** A key of an issuer, with its private half. */
export async function newSigningKey(kid: string, alg = 'RS256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
}

const CLIENT = { id: 'temporal-ui', secret: 'the-secret-of-the-temporal-ui' };

/** `oidc-provider` on loopback, which gives tokens to a client by its own credentials. */
export async function openIssuer(key: JWK, port = 0, subjectTypes = ['public']): Promise<TestIssuer> {
  const server = await listening(port);
  let asked: { subject: string; role?: unknown; oid?: string } = { subject: 'nobody' };
  const { url, provider, close } = serveProvider(server, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: (key.alg ?? 'RS256') as 'RS256',
      },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, indicator) => ({
          scope: 'towline',
          audience: indicator.slice(indicator.lastIndexOf('/') + 1),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: (key.alg ?? 'RS256') as 'RS256' } },
        }),
      },
    },
    // A person who has logged in has a subject of their own: here the test chooses it.
    extraTokenClaims: () => ({ towline_role: asked.role, oid: asked.oid }),
    formats: { customizers: { jwt: (_context, _token, parts) => void (parts.payload.sub = asked.subject) } },
  });
  provider.use(async (context, next) => {
    await next();
    if (context.oidc?.route === 'discovery')
      Object.assign(context.body as object, { subject_types_supported: subjectTypes });
  });
  return {
    url,
    async accessToken({ audience = 'towline', ...who }) {
      asked = who;
      const answer = await fetch(`${url}/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          scope: 'towline',
          resource: `https://audience.test/${audience}`,
        }),
      });
      const { access_token: token } = (await answer.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`the issuer gave no token (${answer.status})`);
      return token;
    },
    close,
  };
}

/**
 * `oidc-provider` on loopback with its own login page, which takes any name and any password. Its access tokens are
 * readable only by itself; the id token has the person's role.
 */
export async function openLogin(
  client: { readonly id: string; readonly secret: string; readonly redirectUri: string },
  roles: Readonly<Record<string, string>>,
): Promise<Issuer> {
  return serveProvider(await listening(0), {
    jwks: { keys: [await newSigningKey('login')] },
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUri] }],
    cookies: { keys: ['of-this-test'] },
    claims: { openid: ['sub', 'name', 'towline_role'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: id, ...(roles[id] === undefined ? {} : { towline_role: roles[id] }) }),
    }),
  });
}

async function listening(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function serveProvider(server: Server, configuration: Configuration): Issuer & { readonly provider: Provider } {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, configuration);
  // Another issuer may follow on the same port: no client may send to it on a connection to this one.
  server.maxRequestsPerSocket = 1;
  let handle: ReturnType<Provider['callback']> | undefined;
  server.on('request', (request, response) => void (handle ??= provider.callback())(request, response));
  return {
    url,
    provider,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
