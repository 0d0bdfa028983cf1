import type { Flow, FlowTerms, Parked, ProposedOrder, TermsAmount, TimelineEntry } from '../api/flow.js';
import { shellWord } from '../protocol/shell-word.js';
import { CHECK_FIRST, PARK_SENTENCES } from '../protocol/vocabulary.js';
import type { CliContext } from './context.js';
import { paintedState } from './print.js';

type Look = Pick<CliContext, 'colors'>;

/** A flow for a person: its state, what it waits for, and its timeline. */
export function flowText({ colors }: Look, flow: Flow): string {
  const { parked, outcome, proposal } = flow;
  const facts: [string, string | null][] = [
    ['state', `${paintedState({ colors }, flow.state)} (${flow.stage})`],
    ...(flow.terms === null
      ? [['amount', flow.amount && `${flow.amount} ${flow.currency}`] as [string, string | null]]
      : termsInWords(flow.terms).map((line, at): [string, string] => [at === 0 ? 'moves' : '', line])),
    ['outcome', outcome === null ? null : [outcome.reason, outcome.detail].filter((part) => part !== null).join(': ')],
    ['CONTRADICTED', contradictedText(flow.contradicted)],
    ['service', flow.serviceReference],
    ['started', flow.startedAt],
    ['updated', flow.updatedAt],
    ['deadline', outcome === null ? flow.deadlineAt : null],
    ['parked', parked === null ? null : `${parked.reason}, since ${parked.since}`],
    ['why', parked === null ? null : PARK_SENTENCES[parked.reason]],
    ['evidence', parked === null ? null : JSON.stringify(parked.evidence)],
  ];
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    colors.bold(flow.flowId),
    ...shown.map(([what, text]) => `  ${what.padEnd(10)}${what.length > 9 ? ' ' : ''}${text}`),
    ...(proposal === null ? [] : proposed(proposal)),
    ...(parked === null ? [] : waysOut(flow.flowId, parked)),
    ...flow.timeline.map((entry) => `  ${timelineLine({ colors }, entry)}`),
  ].join('\n');
}

/** What a flow moves, and its quote: a line each. */
export function termsInWords({ sends, receives, payer, recipient, network, quote }: FlowTerms): readonly string[] {
  const moved = [
    inWords(sends),
    receives && `→ ${inWords(receives)}`,
    network && `on ${network}`,
    payer && `from ${payer}`,
    recipient && `to ${recipient}`,
  ];
  if (quote === null) return [moved.filter(Boolean).join(' ')];
  const quoted = [
    `Quote ${quote.id}`,
    quote.gives && inWords(quote.gives),
    quote.rate,
    quote.fee && `fee ${quote.fee}`,
    `ends ${quote.expiresAt}`,
  ];
  return [moved.filter(Boolean).join(' '), quoted.filter(Boolean).join(' · ')];
}

const inWords = ({ amount, currency }: TermsAmount): string => (amount === null ? currency : `${amount} ${currency}`);

/** Where the money is, the evidence says, and not the state. */
function contradictedText(contradicted: Flow['contradicted']): string | null {
  if (contradicted === null) return null;
  const said = contradicted.evidence.map(({ at, ended, status, proof, operation }) => {
    if (operation !== null) return `${at}: ${operation} was executed after all`;
    return `${at}: it had ended as ${ended ?? '?'}, and an event says ${status ?? '?'} (proof: ${proof ?? 'none'})`;
  });
  const { acknowledged } = contradicted;
  const seen = acknowledged === null ? 'towline acknowledge waits for a person' : `seen to by ${acknowledged.by}`;
  return `${said.join('; ')}; ${seen}`;
}

/** The answer to an order that may need two persons: what comes first is whether anything was carried out. */
export function orderText(look: Look, flow: Flow, action: string): string {
  const { proposal } = flow;
  if (!isProposed(flow, action) || proposal === null) return flowText(look, flow);
  const head = `Proposed, not carried out: another person confirms it until ${proposal.expiresAt}.`;
  return `${look.colors.bold(head)}\n  ${proposal.confirm}\n\n${flowText(look, flow)}`;
}

/** Whether the order that was just given waits for a second person. */
export const isProposed = ({ proposal }: Pick<Flow, 'proposal'>, action: string): boolean =>
  proposal !== null && proposal.action === action && proposal.confirmedBy === null;

/** The proposal that waits for a second person, and the command that confirms it. */
function proposed({
  action,
  eventId,
  until,
  by,
  note,
  at,
  expiresAt,
  confirmedBy,
  confirm,
  withdraw,
}: ProposedOrder): readonly string[] {
  const details = confirmedBy === null ? `until ${expiresAt}` : `confirmed by ${confirmedBy}, being carried out`;
  return [
    `  ${'proposed'.padEnd(10)}${[action, eventId, until].filter(Boolean).join(' ')} by ${by} at ${at}: ${note} (${details})`,
    `    another person confirms it:   ${confirm}`,
    `    or takes it back:             ${withdraw}`,
  ];
}

/** Not a ready-to-run command: each action moves money, or records an ending. */
function waysOut(flowId: string, { reason, actions }: Parked): readonly string[] {
  return [
    `  A person decides (docs/parked-flows.md#${reason}): towline resolve ${shellWord(flowId)} <action> --note "why"`,
    ...actions.map((action) => `    ${action.padEnd(20)}  check first: ${CHECK_FIRST[action]}`),
  ];
}

/** Entries that an earlier call has not had. The flow drops the middle of a long timeline, so their positions change. */
export function createUnseen(): (timeline: readonly TimelineEntry[]) => readonly TimelineEntry[] {
  const seen = new Set<string>();
  return (timeline) =>
    timeline.filter((entry) => {
      const text = JSON.stringify(entry);
      const isNew = !seen.has(text);
      seen.add(text);
      return isNew;
    });
}

export function timelineLine({ colors }: Look, { at, stage, by, detail }: TimelineEntry): string {
  return `${colors.dim(at)}  ${stage.padEnd(16)}  ${by.padEnd(10)}  ${detail}`;
}
