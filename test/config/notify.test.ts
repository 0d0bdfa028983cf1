import { describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { run } from '../cli/run.js';
import { problemsOf, settingsAtFault } from './settings-at-fault.js';
import { secretBytes } from '../harness/secrets.js';

const SECRET = `whsec_${secretBytes(3).toString('base64')}`;
const KEY = 'R0UT1NGKEY0123456789';
const withSecret = (env: Record<string, string>) => ({ NOTIFY_SECRETS: SECRET, ...env });

describe('the receiver of notifications in NOTIFY_URLS', () => {
  it('is given by a URL and its form', () => {
    const urls = `https://a.example/x?k=1, slack:https://hooks.example/T/B, pagerduty:https://${KEY}@events.example/v2/enqueue`;
    expect(readSettings({ NOTIFY_URLS: urls, NOTIFY_SECRETS: SECRET })).toMatchObject({
      notifyTargets: [
        { format: 'generic', url: 'https://a.example/x?k=1', routingKey: '' },
        { format: 'slack', url: 'https://hooks.example/T/B', routingKey: '' },
        { format: 'pagerduty', url: 'https://events.example/v2/enqueue', routingKey: KEY },
      ],
      notifyEscalateAfterMs: [3_600_000, 14_400_000],
    });
  });

  it.each([
    'http://a.example/',
    'teams:https://a.example/',
    'https://user:canary@a.example/',
    'pagerduty:https://events.example/',
  ])('is refused as %s, without a word of it', (text) => {
    expect(settingsAtFault(withSecret({ NOTIFY_URLS: text }))).toEqual(['NOTIFY_URLS']);
    expect(problemsOf(withSecret({ NOTIFY_URLS: text })).join()).not.toContain('canary');
  });

  it('is led to the docs at a URL, if one is given', () => {
    expect(readSettings({}).docsUrl).toBeUndefined();
    expect(readSettings({ DOCS_URL: 'https://git.example/towline/blob/v1/' }).docsUrl).toBe(
      'https://git.example/towline/blob/v1',
    );
  });

  it('needs a secret to sign with, rising reminders, and a safe address for signs of life', () => {
    expect(settingsAtFault({ NOTIFY_URLS: 'https://a.example', NOTIFY_SECRETS: '' })).toEqual(['NOTIFY_SECRETS']);
    const wrong = withSecret({ NOTIFY_ESCALATE_AFTER: '60,30', HEARTBEAT_URL: 'http://a.example' });
    expect(settingsAtFault(wrong)).toEqual(['NOTIFY_ESCALATE_AFTER', 'HEARTBEAT_URL']);
  });
});

describe('the receiver of traces in OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('is a collector, with headers whose values are percent-encoded', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    expect(readSettings({ ...env, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x=, x-tenant=a' })).toMatchObject(
      {
        otlpEndpoint: 'http://collector:4318',
        otlpHeaders: { authorization: 'Bearer x=', 'x-tenant': 'a' },
        traceRatio: 0.25,
      },
    );
  });

  it.each(['no value', 'a=canary%', 'a=canary%ff', 'a=1,,b=2'])(
    'is refused with headers like %s, and does not repeat them',
    (text) => {
      const env = withSecret({ OTEL_EXPORTER_OTLP_HEADERS: text });
      expect(settingsAtFault(env)).toEqual(['OTEL_EXPORTER_OTLP_HEADERS']);
      expect(problemsOf(env).join()).not.toContain('canary');
    },
  );
});

it('`towline notify --test` names the settings when there is no receiver', async () => {
  const { code, err } = await run(['notify', '--test']);
  expect(code).not.toBe(0);
  for (const name of ['NOTIFY_URLS', 'HEARTBEAT_URL']) expect(err).toContain(name);
});
