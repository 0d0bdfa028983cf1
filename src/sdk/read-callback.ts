import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { CallbackError } from './errors.js';
import type { FlowChange, SkippedChange } from '../protocol/callbacks.js';

export interface ReceivedCallback {
  /** `whsec_…`, of `towline callbacks secret`: any of them may have signed, so that they can be rotated. */
  readonly secrets: readonly string[];
  /** As Node's `request.headers` has them, or a `Headers`. */
  readonly headers:
    Readonly<Record<string, string | readonly string[] | undefined>> | Iterable<readonly [string, string]>;
  /** The raw body, before anything parsed it. */
  readonly body: string | Uint8Array;
}

/** A change of a flow, as its caller receives it. For more, read the flow. */
export interface FlowCallback {
  /** The same however often it is sent: process each id once. */
  readonly id: string;
  /** Rises with each change of one flow: ignore a callback that is not newer than what you have. */
  readonly timestamp: string;
  readonly flow: Omit<FlowChange, 'timestamp'> & {
    /** Changes that were not reported by themselves, since newer ones came first. */
    readonly skipped: readonly SkippedChange[];
  };
}

/** The members that we rely on; a later version may report more. */
const Body = z.looseObject({
  timestamp: z.string(),
  data: z.looseObject({ flowId: z.string(), state: z.string() }),
});

/**
 * Verifies a callback of Towline by Standard Webhooks, and reads it. Answer 2xx only once you have stored it.
 * @throws TypeError if one of `secrets` is invalid: correct your settings, answer 500
 * @throws CallbackError if it is not proven to come from Towline, or is older than five minutes: answer 401
 */
export function readCallback({ secrets, headers, body }: ReceivedCallback): FlowCallback {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const given = signatureHeaders(headers);
  const webhooks = webhooksOf(secrets);
  if (!webhooks.some((webhook) => isSignedWith(webhook, text, given))) {
    throw new CallbackError('The callback is not signed with one of the secrets, or is too old: do not trust it.');
  }
  const parsed = Body.safeParse(jsonOf(text));
  if (!parsed.success) throw new CallbackError('The callback is signed, but names no flow: check its sender.');
  const { timestamp, data } = parsed.data;
  return { id: given['webhook-id'] ?? '', timestamp, flow: data as unknown as FlowCallback['flow'] };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function webhooksOf(secrets: readonly string[]): readonly Webhook[] {
  return secrets.map((secret, index) => {
    try {
      return new Webhook(secret);
    } catch {
      const form = 'what "towline callbacks secret" prints, each of the form whsec_ and base64';
      throw new TypeError(`secrets[${index}] is ${secret === '' ? 'empty' : 'no secret'}: give readCallback ${form}.`);
    }
  });
}

function isSignedWith(webhook: Webhook, text: string, headers: Record<string, string>): boolean {
  try {
    webhook.verify(text, headers);
    return true;
  } catch {
    return false;
  }
}

function signatureHeaders(headers: ReceivedCallback['headers']): Record<string, string> {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const given: Record<string, string> = {};
  for (const [name, value] of entries) {
    // A header that came twice does not count.
    if (/^webhook-(id|timestamp|signature)$/i.test(name) && typeof value === 'string')
      given[name.toLowerCase()] = value;
  }
  return given;
}
