import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flowIdOf } from '../../src/protocol/vocabulary.js';
import { connectTemporal, type TemporalClient } from '../../src/temporal/connection.js';
import { startWorker, type RunningWorker } from '../../src/temporal/worker.js';
import { NAMESPACE } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { endOf } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { CLIENTS, SERVER } from './mtls-fixture.js';
import { openMtlsFront } from './mtls-front.js';

const { first, second } = CLIENTS;

describe('Temporal behind TLS with client certificates and an API key, by a profile', () => {
  let stack: Stack;
  let front: Awaited<ReturnType<typeof openMtlsFront>>;
  let temporal: TemporalClient;
  let worker: RunningWorker;
  let variables: Record<string, string>;
  const logged: string[] = [];
  beforeAll(async () => {
    stack = await openStack({ worker: false });
    front = await openMtlsFront(stack.address, { certificates: [first.cert], apiKeys: ['first'] });
    await replace('client.pem', first.cert);
    await replace('client.key', first.key);
    await replace('ca.pem', SERVER.ca);
    await replace('api-key', 'first\n');
    await replace(
      'temporal.toml',
      `[profile.cloud]
       address = "127.0.0.1:${front.port}"
       [profile.cloud.tls]
       server_name = "localhost"
       server_ca_cert_path = "${pathOf('ca.pem')}"
       client_cert_path = "${pathOf('client.pem')}"
       client_key_path = "${pathOf('client.key')}"`,
    );
    variables = {
      TEMPORAL_CONFIG_FILE: pathOf('temporal.toml'),
      TEMPORAL_PROFILE: 'cloud',
      TEMPORAL_API_KEY_FILE: pathOf('api-key'),
    };
    const { dataConverter, deps: activities, taskQueue } = stack;
    const error = ({ code }: { code: string }) => void logged.push(code);
    const log = { info() {}, warn() {}, debug() {}, error };
    const bundlePath = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
    temporal = connectTemporal({ variables, dataConverter });
    worker = await startWorker({
      variables,
      namespace: NAMESPACE,
      dataConverter,
      activities,
      log,
      bundlePath,
      taskQueue,
      queues: ['flows', 'money', 'lookups'],
    });
  });
  afterAll(async () => {
    await worker.shutdown();
    await temporal.close();
    await front.close();
    await stack.close();
  });

  const pathOf = (name: string) => join(stack.folder, name);
  /** As a new version of a mounted secret comes. */
  async function replace(name: string, content: string): Promise<void> {
    const draft = pathOf(`${name}.new`);
    await writeFile(draft, content);
    await chmod(draft, 0o400);
    await rename(draft, pathOf(name));
  }

  async function playFlow() {
    const reference = newReference('mtls');
    const handle = await temporal.client.workflow.start('cryptoSend', {
      taskQueue: stack.taskQueue,
      workflowId: flowIdOf('crypto-send', reference),
      args: [{ ...cryptoSend.input(reference), timeScale: 0.02 }],
    });
    return (await endOf(handle)).view.state;
  }

  async function untilClientSends(apiKey: string): Promise<void> {
    await until(`the client to send ${apiKey}`, async () => {
      const before = front.served.length;
      await temporal.client.workflowService.getSystemInfo({}).catch(() => undefined);
      return front.served.slice(before).some((one) => one.path.endsWith('/GetSystemInfo') && one.apiKey === apiKey);
    });
  }

  it('goes on with new ones as soon as their files change, client and worker, without a restart', async () => {
    expect(await playFlow()).toBe('completed');

    await replace('client.pem', second.cert);
    await until('the log to name certificate and key, which do not belong together', () => logged.length > 0);
    expect(logged).toEqual(['tls-files']);
    expect(await playFlow()).toBe('completed');

    // The server admits both while clients change.
    front.admit({ certificates: [first.cert, second.cert], apiKeys: ['first', 'second'] });
    await replace('api-key', 'second\n');
    await replace('client.key', second.key);
    await until('a connection with the new certificate', () => front.isConnected('towline-second'));
    const polls = () => front.served.filter(({ path }) => path.endsWith('/PollActivityTaskQueue'));
    await until('the worker to poll with the new ones', () => {
      // Long polls that are under way would end by themselves within a minute.
      front.endConnections('towline-first');
      return polls().some(({ by, apiKey }) => by === 'towline-second' && apiKey === 'second');
    });
    await untilClientSends('second');

    front.admit({ certificates: [second.cert], apiKeys: ['second'] });
    const before = front.served.length;
    front.endConnections('towline-first');
    front.endConnections('towline-second');
    expect(await playFlow()).toBe('completed');
    const since = front.served.slice(before);
    expect(since.map(({ path }) => path)).toContainEqual(expect.stringMatching(/StartWorkflowExecution$/));
    expect(new Set(since.map(({ by, apiKey }) => `${by} ${apiKey}`))).toEqual(new Set(['towline-second second']));
    expect(front.refused()).toBe(0);
    expect(logged).toHaveLength(1);
  });

  it('is not reached with a certificate that it does not admit', async () => {
    await replace('old.pem', first.cert);
    await replace('old.key', first.key);
    const pair = {
      TEMPORAL_TLS_CLIENT_CERT_PATH: pathOf('old.pem'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: pathOf('old.key'),
    };
    const old = connectTemporal({ variables: { ...variables, ...pair } });
    const { connection, workflowService } = old.client;
    await expect(
      connection.withDeadline(Date.now() + 500, () => workflowService.getSystemInfo({})),
    ).rejects.toMatchObject({ code: expect.any(Number) });
    await old.close();
  });

  it('waits while it is refused, and goes on when the files hold what the server admits', async () => {
    front.admit({ certificates: [second.cert], apiKeys: ['third'] });
    front.endConnections('towline-second');
    await until('the worker to be refused', () => front.refused() > 0);
    await replace('api-key', 'third\n');
    await untilClientSends('third');
    expect(await playFlow()).toBe('completed');
  });

  it('is refused at the start, in a sentence without the content of a file, if the profile cannot be used', async () => {
    await replace('broken.toml', '[profile.cloud]\napi_key = "canary-of-a-key');
    const start = (more: Record<string, string>) => () => connectTemporal({ variables: { ...variables, ...more } });
    const broken = pathOf('broken.toml');
    const refusalOf = (begin: () => unknown) => {
      try {
        begin();
        return undefined;
      } catch (error) {
        expect((error as Error).message).not.toContain('canary');
        return (error as { code?: unknown }).code;
      }
    };
    expect(refusalOf(start({ TEMPORAL_CONFIG_FILE: broken }))).toBe('no-profile');
    expect(refusalOf(start({ TEMPORAL_PROFILE: 'other' }))).toBe('no-profile');
    expect(refusalOf(start({ TEMPORAL_TLS_CLIENT_CERT_PATH: pathOf('none.pem') }))).toBe('file-unreadable');
    expect(refusalOf(() => connectTemporal({ variables: { TEMPORAL_PROFILE: 'cloud' } }))).toBe('no-config-file');
  });
});
