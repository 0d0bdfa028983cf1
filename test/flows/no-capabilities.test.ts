import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callbackCapability } from '../../src/flows/capability.js';
import { KINDS } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import type { Between } from '../harness/service.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';

/** A card is only taken by a gateway; see `gateway/proxy/callers`. */
const SENDING = KINDS.filter(({ posts, kind }) => Object.keys(posts).length > 0 && kind !== 'card-deposit');

/** The service, which repeats in each answer all that it was sent: as it was, escaped, and in a link. */
async function repeating(sandboxUrl: string): Promise<Between> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const { url = '/', method = 'GET', headers } = request;
    const answered = await fetch(`${sandboxUrl}${url}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
      ...(body === '' ? {} : { body }),
    });
    const said = (await answered.json()) as { readonly message?: unknown; readonly data?: object };
    const link = `https://pay.example/?to=${encodeURIComponent(body)}`;
    const text = JSON.stringify({ ...said, message: body, data: { ...said.data, repeated: body, link } });
    const escaped = text.replaceAll('/', url.length % 2 === 0 ? '\\/' : '\\u002f');
    response.writeHead(answered.status, { 'content-type': 'application/json' }).end(escaped);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

describe('what a flow leaves behind, if the service repeats all that it was sent', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await openStack({ between: repeating });
  });
  afterAll(() => stack.close());

  /** Every payload of a history, as the worker saw it. */
  const opened = async (flowId: string): Promise<string> => {
    const sealed: Payload[] = [];
    const visit = (part: unknown): void => {
      if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return;
      if ('metadata' in part && 'data' in part && part.data instanceof Uint8Array) sealed.push(part as Payload);
      else Object.values(part).forEach(visit);
    };
    visit(await stack.client.workflow.getHandle(flowId).fetchHistory());
    const [codec] = stack.dataConverter.payloadCodecs ?? [];
    const payloads = (await codec?.decode(sealed)) ?? sealed;
    return payloads.map(({ data }) => Buffer.from(data ?? []).toString('utf8')).join('\n');
  };

  test.each(SENDING)(
    'has no capability of its callback URL in its history or its claim: $kind',
    async ({ kind, input, posts, begunBy }) => {
      const reference = newReference(kind);
      const begun = begunBy?.(reference);
      if (begun !== undefined) await stack.control('POST', begun.path, begun.body);
      const handle = await stack.startFlow(kind, reference, input(reference));
      const answered = await until('its POST to be answered', async () => {
        const claims = await stack.store.claims.ofFlow(handle.workflowId);
        const found = await Promise.all(
          claims.map((claim) =>
            stack.store.claims.get({ account: claim.account, operation: claim.operation, reference: claim.reference }),
          ),
        );
        return found.some((claim) => claim?.phase === 'answered') && found;
      });
      // What was sent, so that this test notices if nothing of it was repeated.
      const text = JSON.stringify(answered) + (await opened(handle.workflowId));
      expect(text).toContain('pay.example');
      expect(Object.keys(posts)).toContain(answered[0]?.operation);
      expect(text).not.toContain(callbackCapability(stack.store, handle.workflowId));
      await handle.terminate();
    },
  );
});
