import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Card } from '../../contract/deposit.js';
import { CardToken } from '../../api/operations.js';
import { parseBody } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { createCardIntake, type CardIntake, type CardIntakeOptions } from './card-intake.js';

/*
 * A card as callers send it. Errors name the member, never its value: these messages go back to the caller and must
 * contain nothing of a card.
 */

const SEPARATORS = /[ -]/g;

/** Spaces and dashes are how people write card numbers; only digits are sent. */
const number = () =>
  z
    .string('must be text')
    .max(40, 'must have 12 to 19 digits')
    .transform((text) => text.replaceAll(SEPARATORS, ''))
    .refine((digits) => /^\d{12,19}$/.test(digits), 'must have 12 to 19 digits')
    .refine((digits) => !/^\d{12,19}$/.test(digits) || passesLuhn(digits), 'is no card number: a digit is wrong');

export const CardGiven = Card.extend({
  number: number(),
  expiryMonth: z.string('must be text').regex(/^(0?[1-9]|1[0-2])$/, 'must be a month, 01 to 12'),
  expiryYear: z.string('must be text').regex(/^(20)?\d{2}$/, 'must be a year of two or four digits'),
  cvv: z.string('must be text').regex(/^\d{3,4}$/, 'must have 3 or 4 digits'),
  holder: z.string('must be text').max(200, 'must have at most 200 characters').optional(),
});

/** ISO/IEC 7812: every second digit from the right counts double; the sum of all digits ends in 0. */
export function passesLuhn(digits: string): boolean {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

const WithCard = z.looseObject({ card: CardGiven });

/**
 * For `POST /flows/card-deposit` with a `card`: replaces the card in the body by its token, before anything that starts
 * flows sees the body. Unless a flow was started that may still need it, the card is dropped at once.
 *
 * @param start says whether such a flow was started
 */
export async function withCardTaken<Started extends { readonly started: boolean }>(
  { cards, owner }: { readonly cards: CardIntake; readonly owner: string },
  body: unknown,
  start: (body: unknown) => Promise<Started>,
): Promise<Started> {
  if (typeof body !== 'object' || body === null || !('card' in body)) return start(body);
  if ('cardToken' in body) {
    const message = 'is given beside a card: send one of them';
    throw new Refusal(400, 'Send either card or cardToken.', { errors: [{ path: 'cardToken', message }] });
  }
  const { card, ...rest } = parseBody(WithCard, body, 'The card');
  const { cardToken, masked } = cards.keep(card, owner);
  try {
    const outcome = await start({ ...rest, cardToken, masked });
    if (!outcome.started) cards.forget(cardToken);
    return outcome;
  } catch (error) {
    // Any other error may have come after the flow was started: then the card is needed, and expires after its minute.
    if (error instanceof Refusal) cards.forget(cardToken);
    throw error;
  }
}

const CardBody = z.strictObject({ card: CardGiven });

declare module 'fastify' {
  interface FastifyInstance {
    cards: CardIntake;
  }
}

/**
 * Cards, for as long as the gateway runs, and `POST /card-tokens` `{card}`: 201 and `{cardToken, masked, expiresAt}`, for
 * callers who do not start a card flow by `POST /flows/card-deposit`. Only this gateway can use the token, once, within a
 * minute.
 */
export const cards = fp(async (server: FastifyInstance, options: CardIntakeOptions) => {
  const intake = createCardIntake(options);
  server.decorate('cards', intake);
  let served: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  // Requests that are still in flight may need their cards to be sent.
  server.addHook('preClose', async () => {
    closed = intake.close(new Promise((resolve) => (served = resolve)));
  });
  server.addHook('onClose', async () => {
    served?.();
    await closed;
  });
  addRoute(server, {
    method: 'POST',
    path: '/card-tokens',
    operationId: 'keepCard',
    tag: 'cards',
    summary: 'Keeps a card in memory for a minute, behind a token that is used once.',
    permission: 'start',
    body: {
      schema: { CardBody },
      required: true,
      example: { card: { number: '4111 1111 1111 1111', expiryMonth: '12', expiryYear: '2030', cvv: '123' } },
    },
    answers: { 201: { says: 'The token.', schema: { CardToken } } },
    handler: ({ reply, caller: { name: actor }, body: { card } }) => {
      void reply.code(201);
      return intake.keep(card, actor);
    },
  });
});
