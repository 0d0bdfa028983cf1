// Starts a bridge transfer from a Temporal client: `node examples/start-by-temporal-client.mjs order-1005`.
// What a client of any language needs: the workflow type, the task queue, the id, and a payload codec. This one asks the
// gateway's codec server, so that the client holds no keys. The flow checks its input itself.
// Needs a running Towline (`npm start`), and TEMPORAL_ADDRESS as that prints it: its Temporal may not have the usual port.
// GATEWAY_URL and TOWLINE_TOKEN name another gateway.
import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';

const {
  TEMPORAL_ADDRESS,
  GATEWAY_URL = 'http://127.0.0.1:8400',
  TOWLINE_TOKEN = 'dev-token',
  TASK_QUEUE = 'towline',
} = process.env;

if (!TEMPORAL_ADDRESS) throw new Error('Set TEMPORAL_ADDRESS to the address that `npm start` has printed.');

const remoteCodec = {
  encode: (payloads) => codec('encode', payloads),
  decode: (payloads) => codec('decode', payloads),
};

const input = JSON.parse(await readFile(new URL('./bridge-transfer.json', import.meta.url), 'utf8'));
input.provider_reference_id = process.argv[2] ?? `order-${Date.now()}`;

const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
const client = new Client({ connection, dataConverter: { payloadCodecs: [remoteCodec] } });
const flow = await client.workflow.start('bridgeTransfer', {
  taskQueue: TASK_QUEUE,
  workflowId: `bridge-transfer/${input.provider_reference_id}`,
  // One reference is one flow, running or closed.
  workflowIdConflictPolicy: 'USE_EXISTING',
  workflowIdReusePolicy: 'REJECT_DUPLICATE',
  args: [input],
});
console.log(`${flow.workflowId} runs`);

// Failed, expired and cancelled flows reject here; `type` of the cause is the reason.
const { view } = await flow.result();
console.log(`${view.flowId}: ${view.state}. ${view.outcome.detail}`);
await connection.close();

/** Temporal's codec protocol: payloads as JSON, with their bytes in base64. */
async function codec(operation, payloads) {
  const text = (bytes) => Buffer.from(bytes ?? []).toString('base64');
  const bytes = (base64) => new Uint8Array(Buffer.from(base64 ?? '', 'base64'));
  const mapValues = (object, change) =>
    Object.fromEntries(Object.entries(object ?? {}).map(([name, value]) => [name, change(value)]));

  const answer = await fetch(`${GATEWAY_URL}/codec/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOWLINE_TOKEN}` },
    body: JSON.stringify({
      payloads: payloads.map(({ metadata, data }) => ({ metadata: mapValues(metadata, text), data: text(data) })),
    }),
  });
  if (!answer.ok) throw new Error(`the codec server answered ${answer.status}`);
  const { payloads: changed } = await answer.json();
  return changed.map(({ metadata, data }) => ({ metadata: mapValues(metadata, bytes), data: bytes(data) }));
}
