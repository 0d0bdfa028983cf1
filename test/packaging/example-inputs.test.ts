import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exampleInput } from '../../src/cli/demo/play-scene.js';
import { flowOf } from '../../src/flows/index.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { startDevServer } from '../../src/dev-server/dev-server.js';
import { packageRoot } from '../../src/package-root.js';
import { SIGNED, subscribe } from '../end-to-end/kinds-at-play.js';
import { newReference } from '../harness/references.js';
import { type Stack, withStack } from '../end-to-end/stack.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

/** Its own server: other tests also start the examples, whose references are fixed. */
const home = await mkdtemp(join(tmpdir(), 'towline-examples-'));
const server = await startDevServer({
  executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
  home,
  port: 0,
  uiPort: false,
  searchAttributes: SEARCH_ATTRIBUTES,
  log: () => {},
});
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

const EXAMPLES = join(packageRoot(), 'examples');

describe('the examples, as they stand, with every webhook of the service', () => {
  let stack: Stack;
  withStack({ ...SIGNED, temporalAddress: server.address }, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));

  test.each(FLOW_KINDS)('%s.json is started over HTTP, completes, and is executed once', async (kind) => {
    const definition = flowOf(kind);
    const text = await readFile(join(EXAMPLES, `${kind}.json`), 'utf8');
    const { [definition.referenceMember]: own } = JSON.parse(text) as Record<string, string>;
    const begun = definition.demo.begunBy?.(own ?? '');
    if (begun !== undefined) await stack.control('POST', begun.path, begun.body);
    const started = await stack.post(`/flows/${kind}`, text);
    expect([started.status, started.body]).toEqual([201, expect.objectContaining({ kind })]);
    const { flowId, reference } = started.body;
    const { body: ended } = await stack.get(`/flows/${flowId}/wait?timeoutSeconds=300`);
    expect(ended).toMatchObject({ state: 'completed' });
    const { executions } = await stack.control('GET', `/executions?reference=${reference}`);
    expect(executions.map(({ operation }: { operation: string }) => operation)).toEqual(
      Object.keys(definition.demo.executes),
    );
  });

  test.each(FLOW_KINDS.filter((kind) => kind !== 'card-deposit'))(
    '%s.json is the whole input of a flow, under any reference',
    async (kind) => {
      const reference = newReference('example');
      const parsed = flowOf(kind).input.safeParse(await exampleInput(kind, reference));
      expect(parsed?.error).toBeUndefined();
      expect(flowOf(kind).referenceOf(parsed?.data)).toBe(reference);
    },
  );
});
