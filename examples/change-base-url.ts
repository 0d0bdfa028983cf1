// An integration of the service as it is, without anything of Towline: it sends crypto and reads its status. It
// becomes durable by changing one line, its base URL, from the service to the gateway. In this repository:
// `node --import ./tools/typescript.mjs examples/change-base-url.ts send-1003`.
// SERVICE_URL and SERVICE_TOKEN are those of the service; the gateway takes the token that the service takes, or its own.
import { setTimeout as sleep } from 'node:timers/promises';

// Before: https://the-service.example
const { SERVICE_URL = 'http://127.0.0.1:8400', SERVICE_TOKEN = 'dev-token' } = process.env;

interface Envelope {
  readonly success: boolean;
  readonly message?: string;
  readonly data?: { readonly status?: string };
}

async function call(method: string, path: string, body?: object): Promise<{ status: number; envelope: Envelope }> {
  const answer = await fetch(SERVICE_URL + path, {
    method,
    headers: { authorization: `Bearer ${SERVICE_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, envelope: (await answer.json()) as Envelope };
}

const referenceId = process.argv[2] ?? `send-${Date.now()}`;
const order = {
  referenceId,
  chain: 'CELO',
  token: 'CUSD',
  cryptoAmount: 5,
  receiverAddress: '0x00000000000000000000000000000000000000aa',
};

// Only the gateway answers 202: the service's answer is not known yet, and the same request again gets it. After a lost
// answer, too, it is safe to send it to the gateway again: one reference is paid once.
let sent = await call('POST', '/api/v3/onramp/crypto', order);
for (let tries = 1; tries < 60 && sent.status === 202; tries += 1) {
  await sleep(1_000);
  sent = await call('POST', '/api/v3/onramp/crypto', order);
}
console.log(`sent: ${sent.status} ${sent.envelope.data?.status ?? sent.envelope.message}`);

for (let tries = 0; tries < 60; tries += 1) {
  const { envelope } = await call('GET', `/api/v3/onramp/crypto/${referenceId}`);
  const status = envelope.data?.status;
  if (status !== undefined && /^(SUCCESS|SUCCESSFUL|COMPLETED|FAILED)$/.test(status)) {
    console.log(`became: ${status}`);
    break;
  }
  await sleep(500);
}
