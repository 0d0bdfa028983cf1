import type { RepeatMode } from '../../../src/sandbox/settings.js';
import type { Chance } from '../core/chance.js';

/*
 * What comes back to a POST that moves money, whether it was executed or not: any status, with any body, by the service or
 * by something on the way, and a lookup that lags or answers nothing meanwhile. Within what docs/assumptions.md says of the
 * service: it does not say in its own words that it executed nothing if it did, unless its lookup shows that.
 */

const STATUSES = [200, 201, 302, 400, 401, 403, 404, 408, 409, 418, 422, 429, 500, 502, 503] as const;
/** By whom, and what it says. `answer`: the body that the service would have sent. */
const BODIES = [
  'own: refused',
  'own: rate expired',
  'own: duplicate',
  'own: refused, with a record',
  'answer',
  'page',
  'problem+json',
  'framework',
  'nothing',
] as const;
const LOOKUPS = ['in time', 'lags', 'refused', 'page with 404'] as const;

export interface OddAnswer {
  readonly httpStatus: (typeof STATUSES)[number];
  readonly body: (typeof BODIES)[number];
  readonly isExecuted: boolean;
  readonly lookup: (typeof LOOKUPS)[number];
  /** From its execution on: for how long its lookup is like that. */
  readonly lookupForMs: number;
}

/** The reads that show the outcome of an operation. That of an invoice's payment shows the same before it and after it. */
const LOOKUPS_OF: Readonly<Record<string, readonly string[]>> = {
  createOnramp: ['getOnChainDeposit', 'getMobileMoneyDeposit'],
  sendCrypto: ['getCryptoSend'],
  createOfframp: ['getOfframp'],
  createInvoice: ['getInvoice'],
};

/** Three lookups over ten seconds show what was executed. */
const LONGEST_LAG_OF_REFUSED_MS = 8_000;
/** Shorter than the time for which an outcome that is unknown is looked up. */
const LONGEST_LAG_MS = 70_000;

/** Another one is drawn for each that the service would not give. */
export function drawOddAnswer(chance: Chance, operation: string, repeatMode: RepeatMode): OddAnswer {
  for (;;) {
    const drawn = {
      httpStatus: chance.one(STATUSES),
      body: chance.one(BODIES),
      isExecuted: chance.yes(0.6),
      lookup: operation in LOOKUPS_OF ? chance.one(LOOKUPS) : 'in time',
    } as const;
    const says = saysNotExecuted(drawn);
    const lookupForMs = chance.int(500, says === null ? LONGEST_LAG_MS : LONGEST_LAG_OF_REFUSED_MS);
    if (isAssumed(drawn, operation, repeatMode)) return { ...drawn, lookupForMs };
  }
}

type Drawn = Omit<OddAnswer, 'lookupForMs'>;

/** What the service says in its own words. */
function saysNotExecuted({ httpStatus, body }: Pick<Drawn, 'httpStatus' | 'body'>): 'turned away' | 'refused' | null {
  if (!body.startsWith('own: r')) return null;
  if (httpStatus === 401 || httpStatus === 429) return 'turned away';
  return [200, 201, 400, 403, 404, 422].includes(httpStatus) ? 'refused' : null;
}

function isAssumed(drawn: Drawn, operation: string, repeatMode: RepeatMode): boolean {
  const { body, isExecuted, httpStatus } = drawn;
  // Both are of what was executed.
  if (!isExecuted && (body === 'answer' || body === 'own: refused, with a record')) return false;
  if (body === 'own: refused, with a record') return httpStatus === 200 || httpStatus === 201;
  const says = saysNotExecuted(drawn);
  if (!isExecuted || says === null) return true;
  // Sent again at once: a service that executes every repeat would pay twice, unless it shows the first one.
  if (says === 'turned away' && repeatMode === 'execute-again' && drawn.lookup === 'lags') return false;
  if (operation in LOOKUPS_OF) return true;
  // An earlier copy may have used the rate up; and no refusal of a payment of an invoice is believed while it is shown.
  return says === 'refused' && (body === 'own: rate expired' || operation === 'payInvoice');
}

/** @param answer what the service answered, if it was executed */
export function textOfOddAnswer({ httpStatus, body }: OddAnswer, form: number, answer: string): string {
  const message = body === 'own: rate expired' ? 'Rate Expired' : 'Insufficient Funds';
  switch (body) {
    case 'own: refused':
    case 'own: rate expired':
      return OWN_FORMS[form % OWN_FORMS.length]?.(message, httpStatus) ?? '';
    case 'own: duplicate':
      return OWN_FORMS[form % OWN_FORMS.length]?.('Duplicate transaction', httpStatus) ?? '';
    case 'own: refused, with a record':
      return JSON.stringify({ ...(JSON.parse(answer) as object), success: false, message });
    case 'answer':
      return answer;
    case 'page':
      return '<!doctype html><title>Access denied</title>';
    case 'problem+json':
      return JSON.stringify({ type: 'about:blank', title: 'Forbidden', status: httpStatus, detail: 'Rate expired' });
    case 'framework':
      return JSON.stringify({ statusCode: httpStatus, error: 'Forbidden', message: 'Insufficient Funds' });
    case 'nothing':
      return '';
    default:
      return body satisfies never;
  }
}

const OWN_FORMS: readonly ((message: string, httpStatus: number) => string)[] = [
  (message, error_code) => JSON.stringify({ success: false, message, error_code, data: { errors: [] } }),
  (message) => JSON.stringify({ success: false, message, data: { errors: [] } }),
  (message) => JSON.stringify({ status: 'error', message, error_code: 'REFUSED', timestamp: '2026-01-05T08:00:00Z' }),
  (message, statusCode) => JSON.stringify({ statusCode, message, error: 'Refused', data: { retryAfter: 1 } }),
];

/** The lookups of what was answered oddly, while they are odd, too. */
export function createOddLookups(nowMs: () => number) {
  const odd = new Map<string, { readonly lookup: OddAnswer['lookup']; readonly untilMs: number }>();
  return {
    begin(operation: string, reference: string, { lookup, lookupForMs }: OddAnswer): void {
      for (const read of LOOKUPS_OF[operation] ?? []) {
        odd.set(`${read} ${reference}`, { lookup, untilMs: nowMs() + lookupForMs });
      }
    },
    /** Undefined: the service's own answer. */
    of(read: string, reference: string): { readonly httpStatus: number; readonly text: string } | undefined {
      const found = odd.get(`${read} ${reference}`);
      return found === undefined || nowMs() >= found.untilMs ? undefined : ODD_LOOKUPS[found.lookup];
    },
  };
}

const ODD_LOOKUPS: Readonly<
  Record<OddAnswer['lookup'], { readonly httpStatus: number; readonly text: string } | undefined>
> = {
  'in time': undefined,
  lags: { httpStatus: 404, text: '{"success":false,"message":"Not found","data":{}}' },
  refused: { httpStatus: 403, text: '{"success":false,"message":"Forbidden"}' },
  'page with 404': { httpStatus: 404, text: '{"statusCode":404,"message":"Cannot GET it","error":"Not Found"}' },
};
