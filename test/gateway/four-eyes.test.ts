import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FOUR_EYES_BY_DEFAULT } from '../../src/protocol/four-eyes.js';
import { openStack, type Stack } from '../end-to-end/stack.js';
import { openGateway, type TestGateway } from '../harness/gateway.js';
import { transferInput } from '../harness/inputs.js';
import { newSigningKey, openIssuer, type TestIssuer } from '../harness/oidc-issuer.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { anEvent } from '../store/temporary-store.js';
import { bridgeBody, PATHS } from './proxy/caller.js';

const largeSettlement = { ...(transferInput('r')['settlement'] as object), amount: 1_000_000, currency: 'KES' };
const secretOf = (name: string) => `secret-of-${name}-0123456789`;
const DECIDES = 'operator+approver';
const PEOPLE = { shop: 'flows', alice: DECIDES, bob: DECIDES, carol: 'flows+operator', dev: 'admin' } as const;
/** These two have tokens of an OIDC issuer. */
const SUBJECTS = { ann: 'auth0|ann', ben: 'auth0|ben' } as const;
type Person = keyof typeof PEOPLE | keyof typeof SUBJECTS;
const SETTINGS = {
  GATEWAY_TOKENS: Object.entries(PEOPLE)
    .map(([name, role]) => `${name}:${role}:${name === 'dev' ? 'dev-token' : secretOf(name)}`)
    .join(','),
  FOUR_EYES: [...FOUR_EYES_BY_DEFAULT, 'resume'].join(','),
  FOUR_EYES_ABOVE: 'KES:1000',
  TIME_SCALE: '0.01',
};

