import { Webhook } from 'standardwebhooks';
import { getDomain } from 'tldts';
import { type EgressPolicy, callbackUrlProblem } from './address-policy.js';
import { NoCallbackSecretError, resolveByDns, type Resolve, post, type Answered } from './post.js';
import { systemClock } from '../clock.js';
import { OF_NO_NAME } from './secrets-of-name.js';

export interface CallbackSenderOptions extends EgressPolicy {
  /** Of a name, `whsec_…`; the first signs. Read for each callback. */
  readonly secrets: (owner: string) => readonly string[];
  /** @default the name servers' */
  readonly resolve?: Resolve;
  /** @default the system's clock */
  readonly nowMs?: () => number;
  /** @default 15,000 */
  readonly timeoutMs?: number;
}

export interface CallbackSender {
  /** Why a URL is not allowed, as the end of a sentence; undefined if it can be tried. */
  problemOf(url: string): string | undefined;
  /**
   * One signed POST by Standard Webhooks.
   * @throws CallbackRefusedError, CallbackUnreachableError, NoCallbackSecretError
   */
  send(callback: {
    readonly url: string;
    /** Whose flow it is about. @default no name's */
    readonly owner?: string | undefined;
    readonly id: string;
    readonly body: string;
    /** Further headers, such as those of tracing. Ours take precedence. */
    readonly headers?: Readonly<Record<string, string>>;
  }): Promise<Answered>;
}

const TIMEOUT_MS = 15_000;

/**
 * The receiver behind this URL. All names and ports under one domain are one receiver, because its owner can make up
 * any number of them. If a host gives each customer a name under a shared domain, each of these names is a receiver.
 */
export function receiverOf(url: string): string {
  if (!URL.canParse(url)) return '(no URL)';
  const { hostname } = new URL(url);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

/** Sends callbacks to callers: signed, and never to forbidden addresses. */
export function createCallbackSender(options: CallbackSenderOptions): CallbackSender {
  const { secrets, allowLoopback, resolve = resolveByDns, nowMs = systemClock.nowMs, timeoutMs = TIMEOUT_MS } = options;
  const policy: EgressPolicy = { allowLoopback };
  return {
    problemOf: (url) => callbackUrlProblem(url, policy),
    async send({ url, owner = OF_NO_NAME, id, body, headers: further }) {
      const [secret] = secrets(owner);
      if (secret === undefined) throw new NoCallbackSecretError();
      // The time of this attempt: a receiver accepts only what was signed within the last minutes.
      const timestamp = new Date(nowMs());
      const headers = {
        ...further,
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
