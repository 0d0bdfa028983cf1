import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenCheck } from '../http/bearer-token.js';
import { bodyOf } from '../http/json-body.js';
import { parseBody } from '../http/members.js';
import type { CardDesk } from './card-desk.js';
import { CardGiven } from './card-schema.js';

export const CardBody = z.strictObject({ card: CardGiven });

/**
 * `POST /card-tokens` `{card}`: 201 and `{cardToken, masked, expiresAt}`, for callers who start a card flow by other ways
 * than `POST /flows/card-deposit`. Only this gateway can use the token, once, within a minute.
 */
export function addCardRoutes(
  server: FastifyInstance,
  deps: { readonly cards: CardDesk; readonly tokens: TokenCheck },
) {
  const onRequest = async (request: FastifyRequest) => void deps.tokens.require(request, 'flows');
  server.post('/card-tokens', { onRequest }, (request, reply) => {
    const { card } = parseBody(CardBody, bodyOf(request).value);
    return reply.code(201).send(deps.cards.keep(card));
  });
}
