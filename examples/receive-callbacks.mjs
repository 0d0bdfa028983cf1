// Receives a flow's callbacks: `CALLBACK_SECRET=whsec_… PORT=9000 node examples/receive-callbacks.mjs`.
// Verifies each (Standard Webhooks: there is a library for every language), takes each change once, and ignores what is
// older than what it has. Answers 2xx only when that is kept: what is answered otherwise is sent again.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const { CALLBACK_SECRET = '', PORT = '9000' } = process.env;
const webhook = new Webhook(CALLBACK_SECRET);

// In your service: a table, written in the transaction that acts on the change. Key: webhook-id; newest per flow.
const seen = new Set();
const newest = new Map();

createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  try {
    // Over the raw text: JSON that was parsed and written again has another signature.
    webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  const id = request.headers['webhook-id'];
  const { timestamp, data } = JSON.parse(body);
  if (seen.has(id)) console.log(`${data.flowId}: known`);
  else if (timestamp <= (newest.get(data.flowId) ?? '')) console.log(`${data.flowId}: older than what is known`);
  else {
    newest.set(data.flowId, timestamp);
    console.log(`${data.flowId}: ${data.state} (${data.stage})`);
  }
  seen.add(id);
  response.writeHead(204).end();
}).listen(Number(PORT), '127.0.0.1', function listening() {
  console.log(`callbackUrl: http://127.0.0.1:${this.address().port}/`);
});
