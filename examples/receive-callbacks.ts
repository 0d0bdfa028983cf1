// Receives a flow's callbacks. In this repository:
// `CALLBACK_SECRETS=whsec_… PORT=9000 node --import ./tools/typescript.mjs examples/receive-callbacks.ts`.
// Verifies each, takes each change once, and ignores what is older than what it has. Answers 2xx only when that is kept:
// what is answered otherwise is sent again. `readCallback` is Standard Webhooks and a type: there is a library for that in
// every language.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallbackError, readCallback } from 'towline';

const { CALLBACK_SECRETS = '', PORT = '9000' } = process.env;
if (CALLBACK_SECRETS === '') throw new Error('Set CALLBACK_SECRETS to what "towline callbacks secret" prints.');
const secrets = CALLBACK_SECRETS.split(',');

// In your service: a table, written in the transaction that acts on the change. Key: the id; newest per flow.
const seen = new Set<string>();
const newest = new Map<string, string>();

async function receive(request: IncomingMessage): Promise<number> {
  // The bytes as they came: JSON that was parsed and written again has another signature.
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const { id, timestamp, flow } = readCallback({ secrets, headers: request.headers, body: Buffer.concat(chunks) });
    if (seen.has(id)) console.log(`${flow.flowId}: known`);
    else if (timestamp <= (newest.get(flow.flowId) ?? '')) console.log(`${flow.flowId}: older than what is known`);
    else {
      newest.set(flow.flowId, timestamp);
      console.log(`${flow.flowId}: ${flow.state} (${flow.stage})`);
    }
    seen.add(id);
    return 204;
  } catch (error) {
    return error instanceof CallbackError ? 401 : 500;
  }
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
}).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`callbackUrl: http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
