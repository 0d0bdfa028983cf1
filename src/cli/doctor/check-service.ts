import { randomUUID } from 'node:crypto';
import type { Settings } from '../../config/index.js';
import { getCryptoSend } from '../../contract/onramp.js';
import { readHttpDate } from '../../readers/http-date.js';
import { EXIT } from '../exit-codes.js';
import { bad, type Finding, good, note } from './finding.js';
import { systemClock } from '../../clock.js';

const WITHIN_MS = 10_000;

/**
 * Checks reachability, token and clock of the service by asking for a record that cannot exist: no money is involved.
 * Does not use the service client, because only this check needs the date of an answer.
 */
export async function checkService(settings: Settings): Promise<readonly Finding[]> {
  const { serviceBaseUrl, serviceToken: token } = settings;
  const path = getCryptoSend.path.replace(/\{\w+\}/, `towline-doctor-${randomUUID()}`);
  const askedAtMs = systemClock.nowMs();
  const answer = await fetch(serviceBaseUrl + path, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(WITHIN_MS),
  }).catch((error: unknown) => reasonOf(error));
  if (typeof answer === 'string') {
    return [
      bad(
        'service',
        'unreachable',
        `${serviceBaseUrl} cannot be reached (${answer}): check SERVICE_BASE_URL and the network.`,
        EXIT.unreachable,
      ),
    ];
  }
  await answer.body?.cancel();
  return [
    judged(answer.status, serviceBaseUrl),
    ...checkClock(answer.headers.get('date'), askedAtMs, systemClock.nowMs()),
  ];
}

function judged(status: number, url: string): Finding {
  if (status === 401)
    return bad(
      'service',
      'token-refused',
      `${url} refuses the token (401): set SERVICE_TOKEN to a valid one.`,
      EXIT.refused,
    );
  if (status === 403)
    return bad(
      'service',
      'reads-forbidden',
      `${url} takes the token, but forbids reads with it (403): ask the service.`,
      EXIT.refused,
    );
  // A reference that was never used: 404 is the answer of a service that works.
  if (status === 404 || (status >= 200 && status < 300)) return good('service', `${url} answers and takes the token`);
  if (status === 429)
    return note(
      'service',
      'too-many-requests',
      `${url} answers that there were too many requests (429): ask again later.`,
    );
  if (status >= 500) return bad('service', 'failing', `${url} answers ${status}: it is in trouble.`, EXIT.unreachable);
  return note('service', 'unexpected-status', `${url} answers ${status} to a question about an unknown reference.`);
}

/** Codes only: messages of network errors may hold addresses with credentials. */
export function reasonOf(error: unknown): string {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return name === 'TimeoutError' ? 'no answer in time' : 'no connection';
}

/** Allowed clock difference for signed webhooks: older or younger signatures are refused. */
const SIGNATURE_TOLERANCE_SECONDS = 300;
const WORTH_A_NOTE_SECONDS = 5;

/**
 * Compares our clock with the `Date` of an answer, which is accurate to a second plus the time that the answer took.
 */
export function checkClock(date: string | null, askedAtMs: number, answeredAtMs: number): readonly Finding[] {
  const theirsMs = readHttpDate(date, answeredAtMs);
  if (theirsMs === undefined)
    return [note('clock', 'no-date', 'the service sends no date, so the clocks cannot be compared.')];
  const earliestMs = theirsMs - answeredAtMs;
  const latestMs = theirsMs + 1_000 - askedAtMs;
  const offMs = earliestMs > 0 ? earliestMs : latestMs < 0 ? latestMs : 0;
  const seconds = Math.abs(Math.round(offMs / 1_000));
  const code = offMs > 0 ? 'behind' : 'ahead';
  const difference = `ours is ${seconds} s ${offMs > 0 ? 'behind' : 'ahead of'} the service's`;
  if (seconds > SIGNATURE_TOLERANCE_SECONDS) {
    return [
      bad('clock', code, `${difference}: signed webhooks are refused. Set this machine's clock by NTP.`, EXIT.refused),
    ];
  }
  if (seconds > WORTH_A_NOTE_SECONDS)
    return [note('clock', code, `${difference}. Quotes are timed by durations and do not mind.`)];
  return [good('clock', "agrees with the service's")];
}

const HOW_TO_FIND_OUT =
  'How to find out: ask the service, or send one small request twice under one reference in its test environment. The ' +
  'first answer again: same-result. 400, 409 or DUPLICATE: rejected. Executed twice, or not sure: unknown.';

/** DUPLICATE_REFERENCE: what we may do with a request whose outcome is unknown. */
export function explainDuplicates({ duplicateReference }: Pick<Settings, 'duplicateReference'>): readonly Finding[] {
  const rules = Object.entries(duplicateReference);
  const unknown = rules.filter(([, rule]) => rule === 'unknown').map(([operation]) => operation);
  const known = rules.filter(([, rule]) => rule !== 'unknown').map(([operation, rule]) => `${operation}=${rule}`);
  const findings: Finding[] = [];
  if (known.length > 0) {
    findings.push(
      good('DUPLICATE_REFERENCE', `${known.join(', ')}: sent again automatically if a lookup finds nothing`),
    );
  }
  if (unknown.length > 0) {
    const what = unknown.length === rules.length ? 'every operation' : unknown.join(', ');
    findings.push(
      note(
        'DUPLICATE_REFERENCE',
        'rule-unknown',
        `"unknown" for ${what}: if an answer is lost and nothing proves the outcome, the flow parks, and a ` +
          `person decides whether it is sent again. ${HOW_TO_FIND_OUT}`,
      ),
    );
  }
  return findings;
}