describe('an order that needs a second person', () => {
  let stack: Stack;
  let other: TestGateway;
  let issuer: TestIssuer;
  const tokens: Partial<Record<Person, string>> = { dev: 'dev-token' };
  beforeAll(async () => {
    issuer = await openIssuer(await newSigningKey('first'));
    for (const [name, subject] of Object.entries(SUBJECTS))
      tokens[name as Person] = await issuer.accessToken({ subject, role: ['oncall', 'backend'] });
    const env = {
      ...SETTINGS,
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'towline,temporal-ui',
      OIDC_ROLES: 'oncall=operator,backend=flows',
    };
    stack = await openStack({ env, isReconciled: false });
    const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    const { store, client, taskQueue } = stack;
    other = await openGateway({ temporalAddress, store, client, taskQueue, env });
  });
  afterAll(async () => {
    await other.close();
    await stack.close();
    await issuer.close();
  });

  const asked = (by: Person) => ({ authorization: `Bearer ${tokens[by] ?? secretOf(by)}` });
  const order = (by: Person, flow: string, body: object, word = 'resolve', at: TestGateway = stack) =>
    at.post(`/flows/${flow}/${word}`, body, asked(by));
  const show = async (flow: string) => (await stack.get(`/flows/${flow}`)).body;
  const start = async (by: Person, more: Record<string, unknown> = {}) => {
    const reference = newReference('eyes');
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    const input = transferInput(reference, { amount: '1000', deadlineSeconds: 1_000, ...more });
    expect((await stack.post('/flows/bridge-transfer', input, asked(by))).status).toBe(201);
    return `bridge-transfer/${reference}`;
  };
  /** They park at their deadline, of ten seconds, all at once. */
  const waiting: Record<'shop' | 'carol' | 'ann', string[]> = { shop: [], carol: [], ann: [] };
  beforeAll(async () => {
    const starters = ['shop', 'shop', 'shop', 'shop', 'shop', 'shop', 'carol', 'carol', 'ann'] as const;
    await Promise.all(
      starters.map(async (by) => {
        const flow = await start(by);
        await until(`${flow} to be parked`, async () => (await show(flow))['state'] === 'parked');
        waiting[by].push(flow);
      }),
    );
  });
  const parked = (by: keyof typeof waiting = 'shop'): string => {
    const flow = waiting[by].pop();
    if (flow === undefined) throw new Error(`no flow of ${by} is left`);
    return flow;
  };
  const entriesOf = async (flow: string) => {
    const { body } = await stack.get(`/audit?flow=${flow}&order=oldest`);
    return body['entries'] as (Record<string, string | null> & { readonly details: unknown })[];
  };
  const recorded = async (flow: string) => {
    const entries = await entriesOf(flow);
    return entries.map(({ kind, action, actor }) => [kind, action, actor].filter((word) => word != null).join(' '));
  };
  const mark = { action: 'mark-completed', note: 'the recipient has it' };
  const resume = { action: 'resume', note: 'it was terminated by mistake' };

  it('is proposed by the first, who cannot confirm it, and carried out once another one orders the same; the evidence is recorded', async () => {
    const flow = parked();
    const shown = (await show(flow))['parked'];
    expect(Object.keys(shown.evidence)).not.toEqual([]);
    const proposed = await order('alice', flow, mark);
    expect(proposed).toMatchObject({ status: 202, body: { state: 'parked' } });
    const { proposal } = await show(flow);
    expect(proposal).toMatchObject({ action: 'mark-completed', by: 'alice', note: mark.note, confirmedBy: null });
    // The second person is notified, and finds it in the queue and in the list.
    const notified = async () =>
      (await stack.store.matters.due(500)).matters.filter(
        ({ content }) => content.kind === 'proposed' && content.flowId === flow,
      );
    expect(await notified()).toMatchObject([
      { content: { reason: 'mark-completed', until: proposal.expiresAt }, resolvedAtMs: undefined },
    ]);
    expect((await stack.get('/proposals')).body['proposals']).toContainEqual(
      expect.objectContaining({ flowId: flow, action: 'mark-completed', by: 'alice' }),
    );
    expect((await stack.get(`/flows?reference=${flow.split('/')[1]}`)).body['flows']).toMatchObject([
      { proposed: { action: 'mark-completed', by: 'alice', expiresAt: proposal.expiresAt } },
    ]);
    expect(proposal.confirm).toBe(`towline resolve ${flow} mark-completed --note "why"`);
    expect(await order('alice', flow, mark)).toMatchObject({
      status: 409,
      body: { data: { code: 'needs_second_person' } },
    });
    expect(await order('bob', flow, { ...mark, action: 'mark-failed' })).toMatchObject({
      status: 409,
      body: { data: { code: 'other_proposal' } },
    });
    const done = await order('bob', flow, { ...mark, note: 'I called them, too' });
    expect(done).toMatchObject({ status: 200 });
    expect((await notified()).map(({ resolvedAtMs }) => resolvedAtMs)).not.toContain(undefined);
    expect(JSON.stringify((await stack.get('/proposals')).body)).not.toContain(flow);
    const ended = await until('its end', async () => (await show(flow))['outcome']);
    expect(ended).toMatchObject({ state: 'completed', detail: expect.stringMatching(/\balice\b.*\bbob\b/) });
    expect(await recorded(flow)).toEqual([
      'start shop',
      'proposal mark-completed alice',
      'refused mark-completed alice',
      'refused mark-failed bob',
      'order mark-completed bob',
    ]);
    const first = { by: 'alice', note: mark.note };
    const details = { note: 'I called them, too', first, parked: shown };
    expect((await entriesOf(flow)).at(-1)).toMatchObject({ details });
  });

  it('is no proposal while the flow waits for another decision, and is not in the way of that one', async () => {
    const flow = await start('shop', { amount: '1000.01', approval: 'required', deadlineSeconds: 100_000 });
    await until('the quote to be shown', async () => (await show(flow))['stage'] === 'awaiting-approval');
    expect((await order('alice', flow, mark)).status).toBe(409);
    expect((await show(flow))['proposal']).toBeNull();
    expect((await order('alice', flow, {}, 'approve-quote')).status).toBe(202);
    expect((await order('bob', flow, {}, 'withdraw')).status).toBe(200);
    expect((await order('shop', flow, {}, 'cancel')).status).toBe(200);
  });

  it('is never confirmed by who started the flow, by whatever gateway', async () => {
    const flow = parked('carol');
    expect((await order('alice', flow, mark)).status).toBe(202);
    const tries = await Promise.all(
      [stack, other, stack, other].map((gateway) => order('carol', flow, mark, 'resolve', gateway)),
    );
    expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    // A starter may be the first one.
    expect((await order('bob', flow, {}, 'withdraw')).status).toBe(200);
    expect((await order('carol', flow, mark)).status).toBe(202);
    expect((await order('alice', flow, mark)).status).toBe(200);
  });

  it("is never confirmed by who started the flow through the service's own path", async () => {
    const reference = newReference('eyes');
    await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
    expect((await stack.post(PATHS.bridge, bridgeBody(reference, { amount: 1000 }), asked('carol'))).status).toBe(200);
    const flow = `bridge-transfer/${reference}`;
    await stack.client.workflow.getHandle(flow).terminate();
    await until('it to be terminated', async () => (await show(flow))['parked']?.reason === 'terminated');
    expect((await order('alice', flow, resume)).status).toBe(202);
    expect(await order('carol', flow, resume)).toMatchObject({
      status: 403,
      body: { data: { code: 'started_by_caller' } },
    });
    expect(await order('bob', flow, resume)).toMatchObject({ status: 200, body: { state: 'running' } });
    expect((await recorded(flow)).slice(0, 1)).toEqual(['start carol']);
  });

  it("is confirmed by a person whose own request was refused, since the flow is another one's", async () => {
    const flow = parked();
    const reference = flow.slice(flow.indexOf('/') + 1);
    const input = transferInput(reference, { deadlineSeconds: 1_000, amount: '999' });
    expect((await stack.post('/flows/bridge-transfer', input, asked('carol'))).status).toBe(409);
    expect((await order('alice', flow, mark)).status).toBe(202);
    expect((await order('carol', flow, mark)).status).toBe(200);
    expect(await recorded(flow)).toEqual([
      'start shop',
      'refused start carol',
      'proposal mark-completed alice',
      'order mark-completed carol',
    ]);
  });

  it('is never confirmed by a person of an OIDC issuer who started the flow, and is by another one', async () => {
    const flow = parked('ann');
    expect(await order('alice', flow, mark)).toMatchObject({ status: 202, body: { proposal: { by: 'alice' } } });
    const tries = [await order('ann', flow, mark), await order('ann', flow, mark, 'resolve', other)];
    expect(tries.map(({ status }) => status)).toEqual([403, 403]);
    const refusals = async () => (await recorded(flow)).filter((line) => line.startsWith('refused'));
    await until('both refusals to be recorded', async () => (await refusals()).length === 2);
    expect((await order('ben', flow, mark)).status).toBe(200);
    expect(await recorded(flow)).toEqual([
      `start oidc:${SUBJECTS.ann}`,
      'proposal mark-completed alice',
      `refused mark-completed oidc:${SUBJECTS.ann}`,
      `refused mark-completed oidc:${SUBJECTS.ann}`,
      `order mark-completed oidc:${SUBJECTS.ben}`,
    ]);
  });

  it('is carried out by exactly one of many who confirm it at once, at two gateways', async () => {
    const flow = parked();
    const first = await Promise.all(
      (['alice', 'bob'] as const).map((by, index) => order(by, flow, mark, 'resolve', index === 0 ? stack : other)),
    );
    // The second caller confirms, or was a moment too early and is informed of that.
    expect(first.map(({ status }) => status).filter((status) => status === 202)).toHaveLength(1);
    const proposal = (await show(flow))['proposal'];
    const others = (['alice', 'bob', 'carol'] as const).filter((name) => name !== proposal?.by);
    if (proposal !== null) {
      const tries = await Promise.all(
        others.map((by, index) => order(by, flow, mark, 'resolve', index % 2 === 0 ? stack : other)),
      );
      expect(tries.filter(({ status }) => status === 200)).toHaveLength(1);
    }
    await until('its end', async () => (await show(flow))['outcome']);
    const orders = (await recorded(flow)).filter((line) => line.startsWith('order'));
    expect(orders).toHaveLength(1);
  });

  it('is off once it is withdrawn, and nothing is left to withdraw', async () => {
    const flow = parked();
    expect((await order('alice', flow, mark)).status).toBe(202);
    // By a person who may decide: not by a backend, which may only withdraw what it may order.
    expect((await order('shop', flow, {}, 'withdraw')).status).toBe(403);
    expect((await order('bob', flow, { note: 'they called back' }, 'withdraw')).body).toMatchObject({ proposal: null });
    expect((await order('bob', flow, {}, 'withdraw')).status).toBe(409);
    expect(await order('bob', flow, mark)).toMatchObject({ status: 202, body: { proposal: { by: 'bob' } } });
    // What ends and sends nothing needs one person, and makes the proposal void.
    expect((await order('carol', flow, { action: 'keep-waiting', note: 'tomorrow' })).status).toBe(200);
    expect((await show(flow))['proposal']).toBeNull();
  });

  it('is no proposal with a time or an event that makes no sense, or that its action does not take', async () => {
    const flow = parked();
    const isRefused = async () => {
      const wrong = [{ until: '$(curl x|sh)' }, { until: '2126-12-01T12:00:00Z' }, { eventId: 'evt_1' }];
      for (const more of wrong) {
        expect((await order('alice', flow, { ...mark, ...more })).status).toBe(400);
      }
      const waiting = { action: 'keep-waiting', note: 'tomorrow', until: '$(curl x|sh)' };
      expect((await order('alice', flow, waiting)).status).toBe(400);
      expect((await show(flow))['proposal']).toBeNull();
    };
    await isRefused();
    await stack.client.workflow.getHandle(flow).terminate();
    await until('it to be terminated', async () => (await show(flow))['parked']?.reason === 'terminated');
    await isRefused();
  });

  it('does not count an actor that another Temporal client names, nor an order that was taken from a history', async () => {
    const flow = parked();
    const handle = stack.client.workflow.getHandle(flow);
    const sent = { ...mark, actor: 'bob' };
    const proof = { id: 'ord_1', second: 'alice', mac: 'f'.repeat(64) };
    for (const forged of [sent, { ...sent, proof }, { ...sent, proof: 'x' }]) {
      await expect(handle.executeUpdate('resolve', { args: [forged] })).rejects.toMatchObject({
        cause: { type: 'needs_second_person' },
      });
    }
    expect((await show(flow))['state']).toBe('parked');
    const waiting = { action: 'keep-waiting', note: 'the provider says: tomorrow', actor: 'bob' };
    await handle.executeUpdate('resolve', { args: [waiting] });
    const { timeline } = await show(flow);
    expect(timeline.at(-1)).toMatchObject({ by: 'bob (unproven)', code: 'order-taken' });
    expect((await recorded(flow)).slice(1)).toEqual([
      ...[1, 2, 3].map(() => 'refused mark-completed bob'),
      'order keep-waiting bob',
    ]);
  });

  it('is the approval of a quote above the limit, and of no other', async () => {
    const large = await start('shop', { amount: '1000.01', approval: 'required', deadlineSeconds: 6_000 });
    const small = await start('shop', { amount: '1000', approval: 'required', deadlineSeconds: 6_000 });
    for (const flow of [large, small])
      await until('its approval', async () => (await show(flow))['stage'] === 'awaiting-approval');
    expect((await order('shop', small, {}, 'approve-quote')).status).toBe(200);
    expect(await order('alice', large, {}, 'approve-quote')).toMatchObject({
      status: 202,
      body: { stage: 'awaiting-approval', proposal: { action: 'approve-quote', by: 'alice' } },
    });
    expect((await order('shop', large, {}, 'approve-quote')).status).toBe(403);
    const handle = stack.client.workflow.getHandle(large);
    await expect(handle.executeUpdate('approveQuote', { args: [{ actor: 'bob' }] })).rejects.toMatchObject({
      cause: { type: 'needs_second_person' },
    });
    expect((await show(large))['stage']).toBe('awaiting-approval');
    expect((await order('bob', large, {}, 'approve-quote')).status).toBe(200);
    const says = ({ by, code }: { by: string; code: string }) => `${by}: ${code}`;
    await until('it to go on', async () =>
      (await show(large))['timeline'].map(says).includes('alice and bob: quote-approved'),
    );
  });

  it.each([
    ['asked for none', { approval: 'none' }],
    ['wrote the currency with blanks and in small letters', { source_currency: ' kes ' }],
    ['wrote the amount with an exponent', { amount: '100001e-2' }],
    ['wrote the amount as a number', { amount: 1000.01 }],
    ['lets the recipient get more than the payer pays', { amount: '1', settlement: largeSettlement }],
  ])('is the approval of a quote above the limit, if its starter %s', async (_what, more) => {
    const flow = await start('shop', { amount: '1000.01', deadlineSeconds: 6_000, ...more });
    await until('its approval', async () => (await show(flow))['stage'] === 'awaiting-approval');
    expect((await order('shop', flow, {}, 'approve-quote')).status).toBe(202);
    expect((await order('shop', flow, {}, 'approve-quote')).status).toBe(409);
    expect((await order('shop', flow, {}, 'cancel')).status).toBe(200);
  });

  it("is the approval of a quote above the limit, for a deposit through the service's own path and for another Temporal client", async () => {
    const [deposited, foreign] = [newReference('eyes'), newReference('eyes')];
    await stack.control('POST', '/scenarios', { reference: deposited, ending: 'silent' });
    const answered = stack.post(PATHS.bridge, bridgeBody(deposited, { amount: 1000.01 }), asked('shop'));
    await stack.client.workflow.start('bridgeTransfer', {
      taskQueue: stack.taskQueue,
      workflowId: `bridge-transfer/${foreign}`,
      args: [transferInput(foreign, { amount: '1000.01', deadlineSeconds: 6_000 })],
    });
    for (const reference of [deposited, foreign]) {
      const flow = `bridge-transfer/${reference}`;
      await until('its approval', async () => (await show(flow))['stage'] === 'awaiting-approval');
      expect((await order('dev', flow, {}, 'cancel')).status).toBe(200);
    }
    // Nothing was sent: it was cancelled before.
    expect((await answered).status).toBe(409);
  });

  it('is not asked of what cannot be read as a currency: such a start is refused', async () => {
    for (const source_currency of ['K\u200bES', 'KES\u200b', 'K ES', 'ＫＥＳ']) {
      const input = transferInput(newReference('eyes'), { source_currency, amount: '1000.01' });
      expect((await stack.post('/flows/bridge-transfer', input, asked('shop'))).status).toBe(400);
    }
  });

  it('is to vouch for an event: it is on show with the event, and can be withdrawn', async () => {
    const event = anEvent({ flowId: 'bridge-transfer/eyes', proof: null, source: 'settlement', status: 'COMPLETED' });
    await stack.store.inbox.receive(event);
    const about = (by: Person, word: string, body: object) =>
      stack.post(`/events/${event.id}/${word}`, body, asked(by));
    const replay = (by: Person) => about(by, 'replay', { trust: true, note: 'seen at the provider' });
    const shown = async () => (await stack.get(`/events/${event.id}`)).body;
    expect((await replay('alice')).status).toBe(202);
    expect(await shown()).toMatchObject({ proof: null, proposal: { action: 'trust-event', by: 'alice' } });
    const { confirm, withdraw } = (await shown())['proposal'];
    expect(confirm).toBe(`towline events replay ${event.id} --trust --flow bridge-transfer/eyes`);
    expect(withdraw).toBe(`towline events withdraw ${event.id} --flow bridge-transfer/eyes`);
    expect((await replay('alice')).status).toBe(409);
    expect((await about('shop', 'withdraw', {})).status).toBe(403);
    expect((await about('bob', 'withdraw', { note: 'they deny it' })).status).toBe(200);
    expect((await about('bob', 'withdraw', {})).status).toBe(409);
    expect((await replay('bob')).status).toBe(202);
    expect((await replay('carol')).status).toBe(200);
    expect(await shown()).toMatchObject({ proof: 'person', proposal: null });
    const replayed = (await entriesOf('bridge-transfer/eyes')).filter(({ kind }) => kind === 'replay-event');
    expect(replayed).toMatchObject([{ actor: 'carol', details: { trust: true } }]);
  });

  it('is to say which flow a proven event without one is about', async () => {
    const event = anEvent({ flowId: null, reference: null, proof: 'signature', status: 'COMPLETED' });
    await stack.store.inbox.receive(event);
    const flowId = 'bridge-transfer/eyes-assigned';
    const assign = (by: Person, more: object = {}) =>
      stack.post(`/events/${event.id}/replay`, { flowId, note: 'by its amount', ...more }, asked(by));
    expect((await assign('alice')).status).toBe(202);
    expect((await stack.get(`/events/${event.id}`)).body).toMatchObject({ flowId: null });
    expect((await assign('alice')).status).toBe(409);
    // To trust it as well is another order.
    expect(await assign('bob', { trust: true })).toMatchObject({
      status: 409,
      body: { data: { code: 'other_proposal' } },
    });
    expect(await assign('bob')).toMatchObject({ status: 200, body: { event: { flowId, proof: 'person' } } });
    expect((await entriesOf(flowId)).at(-1)).toMatchObject({ kind: 'replay-event', details: { trust: false } });
  });

  it('is also required for a terminated flow', async () => {
    const flow = parked('carol');
    await stack.client.workflow.getHandle(flow).terminate();
    await until('it to be terminated', async () => (await show(flow))['parked']?.reason === 'terminated');
    expect(await order('alice', flow, resume)).toMatchObject({ status: 202, body: { proposal: { by: 'alice' } } });
    expect((await order('alice', flow, resume)).status).toBe(409);
    expect((await order('carol', flow, resume)).status).toBe(403);
    expect(await order('bob', flow, resume)).toMatchObject({ status: 200, body: { state: 'running', proposal: null } });
  });
});
