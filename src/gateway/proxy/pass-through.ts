import type { FastifyReply } from 'fastify';
import { parse, stringify } from 'lossless-json';
import type { RelayedAnswer } from '../../client/index.js';
import type { OperationName } from '../../contract/index.js';
import { mayHoldOwnCallback, withoutOwnCallbacks } from '../flows/own-callbacks.js';
import type { ProxyDeps } from './deps.js';
import { refusalOf } from './service-errors.js';

/** One call to the service. @throws Refusal with the service's own status and message, or what went wrong on the way */
export async function relay(
  { service }: Pick<ProxyDeps, 'service'>,
  operation: OperationName,
  argument: unknown,
): Promise<RelayedAnswer> {
  try {
    return await service.client.relay(operation, argument);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The service's answer, byte for byte; where it repeats a callback URL of ours, without that. */
export function passOn(reply: FastifyReply, { httpStatus, bytes }: RelayedAnswer): FastifyReply {
  const text = Buffer.from(bytes);
  const body = mayHoldOwnCallback(text) ? stringify(withoutOwnCallbacks(parse(text.toString('utf8')))) : text;
  return reply.code(httpStatus).type('application/json').send(body);
}
