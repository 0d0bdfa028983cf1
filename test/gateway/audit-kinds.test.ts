import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import { AUDIT_KINDS } from '../../src/protocol/audit.js';
import { workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { anEvent } from '../store/temporary-store.js';
import { callerOf, PATHS, sample, type Caller } from './proxy/caller.js';

const secretOf = (name: string) => `secret-of-${name}-0123456789`;
const MINUTE_MS = 60_000;

describe('the audit log, read by GET /audit,', () => {
  let stack: StackWithGateway;
  let as: Readonly<Record<'shop' | 'alice' | 'bob' | 'root', Caller>>;
  let aheadMs = 0;
  beforeAll(async () => {
    const env = {
      GATEWAY_TOKENS: `shop:flows:${secretOf('shop')},alice:operator:${secretOf('alice')},bob:operator:${secretOf('bob')},root:admin:${secretOf('root')}`,
      FOUR_EYES: 'resume',
      TIME_SCALE: '0.02',
    };
    stack = await openStack({
      gateway: { env, options: { monotonicMs: () => performance.now() + aheadMs } },
    });
    const of = (name: string) => callerOf(stack.gateway.url, secretOf(name));
    as = { shop: of('shop'), alice: of('alice'), bob: of('bob'), root: of('root') };
  });
  afterAll(() => stack.close());

  interface Entry {
    readonly seq: number;
    readonly kind: string;
    readonly actor: string;
    readonly action: string | null;
    readonly flowId: string | null;
    readonly subject: string | null;
  }
  const entriesSince = async (seq: number): Promise<readonly Entry[]> => {
    const { status, body } = await as.root.get(`/audit?order=oldest&limit=500&after=${seq}`);
    expect(status).toBe(200);
    return body['entries'] as Entry[];
  };
  const newest = async () => (await entriesSince(0)).at(-1)?.seq ?? 0;
  const expectStatus = async (wanted: number, answer: Promise<{ readonly status: number; readonly body: unknown }>) => {
    const { status, body } = await answer;
    expect([status, body]).toEqual([wanted, body]);
  };

  it('has an entry of each action that must leave one', async () => {
    const reference = newReference('audit');
    const flow = `crypto-send/${reference}`;
    const other = { flowId: flow, reference };
    const { body } = sample('sendCrypto', reference);
    const { shop, alice, root } = as;
    // Nobody answers there.
    const callbackUrl = 'http://127.0.0.1:9/';
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    const before = await newest();
    const words = async () =>
      (await entriesSince(before))
        // Once for each log, whatever is done first.
        .filter(({ kind }) => kind !== 'chain')
        .map(({ kind, actor, action }) => [kind, actor, action].filter(Boolean).join(' '));

    await expectStatus(201, shop.post('/flows/crypto-send', { ...body, callbackUrl, deadlineSeconds: 3_600 }));
    await until(
      'its claim to be answered',
      async () => (await stack.store.claims.ofFlow(flow))[0]?.phase === 'answered',
    );
    await expectStatus(200, shop.get(`/flows/${flow}/answers`));
    await expectStatus(200, shop.get(`${PATHS.send}/${reference}`));
    const toSend = async () => (await shop.get(`/flows/${flow}/callbacks`)).body['state'];
    await until('a callback to be sent', async () => (await toSend()) !== 'none');
    await stack.client.workflow.getHandle(flow).terminate();
    const state = async () => (await shop.get(`/flows/${flow}`)).body['state'];
    await until('it to be parked', async () => (await state()) === 'parked');
    const resume = { action: 'resume', note: 'it was terminated by mistake' };
    await expectStatus(202, alice.post(`/flows/${flow}/resolve`, resume));
    await expectStatus(200, alice.post(`/flows/${flow}/withdraw`, { note: 'not yet' }));
    await expectStatus(409, alice.post(`/flows/${flow}/resolve`, { action: 'close-not-executed', note: 'no' }));
    await expectStatus(200, root.post(`/flows/${flow}/close-claims`, { as: 'completed', note: 'the bank says so' }));
    const event = anEvent({ ...other, proof: null });
    await stack.store.inbox.receive(event);
    await stack.store.inbox.settle([{ id: event.id, state: 'late' }]);
    await expectStatus(200, alice.get(`/events/${event.id}`));
    await expectStatus(200, alice.post(`/events/${event.id}/replay`, {}));
    await expectStatus(200, alice.send('POST', `/flows/${flow}/callbacks/resend`));
    await expectStatus(200, alice.post('/codec/decode', { payloads: [] }));
    await expectStatus(403, alice.post('/codec/encode', { payloads: [] }));
    await expectStatus(200, root.post('/codec/encode', { payloads: [] }));
    await expectStatus(200, root.get(PATHS.key));
    await expectStatus(200, shop.get('/callbacks/secret'));
    const isSettled = async () =>
      !['waiting', 'delivered'].includes((await stack.store.inbox.get(event.id))?.state ?? '');
    await until('the event to be settled', isSettled);
    await expectStatus(200, root.post(`/flows/${flow}/give`, { to: 'shop-2', note: 'a new backend' }));
    await expectStatus(200, root.post(`/flows/${flow}/erase`, {}));

    expect(await words()).toEqual([
      'start shop',
      'read-answers shop',
      'read-service shop getCryptoSend',
      'proposal alice resume',
      'withdrawal alice resume',
      'refused alice close-not-executed',
      'order root close-claims completed',
      'read-event alice',
      'replay-event alice replay',
      'resend-callback alice',
      'decode alice',
      'refused alice encode',
      'encode root',
      'account root createApiKey',
      'read-secret shop',
      'give root',
      'erase root',
    ]);
    const kinds = (await entriesSince(0)).map(({ kind }) => kind);
    expect(AUDIT_KINDS.filter((kind) => !kinds.includes(kind))).toEqual([]);
  });

  it.each(['crypto-send', 'bridge-transfer'] as const)(
    'has the start of a flow by another Temporal client, once, as unproven, and with no starter: %s',
    async (kind) => {
      const reference = newReference('foreign');
      const flow = `${kind}/${reference}`;
      const { body } = kind === 'crypto-send' ? sample('sendCrypto', reference) : { body: transferInput(reference) };
      const input = { ...body, timeScale: 0.02 };
      const handle = await stack.client.workflow.start(workflowTypeOf(kind), {
        taskQueue: stack.taskQueue,
        workflowId: flow,
        args: [input],
        // As it may have been copied from another flow: it is not of this input.
        memo: { fingerprint: 'f'.repeat(64) },
      });
      await until('its first step to be over', async () => (await stack.store.claims.ofFlow(flow)).length > 0);
      const entry = { kind: 'start', actor: 'another Temporal client', means: 'unproven', role: null };
      const startsOf = () => stack.store.audit.list({ flowId: flow, limit: 9 });
      const [first, ...others] = await startsOf();
      expect(first).toMatchObject({ ...entry, details: { amount: expect.any(String), currency: expect.any(String) } });
      expect(others).toEqual([]);
      expect(await stack.store.audit.startersOf(flow)).toEqual([]);

      // Its first step again, as after a reset.
      await createFlowStepActivities(stack.deps).prepareFlow({ flowId: flow, input, startedWith: null });
      expect(await startsOf()).toHaveLength(1);
      await handle.terminate();
    },
  );

  it('has no reading of what does not exist, or cannot: a phone number in place of a reference would stand there', async () => {
    const before = await newest();
    await expectStatus(404, as.shop.get(`/flows/crypto-send/${newReference('nothing')}/answers`));
    await expectStatus(404, as.shop.get(`${PATHS.send}/${newReference('nothing')}`));
    await expectStatus(400, as.shop.get(`${PATHS.send}/%2B254712345678`));
    expect(await entriesSince(before)).toEqual([]);
  });

  it('has a reading once in ten minutes for each name, flow and way, however often it is polled', async () => {
    const [one, two] = [newReference('audit'), newReference('audit')];
    for (const reference of [one, two]) {
      const { path, body } = sample('sendCrypto', reference);
      await expectStatus(200, as.shop.post(path, body));
    }
    const before = await newest();
    const poll = (caller: Caller, reference: string) =>
      Promise.all(
        Array.from({ length: 5 }, async () => {
          await expectStatus(200, caller.get(`/flows/crypto-send/${reference}/answers`));
          await caller.get(`${PATHS.send}/${reference}`);
        }),
      );
    const readings = async () =>
      (await entriesSince(before)).map(({ kind, actor, flowId }) => `${kind} ${actor} ${flowId}`).toSorted();
    const ofEach = (actor: string, reference: string) =>
      ['read-answers', 'read-service'].map((kind) => `${kind} ${actor} crypto-send/${reference}`);

    await poll(as.shop, one);
    await poll(as.shop, two);
    await poll(as.root, one);
    const once = [...ofEach('root', one), ...ofEach('shop', one), ...ofEach('shop', two)].toSorted();
    expect(await readings()).toEqual(once);
    aheadMs += 9 * MINUTE_MS;
    await poll(as.shop, one);
    expect(await readings()).toEqual(once);
    aheadMs += MINUTE_MS;
    await poll(as.shop, one);
    expect(await readings()).toEqual([...once, ...ofEach('shop', one)].toSorted());
  });
});
