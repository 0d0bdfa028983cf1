import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from '../protocol/loopback.js';
import { QUEUES, type Queue } from '../protocol/task-queues.js';
import { parseKeyring } from '../keys/index.js';
import { readAmount } from '../readers/amount.js';
import { readCode } from '../readers/code.js';
import { FOUR_EYES_ACTIONS } from '../protocol/four-eyes.js';

/** Simple forms of settings. A message follows the setting's name in a sentence and never repeats the value. */

const DECIMAL = /^\d{1,9}(\.\d{1,9})?$/;

export const port = () =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port number, at most 65535');

/** A port that others must know in advance. */
export const fixedPort = () => port().refine((value) => value > 0, 'must be a port number above 0');

export const ipAddress = () => z.string().refine((text) => isIP(text) !== 0, 'must be an IP address, such as 0.0.0.0');

export const seconds = (max: number) =>
  z
    .string()
    .regex(DECIMAL, 'must be a number of seconds')
    .transform(Number)
    .refine((value) => value > 0 && value <= max, `must be above 0 and at most ${max} seconds`)
    .transform((value) => Math.round(value * 1_000));

export const fraction = () =>
  z
    .string()
    .regex(DECIMAL, 'must be a number above 0 and at most 1')
    .transform(Number)
    .refine((value) => value > 0 && value <= 1, 'must be above 0 and at most 1');

/** In OpenTelemetry's format: comma-separated `name=value`, the values percent-encoded. */
export const otlpHeaders = () =>
  z
    .string()
    .transform((text) => text.split(',').map(headerOf))
    .refine((all) => !all.includes(undefined), 'must be comma-separated name=value, with percent-encoded values')
    .transform((all) => Object.fromEntries(all.filter((header) => header !== undefined)));

function headerOf(pair: string): readonly [string, string] | undefined {
  const [, name, value] = /^\s*([\w-]{1,100})\s*=\s*(\S*)\s*$/.exec(pair) ?? [];
  if (name === undefined || value === undefined) return undefined;
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return undefined;
  }
}

