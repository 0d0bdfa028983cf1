import { describe, expect, it } from '@jest/globals';
import { array, assert, asyncProperty, constantFrom, infiniteStream, nat } from 'fast-check';
import { cryptoSendPlan } from '../../workflows/crypto-send.js';
import { newKnown, PLAIN_SEND, type Known, type Result, type Step } from '../../workflows/engine/known.js';
import { createLoop, type Host, type Loop } from '../../workflows/engine/loop.js';
import { requestOf } from '../../workflows/engine/view.js';

const SETTLE_MS = 90_000;
const DEADLINE_MS = 3_600_000;
const TIMES = { timeScale: 1, patienceMs: 120_000, settleMs: SETTLE_MS, graceMs: 0, deadlineMs: DEADLINE_MS };

type Pending = { readonly step: Step; readonly settle: (result: Result) => void };

/** A Temporal that hands results on when the test says so, in any order, and whose timers may fire early. */
function fakeTemporal() {
  let nowMs = 0;
  let waiting: { readonly isReady: () => boolean; readonly go: () => void }[] = [];
  const pending: Pending[] = [];
  const timers: { readonly atMs: number; readonly fire: () => void }[] = [];
  const log: string[] = [];
  let isLong = false;
  const host: Host = {
    nowMs: () => nowMs,
    perform: (step) =>
      new Promise((settle) => {
        log.push(`begin ${step.do}`);
        pending.push({ step, settle });
      }),
    giveUp: (step) => void log.push(`give up ${step.do}`),
    sleepUntil: (atMs) => new Promise<void>((fire) => void timers.push({ atMs, fire })),
    until: (isReady) => new Promise<void>((go) => void waiting.push({ isReady, go })),
    isLong: () => isLong,
    onLearnt: () => undefined,
  };
  /** As Temporal does after each activation: conditions that hold go on. */
  const turn = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) {
      await Promise.resolve();
      const ready = waiting.filter(({ isReady }) => isReady());
      waiting = waiting.filter((one) => !ready.includes(one));
      ready.forEach(({ go }) => go());
    }
  };
  return {
    host,
    log,
    timers,
    running: () => pending.map(({ step }) => step.do),
    turn,
    makeLong: () => (isLong = true),
    async result(what: Step['do'], result: Result): Promise<void> {
      const at = pending.findIndex(({ step }) => step.do === what);
      const [found] = pending.splice(at, 1);
      if (at === -1 || found === undefined) throw new Error(`no step "${what}" runs: ${log.join(', ')}`);
      found.settle(result);
      await turn();
    },
    async pass(ms: number): Promise<void> {
      nowMs += ms;
      for (const timer of timers.splice(0))
        if (timer.atMs <= nowMs) timer.fire();
        else timers.push(timer);
      await turn();
    },
    async fireEarly(): Promise<void> {
      timers.splice(0).forEach(({ fire }) => fire());
      await turn();
    },
  };
}

const start = (
  temporal: ReturnType<typeof fakeTemporal>,
  known: Known = newKnown(['send'], TIMES, 0),
): { loop: Loop; end: ReturnType<Loop['run']> } => {
  const loop = createLoop(cryptoSendPlan, known, temporal.host);
  return { loop, end: loop.run() };
};

const PENDING = { id: 'e', source: 'callback', trusted: true, proof: 'signature', status: 'PENDING', receivedAt: '', facts: {} } as const; // prettier-ignore

const CHECKED: Result = {
  of: 'check',
  prepared: { windows: { settleMs: SETTLE_MS }, steps: { send: { facts: {} } } } as never,
  refusal: null,
  claims: {},
  events: [],
};
const ACCEPTED: Result = { ...PLAIN_SEND, answer: 'accepted' };
const followed = (word: string): Result => ({ of: 'follow', lookup: 'shown', word, shown: {} });

