import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { packageRoot } from '../../package-root.js';
import { addOwnFile } from '../reference/own-file.js';
import { INBOX_STATES } from '../../protocol/events.js';
import { CHECK_FIRST, FLOW_KINDS, FLOW_STATES, PARK_SENTENCES } from '../../protocol/vocabulary.js';

const PAGE_FOLDER = new URL('./page/', import.meta.url);
const MODULES = ['api.js', 'app.js', 'flow.js', 'flows.js', 'inbox.js', 'parts.js'];
/** What a person on call reads, shown beside the decision. */
const DOCS = ['parked-flows.md', 'runbook.md'];
/** The library, as it is published: the browser loads it from this gateway, without a build step. */
const IMPORT_MAP = JSON.stringify({
  imports: { preact: '/console/preact.js', 'preact/hooks': '/console/hooks.js', htm: '/console/htm.js' },
});

/** The same words as in the CLI and the docs. */
const WORDS = Object.entries({ CHECK_FIRST, PARK_SENTENCES, FLOW_KINDS, FLOW_STATES, EVENT_STATES: INBOX_STATES })
  .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
  .join('');

/** Only its own scripts and styles, and no calls to any other host. */
const PAGE_POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}'`,
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * `/console`: pages for people who decide about parked flows. They call only the public API, with the token of the
 * person who signed in; the content served here is the same for everyone.
 */
export async function consolePages(
  server: FastifyInstance,
  { uiUrl, namespace }: { readonly uiUrl: string | undefined; readonly namespace: string },
): Promise<void> {
  const isKnown = uiUrl !== undefined && URL.canParse(uiUrl);
  const page = pageWith(
    isKnown ? `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/` : '',
  );
  server.get('/console', async (_request, reply) =>
    reply
      .header('content-security-policy', PAGE_POLICY)
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(page),
  );
  const { resolve } = createRequire(import.meta.url);
  const files: readonly (readonly [string, string | URL])[] = [
    ...['console.css', ...MODULES].map((name) => [name, new URL(name, PAGE_FOLDER)] as const),
    ['preact.js', resolve('preact')],
    ['hooks.js', resolve('preact/hooks')],
    // Node's `require` finds a different module format, which no browser reads.
    ['htm.js', join(dirname(resolve('htm')), 'htm.module.js')],
  ];
  const add = (name: string, read: () => Promise<string | Buffer>) => {
    const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
    addOwnFile(server, { path: `/console/${name}`, type, cacheControl: 'no-cache', read });
  };
  for (const [name, path] of files) add(name, () => readFile(path));
  for (const name of DOCS) {
    const read = () => readFile(join(packageRoot(), 'docs', name));
    addOwnFile(server, {
      path: `/console/${name}`,
      type: 'text/markdown; charset=utf-8',
      cacheControl: 'no-cache',
      read,
    });
  }
  add('words.js', () => Promise.resolve(WORDS));
}

const pageWith = (flowsInUi: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Towline console</title>
<link rel="icon" href="/docs/favicon.png">
<link rel="stylesheet" href="/console/console.css">
<script type="importmap">${IMPORT_MAP}</script>
<script type="module" src="/console/app.js"></script>
</head>
<body>
<div id="console" data-ui="${flowsInUi.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></div>
</body>
</html>
`;
