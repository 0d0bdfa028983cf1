import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallbackUnreachableError, createReceivers, HeldBackError } from '../../src/callbacks/index.js';

const REMEMBERED = 2_000;
const at = { nowMs: 0 };
beforeEach(() => {
  at.nowMs = Date.UTC(2026, 0, 1);
  jest.spyOn(Date, 'now').mockImplementation(() => at.nowMs);
});
afterEach(() => void jest.restoreAllMocks());

/** What a worker remembers, and each number of open circuits that it reported. */
function remembered() {
  const reported: number[] = [];
  const receivers = createReceivers(
    () => at.nowMs,
    (open) => void reported.push(open),
  );
  const to = (name: string, owner = 'shop') => ({ owner, receiver: name, origin: `https://${name}` });
  const answers = (name: string, tookMs = 0) =>
    receivers.attempt(to(name), async () => {
      at.nowMs += tookMs;
      return `${name} answered`;
    });
  const misses = (name: string) =>
    receivers
      .attempt(to(name), () => Promise.reject(new CallbackUnreachableError('no answer')))
      .catch((error: Error) => (error instanceof HeldBackError ? error.because : error.name));
  const dies = async (name: string) => {
    for (let missed = 0; missed < 3; missed += 1) await misses(name);
  };
  /** One that stays open until it is ended. */
  const hangs = (name: string, owner?: string) => {
    let end = () => {};
    const done = receivers.attempt(to(name, owner), () => new Promise<void>((resolve) => (end = resolve)));
    // One that is held back is asked about later.
    done.catch(() => undefined);
    return { done, end: () => end() };
  };
  const isOpen = (name: string) => receivers.openSinceMs(to(name)) !== undefined;
  /** Whether it still may take a place beside those of strangers, all of which are taken. */
  const isPrompt = async (...names: readonly string[]) => {
    const strangers = Array.from({ length: 80 }, (_, n) => hangs(`stranger-${n}`, `name-${n % 4}`));
    const said: unknown[] = [];
    for (const name of names) said.push(await answers(name).catch((error: HeldBackError) => error.because));
    for (const { end } of strangers) end();
    await Promise.all(strangers.map(({ done }) => done));
    return said.map((one) => one !== 'busy');
  };
  return { receivers, to, reported, answers, misses, dies, hangs, isOpen, isPrompt };
}

describe('the circuit of an origin', () => {
  it('opens after three misses in a row, is reported once, and closes with an answer', async () => {
    const { receivers, to, reported, dies, misses, answers } = remembered();
    expect(await answers('a')).toBe('a answered');
    expect([await misses('a'), await misses('a')]).toEqual(Array(2).fill('CallbackUnreachableError'));
    await answers('a');
    expect(receivers.openSinceMs(to('a'))).toBeUndefined();
    const openedMs = at.nowMs;
    await dies('a');
    expect(receivers.openSinceMs(to('a'))).toBe(openedMs);
    await dies('b');
    expect(reported).toEqual([1, 2]);
    expect(await misses('a')).toBe('circuit');
    // The one that tries it has no answer either: it was open, and stays so, since the same time.
    at.nowMs += 15_000;
    expect(await misses('a')).toBe('CallbackUnreachableError');
    expect(receivers.openSinceMs(to('a'))).toBe(openedMs);
    expect(reported).toEqual([1, 2]);
    at.nowMs += 30_000;
    await answers('a');
    await answers('b');
    expect(reported).toEqual([1, 2, 1, 0]);
    expect(receivers.openSinceMs(to('a'))).toBeUndefined();
  });

  it('counts its misses although others are tried in between, and asking for it changes nothing', async () => {
    const { receivers, to, misses, answers, isOpen } = remembered();
    for (let missed = 0; missed < 3; missed += 1) {
      await misses('a');
      await answers('b');
      expect(receivers.openSinceMs(to('never-tried'))).toBeUndefined();
    }
    expect([isOpen('a'), isOpen('b')]).toEqual([true, false]);
  });

  it('lets one try it, and holds all others back meanwhile', async () => {
    const { dies, hangs, misses, isOpen } = remembered();
    await dies('a');
    at.nowMs += 15_000;
    const probe = hangs('a');
    expect(await misses('a')).toBe('circuit');
    expect(isOpen('a')).toBe(true);
    probe.end();
    await probe.done;
    expect(isOpen('a')).toBe(false);
  });

  it('stays closed for errors that are no missing answer, which are passed on', async () => {
    const { receivers, to, isOpen } = remembered();
    const bug = new RangeError('of ours');
    for (let tries = 0; tries < 5; tries += 1) {
      const tried = receivers.attempt(to('a'), () => Promise.reject(bug));
      await expect(tried).rejects.toBe(bug);
    }
    expect(isOpen('a')).toBe(false);
  });
});

describe('a receiver', () => {
  it('is prompt if it answered within two seconds last time', async () => {
    const { answers, misses, isPrompt } = remembered();
    await answers('just', 2_000);
    await answers('late', 2_001);
    await answers('was', 1);
    await answers('was', 5_000);
    await answers('dead', 1);
    await misses('dead');
    expect(await isPrompt('just', 'late', 'was', 'dead', 'new')).toEqual([true, false, false, false, false]);
  });

  it('is held back with the reason', async () => {
    const { receivers, to, dies, hangs } = remembered();
    const open = Array.from({ length: 20 }, () => hangs('busy'));
    const another = (name: string) => receivers.attempt(to(name), () => Promise.resolve());
    await expect(another('busy')).rejects.toMatchObject({
      name: 'HeldBackError',
      because: 'busy',
    });
    for (const { end } of open) end();
    await Promise.all(open.map(({ done }) => done));
    await dies('dead');
    await expect(another('dead')).rejects.toMatchObject({
      because: 'circuit',
    });
  });
});

