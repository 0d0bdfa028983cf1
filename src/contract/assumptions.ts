/** A point that the interface leaves open, and how we read it. Data, so that docs and tests can list them. */
export interface Assumption {
  /** The open point; several decisions may belong to one. */
  readonly topic: AssumptionTopic;
  /** What the interface does not say. */
  readonly notShown: string;
  readonly decision: string;
  readonly reason: string;
  /** The setting that changes it, where there is one. */
  readonly setting?: string;
}

export const ASSUMPTION_TOPICS = [
  'inner-fields',
  'string-constraints',
  'deposit-transitions',
  'bridge-transitions',
  'invoice-statuses',
  'other-statuses',
  'nested-required',
  'offramp-receiver',
  'repeated-reference',
  'token-lifecycle',
  'api-key-presentation',
  'webhook-signature',
  'event-payloads',
  'event-sources',
  'delivery-rules',
  'error-body',
  'http-statuses',
  'validation-rules',
  'limits',
  'version-policy',
] as const;
export type AssumptionTopic = (typeof ASSUMPTION_TOPICS)[number];

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    topic: 'inner-fields',
    notShown: 'what wallet, customer, rate, chain, token, callbackPayload and the error objects hold inside',
    decision: 'kept as they come, never read; where an object is announced, plain text is taken, too',
    reason: 'nothing that we decide depends on them, and the wire shows both',
  },
  {
    topic: 'inner-fields',
    notShown: 'which members of an answer are always there',
    decision:
      'only the reference and, where there is one, the status; another member that cannot be read reads as absent',
    reason: 'a cosmetic member must not turn a paid transfer into an error',
  },
  {
    topic: 'string-constraints',
    notShown: 'length and form of reference ids',
    decision: 'one ASCII grammar of 1 to 128 characters without "..", of which callers may use 121',
    reason: 'references become parts of URLs, ids and claims; seven characters stay free for the suffix of refunds',
  },
  {
    topic: 'string-constraints',
    notShown: 'the form of phone numbers, addresses and account numbers',
    decision: 'any text that is not empty',
    reason: 'documented samples contradict one another (E.164 and national, addresses with 39 hex digits)',
  },
  {
    topic: 'string-constraints',
    notShown: 'whether a bank code is a number or text',
    decision: 'either is sent as the caller gave it',
    reason: 'the interface has both, and text keeps its leading zeros',
  },
  {
    topic: 'string-constraints',
    notShown: 'whether the mobile money networks that request shapes name are all there are',
    decision: 'a network is any text',
    reason: 'the interface calls the members strings, and further networks are seen on the wire',
  },
  {
    topic: 'string-constraints',
    notShown: 'how a callback URL must look',
    decision: 'http or https',
    reason: 'no other scheme can be called back',
  },
  {
    topic: 'deposit-transitions',
    notShown: 'how deposit statuses follow one another',
    decision: 'PENDING, then SUCCESSFUL or FAILED, which stay; a contradiction parks the flow',
    reason: 'the meanings given for the three words leave no other order',
  },
  {
    topic: 'bridge-transitions',
    notShown: 'moves between bridge statuses other than by a settlement',
    decision:
      'a status only rises in the order listed; FAILED to REFUNDED is allowed; COMPLETED against REFUNDED parks',
    reason: 'events come late, twice and in any order; the highest one seen is what happened',
  },
  {
    topic: 'bridge-transitions',
    notShown: 'whether a settlement may be believed, since its path needs no authorization',
    decision: 'it is stored and shown, and ends a flow only once it is corroborated',
    reason: 'everything in its body is known to the counterparties',
    setting: 'SETTLEMENT_TRUST',
  },
  {
    topic: 'invoice-statuses',
    notShown: 'statuses of an invoice after PENDING',
    decision: 'read like those of deposits; an unknown word is neither success nor final',
    reason: 'the wire shows the same words for both',
  },
  {
    topic: 'other-statuses',
    notShown: 'status words of offramps, crypto sends and KYC records',
    decision: 'any text; words seen on the wire are known by the flows, others are shown and count as not terminal',
    reason: 'calling an unknown word failed, or final, would be a guess about money',
  },
  {
    topic: 'other-statuses',
    notShown: 'whether FAILED ends an offramp',
    decision: 'it does not: an automatic refund may follow',
    reason: 'the wire shows REFUND_PENDING, REFUNDED and REFUND_FAILED after it',
  },
  {
    topic: 'nested-required',
    notShown: 'which members of nested request objects must be given',
    decision:
      'only those without which the object says nothing: the phone of a mobile money party, the account of a bank (and the bank code of a withdrawal), the digits and date of a card, amount, currency and recipient of a settlement',
    reason: 'what may be missing is for the service to refuse; a refusal moves no money',
  },
  {
    topic: 'nested-required',
    notShown: 'whether a bridge deposit needs bolt11 or address',
    decision: 'either, both or neither is sent',
    reason: 'requests with both are seen on the wire',
  },
  {
    topic: 'offramp-receiver',
    notShown: 'which receiver an offramp needs, and which payment an onramp',
    decision: 'either, both or neither is sent',
    reason: 'requests of each kind are seen on the wire, and only the service knows its corridors',
  },
  {
    topic: 'repeated-reference',
    notShown: 'what a repeated reference does',
    decision: 'a money-moving request is never repeated without proof that the first one was not taken',
    reason: 'the service may execute it again',
    setting: 'DUPLICATE_REFERENCE',
  },
  {
    topic: 'repeated-reference',
    notShown: 'how the service answers a repeat',
    decision:
      '409, or one of the words for it (`duplicate-words.ts`) in message, error, code or errors; any other refusal that is about the reference is looked up before it is called one',
    reason: 'taking such an answer for a refusal would call a paid flow failed',
    setting: 'DUPLICATE_WORDS',
  },
  {
    topic: 'token-lifecycle',
    notShown: 'where a magic link comes from, how long tokens live, how they are refreshed',
    decision: 'a token is given from outside, and read again from its file after a 401',
    reason: 'an API key does not expire, and whoever rotates a session token can write a file',
    setting: 'SERVICE_TOKEN_FILE',
  },
  {
    topic: 'api-key-presentation',
    notShown: 'how a generated API key is presented',
    decision: 'as a bearer token in the Authorization header',
    reason: 'the service documents it so, and the interface has no other header',
  },
  {
    topic: 'webhook-signature',
    notShown: 'algorithm and header of signed callbacks',
    decision: 'profiles behind one interface, told apart by their headers',
    reason: 'the service documents an HMAC over part of the body, and may change it',
    setting: 'WEBHOOK_PROFILE',
  },
  {
    topic: 'event-payloads',
    notShown: 'payloads of all events but one, and of callbacks',
    decision: 'matched by any spelling of the reference, with the status as a hint; the rest is kept as it came',
    reason: 'what counts is confirmed by a status lookup, or must be trusted',
  },
  {
    topic: 'event-sources',
    notShown: 'which operation emits which event, and whether the event whose shape is shown can be subscribed to',
    decision: 'any event may come at any endpoint of ours; it is not offered for subscription',
    reason: 'an event is found by its reference and not by its name, and the enumeration does not hold that name',
  },
  {
    topic: 'delivery-rules',
    notShown: 'retries, order and acknowledgement of callbacks',
    decision: 'at least once, in any order, or never; answered 200 once they are stored',
    reason: 'every flow with a status lookup must end with all its webhooks lost',
  },
  {
    topic: 'error-body',
    notShown: 'the body of an error',
    decision: 'four shapes are read; a body of any other shape changes nothing of what its status says',
    reason: 'the service documents four that contradict one another',
  },
  {
    topic: 'http-statuses',
    notShown: 'HTTP statuses and error codes',
    decision:
      '401 and 429: not taken; 400, 403, 404, 422: refused; 409: duplicate; 2xx: as its body says; anything else: unknown',
    reason: 'only statuses that are given before execution may count as a refusal',
  },
  {
    topic: 'http-statuses',
    notShown: 'whether a 2xx may be a refusal',
    decision: 'success:false with a reason is one; without a reason, or with a whole record, the outcome is unknown',
    reason: 'a contradiction proves nothing',
  },
  {
    topic: 'validation-rules',
    notShown: 'what the service checks, and what it answers then',
    decision: 'strict in what we send: types, enumerations, required members, no unknown members, amounts above zero',
    reason: 'a request that breaks the interface is better refused before it leaves',
  },
  {
    topic: 'limits',
    notShown: 'how often requests may be made, and how a caller is told',
    decision: 'no limit of our own; after a 429 the hint is honoured in each of its spellings, up to an hour',
    reason: 'the documented figures contradict one another',
  },
  {
    topic: 'limits',
    notShown: 'smallest and largest amounts, and how precise they are',
    decision: 'above zero, with at most 15 significant digits',
    reason: 'an amount is a JSON number, and longer ones do not survive a double',
  },
  {
    topic: 'limits',
    notShown: 'how large a payload may be',
    decision: 'an answer has at most 1 MiB',
    reason: 'the largest documented one has a few KiB',
  },
  {
    topic: 'version-policy',
    notShown: 'how versions come and go',
    decision: 'paths are used exactly as written; unknown members and words are kept',
    reason: 'an addition must not break a running flow',
  },
];
