import type { DoubtReason, NotSentReason, Send, WireRequest, WireResult } from './wire.js';
import type { RepeatMode } from '../../../src/sandbox/settings.js';
import type { Chance } from '../core/chance.js';
import type { Process } from '../core/process.js';
import type { Timeline } from '../core/timeline.js';
import type { Trace } from '../core/trace.js';
import { type createOddLookups, drawOddAnswer, textOfOddAnswer, type OddAnswer } from './odd-answers.js';
import type { SimSandbox } from './sandbox.js';
import type { Weather } from './weather.js';

/** One request that reached the service. */
export interface WireEntry {
  readonly atMs: number;
  /** When it left us: it may be executed much later. */
  readonly leftAtMs: number;
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly httpStatus: number;
  /** What the service really answered. */
  readonly answer: string;
  readonly from: string;
}

export interface ServicePortDeps {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
  readonly acts: Chance;
  readonly quirks: Chance;
  readonly odds: Chance;
  /** Shared by all processes. */
  readonly oddLookups: ReturnType<typeof createOddLookups>;
  readonly weather: Weather;
  readonly sandbox: SimSandbox;
  readonly wire: WireEntry[];
  readonly repeatMode: RepeatMode;
  readonly timeoutMs: number;
  readonly refusesLookups: boolean;
}

type RequestFault =
  | 'none'
  /** No connection: proven not sent. */
  | 'refused'
  | 'rate-limited'
  | 'lost-before'
  | 'lost-after'
  | 'server-error-before'
  | 'server-error-after'
  | 'garbage-after'
  | 'late'
  /** Executed long after all clients gave up. */
  | 'late-commit'
  | 'crash-before'
  | 'crash-after';

const FAULTS: readonly RequestFault[] = ['refused', 'rate-limited', 'lost-before', 'lost-after', 'lost-after', 'server-error-before', 'server-error-after', 'garbage-after']; // prettier-ignore