describe('the loop of a flow', () => {
  it('begins each step once, and ends with what the rules decide', async () => {
    const temporal = fakeTemporal();
    const { end } = start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    await temporal.result('send', ACCEPTED);
    await temporal.result('follow', followed('SUCCESSFUL'));
    expect(await end).toMatchObject({ state: 'completed' });
    expect(temporal.log).toEqual(['begin check', 'begin send', 'begin follow']);
  });

  it('decides again after a timer that fires early, and sets the next one', async () => {
    const temporal = fakeTemporal();
    start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    expect(temporal.timers.map(({ atMs }) => atMs)).toEqual([DEADLINE_MS]);
    await temporal.fireEarly();
    expect(temporal.timers.map(({ atMs }) => atMs)).toEqual([DEADLINE_MS]);
    expect(temporal.log).toEqual(['begin check', 'begin send']);
  });

  it('sets no second timer for a moment that comes after one that is set', async () => {
    const temporal = fakeTemporal();
    start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    await temporal.result('send', ACCEPTED);
    expect(temporal.timers).toHaveLength(1);
  });

  it('drops the result of a step that was given up meanwhile', async () => {
    const temporal = fakeTemporal();
    const { loop } = start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    const unknown: Result = { ...PLAIN_SEND, answer: 'unknown' };
    await temporal.result('send', unknown);
    expect(temporal.running()).toEqual(['ask']);
    // A trusted event proves it: the window is not waited for any more.
    loop.take({
      is: 'event',
      event: PENDING,
    });
    await temporal.turn();
    expect(temporal.log).toContain('give up ask');
    const { turn } = loop.known();
    await temporal.result('ask', {
      of: 'ask',
      claim: 'void',
      lookup: 'cannot-tell',
      windowOver: true,
      isOther: false,
      shown: {},
    });
    expect(loop.known().turn).toBe(turn);
  });

  it('goes on in another run only while nothing runs but questions, with all that it knows', async () => {
    const temporal = fakeTemporal();
    const { loop, end } = start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    temporal.makeLong();
    await temporal.fireEarly();
    expect(temporal.running()).toEqual(['send']);
    await temporal.result('send', ACCEPTED);
    expect(await end).toBe('continue');
    const carried = JSON.parse(JSON.stringify(loop.known())) as Known;
    const next = fakeTemporal();
    const { end: nextEnd } = start(next, carried);
    await next.turn();
    expect(next.log).toEqual(['begin follow']);
    await next.result('follow', followed('FAILED'));
    await next.result('read-inbox', { of: 'read-inbox', events: [] });
    expect(await nextEnd).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  it('learns what comes before the next run begins: that is lost in no run', async () => {
    const temporal = fakeTemporal();
    const { loop, end } = start(temporal);
    await temporal.turn();
    await temporal.result('check', CHECKED);
    temporal.makeLong();
    await temporal.result('send', ACCEPTED);
    expect(await end).toBe('continue');
    expect(loop.isIdle()).toBe(true);
    loop.take({ is: 'event', event: PENDING });
    expect(loop.isIdle()).toBe(false);
    expect(await loop.run()).toBe('continue');
    expect(loop.known().events.map(({ event: { id } }) => id)).toEqual(['e']);
  });

  it('throws what a step throws that is no answer: the flow then waits for a mended version', async () => {
    const temporal = fakeTemporal();
    const { end } = start({
      ...temporal,
      host: { ...temporal.host, perform: () => Promise.reject(new Error('a bug')) },
    });
    await temporal.turn();
    await expect(end).rejects.toThrow('a bug');
  });

  it('sends once whatever the order of results, events, early timers and time, and comes to an end or a question', async () => {
    const move = constantFrom('result', 'early', 'event', 'untrusted', 'time', 'cancel');
    await assert(
      asyncProperty(array(move, { maxLength: 25 }), infiniteStream(nat()), async (moves, choices) => {
        const temporal = fakeTemporal();
        const { loop, end } = start(temporal);
        const over = { is: false };
        void end.then(() => (over.is = true));
        await temporal.turn();
        const answer = async (): Promise<void> => {
          const running = temporal.running();
          const what = running[(choices.next().value ?? 0) % Math.max(1, running.length)];
          if (what !== undefined) await temporal.result(what, answerTo(what, choices.next().value ?? 0));
        };
        let events = 0;
        for (const next of moves) {
          if (over.is) break;
          if (next === 'result') await answer();
          else if (next === 'early') await temporal.fireEarly();
          else if (next === 'time') await temporal.pass(SETTLE_MS);
          else if (next === 'cancel')
            loop.take({
              is: 'order',
              order: {
                id: `c${(events += 1)}`,
                action: 'cancel',
                actor: 'a',
                note: '',
                eventId: null,
                invoice: null,
                described: null,
                untilMs: null,
                parkedSinceMs: null,
              },
            });
          else {
            const trusted = next === 'event';
            loop.take({
              is: 'event',
              event: {
                id: `e${(events += 1)}`,
                source: 'callback',
                trusted,
                proof: null,
                status: trusted ? 'PENDING' : 'SUCCESSFUL',
                receivedAt: '',
                facts: {},
              },
            });
          }
          await temporal.turn();
        }
        expect(temporal.log.filter((line) => line === 'begin send').length).toBeLessThanOrEqual(1);
        for (let turns = 0; turns < 200 && !over.is && loop.known().parked === null; turns += 1) {
          if (temporal.running().length > 0) await answer();
          else await temporal.pass(DEADLINE_MS);
        }
        expect(over.is || loop.known().parked !== null).toBe(true);
        expect(requestOf(loop.known(), 'send')).toBeDefined();
      }),
      { numRuns: 150 },
    );
  });
});

/** Any legal answer of a step. */
function answerTo(what: Step['do'], choice: number): Result {
  switch (what) {
    case 'check':
      return CHECKED;
    case 'send':
      return choice % 2 === 0 ? ACCEPTED : { ...PLAIN_SEND, answer: 'unknown' };
    case 'ask':
    case 'look':
      return {
        of: what,
        claim: choice % 3 === 0 ? 'answered' : 'sending',
        lookup: 'cannot-tell',
        windowOver: what === 'ask',
        isOther: false,
        shown: {},
      };
    case 'follow':
    case 'look-status':
      return followed(['PENDING', 'SUCCESSFUL', 'FAILED'][choice % 3] ?? 'PENDING');
    case 'read-inbox':
      return choice % 4 === 0 ? { of: 'no-answer' } : { of: 'read-inbox', events: [] };
    case 'void':
      return choice % 3 === 0
        ? { of: 'no-answer' }
        : { of: 'void', isDone: true, claims: { send: { claim: 'void', sent: 'nothing' } }, events: [] };
    case 'write-answer':
      return { of: 'write-answer' };
    case 'order-send':
      return { of: 'order-send', isTaken: true, claim: 'ordered', sent: 'unknown' };
    case 'take-back':
      return { of: 'take-back', claim: 'sending', sent: 'unknown' };
    case 'close':
      return { of: 'close', claim: 'void', sent: 'unknown' };
    case 'last-word':
      return { of: 'last-word', isClosed: true, why: null };
    case 'quote':
      return { of: 'quote', quote: null, why: 'none' };
    case 'report':
      return { of: 'report', status: 'COMPLETED', outcome: { kind: 'reported' } };
    case 'compare':
      return { of: 'compare', other: null };
    case 'look-paid':
    case 'ask-paid':
      return { of: 'paid', says: 'not-paid', word: null, shown: {} };
    case 'check-invoice':
      return { of: 'check-invoice', given: null, why: null };
    case 'hand-over':
      return { of: 'hand-over', says: 'taken', why: null };
    default:
      return what satisfies never;
  }
}
