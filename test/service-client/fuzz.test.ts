import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createServiceClient, type ServiceClient } from '../../src/service-client/index.js';
import { bridgeDeposit, bridgeDepositAnswer } from './samples.js';
import { serveHttp, type ScriptedServer } from './scripted-server.js';

const RUNS = 400;
const endings: Record<string, number> = { accepted: 0, unknown: 0 };
let body: Buffer | string = '';
let status = 200;
let server: ScriptedServer;
let client: ServiceClient;

beforeAll(async () => {
  server = await serveHttp((response) => response.writeHead(status).end(status === 204 ? undefined : body));
  client = createServiceClient({ baseUrl: server.url, token: () => Promise.resolve('t'), timeoutMs: 5_000 });
});
afterAll(async () => {
  client.close();
  await server.close();
});

const valid = JSON.stringify(bridgeDepositAnswer);
/** No refusals among them: `success: false` with a reason is the one 2xx that may be called rejected. */
const noReason = (value: unknown) =>
  !/"(message|error|code|error_code)"/.test(JSON.stringify(value) ?? '') &&
  !/duplicate/i.test(JSON.stringify(value) ?? '');
const trap = fc.constantFrom<unknown>(
  null,
  '',
  '9007199254740993',
  1e300,
  -0,
  [],
  {},
  { __proto__: null },
  'x'.repeat(5_000),
);
const member = fc.constantFrom(
  'success',
  'data',
  'status',
  'kotani_reference_id',
  '__proto__',
  'constructor',
  'toString',
);
const objects = fc.dictionary(member, fc.oneof(trap, fc.boolean(), fc.string(), fc.dictionary(member, trap)));
const bodies: fc.Arbitrary<Buffer | string> = fc.oneof(
  fc.string(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fc.json(),
  objects.filter(noReason).map((value) => JSON.stringify(value)),
  // A valid answer, cut, with a byte changed, or with something put in between.
  fc.nat(valid.length).map((length) => valid.slice(0, length)),
  fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(valid);
    bytes[at] = byte;
    return bytes;
  }),
  fc.tuple(fc.nat(valid.length), fc.string()).map(([at, text]) => `${valid.slice(0, at)}${text}${valid.slice(at)}`),
  fc.constantFrom('<!doctype html>', 'null', 'true', '0', '[]', '1e400', '{"success":true}', '﻿' + valid, 'NaN'),
  fc.nat(50_000).map((depth) => `${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`),
);

/** The status that a flow uses is in the answer, and is about the requested reference. */
function isWhatTheBodySays(data: { status: string; provider_reference_id?: string | null | undefined }): boolean {
  const { data: said } = JSON.parse(new TextDecoder().decode(Buffer.from(body))) as { data: Record<string, unknown> };
  return data.status === said['status'] && data.provider_reference_id === said['provider_reference_id'];
}

it(`the service client makes of ${RUNS} fuzzed 2xx bodies for a money POST an accepted or an unknown one, never a refusal or a crash`, async () => {
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom(200, 201, 202, 204, 206, 299), async (fuzzed, fuzzedStatus) => {
      body = fuzzed;
      status = fuzzedStatus;
      const ending = await client.createBridgeDeposit(bridgeDeposit).then(
        (data) => (isWhatTheBodySays(data) ? 'accepted' : 'broken'),
        (error: Error) => (error.name === 'UnknownOutcomeError' ? 'unknown' : error.name),
      );
      endings[ending] = (endings[ending] ?? 0) + 1;
      expect(['accepted', 'unknown']).toContain(ending);
    }),
    { numRuns: RUNS },
  );
  expect(Object.keys(endings).sort()).toEqual(['accepted', 'unknown']);
  expect(endings['unknown']).toBeGreaterThan(200);
  process.stdout.write(`fuzzed 2xx bodies: ${JSON.stringify(endings)}\n`);
  expect(Object.prototype).not.toHaveProperty('status');
});
