import { parse, stringify } from 'lossless-json';
import type { FlowWithMoney } from '../../api/flow.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { Asker } from '../../temporal/questions.js';
import { callbackUrlProblem } from '../../callbacks/index.js';
import type { Settings } from '../../config/settings-shape.js';
import type { FlowAddress } from '../http/flow-path.js';
import { noSuchFlow } from '../http/owners.js';
import { Refusal } from '../http/refusal.js';

/** @throws Refusal 404 if it does not exist; to an order TooManyQuestionsError */
export async function shownFlow(
  reader: Pick<FlowReader, 'show'>,
  address: FlowAddress,
  asker: Asker,
): Promise<FlowWithMoney> {
  const view = await reader.show(address.flowId, asker);
  if (view !== undefined) return view;
  throw noSuchFlow(address);
}

const ENCODED_SLASH = '%(?:25){0,4}2[Ff]';
const ENCODED_COLON = '%(?:25){0,4}3[Aa]';
const SLASH = `(?:/|${ENCODED_SLASH})`;
const COLON = `(?::|${ENCODED_COLON})`;
/** Between its scheme and its path are no other scheme, no query and no fragment: those would be of a link around it. */
const urlOfOurs = (scheme: string, character: string, slash: string): string =>
  `${scheme}(?:(?!https?${COLON})${character}){1,300}${slash}callbacks${slash}[a-z-]+${slash}` +
  `(?:[A-Za-z0-9._-]|${COLON})+${slash}[0-9a-f]{43}`;
const CHARACTER = `[^\\s"'<>?&=#%]`;
/**
 * The callback URL that we gave to the service: it contains a capability, and is not shown to others. The service may put
 * it into another link, of which only this part is ours: plain, or percent-encoded, perhaps more than once.
 */
const OWN_CALLBACK = new RegExp(
  [
    urlOfOurs('https?://', CHARACTER, '/'),
    urlOfOurs(
      `https?(?:${ENCODED_COLON}${SLASH}${SLASH}|:${ENCODED_SLASH}${ENCODED_SLASH})`,
      `(?:${CHARACTER}|%(?:25){0,4}(?:2[Ff]|3[Aa]|5[BbDd]))`,
      SLASH,
    ),
  ].join('|'),
  'g',
);
/** How often it is encoded: once, and again for each `25`. */
const ENCODING = /^https?:?%((?:25)*)/;

/** A function replaces it: in a text, `$&` would mean the URL that is to be hidden. */
function replaceOwnCallbacks(text: string, instead?: string): string {
  return text.replaceAll(OWN_CALLBACK, (own) => (instead === undefined ? '(callback)' : encodedAs(own, instead)));
}

/** What the service would have written without us: the caller's URL, encoded as ours was. */
function encodedAs(own: string, url: string): string {
  const [, again] = ENCODING.exec(own) ?? [];
  let encoded = url;
  for (let left = again === undefined ? 0 : 1 + again.length / 2; left > 0; left -= 1) {
    encoded = encodeURIComponent(encoded);
  }
  return encoded;
}

/** The service repeats what it was sent: our callback URL is replaced by the caller's, or removed. */
export function withoutOwnCallbacks(value: unknown, instead?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutOwnCallbacks(item, instead));
  // Also within a sentence of the service.
  if (typeof value === 'string') return replaceOwnCallbacks(value, instead);
  // A number that JavaScript cannot hold is an object of a special class.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([member, inner]) => {
      const isWhole = typeof inner === 'string' && inner !== '' && inner.replace(OWN_CALLBACK, '') === '';
      if (!isWhole) return [[member, withoutOwnCallbacks(inner, instead)]];
      return instead === undefined ? [] : [[member, instead]];
    }),
  );
}

/**
 * The service's answer, byte for byte, unless it repeats a callback URL of ours: then without that URL, and with every
 * number as it was written.
 */
export function bytesWithoutOwnCallbacks(bytes: Uint8Array, instead?: string): Buffer {
  const given = Buffer.from(bytes);
  // Slashes may be escaped in JSON.
  if (!given.includes('callbacks')) return given;
  const text = given.toString('utf8');
  const plain = (): string => replaceOwnCallbacks(text.replaceAll('\\/', '/'), instead);
  return Buffer.from(jsonWithoutOwnCallbacks(text, instead) ?? plain());
}

function jsonWithoutOwnCallbacks(text: string, instead?: string): string | undefined {
  try {
    return stringify(withoutOwnCallbacks(parse(text), instead));
  } catch {
    return undefined;
  }
}

/** Refuses what the URL alone shows; the rest is checked when a callback is sent. @throws Refusal 400 */
export function checkCallbackUrl(settings: Pick<Settings, 'callbackAllowLoopback'>, input: unknown): void {
  const { callbackUrl } = (input ?? {}) as { callbackUrl?: unknown };
  if (typeof callbackUrl !== 'string') return;
  const message = callbackUrlProblem(callbackUrl, { allowLoopback: settings.callbackAllowLoopback });
  if (message === undefined) return;
  throw new Refusal(400, `callbackUrl ${message}.`, { errors: [{ path: 'callbackUrl', message }] });
}
