import { lookUpRecord } from '../../activities/status-lookups.js';
import type { ServiceAccess } from '../../src/gateway/index.js';
import { createServiceClient, type ServiceClient } from '../../src/service-client/index.js';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js';
import { until } from './until.js';

/** A JSON answer, which tests compare with what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = Record<string, any>;

/** The sandbox's control interface. */
export interface Control {
  readonly control: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<Answer>;
  /** How often the service executed this. */
  readonly executions: (operation: string, reference: string) => Promise<number>;
  /** Moves the sandbox's transaction by hand, as soon as its own steps have brought it to where that is possible. */
  readonly move: (reference: string, status: string, operation?: string) => Promise<void>;
}

/** The service of a test: a sandbox, and the client that calls it. */
export interface TestService extends Control {
  readonly sandbox: Sandbox;
  readonly service: ServiceClient;
  readonly close: () => Promise<void>;
}

export interface TestServiceOptions {
  readonly sandbox: SandboxOptions & { readonly token: string };
  readonly timeoutMs: number;
  /** Stands between the client and the sandbox, such as a wire log. */
  readonly between?: (sandboxUrl: string) => Promise<Between>;
}

export interface Between {
  readonly url: string;
  close(): Promise<void>;
}

export async function openService(options: TestServiceOptions): Promise<TestService> {
  const { token } = options.sandbox;
  const sandbox = await startSandbox(options.sandbox);
  const between = await options.between?.(sandbox.url);
  const service = createServiceClient({
    baseUrl: between?.url ?? sandbox.url,
    token: () => Promise.resolve(token),
    timeoutMs: options.timeoutMs,
  });
  return {
    sandbox,
    service,
    ...controlOf(sandbox.url),
    async close() {
      await sandbox.close();
      service.close();
      await between?.close();
    },
  };
}

/** A gateway's way to the service. */
export function accessOf(client: ServiceClient, token: string): ServiceAccess {
  return {
    client,
    token: () => Promise.resolve(token),
    lookUp: (operation, reference) => lookUpRecord({ service: client, timeScale: 0.01 }, operation, reference),
  };
}

export function controlOf(sandboxUrl: string): Control {
  const control: Control['control'] = async (method, path, body) => {
    const answer = await fetch(`${sandboxUrl}/_sandbox${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    control,
    async executions(operation, reference) {
      const found = await control('GET', `/executions?operation=${operation}&reference=${reference}`);
      return found['count'] as number;
    },
    async move(reference, status, operation) {
      const order = { status, ...(operation === undefined ? {} : { operation }) };
      const moved = () =>
        control('POST', `/transactions/${reference}/move`, order).then(
          () => true,
          (error: unknown) => {
            // It has no such transition, yet.
            if (/: 400 .*"path":\s*"status"/s.test(String(error))) return false;
            throw error;
          },
        );
      await until(`${status} of ${reference} to be possible`, moved);
    },
  };
}
