import { operations, type MoneyOperationName } from '../../contract/index.js';
import { isReference } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';

const RETRY_AFTER_SECONDS = 5;

/** The reference that a money POST goes under. */
export interface SentReference {
  /** The member of the request that carries it. */
  readonly member: string;
  /** Undefined where the caller gave what is none. */
  readonly reference: string | undefined;
  /** The caller gave none: it knows this one from us alone, and without it would make another payment. */
  readonly isOurs: boolean;
}

export function sentReference(name: MoneyOperationName, body: unknown, newReference: () => string): SentReference {
  const { reference: member } = operations[name];
  const given = typeof body === 'object' && body !== null && Object.hasOwn(body, member);
  if (!given) return { member, reference: newReference(), isOurs: true };
  const reference = (body as Record<string, unknown>)[member];
  return { member, reference: isReference(reference) ? reference : undefined, isOurs: false };
}

/**
 * A money POST that went wrong on our side may have started its flow all the same, which then pays. So whoever is told to
 * send it again is told under which reference.
 */
export function withReference(error: unknown, { member, reference, isOurs }: SentReference): Refusal {
  const { status, message, details, retryAfter } = error instanceof Refusal ? error : UNTOLD;
  // Of one that we made there is nothing to know where nothing came of it.
  const isKnown = reference !== undefined && (!isOurs || status >= 500);
  const along = `Send "${member}": "${reference}" along: without it, it is another payment.`;
  return new Refusal(
    status,
    isKnown && isOurs ? `${message} ${along}` : message,
    isKnown ? { reference, ...details } : details,
    retryAfter,
  );
}

const UNTOLD = new Refusal(
  503,
  'What became of this request cannot be told now. Send it again: one reference is one flow.',
  {},
  RETRY_AFTER_SECONDS,
);
