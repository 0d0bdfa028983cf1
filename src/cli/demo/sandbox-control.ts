/** The parts of the sandbox's control interface that the demo uses. */
export interface SandboxControl {
  /** How the operation with this reference will end. */
  scenario(reference: string, ending: string): Promise<void>;
  /** One fault for one request of this reference. */
  fault(rule: {
    readonly operation: string;
    readonly kind: string;
    readonly reference: string;
    readonly delayMs?: number;
  }): Promise<void>;
  /** Every fault that was injected, and whether its request was executed all the same. */
  faultsOf(reference: string): Promise<readonly { readonly executed: boolean }[]>;
  /** The executions under this reference, by operation. */
  executions(reference: string): Promise<Executions>;
  /** Posts an unsigned COMPLETED with every fact right, like an attacker who knows all facts. */
  forge(reference: string): Promise<void>;
  /** Starts something that another party would start. */
  begin(what: { readonly path: string; readonly body: unknown }): Promise<void>;
  /** How many times longer a step of the ending `slow` takes. */
  setSlowFactor(factor: number): Promise<void>;
}

export function createSandboxControl(sandboxUrl: string): SandboxControl {
  async function ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${sandboxUrl}/_sandbox${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the sandbox answers ${response.status} to ${method} ${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  const query = (members: Record<string, string>) => new URLSearchParams(members).toString();

  return {
    async scenario(reference, ending) {
      await ask('POST', '/scenarios', { reference, ending });
    },
    async fault(rule) {
      await ask('POST', '/faults', { ...rule, first: 1 });
    },
    async faultsOf(reference) {
      const log = await ask<{ injections: { committed: boolean }[] }>('GET', `/faults/log?${query({ reference })}`);
      return log.injections.map(({ committed }) => ({ executed: committed }));
    },
    async executions(reference) {
      const answer = await ask<{ executions: { operation: string }[] }>('GET', `/executions?${query({ reference })}`);
      const counts: Record<string, number> = {};
      for (const { operation } of answer.executions) counts[operation] = (counts[operation] ?? 0) + 1;
      return counts;
    },
    async forge(reference) {
      await ask('POST', '/forge', { reference });
    },
    async begin({ path, body }) {
      await ask('POST', path, body);
    },
    async setSlowFactor(slowFactor) {
      await ask('POST', '/settings', { slowFactor });
    },
  };
}

/** How often each operation was executed, by its name; the sandbox has more than the contract. */
export type Executions = Readonly<Record<string, number>>;
