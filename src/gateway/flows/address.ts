import type { FastifyRequest } from 'fastify';
import type { FlowView } from '../../flows/messages.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
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
