import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CauseCode } from '../../src/protocol/causes.js';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import {
  ended,
  gate,
  inInbox,
  openDecisionBench,
  parked,
  READING_MS,
  refused,
  resolve,
  startSend,
  stoppable,
} from '../decisions/bench.js';
import { trusted } from '../harness/inputs.js';
import { noted, untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';

type Service = Parameters<Parameters<typeof openDecisionBench>[0]>[0];
type Send = (body: Parameters<Service['sendCrypto']>[0], service: Service) => Promise<never>;

const MINUTE_MS = 60_000;
const LONG = { deadlineSeconds: 2_592_000 };
const lost = (): Promise<never> => Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout'));
const away = (): Promise<never> => Promise.reject(new StoreUnavailableError('AWAY', 'database'));
const refusal = (type: CauseCode) => ({ cause: { type } });
const cancel = (handle: WorkflowHandle) => handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] });

/** What the model finds in every order, some of it with real activities and a real store. */
describe('a crypto send', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let sending: ((...request: Parameters<Send>) => Promise<never>) | undefined;
  let money: ReturnType<typeof stoppable>;
  let looks = 0;
  let mayLook: ReturnType<typeof gate> | undefined;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      sendCrypto: (body) => (sending === undefined ? service.sendCrypto(body) : sending(body, service)),
      getCryptoSend: async (reference) => {
        looks += 1;
        await mayLook?.opened;
        return service.getCryptoSend(reference);
      },
    }));
    money = stoppable(decisions, 'sendCrypto');
  });
  afterEach(() => {
    jest.restoreAllMocks();
    money.goOn();
    mayLook?.open();
    [sending, mayLook] = [undefined, undefined];
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  /** Its first attempt has no claim yet. */
  const waiting = async (word: string) => {
    money.stop();
    const started = await startSend(decisions.bench, word, LONG);
    await until('its attempt to wait', () => money.waiting.has(started.reference));
    return started;
  };
  const unknown = async (word: string) => {
    sending = lost;
    const started = await startSend(decisions.bench, word, LONG);
    expect((await parked(started.handle)).parked?.reason).toBe('not_found_at_service');
    return started;
  };

  it('is cancelled before anything was sent, and its claim is void', async () => {
    const { handle, reference } = await waiting('cancelled');
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled', reason: 'cancelled_before_sending' });
    expect(await decisions.executions('sendCrypto', reference)).toBe(0);
  });

  it('is cancelled by the Temporal UI, too', async () => {
    const { handle } = await waiting('in-the-ui');
    await handle.cancel();
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled' });
  });

  it('is not cancelled while the store is away, and is cancelled once that is back', async () => {
    const { handle } = await waiting('store-away');
    const voids = jest.spyOn(decisions.store.claims, 'voidAll').mockImplementation(away);
    await Promise.all([
      expect(cancel(handle)).rejects.toMatchObject(refusal('store_unavailable')),
      decisions.bench.pass(READING_MS),
    ]);
    voids.mockRestore();
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled' });
  });

  it('is not cancelled if an event is in the inbox that has not reached it: it is followed', async () => {
    const { handle, reference } = await waiting('event-in-inbox');
    await inInbox(decisions, `crypto-send/${reference}`, 'PENDING');
    await expect(cancel(handle)).rejects.toMatchObject(refusal('event_reports_it'));
    await noted(handle, 'proven');
  });

  it('answers an order by what the store said, and not before', async () => {
    const { handle } = await unknown('not-closed');
    await decisions.bench.pass(2 * MINUTE_MS);
    const closing = jest.spyOn(decisions.store.claims, 'closeNotExecuted').mockImplementation(away);
    await Promise.all([
      expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject(refusal('store_unavailable')),
      decisions.bench.pass(READING_MS),
    ]);
    closing.mockRestore();
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
  });

  it('refuses an order against a proof that came in meanwhile, and goes on by it', async () => {
    const { handle, reference } = await unknown('proof-came');
    await decisions.bench.pass(2 * MINUTE_MS);
    await inInbox(decisions, `crypto-send/${reference}`, 'PENDING');
    await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({ cause: { type: expect.any(String) } });
    await noted(handle, 'proven');
  });

  const overdue = async (word: string) => {
    const started = await startSend(decisions.bench, word, { deadlineSeconds: 300 });
    await noted(started.handle, 'accepted');
    expect((await parked(started.handle)).parked?.reason).toBe('no_settlement');
    return started;
  };
  const eventsOf = async (handle: WorkflowHandle) => (await handle.fetchHistory()).events?.length ?? 0;
  const details = async (handle: WorkflowHandle) =>
    (await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')).currentDetails ?? '';

  it('asks slowly for a record that is of another payment, also while its POST may be under way', async () => {
    sending = async (body, service) => {
      await service.sendCrypto({ ...body, cryptoAmount: 8.5 });
      return lost();
    };
    const { handle } = await startSend(decisions.bench, 'of-another', { ...LONG, timeScale: 1 });
    expect((await parked(handle)).parked?.reason).toBe('duplicate_mismatch');
    const before = looks;
    await decisions.bench.pass(MINUTE_MS);
    expect(looks - before).toBeLessThan(10);
  });

  it('adds nothing to its history while a lookup after its deadline is slow', async () => {
    const { handle } = await overdue('slow-lookup');
    mayLook = gate();
    const before = looks;
    await handle.signal('events', [trusted('SUCCESSFUL')]);
    await until('the lookup to be made', () => looks > before);
    const [events] = [await eventsOf(handle), await decisions.bench.pass(MINUTE_MS * 0.01)];
    expect((await eventsOf(handle)) - events).toBeLessThan(20);
  });

  it('refuses the second of two orders about one event, which come at the same time', async () => {
    const { handle } = await overdue('two-orders');
    await handle.signal('events', [trusted('PENDING', { facts: { reference: 'another' } })]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    const { audit } = decisions.store;
    const append = audit.append.bind(audit);
    const recorded = [gate(), gate()];
    let begun = 0;
    jest.spyOn(audit, 'append').mockImplementation(async (entry) => {
      await recorded[begun++]?.opened;
      return append(entry);
    });
    const [first, second] = [resolve(handle, 'dismiss-event'), resolve(handle, 'dismiss-event')];
    const isRefused = expect(second).rejects.toMatchObject({ cause: { type: expect.any(String) } });
    await until('both orders to be recorded', () => begun === 2);
    mayLook = gate();
    recorded[0]?.open();
    await first;
    recorded[1]?.open();
    mayLook.open();
    await isRefused;
  });

  it('is not open for ever, nor is an order without a reply that is admitted when the flow ends', async () => {
    const { audit } = decisions.store;
    const append = audit.append.bind(audit);
    const [admitted, sent] = [gate(), gate()];
    let isAsked = false;
    jest.spyOn(audit, 'append').mockImplementation(async (entry) => {
      if (entry.kind !== 'order') return append(entry);
      isAsked = true;
      await admitted.opened;
      return append(entry);
    });
    sending = async () => {
      await sent.opened;
      throw refused('sendCrypto');
    };
    const { handle } = await startSend(decisions.bench, 'with-the-end', LONG);
    await noted(handle, 'sending');
    const isRefused = expect(cancel(handle)).rejects.toMatchObject({ cause: { type: expect.any(String) } });
    await until('the order to be asked about', () => isAsked);
    sent.open();
    admitted.open();
    await isRefused;
    expect((await ended(handle)).state).toBe('failed');
    await handle.result().catch(() => undefined);
    expect((await handle.describe()).status.name).not.toBe('RUNNING');
  });

  it('reminds, shows its details and closes its matter also after it has continued as new', async () => {
    const opened = jest.spyOn(decisions.store.matters, 'open');
    const closed = jest.spyOn(decisions.store.matters, 'resolve');
    const { handle } = await unknown('reminded');
    const { runId } = await handle.describe();
    for (let signals = 0; signals < 181; signals += 1) await handle.signal('events', []);
    await until('it to continue as new', async () => (await handle.describe()).runId !== runId);
    expect(await details(handle)).toContain('not_found_at_service');
    opened.mockClear();
    // One reminder a day; whether the one at the beginning is counted is by chance.
    await decisions.bench.pass(3.5 * 24 * 60 * MINUTE_MS * 0.01);
    expect(opened.mock.calls.length).toBeGreaterThan(2);
    await handle.signal('events', [trusted('PENDING')]);
    await noted(handle, 'proven');
    await until('its matter to be closed', () => closed.mock.calls.length > 0);
  });

  it('does not show in its details that it is parked once a person keeps it waiting', async () => {
    const { handle } = await overdue('kept-waiting');
    expect(await details(handle)).toContain('is **parked**');
    await resolve(handle, 'keep-waiting');
    await untilFlow(handle, ({ view }) => view.state === 'running');
    expect(await details(handle)).toContain('is **running**');
  });
});
