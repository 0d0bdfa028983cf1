import { z } from 'zod';
import { isLoopback } from '../protocol/loopback.js';

const NOTIFY_FORMATS = ['generic', 'slack', 'pagerduty'] as const;
export type NotifyFormat = (typeof NOTIFY_FORMATS)[number];

/** A receiver of notifications. The URL is a secret: anyone who has it may post there. */
export interface NotifyTarget {
  readonly format: NotifyFormat;
  readonly url: string;
  /** Of PagerDuty: the integration's key. Empty for the others. */
  readonly routingKey: string;
}

const ROUTING_KEY = /^[A-Za-z0-9]{20,64}$/;

/** An operator's own address: https, or http on this machine. */
export const operatorUrl = () => z.string().refine((text) => urlProblem(text) === undefined, { error: OPERATOR_URL });
const OPERATOR_URL = 'must be an https URL, or http on this machine, without a user or fragment';

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return OPERATOR_URL;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && username + password + hash === '' ? undefined : OPERATOR_URL;
}

function target(entry: string): NotifyTarget | string {
  const [, word, rest = ''] = /^(?:([a-z]+):)?(https?:\/\/.*)$/.exec(entry) ?? [];
  const format = NOTIFY_FORMATS.find((candidate) => candidate === (word ?? 'generic'));
  if (format === undefined || !URL.canParse(rest)) {
    return `must be a URL, or format:URL with a format of ${NOTIFY_FORMATS.join(', ')}`;
  }
  const url = new URL(rest);
  const routingKey = format === 'pagerduty' ? url.username : '';
  if (format === 'pagerduty') url.username = '';
  if (format === 'pagerduty' && !ROUTING_KEY.test(routingKey)) {
    return 'must be pagerduty:https://ROUTING_KEY@events.pagerduty.com/v2/enqueue';
  }
  return urlProblem(url.href) ?? { format, url: url.href, routingKey };
}

/** `NOTIFY_URLS`: comma-separated `format:URL`; without a format it is `generic`. */
export const notifyTargets = () =>
  z.string().transform((text, context): readonly NotifyTarget[] =>
    text.split(',').flatMap((entry, index) => {
      const parsed = target(entry.trim());
      if (typeof parsed !== 'string') return [parsed];
      context.addIssue(`has an entry ${index + 1} that is not right: it ${parsed}`);
      return [];
    }),
  );

export function targetsProblem(targets: readonly NotifyTarget[], secrets: readonly string[]): string | undefined {
  if (secrets.length > 0 || !targets.some(({ format }) => format === 'generic')) return undefined;
  return 'NOTIFY_SECRETS is missing: a notification of the format generic is never sent unsigned.';
}

const SECONDS = /^\d{1,7}$/;

/** Comma-separated seconds, each more than the one before; milliseconds. */
export const escalation = () =>
  z.string().transform((text, context): readonly number[] => {
    const parts = text.split(',').map((part) => part.trim());
    const seconds = parts.map(Number);
    const rises = seconds.every((value, index) => value > (seconds[index - 1] ?? 0));
    if (!parts.every((part) => SECONDS.test(part)) || !rises) {
      context.addIssue('must be comma-separated seconds, each more than the one before, such as 3600,14400');
    }
    return seconds.map((value) => value * 1_000);
  });
