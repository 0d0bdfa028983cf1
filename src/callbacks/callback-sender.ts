import { Webhook } from 'standardwebhooks';
import { getDomain } from 'tldts';
import { type EgressPolicy, callbackUrlProblem } from './address-policy.js';
import { NoCallbackSecretError, resolveByDns, type Resolve, post, type Answered } from './post.js';

export interface CallbackSenderOptions extends EgressPolicy {
  /** `whsec_…`; the first signs. Asked for each callback. */
  readonly secrets: () => readonly string[];
  /** @default the name servers' */
  readonly resolve?: Resolve;
  /** @default Date.now */
  readonly nowMs?: () => number;
  /** @default 15,000 */
  readonly timeoutMs?: number;
}

export interface CallbackSender {
  /** What is wrong with a URL, as the end of a sentence; undefined where it can be tried. */
  problemOf(url: string): string | undefined;
  /**
   * One signed POST by Standard Webhooks.
   * @throws CallbackRefusedError, CallbackUnreachableError, NoCallbackSecretError
   */
  send(callback: { readonly url: string; readonly id: string; readonly body: string }): Promise<Answered>;
}

const TIMEOUT_MS = 15_000;

/**
 * Who is at this URL. Names under one domain are one receiver, on whatever port: its owner makes them up. A domain that a
 * host lends to its customers, each under a name of their own, is one for each of them.
 */
export function receiverOf(url: string): string {
  if (!URL.canParse(url)) return '(no URL)';
  const { hostname } = new URL(url);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

/** Sends callbacks to callers: signed, and never to where they must not go. */
export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  const { secrets, allowLoopback, resolve = resolveByDns, nowMs = Date.now, timeoutMs = TIMEOUT_MS } = options;
  const policy: EgressPolicy = { allowLoopback };
  return {
    problemOf: (url) => callbackUrlProblem(url, policy),
    async send({ url, id, body }) {
      const [secret] = secrets();
      if (secret === undefined) throw new NoCallbackSecretError();
      // Of this attempt: a receiver takes only what was signed within the last minutes.
      const timestamp = new Date(nowMs());
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'towline',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, timestamp, body),
      };
      return post(url, headers, body, { policy, resolve, timeoutMs });
    },
  };
}
