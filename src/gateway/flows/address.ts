import type { FastifyRequest } from 'fastify';
import type { FlowView } from '../../protocol/messages.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { callbackUrlProblem } from '../../callbacks/index.js';
import type { Settings } from '../../config/settings-shape.js';
import { flowAddress, type FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';

/** The flow that a path names. @throws Refusal 404 for what can be no flow of ours */
export function addressOf(request: FastifyRequest): FlowAddress {
  const { kind, reference } = request.params as Record<string, unknown>;
  const address = flowAddress(kind, reference);
  if (address === undefined) throw new Refusal(404, 'There is no flow at this address.');
  return address;
}

/** @throws Refusal 404 where it does not exist */
export async function shownFlow(reader: FlowReader, { kind, reference, flowId }: FlowAddress): Promise<FlowView> {
  const view = await reader.show(flowId);
  if (view !== undefined) return view;
  throw new Refusal(404, `There is no flow ${kind}/${reference}. Start it with POST /flows/${kind}.`, { reference });
}

/** Where we asked the service to call back: it carries a capability, and is not shown to others. */
const OWN_CALLBACK = /https?:\/\/[^\s"'<>]{1,300}\/callbacks\/[a-z-]+\/[A-Za-z0-9._:-]+\/[0-9a-f]{43}/g;

/** Whether a text of the service may repeat such a URL; a quick look before anything is parsed. */
export const mayHoldOwnCallback = (text: Uint8Array): boolean => Buffer.from(text).includes('/callbacks/');

/** The service repeats what it was sent: in the place of our callback URL stands the caller's, or nothing. */
export function withoutOwnCallbacks(value: unknown, instead?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutOwnCallbacks(item, instead));
  // Also within a sentence of the service.
  if (typeof value === 'string') return value.replace(OWN_CALLBACK, instead ?? '(callback)');
  // A number that JavaScript cannot hold is an object of its own kind.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, inner]) => {
      const isWhole = typeof inner === 'string' && inner !== '' && inner.replace(OWN_CALLBACK, '') === '';
      if (!isWhole) return [[member, withoutOwnCallbacks(inner, instead)]];
      return instead === undefined ? [] : [[member, instead]];
    }),
  );
}

/** Refuses what can be judged from the URL alone; the rest is judged when a callback is sent. @throws Refusal 400 */
export function checkCallbackUrl(settings: Pick<Settings, 'callbackAllowLoopback'>, input: unknown): void {
  const { callbackUrl } = (input ?? {}) as { callbackUrl?: unknown };
  if (typeof callbackUrl !== 'string') return;
  const message = callbackUrlProblem(callbackUrl, { allowLoopback: settings.callbackAllowLoopback });
  if (message === undefined) return;
  throw new Refusal(400, `callbackUrl ${message}.`, { errors: [{ path: 'callbackUrl', message }] });
}
