import { afterEach, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { createServiceClient } from '../../src/service-client/index.js';
import { CANARIES, cardDeposit } from './samples.js';
import { answerJson, closedPort, serveHttp, type ScriptedServer, type SeenRequest } from './scripted-server.js';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** What each error would print in a log, in a Temporal failure, and member by member. */
const printed = (error: unknown): string =>
  [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    JSON.stringify(error, Object.getOwnPropertyNames(error)),
    String((error as Error).stack),
    String((error as Error).cause),
  ].join('\n');

const secrets = [...Object.values(CANARIES), 'Canary', '700123456', '4111', 'Bearer'];

async function scripts(): Promise<string[]> {
  const echo = (status: number, message: (request: SeenRequest) => unknown) =>
    serveHttp((response, _, seen) => answerJson(response, status, message(seen)));
  const everything = (seen: SeenRequest) => `${seen.body} ${JSON.stringify(seen.headers)}`;
  const made = await Promise.all([
    echo(400, (seen) => ({ success: false, message: everything(seen), error_code: everything(seen) })),
    echo(400, ({ body }) => ({
      success: false,
      // Spelled otherwise than it was sent; names only if some were sent.
      message: `${body && 'CANARY HOLDER, cvv 987,'} 4111 1111-1111 1111, +256 700 123 456, 700123456`,
      data: { errors: [{ path: '4111111111111111' }, { path: 'card.number' }] },
    })),
    echo(200, (seen) => ({ success: false, message: [everything(seen)] })),
    echo(200, (seen) => ({ success: true, message: everything(seen), data: { id: everything(seen) } })),
    echo(500, everything),
    echo(429, everything),
    echo(401, everything),
    echo(409, (seen) => ({ success: false, message: everything(seen) })),
    echo(403, (seen) => ({ title: 'Forbidden', detail: everything(seen) })),
    echo(503, (seen) => ({ success: false, message: everything(seen) })),
    serveHttp((response) => response.writeHead(302, { location: `http://x/${CANARIES.token}` }).end()),
    serveHttp((response) => response.socket?.resetAndDestroy()),
  ]);
  servers.push(...made);
  return [...made.map(({ url }) => url), `http://127.0.0.1:${await closedPort()}`, 'https://nowhere.invalid'];
}

it('no error of the service client shows a token, a header, a card, a name or a phone number', async () => {
  const names = new Set<string>();
  for (const baseUrl of await scripts()) {
    const client = createServiceClient({ baseUrl, token: () => Promise.resolve(CANARIES.token), timeoutMs: 5_000 });
    const invalid = {
      ...cardDeposit,
      [CANARIES.card]: 1,
      card: { ...cardDeposit.card, number: 4_111_111_111_111_111 },
    };
    for (const call of [
      () => client.createCardDeposit(cardDeposit),
      () => client.createCardDeposit(invalid as unknown as typeof cardDeposit),
      () => client.getKycStatus(CANARIES.phone),
      () => client.getKycStatus('kyc-1'),
    ]) {
      const error = await call().then(
        () => expect('an error').toBe('thrown'),
        (caught: unknown) => caught,
      );
      names.add((error as Error).name);
      const text = printed(error);
      for (const secret of secrets) expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }
    client.close();
  }
  expect([...names].sort()).toEqual([
    'ContractBrokenError',
    'DuplicateReferenceError',
    'InvalidRequestError',
    'NotSentError',
    'RateLimitedError',
    'RejectedError',
    'ServiceUnavailableError',
    'TurnedAwayError',
    'UnknownOutcomeError',
  ]);
});
