/** The streams that leave the sandbox: callbacks and account webhooks of the service, posts of the settlement provider. */
export const STREAMS = ['callback', 'webhook', 'settlement'] as const;

/** `plain`: as its stream is signed. `forged`: with a secret that the forger made up. `bare`: without a signature. */
const MANNERS = ['plain', 'forged', 'bare'] as const;

export type Manner = (typeof MANNERS)[number];

export type Stream = (typeof STREAMS)[number];

export interface Message {
  readonly stream: Stream;
  readonly reference: string;
  /** The status that the body reports, for people who read deliveries. */
  readonly status: string;
  /** Name of the event; empty for a settlement. */
  readonly event: string;
  readonly url: string;
  readonly body: string;
}
