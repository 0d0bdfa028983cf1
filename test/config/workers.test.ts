import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { run } from '../cli/run.js';
import { settingsAtFault } from './settings-at-fault.js';

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
    expect(settingsAtFault({ WORKER_METRICS_PORT: '0', WORKER_METRICS_HOST: 'here' })).toEqual([
      'WORKER_METRICS_HOST',
      'WORKER_METRICS_PORT',
    ]);
    expect(settingsAtFault({ WORKER_METRICS_PORT: '8402', WORKER_PROBE_PORT: '8402' })).toEqual([
      'WORKER_METRICS_PORT',
    ]);
  });

  it.each(['money', 'money:0', 'money:5,money:6', 'other:5', 'money:10000', 'money:5:6'])(
    'refuse the places %s',
    (text) => {
      expect(settingsAtFault({ WORKER_SLOTS: text })).toEqual(['WORKER_SLOTS']);
    },
  );

  it.each(['a version', '-1'])('refuse %s as a version', (text) => {
    expect(settingsAtFault({ WORKER_BUILD_ID: text })).toEqual(['WORKER_BUILD_ID']);
  });

  it.each(['0', '-1', 'fast'])('refuse %s as a rate of money', (text) => {
    expect(settingsAtFault({ MONEY_RATE_LIMIT: text })).toEqual(['MONEY_RATE_LIMIT']);
  });
});

it.each(['other', 'money,other', 'money,money', ''])('`towline worker --queues "%s"` is refused', async (queues) => {
  const { code, err } = await run(['worker', '--queues', queues]);
  expect(err).toContain('flows, money, lookups');
  expect(code).not.toBe(0);
});
