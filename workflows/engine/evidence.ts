import type { TrustedSay } from '../../src/protocol/decisions.js';
import { MAX_UNTRUSTED, openedIdOf, unopenedIdOf } from '../../src/protocol/events.js';
import { UNREADABLE, type EventResult, type FlowEvent } from '../../src/protocol/messages.js';
import { wordsOfSameEnding } from '../../src/protocol/statuses.js';
import type { Facts } from '../../activities/types.js';
import { park } from './park.js';
import { pick, type Evidence } from './event-book.js';
import type { Flow } from './flow.js';

/** What a kind of flow knows about its events. Issues no commands: all of it runs inside signal handlers. */
export interface EventRules {
  known(): Facts;
  /** The same facts for a person, if those say more. */
  shown?(): Facts;
  /** Names of the facts in which the event differs from what we know. */
  differs(event: FlowEvent): readonly string[];
  /** True if the event's status was proven before. */
  seen(event: FlowEvent): boolean;
  /**
   * What an untrusted event says besides its status that is not proven, and that vetoes what the flow would do by
   * itself, each by a name. @default nothing
   */
  claims?(event: FlowEvent): readonly string[];
  /** False for an event that may be older than what was sent: it says nothing about it. @default always true */
  proves?(event: FlowEvent): boolean;
  /** Takes a trusted event that matches; true if it added something new. */
  apply(event: FlowEvent): boolean;
}

/** What trusted events say about a POST by now. */
export function trustedSay({ proven, mismatches }: Evidence): TrustedSay {
  if (proven) return 'shown';
  return mismatches.length > 0 ? 'other' : 'nothing';
}

/**
 * Ids of the events that the flow has judged: a decision to send rests on them, and any other event in the inbox is
 * against it. Not those about which a person is yet to decide, nor untrusted ones: those are against a repeat.
 */
export function reviewedEvents(flow: Flow, { mismatches }: Pick<Evidence, 'mismatches'>): readonly string[] {
  const isUndecided = (id: string) => mismatches.some(({ event }) => event.id === id);
  return Object.entries(flow.book.results()).flatMap(([id, result]) =>
    isUndecided(id) || result === 'unverified' ? [] : [openedIdOf(id)],
  );
}

/** The same with the untrusted ones that the flow has kept: for a send that was decided with them in sight. */
export function reviewedOrKept(flow: Flow, evidence: Evidence): readonly string[] {
  return [...reviewedEvents(flow, evidence), ...evidence.unverified.map(({ id }) => openedIdOf(id))];
}

/** Lets the flow's events act from now on; early ones are taken first, in order. */
export function handleEvents(flow: Flow, evidence: Evidence, rules: EventRules): void {
  flow.book.absorbWith((event) => absorb(flow, evidence, rules, event));
}

/** Takes an event that a person vouched for, whatever its differences. */
function vouchFor(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): void {
  evidence.unverified = evidence.unverified.filter((earlier) => earlier.id !== event.id);
  flow.book.settle(event.id, take(flow, evidence, rules, { ...event, trusted: true, proof: 'person' }));
}

/**
 * Takes an untrusted event that a person says is true. If it differs from what we know, the person is asked again, with
 * both sides shown: before, only its status was shown.
 */
export function trustClaimed(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): void {
  const differs = differsFrom(rules, event);
  if (differs.length === 0) return vouchFor(flow, evidence, rules, event);
  evidence.unverified = evidence.unverified.filter((earlier) => earlier.id !== event.id);
  evidence.mismatches = [...evidence.mismatches, { event: { ...event, trusted: true, proof: 'person' }, differs }];
}

/** Asks a person about the first trusted event that differs from what we know, with both sides shown. */
export async function decideMismatch(flow: Flow, evidence: Evidence, rules: EventRules): Promise<void> {
  const [first] = evidence.mismatches;
  if (first === undefined) return;
  const { event, differs } = first;
  const shown = {
    event: { id: event.id, source: event.source, status: event.status, proof: event.proof },
    differs,
    theirs: pick(event.facts, differs),
    ours: pick({ reference: flow.reference, ...(rules.shown?.() ?? rules.known()) }, differs),
  };
  const isOpened = () => !evidence.mismatches.includes(first);
  const decision = await park(flow, 'event_mismatch', shown, isOpened);
  evidence.mismatches = evidence.mismatches.filter((mismatch) => mismatch !== first);
  if (decision !== 'decided' && decision.action === 'accept-event') vouchFor(flow, evidence, rules, event);
  else flow.book.settle(event.id, 'conflicting');
}

