import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import type { Admitted } from '../../src/gateway/inbound/admission.js';
import { receiveEvent, SETTLEMENT_PROOFS, type Arrival } from '../../src/gateway/inbound/receive-event.js';
import type { SignatureVerdict } from '../../src/gateway/inbound/signatures.js';
import type { ReceivedEvent } from '../../src/protocol/events.js';

const FLOW = 'bridge-transfer/r1';

describe('an arriving event', () => {
  /** What was done with it, in turn. */
  let did: string[];
  let stored: ReceivedEvent[];
  let acknowledged: unknown[][];
  /** The codes of its lines in the log. */
  let logged: (string | undefined)[];
  let result: () => Promise<{ kind: 'stored' | 'duplicate' }>;
  beforeEach(() => {
    did = [];
    stored = [];
    acknowledged = [];
    logged = [];
    result = () => Promise.resolve({ kind: 'stored' });
  });

  const receive = (verdict: SignatureVerdict, changes: Partial<Arrival> = {}, value: unknown = { status: 'PAID' }) => {
    const raw = Buffer.from(JSON.stringify(value));
    const request = {
      id: 'q',
      ip: '203.0.113.9',
      body: { raw, read: async () => value },
      raw: { rawHeaders: ['A', 'b'] },
    };
    const arrival: Arrival = {
      source: 'callback',
      verify: (signed) => {
        did.push(`verify ${signed.header('a').join()}`);
        return verdict;
      },
      acceptedProofs: ['signature', 'capability', 'network'],
      proofs: [],
      label: () => ({ flowId: FLOW, reference: 'r1', status: 'PAID' }),
      ...changes,
    };
    const deps: Parameters<typeof receiveEvent>[0] = {
      store: { macs: (purpose, text) => [`${purpose} ${text}`, 'by an earlier key'] },
      receive: (event) => {
        did.push('store');
        stored.push(event);
        return result();
      },
      newEventId: () => 'evt_1',
      acknowledged: (...said) => acknowledged.push(said),
      logger: pino({}, { write: (line) => logged.push((JSON.parse(line) as { code?: string }).code) }),
      quota: {
        take: (bytes, isKnown) => void did.push(`quota ${isKnown ? 'known' : 'stranger'} ${bytes === raw.length}`),
      },
    };
    const admitted: Admitted = {
      isKnown: arrival.proofs.length > 0,
      received: () => undefined,
      proven(bytes, byUrlOf) {
        did.push(byUrlOf === undefined ? 'proven' : `charge ${byUrlOf} ${bytes === raw.length}`);
        return () => did.push('give back');
      },
      provenAnew: () => did.push('proven anew'),
      unproven: (bytes) => did.push(`unproven ${bytes === raw.length}`),
    };
    return receiveEvent(deps, request as unknown as FastifyRequest, arrival, admitted);
  };
  const status = (error: { status?: number; statusCode?: number }) => error.statusCode ?? error.status;
  const refused = (received: Promise<void>) => received.then(() => undefined, status);

  it('with a signature is stored as proven, with its labels, its content’s hashes and its body', async () => {
    await receive('valid');
    expect(did).toEqual(['verify b', 'proven', 'store', 'proven anew']);
    expect(stored).toEqual([
      {
        id: 'evt_1',
        source: 'callback',
        flowId: FLOW,
        reference: 'r1',
        status: 'PAID',
        proof: 'signature',
        contentHash: 'event {"status":"PAID"}',
        earlierHashes: ['by an earlier key'],
        body: { status: 'PAID' },
      },
    ]);
    expect(acknowledged).toEqual([['callback', 'stored', expect.any(Number)]]);
    const seconds = Number(acknowledged[0]?.[2]);
    expect(seconds >= 0 && seconds < 1).toBe(true);
  });

  it.each([
    ['a signature', { proofs: ['capability', 'network'] }, 'valid', 'signature'],
    ['its URL', { proofs: ['capability', 'network'] }, 'absent', 'capability'],
    ['its network', { proofs: ['network'] }, 'absent', 'network'],
    ['nothing that counts', { proofs: ['capability'], acceptedProofs: ['signature'] }, 'absent', null],
    ['an old signature and a URL', { proofs: ['capability'] }, 'stale', null],
  ] as const)('that %s proves is stored with the strongest proof that counts', async (_by, changes, verdict, proof) => {
    await refused(receive(verdict, changes));
    expect(stored).toMatchObject([{ proof }]);
  });

  it('is charged to the URL of its flow if that alone proves it, and given back as a repeat or without a row', async () => {
    const byUrl = { proofs: ['capability'], flowId: FLOW } as const;
    await receive('absent', byUrl);
    const taken = ['verify b', `charge ${FLOW} true`, 'store'];
    expect(did.splice(0)).toEqual([...taken, 'proven anew']);
    result = () => Promise.resolve({ kind: 'duplicate' });
    await receive('absent', byUrl);
    expect(did.splice(0)).toEqual([...taken, 'give back']);
    result = () => Promise.reject(new Error('full'));
    expect(await refused(receive('absent', byUrl))).toBe(503);
    expect(did.splice(0).at(-1)).toBe('give back');
    expect(acknowledged.map(([, said]) => said)).toEqual(['stored', 'duplicate', 'refused']);
  });

  it('is not charged to the URL of its flow if a signature proves it, nor to an account’s URL', async () => {
    await receive('valid', { proofs: ['capability'], flowId: FLOW });
    await receive('absent', { proofs: ['capability'] });
    expect(did.join()).not.toContain('charge');
    expect(did.filter((done) => done === 'proven')).toHaveLength(2);
  });

  it.each([
    [{}, 'stranger'],
    [{ proofs: ['capability'], acceptedProofs: ['signature'] }, 'known'],
    [{ proofs: ['network'], acceptedProofs: ['signature'] }, 'known'],
  ] as const)('without proof is limited before it is stored: with %j as of a %s', async (changes, who) => {
    await receive('absent', changes);
    expect(did).toEqual(['verify b', 'unproven true', `quota ${who} true`, 'store']);
    expect(stored).toMatchObject([{ proof: null }]);
  });

  it('with a wrong signature is charged and never stored, whatever its URL', async () => {
    expect(await refused(receive('invalid', { proofs: ['capability'] }))).toBe(401);
    expect(did).toEqual(['verify b', 'unproven true']);
    expect(acknowledged).toEqual([['callback', 'refused', expect.any(Number)]]);
  });

  it('with an old signature is kept without proof, refused, and in the log, since our own clock may be wrong', async () => {
    expect(await refused(receive('stale'))).toBe(401);
    expect(logged).toEqual(['signature_time']);
    expect(did).toEqual(['verify b', 'unproven true', 'quota stranger true', 'store']);
    expect(acknowledged).toEqual([['callback', 'refused', expect.any(Number)]]);
  });

  it('of no flow is stored as well', async () => {
    await receive('valid', { label: () => ({ flowId: null, reference: null, status: null, toMatch: true }) });
    expect(stored).toMatchObject([{ flowId: null, toMatch: true }]);
  });

  it.each([
    [{ a: 1, signature: 'x' }, '{"a":1}'],
    [{ a: { signature: 'x' } }, '{"a":{"signature":"x"}}'],
    [['signature'], '["signature"]'],
    ['signature', '"signature"'],
    [null, 'null'],
  ])('is recognised by its content without its own signature: %j', async (body, content) => {
    await receive('valid', {}, body);
    expect(stored).toMatchObject([{ contentHash: `event ${content}`, body }]);
  });
});

it('what proves a settlement follows SETTLEMENT_TRUST', () => {
  expect(SETTLEMENT_PROOFS).toEqual({
    corroborated: ['signature', 'capability', 'network', 'corroborated', 'person'],
    signed: ['signature', 'person'],
    network: ['signature', 'network', 'person'],
  });
});
