import { operationNames, operations, type MoneyOperationName } from '../../../src/contract/index.js';
import type { FlowKind } from '../../../src/protocol/vocabulary.js';
import { flowInput, type Post } from '../../harness/kind.js';
import { KINDS } from '../../harness/kinds.js';
import type { Stack } from '../../harness/stack.js';

/** One money-moving operation, and a flow that makes it. */
export interface Example extends Post {
  readonly kind: FlowKind;
  input(reference: string): Record<string, unknown>;
}

/** Every money-moving operation of the contract, with the flow of its kind that makes it. */
export const EXAMPLES = Object.fromEntries(
  operationNames
    .filter((name) => operations[name].effect === 'money')
    .map((name) => [name, exampleOf(name as MoneyOperationName)]),
) as Readonly<Record<MoneyOperationName, Example>>;

function exampleOf(operation: MoneyOperationName): Example {
  for (const kind of KINDS) {
    const post = kind.posts[operation];
    const input = post?.alone?.input ?? ((reference: string) => flowInput(kind, reference));
    if (post !== undefined) return { ...post, kind: kind.kind, input };
  }
  throw new TypeError(`no kind in test/kinds makes ${operation}`);
}

/** What another party must have made before. */
export async function makeBefore(bench: Stack, { alone }: Example, reference: string): Promise<void> {
  if (alone === undefined) return;
  const call = bench.deps.service[alone.after.operation] as (body: unknown) => Promise<unknown>;
  await call(alone.after.body(reference));
}
