import { describe, expect, it } from '@jest/globals';
import { readSettings, SettingsError } from '../../src/config/index.js';
import { run } from '../cli/run.js';

const problemsOf = (env: Record<string, string>): unknown => {
  try {
    readSettings(env);
    return undefined;
  } catch (error) {
    return error instanceof SettingsError ? error.problems : error;
  }
};

describe('the settings of workers', () => {
  it('are the SDK’s places for each queue, no limit of money, and no probes', () => {
    const { workerSlots, moneyPerSecond, workerProbePort } = readSettings({});
    expect([workerSlots, moneyPerSecond, workerProbePort]).toEqual([{}, undefined, undefined]);
  });

  it('give slots by queue, a rate of money, and the address of probes', () => {
    const env = { WORKER_SLOTS: 'money:5, lookups:200', MONEY_RATE_LIMIT: '0.5', WORKER_PROBE_PORT: '8402' };
    expect(readSettings({ ...env, WORKER_BUILD_ID: '0.1.0+5a1f' })).toMatchObject({
      workerBuildId: '0.1.0+5a1f',
      workerSlots: { money: 5, lookups: 200 },
      moneyPerSecond: 0.5,
      workerProbeHost: '127.0.0.1',
      workerProbePort: 8402,
    });
  });

  it('show metrics if they have a port, on an address, and not on the port of the probes', () => {
    expect(readSettings({}).workerMetricsPort).toBeUndefined();
    expect(readSettings({ WORKER_METRICS_PORT: '8403' })).toMatchObject({
      workerMetricsHost: '127.0.0.1',
      workerMetricsPort: 8403,
    });
    expect(problemsOf({ WORKER_METRICS_PORT: '0', WORKER_METRICS_HOST: 'here' })).toEqual([
      expect.stringContaining('WORKER_METRICS_HOST must be an IP address'),
      expect.stringContaining('WORKER_METRICS_PORT must be a port number above 0'),
    ]);
    expect(problemsOf({ WORKER_METRICS_PORT: '8402', WORKER_PROBE_PORT: '8402' })).toEqual([
      'WORKER_METRICS_PORT and WORKER_PROBE_PORT are the same.',
    ]);
  });

  it.each(['money', 'money:0', 'money:5,money:6', 'other:5', 'money:10000', 'money:5:6'])(
    'refuse the places %s, and say what is right',
    (text) => {
      expect(problemsOf({ WORKER_SLOTS: text })).toEqual([
        expect.stringContaining('WORKER_SLOTS must be comma-separated queue:number, such as money:50'),
      ]);
    },
  );

  it.each(['a version', '-1'])('refuse %s as a version', (text) => {
    expect(problemsOf({ WORKER_BUILD_ID: text })).toEqual([expect.stringMatching(/^WORKER_BUILD_ID must be 1 to 128/)]);
  });

  it.each(['0', '-1', 'fast'])('refuse %s as a rate of money', (text) => {
    expect(problemsOf({ MONEY_RATE_LIMIT: text })).toEqual([expect.stringMatching(/^MONEY_RATE_LIMIT must be/)]);
  });
});

it.each(['other', 'money,other', 'money,money', ''])('`towline worker --queues "%s"` is refused', async (queues) => {
  const { code, err } = await run(['worker', '--queues', queues]);
  expect([code, err]).toEqual([expect.any(Number), expect.stringContaining('Use some of flows, money, lookups')]);
  expect(code).not.toBe(0);
});