/** The wire between one process and the service: the client's own judgement is applied to its result. */
export function createSend(deps: ServicePortDeps, process: Process): Send {
  const { timeline, trace, chance, acts, quirks, odds, oddLookups, weather, sandbox, timeoutMs } = deps;

  const faultOf = (): RequestFault => {
    if (chance.yes(weather.crash)) return chance.one(['crash-before', 'crash-after'] as const);
    if (chance.yes(weather.requestLate)) return chance.one(['late', 'late-commit'] as const);
    return chance.yes(weather.requestFails) ? chance.one(FAULTS) : 'none';
  };

  return (request) =>
    new Promise<WireResult>((resolve) => {
      const fault = faultOf();
      let leftAtMs = 0;
      const label = `${request.name} ${referenceOf(request)}`.trim();
      if (fault !== 'none') trace.fault(`request ${fault}`);
      const say = (result: WireResult, afterMs = chance.int(1, 60)): void => {
        const said = result.kind === 'answer' ? String(result.httpStatus) : `${result.kind} ${result.reason}`;
        timeline.in(afterMs, () =>
          process.deliver(() => {
            trace.add(process.name, `receives ${label}`, said);
            resolve(result);
          }),
        );
      };
      const execute = async (): Promise<WireResult> => {
        const answer = await sandbox.request(request);
        const { httpStatus } = answer;
        const text = weather.oddRefunds ? withOddRefund(answer.text) : answer.text;
        deps.wire.push({ atMs: timeline.nowMs, leftAtMs, operation: request.name, body: parsed(request.body), httpStatus, answer: text, from: process.name }); // prettier-ignore
        trace.add('service', label, `${httpStatus} ${outcomeIn(text)}`.trim());
        return { kind: 'answer', httpStatus, bytes: Buffer.from(text), headers: answer.headers };
      };
      const leave = async (): Promise<void> => {
        leftAtMs = timeline.nowMs;
        if (deps.refusesLookups && request.name.startsWith('get'))
          return say(raw(403, '{"success":false,"message":"Forbidden"}'));
        const oddly = oddLookups.of(request.name, referenceOf(request));
        if (oddly !== undefined) return say(raw(oddly.httpStatus, oddly.text));
        switch (fault) {
          case 'refused':
            return say(notSent('refused'));
          case 'rate-limited':
            return say(raw(429, '{"success":false,"message":"Too many requests"}', { 'retry-after': '2' }));
          case 'lost-before':
            return say(doubt('connection-lost'));
          case 'server-error-before':
            return say(raw(503, 'upstream unavailable'));
          case 'lost-after':
            await execute();
            return say(doubt('connection-lost'));
          case 'server-error-after':
            await execute();
            return say(raw(502, '<html>bad gateway</html>'));
          case 'garbage-after':
            await execute();
            return say(raw(200, '{"success":tr'));
          case 'late':
            say(doubt('timeout'), timeoutMs);
            await execute();
            return undefined;
          case 'late-commit':
            say(doubt('timeout'), timeoutMs);
            timeline.in(chance.int(1_000, timeoutMs + 20_000), execute);
            return undefined;
          case 'crash-before':
            return process.crash(`before ${label}`);
          case 'crash-after':
            await execute();
            return process.crash(`after ${label}`);
          case 'none':
            if (acts.yes(weather.stopsWaiting)) {
              trace.fault('process stopped while it waits');
              process.stopFor(acts.int(1_000, weather.longestStopMs));
            }
            if (isMoney(request) && odds.yes(weather.answersOddly)) {
              return answerOddly(drawOddAnswer(odds, request.name, deps.repeatMode));
            }
            // A service that executes every repeat would pay twice, and neither of us could help it.
            if (isMoney(request) && deps.repeatMode !== 'execute-again' && quirks.yes(weather.repeatedOnTheWay)) {
              trace.fault('request repeated on the way');
              await execute();
            }
            return say(await execute(), chance.yes(0.95) ? undefined : chance.int(100, 20_000));
          default:
            return fault satisfies never;
        }
      };
      const answerOddly = async (odd: OddAnswer): Promise<void> => {
        const { httpStatus, body, isExecuted, lookup } = odd;
        trace.fault(`answered ${httpStatus}, ${body} (${isExecuted ? 'executed' : 'not executed'})`);
        if (isExecuted && lookup !== 'in time') trace.fault(`lookup after an odd answer: ${lookup}`);
        const answered = isExecuted ? await execute() : undefined;
        if (isExecuted) oddLookups.begin(request.name, referenceOf(request), odd);
        const answer = answered?.kind === 'answer' ? Buffer.from(answered.bytes).toString('utf8') : '';
        const hint = odds.yes(0.5) ? { 'retry-after': String(odds.int(1, 30)) } : {};
        say(raw(httpStatus, textOfOddAnswer(odd, odds.int(0, 3), answer), hint));
      };
      timeline.in(chance.int(1, 40), () => process.deliver(leave));
    });
}

const isMoney = ({ operation }: WireRequest): boolean => operation.effect === 'money';

const withOddRefund = (text: string): string => text.replace(/("refund_crypto_amount":)/, '$19');

const doubt = (reason: DoubtReason): WireResult => ({ kind: 'doubt', reason });
const notSent = (reason: NotSentReason): WireResult => ({ kind: 'not-sent', reason });
const raw = (httpStatus: number, text: string, headers: Readonly<Record<string, string>> = {}): WireResult => ({
  kind: 'answer',
  httpStatus,
  bytes: Buffer.from(text),
  headers,
});

const parsed = (body: string | undefined) =>
  body === undefined ? undefined : (JSON.parse(body) as Record<string, unknown>);

function referenceOf(request: WireRequest): string {
  const body = parsed(request.body);
  const reference = body?.[request.operation.reference ?? ''] ?? body?.['provider_reference_id'];
  return typeof reference === 'string' ? reference : (request.path.split('/').at(-1) ?? '');
}

/** The service's word for it, for the trace. */
function outcomeIn(text: string): string {
  const status = /"status":"([^"]*)"/.exec(text)?.[1];
  const message = /"success":false,.*?"message":"([^"]*)"/.exec(text)?.[1];
  return message ?? status ?? '';
}
