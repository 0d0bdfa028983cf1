import { z } from 'zod';
import { parseBody } from '../http/members.js';
import { Refusal } from '../http/refusal.js';
import type { CardDesk } from './card-desk.js';
import { CardGiven } from './card-schema.js';

const WithCard = z.looseObject({ card: CardGiven });

/**
 * For `POST /flows/card-deposit` with a `card`: takes it out of the body and puts its token there, before anything that
 * starts flows sees the body. Where no new flow came of it, the card is dropped at once.
 *
 * @param start says whether a new flow was started
 */
export async function withCardTaken(
  cards: CardDesk,
  body: unknown,
  start: (body: unknown) => Promise<{ readonly started: boolean }>,
): Promise<void> {
  if (typeof body !== 'object' || body === null || !('card' in body)) return void (await start(body));
  if ('cardToken' in body) {
    const message = 'is given beside a card: send one of them';
    throw new Refusal(400, 'Send either card or cardToken.', { errors: [{ path: 'cardToken', message }] });
  }
  const { card, ...rest } = parseBody(WithCard, body, 'The card');
  const { cardToken, masked } = cards.keep(card);
  try {
    const { started } = await start({ ...rest, cardToken, masked });
    if (!started) cards.forget(cardToken);
  } catch (error) {
    // Any other error may have come after the flow was started: then the card is needed, and ends with its minute.
    if (error instanceof Refusal) cards.forget(cardToken);
    throw error;
  }
}