export const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`);

/** Whole days, as milliseconds. */
export const days = () =>
  wholeNumber(3_650)
    .refine((value) => value > 0, 'must be at least 1 day')
    .transform((value) => value * 24 * 60 * 60 * 1_000);

/** As bytes. */
export const megabytes = (max: number) => wholeNumber(max).transform((value) => value * 1_000_000);

/** Comma-separated, for rotation. */
export const epochs = () =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}( *, *[1-9]\d{0,8}){0,3}$/, 'must be one to four whole numbers from 1 on, comma-separated')
    .transform((text): readonly [number, ...number[]] => text.split(',').map(Number) as [number, ...number[]]);

export const flag = () => z.enum(['true', 'false'], 'must be "true" or "false"').transform((word) => word === 'true');

export const oneOf = <const W extends readonly [string, ...string[]]>(words: W) =>
  z.enum(words, `must be one of ${words.join(', ')}`);

export const httpUrl = () =>
  z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL')
    .refine((text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '', {
      message: 'must not carry a user or password',
    })
    .refine((text) => !/[?#]/.test(text), 'must not have a query or fragment')
    .transform((text) => text.replace(/\/+$/, ''));

/** Comma-separated; a word of one or two letters would occur in almost any text. */
export const words = () =>
  z
    .string()
    .transform((text): readonly string[] => text.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries.every((entry) => /^[\p{L}\p{N}][\p{L}\p{N} _-]{2,79}$/u.test(entry)), {
      message: 'must be comma-separated words of 3 to 80 letters, digits, spaces, _ and -',
    });

/** It contains a password, so it is passed on unchanged and shown nowhere. */
export const postgresUrl = () =>
  z
    .string()
    .refine(
      (text) =>
        URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol) && new URL(text).pathname.length > 1,
      'must be postgres://user:password@host:port/database',
    )
    // Read as written, part of a password would be the host.
    .refine((text) => !/@.*@|#/s.test(text), {
      message:
        'must have the special characters of its password encoded: @ as %40, # as %23, / as %2F, : as %3A, % as %25',
    });

/**
 * Whether no third party can sit between us and this database: it is on this machine, or its certificate proves its
 * identity.
 */
export function isTrustworthy(databaseUrl: string): boolean {
  const url = new URL(databaseUrl);
  const given = url.searchParams.getAll('host');
  const hosts = given.length > 0 ? given : [decodeURIComponent(url.hostname)];
  if (hosts.every((host) => host.startsWith('/') || isLoopback(host))) return true;
  const modes = url.searchParams.getAll('sslmode');
  return modes.length > 0 && modes.every((mode) => mode === 'verify-full');
}

/** Characters that an Authorization header can carry. */
export const serviceToken = () =>
  z.string().regex(/^[\x21-\x7e]{1,16384}$/, 'must be one token, in visible ASCII without spaces');

/** Of a URL: 128 bits in base64url. */
export const capability = () =>
  z.string().regex(/^[A-Za-z0-9_-]{22,128}$/, 'must be 22 to 128 letters, digits, - and _');

export const MIN_SECRET_LENGTH = 16;
export const STANDARD_SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Comma-separated, for rotation; those of Standard Webhooks begin with `whsec_` and continue in base64. */
export const secrets = (kind: 'any' | 'standard-webhooks') =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine(
      (parts) => parts.every((part) => part.length >= MIN_SECRET_LENGTH),
      `has a secret of fewer than ${MIN_SECRET_LENGTH} characters`,
    )
    .refine(
      (parts) => parts.every((part) => (kind === 'any' && !part.startsWith('whsec_')) || STANDARD_SECRET.test(part)),
      'has a secret that is not of the form "whsec_" and base64',
    );

const CURRENCY = /^[A-Z][A-Z0-9]{1,11}$/;

/** `MAX_AMOUNTS`: comma-separated `currency:amount`, by currency or token in capitals. */
export const maxAmounts = () =>
  z.string().transform((text, context): ReadonlyMap<string, string> => {
    const limits = new Map<string, string>();
    for (const [index, entry] of text.split(',').entries()) {
      const [currency = '', amount = '', ...rest] = entry.split(':').map((part) => part.trim());
      const [name, limit] = [readCode(currency) ?? '', readAmount(amount)];
      const place = `entry ${index + 1}`;
      if (!CURRENCY.test(name) || rest.length > 0) {
        context.addIssue(`must be comma-separated currency:amount, such as KES:150000, and its ${place} is not`);
      } else if (limit === undefined || limit === '0' || limit.startsWith('-')) {
        context.addIssue(`has no decimal number above zero, such as 150000 or 0.5, after the ":" of its ${place}`);
      } else if (limits.has(name)) {
        context.addIssue(`names the currency of its ${place} twice`);
      } else limits.set(name, limit);
    }
    return limits;
  });

/** `GATEWAY_REFERENCE_PREFIXES`: comma-separated `name=prefix`. None begins with another one. */
export const referencePrefixes = () =>
  z.string().transform((text, context): ReadonlyMap<string, string> => {
    const prefixes = new Map<string, string>();
    for (const [index, entry] of text.split(',').entries()) {
      const at = entry.lastIndexOf('=');
      const [name, prefix] = [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
      const place = `entry ${index + 1}`;
      const overlaps = [...prefixes.values()].some((one) => one.startsWith(prefix) || prefix.startsWith(one));
      if (at < 1 || !PREFIX.test(prefix)) {
        context.addIssue(`must be comma-separated name=prefix, such as shop-a=A-, and its ${place} is not`);
      } else if (prefixes.has(name) || overlaps) {
        context.addIssue(`has a name twice, or two prefixes of which one begins with the other, in its ${place}`);
      } else prefixes.set(name, prefix);
    }
    return prefixes;
  });

/** The beginning of a reference. */
const PREFIX = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,31}$/;

const SLOTS = /^[1-9]\d{0,3}$/;

/** `WORKER_SLOTS`: comma-separated `queue:number`. */
export const workerSlots = () =>
  z.string().transform((text, context): Partial<Readonly<Record<Queue, number>>> => {
    const slots: Partial<Record<Queue, number>> = {};
    for (const entry of text.split(',')) {
      const [name, number = '', ...rest] = entry.split(':').map((part) => part.trim());
      const queue = QUEUES.find((known) => known === name);
      if (queue === undefined || !SLOTS.test(number) || rest.length > 0 || queue in slots) {
        context.addIssue(
          `must be comma-separated queue:number, such as money:50, each of ${QUEUES.join(', ')} at most once, with 1 to 9999`,
        );
        return slots;
      }
      slots[queue] = Number(number);
    }
    return slots;
  });

/** `MONEY_RATE_LIMIT`. Not 0: that would be a stop, which is ordered at the Temporal server for all workers. */
export const perSecond = () =>
  z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a number')
    .transform(Number)
    .refine((value) => value > 0, 'must be above 0 (to stop money, see docs/deployment.md)');

/** `WORKER_BUILD_ID`. */
export const buildId = () =>
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ + -');

/** `FOUR_EYES`: comma-separated actions, `mark-*` for all that begin so, or `none`. */
export const fourEyesActions = () =>
  z.string().transform((text, context): readonly string[] => {
    const entries = text.split(',').map((entry) => entry.trim());
    if (entries.length === 1 && entries[0] === 'none') return [];
    const actions = entries.flatMap((entry, index) => {
      const named = FOUR_EYES_ACTIONS.filter((action) =>
        entry.endsWith('*') ? action.startsWith(entry.slice(0, -1)) : action === entry,
      );
      if (named.length === 0) {
        context.addIssue(
          `must be "none" or actions of ${FOUR_EYES_ACTIONS.join(', ')}, and its entry ${index + 1} is not`,
        );
      }
      return named;
    });
    return [...new Set(actions)];
  });

/** `SERVICE_ACCOUNT`. */
export const accountName = () =>
  z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits and . _ -');

/** `PAYLOAD_KEYS`, for `parseKeyring`. */
export const payloadKeys = () => z.string().refine(areKeys, 'must be comma-separated id:base64-of-32-bytes');

function areKeys(text: string): boolean {
  try {
    parseKeyring(text);
    return true;
  } catch {
    return false;
  }
}

/** The secret in a setting that is one, and those in one that is a list. */
export const whole = (secret: string | undefined): readonly string[] => (secret === undefined ? [] : [secret]);
export const each = (secrets: readonly string[]): readonly string[] => secrets;
/** The keys in `PAYLOAD_KEYS`, without their ids. */
export const keysOf = (keys: string | undefined): readonly string[] =>
  whole(keys).flatMap((text) => text.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1).trim()));
