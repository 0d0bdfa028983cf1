import { z } from 'zod';
import { UNREADABLE } from '../protocol/messages.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { readReference } from '../readers/reference.js';
import type { EventReading } from './flow.js';

/*
 * Callbacks and account webhooks whose shape the interface does not show: the bare fields, or the envelope `{event,
 * data}`. Either spelling of the reference; amounts as numbers or strings. Unknown members stay in the inbox.
 */

/** A member of a body that may be anything. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

/** @param path the names of members, with a dot between them */
export const memberAt = (value: unknown, path: string): unknown => path.split('.').reduce<unknown>(memberOf, value);

/** Null, a blank text and an empty list, which some services write for an object without members, say nothing. */
export const isGiven = (said: unknown): boolean =>
  said !== undefined && said !== null && !isBlank(said) && !(Array.isArray(said) && said.length === 0);

const isBlank = (said: unknown): boolean => typeof said === 'string' && said.trim() === '';

export const isObject = (said: unknown): said is Record<string, unknown> =>
  typeof said === 'object' && said !== null && !Array.isArray(said);

/** What a member says, as one of the readers reads it. Undefined only if it says nothing: what cannot be read differs. */
export function factOf(said: unknown, read: (said: unknown) => string | undefined): string | undefined {
  return isGiven(said) ? (read(said) ?? UNREADABLE) : undefined;
}

export const amountFact = (said: unknown): string | undefined => factOf(said, readAmount);
export const codeFact = (said: unknown): string | undefined => factOf(said, readCode);

const decimal = z.unknown().transform(amountFact).optional();
const currency = z.unknown().transform(codeFact).optional();
/** A status word may be shown and logged. */
export const PLAIN_WORD = /^[\w .:-]{1,64}$/;

const Fields = z.looseObject({
  status: z.unknown().transform(readCode).optional(),
  amount: decimal,
  fiatAmount: decimal,
  cryptoAmount: decimal,
  crypto_amount: decimal,
  currency,
  fiatCurrency: currency,
});

/** Each reference that these members give, in their order; `UNREADABLE` for what cannot be one. */
export const referencesIn = (fields: unknown, members: readonly string[]): readonly string[] =>
  members.flatMap((member) => factOf(memberOf(fields, member), readReference) ?? []);

/** The reference by which the flow of an event is found that came by no flow's own path; undefined if it names none. */
export const namedReference = (reading: EventReading | undefined): string | undefined =>
  reading?.references.find((name) => name !== UNREADABLE);

/** Only the bridge uses this member: it names its kind, whatever the event is called. */
export function saysProviderReference(body: unknown): boolean {
  const said = memberOf(memberOf(body, 'data') ?? body, 'provider_reference_id');
  return typeof said === 'string' && said !== '';
}

interface EventFields {
  readonly fields: unknown;
  readonly event: string | null;
  /**
   * What its envelope holds, if that is not the fields: these are then beside it. What is `unreadable` may say
   * anything, and `nothing` may, too, if there is no status beside it.
   */
  readonly holds: 'fields' | 'nothing' | 'unreadable';
}

/** The fields of an event: bare, or as the `data` of an envelope that names the event. */
export function fieldsOf(body: unknown): EventFields {
  const [event, data] = [memberOf(body, 'event'), memberOf(body, 'data')];
  if (typeof event !== 'string' || data === undefined) return { fields: body, event: null, holds: 'fields' };
  if (isObject(data)) return { fields: data, event, holds: 'fields' };
  return { fields: body, event, holds: isGiven(data) ? 'unreadable' : 'nothing' };
}

export type CallbackFields = z.infer<typeof Fields>;

/**
 * Reads an event. A status that is there and cannot be read makes its body `UNREADABLE`. A kind passes `statusOf` if
 * other members hold its status, and `factsOf` if only some members surely mean what the flow knows.
 */
export function callbackEvent(
  body: unknown,
  statusOf: (fields: CallbackFields, event: string | null) => string | null = (fields) => fields.status ?? null,
  factsOf: (fields: CallbackFields, event: string | null) => EventReading['facts'] = commonFacts,
): EventReading | undefined {
  const { fields: said, event, holds } = fieldsOf(body);
  const parsed = Fields.safeParse(said);
  if (!parsed.success) return undefined;
  const fields = parsed.data;
  const isStatusUnread = fields.status === undefined && isGiven(memberOf(said, 'status'));
  const isUnread = holds === 'unreadable' || isStatusUnread || (holds === 'nothing' && statusOf(fields, null) === null);
  return {
    references: referencesIn(said, ['referenceId', 'reference_id', 'provider_reference_id']),
    status: statusOf(fields, event),
    facts: { ...factsOf(fields, event), ...(isUnread ? { body: UNREADABLE } : {}) },
  };
}

/** Amounts and currency, by the names that any kind may know. */
export function commonFacts(fields: CallbackFields): EventReading['facts'] {
  const facts: Record<string, string> = {};
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) facts[name] = value;
  };
  add('amount', fields.amount);
  add('fiatAmount', fields.fiatAmount);
  add('cryptoAmount', fields.cryptoAmount ?? fields.crypto_amount);
  add('currency', fields.currency ?? fields.fiatCurrency);
  return facts;
}
