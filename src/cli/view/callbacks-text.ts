import type { CallbacksJson, ListedCallbacksJson } from '../../towline/index.js';
import type { CliContext } from '../context.js';
import { plainTable } from './plain-table.js';

type Look = Pick<CliContext, 'colors'>;

/** The callbacks of one flow, for a person: how far they got, and why no further. */
export function callbacksText({ colors }: Look, callbacks: CallbacksJson): string {
  const { flowId, state, to, current, since, attempts, lastFailure, nextAttemptAt, delivered } = callbacks;
  const facts: [string, string | null][] = [
    ['state', state === 'none' ? 'none: it has no callbackUrl, or has not changed yet' : state],
    ['to', to],
    ['current', current === null ? null : `${current.flowState} (${current.stage}), ${current.id}`],
    ['since', since],
    ['attempts', current === null ? null : String(attempts)],
    ['last', lastFailure === null ? null : `${lastFailure.problem} (${lastFailure.at})`],
    ['next', nextAttemptAt],
    ['delivered', delivered === null ? null : `${delivered.flowState} (${delivered.stage}), ${delivered.at}`],
  ];
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    colors.bold(flowId),
    ...shown.map(([what, text]) => `  ${what.padEnd(10)}${text}`),
    ...(state === 'undelivered' ? [`  towline callbacks resend ${flowId}`] : []),
  ].join('\n');
}

export function callbacksTable(look: Look, listed: readonly ListedCallbacksJson[]): string {
  if (listed.length === 0) return 'None.';
  const rows = listed.map(({ flowId, startedAt }) => [flowId, startedAt]);
  return plainTable(look, ['flow', 'callbacks since'], rows);
}