describe('one name, whose flows have any number of receivers,', () => {
  const settle = (open: readonly ReturnType<ReturnType<typeof remembered>['hangs']>[]) => {
    for (const { end } of open) end();
    return Promise.allSettled(open.map(({ done }) => done));
  };

  it('has a share of the places of strangers, and leaves the rest to other names', async () => {
    const { hangs, receivers, to } = remembered();
    const open = Array.from({ length: 80 }, (_, n) => hangs(`receiver-${n}`, 'greedy'));
    expect(await receivers.attempt(to('new', 'shop'), () => Promise.resolve('answered'))).toBe('answered');
    const ended = await settle(open);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(60);
  });

  it('has a share of all places, however promptly its receivers answered before', async () => {
    const { hangs, receivers, to } = remembered();
    const names = Array.from({ length: 5 }, (_, n) => `receiver-${n}`);
    for (const name of names) await receivers.attempt(to(name, 'greedy'), () => Promise.resolve());
    const ended = await settle(names.flatMap((name) => Array.from({ length: 20 }, () => hangs(name, 'greedy'))));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(80);
  });

  it('takes no place, and opens no circuit, of another name that has the same receiver', async () => {
    const { receivers, to, hangs } = remembered();
    const open = Array.from({ length: 20 }, () => hangs('shop.example', 'greedy'));
    expect(await receivers.attempt(to('shop.example', 'shop'), () => Promise.resolve('answered'))).toBe('answered');
    await settle(open);
    const miss = () =>
      receivers.attempt(to('shop.example', 'greedy'), () => Promise.reject(new CallbackUnreachableError('no answer')));
    for (let missed = 0; missed < 3; missed += 1) await expect(miss()).rejects.toThrow(CallbackUnreachableError);
    await expect(miss()).rejects.toMatchObject({ because: 'circuit' });
    expect(await receivers.attempt(to('shop.example', 'shop'), () => Promise.resolve('answered'))).toBe('answered');
  });
});

describe(`of more than ${REMEMBERED} receivers`, () => {
  const names = Array.from({ length: REMEMBERED }, (_, n) => `r${n}`);

  it('the one is forgotten whose circuit was unused for the longest, if all are open', async () => {
    const { reported, dies, misses, isOpen } = remembered();
    for (const name of names) await dies(name);
    expect([isOpen('r0'), reported.at(-1)]).toEqual([true, REMEMBERED]);
    // It is held back, and was of use all the same.
    expect(await misses('r0')).toBe('circuit');
    expect([isOpen('r0'), isOpen('r1'), reported.at(-1)]).toEqual([true, true, REMEMBERED]);
    await misses('new');
    expect([isOpen('r0'), isOpen('r1'), isOpen('r2')]).toEqual([true, false, true]);
    expect(reported.at(-1)).toBe(REMEMBERED - 1);
    await dies('new');
    await misses('newer');
    expect([isOpen('new'), isOpen('r2'), isOpen('r3')]).toEqual([true, false, true]);
    expect(reported.slice(-2)).toEqual([REMEMBERED, REMEMBERED - 1]);
  });

  it('one that is tried at this moment is not forgotten', async () => {
    const { dies, hangs, misses, isOpen } = remembered();
    for (const name of names) await dies(name);
    at.nowMs += 15_000;
    const probe = hangs('r0');
    // They are tried, too, and miss again.
    for (const name of names.slice(1)) await misses(name);
    await misses('new');
    expect([isOpen('r0'), isOpen('r1')]).toEqual([true, false]);
    probe.end();
    await probe.done;
  });

  it('those with a closed circuit are forgotten before one that is open', async () => {
    const { dies, answers, isOpen } = remembered();
    await dies('dead');
    for (const name of names) await answers(name);
    expect(isOpen('dead')).toBe(true);
  });

  it('unknown receivers are forgotten before prompt ones', async () => {
    const { answers, misses, isPrompt } = remembered();
    for (const name of names.slice(0, REMEMBERED - 85)) await answers(name);
    for (let others = 0; others < 200; others += 1) await misses(`dead-${others}`);
    expect(await isPrompt('r0', 'r1')).toEqual([true, true]);
  });

  it('the prompt one that was unused for the longest is forgotten if there are only such', async () => {
    const { answers, isPrompt } = remembered();
    for (const name of names) await answers(name);
    await answers('new');
    // The strangers that take the other places are remembered, too, and 80 more are forgotten for them.
    expect(await isPrompt('r0', 'r100', 'r1999', 'new')).toEqual([false, true, true, true]);
  });

  it('one is not forgotten while a callback to it is open', async () => {
    const { hangs, answers, receivers, to } = remembered();
    const open = Array.from({ length: 20 }, () => hangs('busy'));
    for (const name of names) await answers(name);
    const another = receivers.attempt(to('busy'), () => Promise.resolve());
    await expect(another).rejects.toMatchObject({ because: 'busy' });
    for (const { end } of open) end();
    await Promise.all(open.map(({ done }) => done));
  });
});