export function whoSays(event: FlowEvent): string {
  return event.source === 'settlement' ? 'provider' : 'service';
}

function absorb(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): EventResult {
  dropUnopened(evidence, event);
  if (!event.trusted) return keepUnverified(flow, evidence, rules, event);
  const differs = differsFrom(rules, event);
  if (differs.length === 0) return take(flow, evidence, rules, event);
  evidence.mismatches = [...evidence.mismatches, { event, differs }];
  flow.note(
    'event-differs',
    `${event.status ?? '(no status)'} differs from what we know in: ${differs.join(', ')}`,
    whoSays(event),
  );
  return 'conflicting';
}

/** In what an event differs from what we know; the facts of one that cannot be opened are unknown, so they may. */
function differsFrom(rules: EventRules, event: FlowEvent): readonly string[] {
  if (isUnopened(event)) return ['body'];
  return [...(event.facts['reference'] === undefined ? [] : ['reference']), ...rules.differs(event)];
}

const isUnopened = ({ id }: FlowEvent): boolean => openedIdOf(id) !== id;

/** The event itself has come. */
function dropUnopened(evidence: Evidence, { id }: FlowEvent): void {
  const unopened = unopenedIdOf(id);
  evidence.mismatches = evidence.mismatches.filter(({ event }) => event.id !== unopened);
  evidence.unverified = evidence.unverified.filter((event) => event.id !== unopened);
}

function take(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): EventResult {
  evidence.proven ||= rules.proves?.(event) ?? true;
  const { serviceReference = UNREADABLE } = event.facts;
  if (serviceReference !== UNREADABLE) flow.serviceReference ??= serviceReference;
  const isNew = rules.apply(event);
  corroborate(flow, evidence, rules, event);
  return isNew ? 'applied' : 'duplicate';
}

function keepUnverified(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): EventResult {
  if (rules.seen(event) && isCorroborated(rules, event)) return 'duplicate';
  // The first of each ending, and of each other claim, is always kept: it vetoes what the flow would do by itself.
  const isFirst = isFirstOfItsEnding(evidence, event) || isFirstToClaim(evidence, rules, event);
  if (evidence.unverified.length < MAX_UNTRUSTED || isFirst) {
    evidence.unverified = [...evidence.unverified, event];
    flow.note('event-unverified', `unverified ${event.status ?? '(no status)'}: kept, moves nothing`, whoSays(event));
  }
  return 'unverified';
}

/** A trusted event of its status corroborates it, if it says nothing else. */
function isCorroborated(rules: EventRules, untrusted: FlowEvent): boolean {
  return differsFrom(rules, untrusted).length === 0 && (rules.claims?.(untrusted) ?? []).length === 0;
}

function isFirstToClaim({ unverified }: Evidence, rules: EventRules, event: FlowEvent): boolean {
  const known = unverified.flatMap((kept) => rules.claims?.(kept) ?? []);
  return (rules.claims?.(event) ?? []).some((claim) => !known.includes(claim));
}

function isFirstOfItsEnding({ unverified }: Evidence, { status }: FlowEvent): boolean {
  const words = wordsOfSameEnding(status);
  return words.length > 0 && !unverified.some((kept) => words.includes(kept.status ?? ''));
}

/** A trusted event with the same status makes the unverified ones that match it more than a claim. */
function corroborate(flow: Flow, evidence: Evidence, rules: EventRules, event: FlowEvent): void {
  const agreeing = evidence.unverified.filter(
    (earlier) => earlier.status === event.status && isCorroborated(rules, earlier),
  );
  for (const { id } of agreeing) flow.book.settle(id, 'duplicate');
  evidence.unverified = evidence.unverified.filter((earlier) => !agreeing.includes(earlier));
}

/** The facts in which an event differs from what we know; a fact that one side lacks cannot differ. Each has one spelling. */
export function differences(known: Facts, other: Facts): readonly string[] {
  return Object.entries(known)
    .filter(([name, ours]) => other[name] !== undefined && other[name] !== ours)
    .map(([name]) => name);
}
