import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { AddedRoute } from '../http/server.js';
import { gatewayDocument, type Urls } from './document.js';
import { addOwnFile, type OwnFile } from './own-file.js';

const UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Files of the reference's own pages; everything that a browser loads comes from this gateway. */
const FILES: Readonly<Record<string, Pick<OwnFile, 'type' | 'read'>>> = {
  'swagger-ui.css': { type: 'text/css', read: () => readFile(join(UI, 'swagger-ui.css')) },
  'swagger-ui-bundle.js': { type: 'text/javascript', read: () => readFile(join(UI, 'swagger-ui-bundle.js')) },
  'favicon.png': { type: 'image/png', read: () => readFile(join(UI, 'favicon-32x32.png')) },
  'start.js': { type: 'text/javascript', read: () => Promise.resolve(START) },
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Towline gateway</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** A token that is typed in stays in the page, and is gone with it. */
const START = `window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

/** The page runs only its own scripts, and calls no other host. Its styles are partly inline, its icons data. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** `GET /openapi.json` and, for people, `GET /docs`: made once, without any network. */
export async function reference(
  server: FastifyInstance,
  { routes, ...urls }: Urls & { readonly routes: () => readonly AddedRoute[] },
): Promise<void> {
  // Read once and shared: a client that sends many requests and reads no answer must not make us hold a copy for each.
  let document: Buffer | undefined;
  server.get('/openapi.json', { config: { isOurFile: true } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(gatewayDocument(urls, routes())));
    return reply.type('application/json').send(document);
  });

  server.get('/', async (_request, reply) => reply.redirect('/docs'));
  server.get('/docs', async (_request, reply) =>
    reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  for (const [name, file] of Object.entries(FILES))
    addOwnFile(server, { path: `/docs/${name}`, cacheControl: 'public, max-age=86400', ...file });
}
