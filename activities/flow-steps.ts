import { Context } from '@temporalio/activity';
import type { CallOptions, ServiceClient } from '../src/service-client/index.js';
import type { CallableName } from '../src/contract/index.js';
import { ownCallbackUrl } from '../src/flows/capability.js';
import type { FlowDefinition, SubmissionDefinition } from '../src/flows/flow.js';
import { fixedIn } from '../src/flows/echoes.js';
import { flowOf } from '../src/flows/index.js';
import { tooMuch } from '../src/flows/largest-amount.js';
import type { Profile } from '../src/protocol/live-operations.js';
import { parseFlowId, flowIdOf } from '../src/protocol/vocabulary.js';
import { flowFingerprint, submitFingerprint } from '../src/store/store-key.js';
import { sameFingerprint } from '../src/protocol/fingerprint.js';
import { isPlaintext } from '../src/protocol/plaintext-marker.js';
import { isOneWordTooMany } from '../src/protocol/statuses.js';
import type { ActivityDeps } from './deps.js';
import { asking, proves, statusLookups, whyIncomparable } from './status-lookups.js';
import { checking, endsFlow, notYet, retryLater, storing, withFallback } from './failures.js';
import { nextTurnMs, windowsOf } from './timing.js';
import type {
  ClaimStepOrder,
  SendStepOrder,
  DescribedStep,
  Facts,
  FlowPreparation,
  PreparationOrder,
  StatusOrder,
  StatusEvidence,
  StatusReading,
  StepOrder,
  StepTerms,
  SubmitOutcome,
  LookupAnswer,
} from './types.js';
import { pinFor } from './claims.js';
import { paidBeforeOurs } from './invoice-paid.js';
import { lookUpPost } from './settle-unknown.js';
import { submitUnderClaim } from './submit-under-claim.js';

const SHOWN_CHARACTERS = 40;

/** Activities that work from a kind's definition alone (`src/flows`): check, submit, look up. */
export function createFlowStepActivities(deps: ActivityDeps) {
  async function prepare(order: PreparationOrder): Promise<FlowPreparation> {
    const definition = definitionOf(order.flowId);
    const { input, fingerprint } = checkInput(deps, definition, order.flowId, order.input);
    await recordForeignStart(deps, definition, order, { input, fingerprint });
    await takeEarlyEvents(deps, order.flowId);
    const pin = await pinFor(deps, order);
    return {
      input,
      fingerprint,
      pin,
      windows: windowsOf(deps),
      allowPlaintext: deps.allowPlaintext,
      ...(definition.termsOf && { terms: definition.termsOf(input) }),
      steps: Object.fromEntries(
        Object.entries(definition.submissions ?? {})
          .filter(([, submission]) => submission.isGiven?.(input) ?? true)
          .map(([step, submission]) => [step, termsOf(deps, { flowId: order.flowId, pin }, input, submission)]),
      ),
    };
  }

  return {
    /** Checks the input again, since a client other than the gateway may have started the flow. */
    prepareFlow: (order: PreparationOrder): Promise<FlowPreparation> => withFallback(() => prepare(order)),

    /** Checks a step whose input came after the start; returns its claim and its facts. */
    async describeStep(order: ClaimStepOrder): Promise<DescribedStep> {
      return checking(() => {
        const definition = definitionOf(order.flowId);
        const input = parseInput(definition, order.input);
        checkLargest(deps, definition, input);
        return { ...termsOf(deps, order, input, submissionOf(order)), input };
      });
    },

    /** One POST of the flow, under its claim. */
    submitStep(order: SendStepOrder): Promise<SubmitOutcome> {
      const { flowId, input, unasked, reviewedEventIds, mostMs } = order;
      const submission = submissionOf(order);
      const { claim, facts } = termsOf(deps, order, input, submission);
      const ours = { callbackUrl: ownCallbackUrl(deps, flowId) };
      return submitUnderClaim(deps, {
        claim,
        guard: { flowId, statuses: submission.shownBy, besides: reviewedEventIds },
        lookUp: () => lookUpPost(deps, { claim, expect: facts, saidToExist: false }),
        ...(unasked && { unasked }),
        timeScale: timeScaleOf(input),
        ...(submission.byOthersToo && {
          lookUpFirst: (beforeEachLookup?: () => void) =>
            paidBeforeOurs(
              deps,
              { reference: claim.reference, expect: facts, timeScale: timeScaleOf(input) },
              beforeEachLookup,
            ),
        }),
        request: () => submission.request(input, ours),
        send: (request, options) => call(deps.service, submission.operation, request, { ...options, mostMs }),
      });
    },

    /** Polls the status lookup until it returns a status that the flow does not know yet. */
    async awaitStatus(order: StatusOrder): Promise<StatusReading> {
      // Webhooks usually come first, so the first lookup is hardly ever needed.
      if (order.firstLookMs > 0 && Context.current().info.attempt === 1) {
        throw notYet('waiting for an event first', order.firstLookMs);
      }
      const found = await lookUp(deps, order);
      const nextLookMs = Math.max(nextTurnMs(order.timeScale, order.isParked), order.atLeastMs ?? 0);
      if (found.says === 'cannot-tell') {
        if (found.refused) throw notYet(found.why, nextLookMs);
        throw retryLater('service_unavailable', found.why, Math.max(nextLookMs, found.afterMs ?? 0));
      }
      if (found.says !== 'shown') throw notYet('the service does not show it yet', nextLookMs);
      const { status } = found.record;
      // A record without a readable status is not a change, however often it is looked up.
      if (status === null) throw notYet('the service shows it without a status', nextLookMs);
      if (order.known.includes(status)) throw notYet(`still ${status}`, nextLookMs);
      // A status that is another one at each lookup would make a flow poll without a pause, until its history is full.
      if (isOneWordTooMany(order.known, status)) {
        throw notYet(`another word that ends nothing: ${status.slice(0, SHOWN_CHARACTERS)}`, nextLookMs);
      }
      return found.record;
    },

    /** Looks until the service shows a record of one step that can be compared; returns the record's facts. */
    async lookAtStep(order: StepOrder): Promise<Facts> {
      const { operation } = submissionOf(order);
      const lookup = statusLookups[operation];
      if (lookup === undefined) throw endsFlow('invalid_input', `${operation} has no lookup`);
      const asked = await asking(() => lookup.read(deps.service, definitionOf(order.flowId).referenceOf(order.input)));
      const nextLookMs = nextTurnMs(timeScaleOf(order.input));
      if (asked.says === 'cannot-tell' && !asked.refused) {
        throw retryLater('service_unavailable', asked.why, Math.max(nextLookMs, asked.afterMs ?? 0));
      }
      if (asked.says === 'cannot-tell') throw notYet(asked.why, nextLookMs);
      if (asked.says === 'absent' || !proves(lookup, asked.record)) {
        throw notYet('the service does not show it yet', nextLookMs);
      }
      const facts = lookup.facts(asked.record);
      const why = whyIncomparable(facts);
      if (why !== undefined) throw notYet(why, nextLookMs);
      return facts;
    },

    /** Asks once, and returns any answer. */
    lookAtStatus: (order: StatusQuestion): Promise<StatusEvidence> => lookUp(deps, order),
  };
}

export function submissionOf({ flowId, step }: StepOrder): SubmissionDefinition<unknown> {
  const submission = definitionOf(flowId).submissions?.[step];
  if (submission === undefined) throw endsFlow('invalid_input', `there is no step "${step}" in ${flowId}`);
  return submission;
}

/** Those that may be ordered after the start. */
export const laterSubmissionsOf = (flowId: string): readonly (readonly [string, SubmissionDefinition<unknown>])[] =>
  Object.entries(definitionOf(flowId).submissions ?? {}).filter(([, { byOthersToo }]) => byOthersToo === true);

export function termsOf(
  deps: ActivityDeps,
  { flowId, pin }: Pick<ClaimStepOrder, 'flowId' | 'pin'>,
  input: unknown,
  submission: SubmissionDefinition<unknown>,
): StepTerms {
  const { operation } = submission;
  const fingerprint = submitFingerprint(deps.store, operation, submission.decidedBy(input));
  const claim = { operation, reference: definitionOf(flowId).referenceOf(input), flowId, fingerprint, pin };
  return { claim, facts: submission.factsOf(input), fixed: fixedIn(operation, submission, input) };
}

export const timeScaleOf = (input: unknown): number => (input as { readonly timeScale?: number }).timeScale ?? 1;

/** Makes a second lookup if the first one does not suffice; if the second is refused, the first one stands. */
async function lookUp(deps: ActivityDeps, order: StatusQuestion): Promise<StatusEvidence> {
  const definition = definitionOf(order.flowId);
  const source = definition.status ?? liveStatusOf(definition, order);
  if (source === undefined) return { says: 'cannot-tell', why: 'there is no status lookup', refused: true };
  const by = order.by ?? definition.referenceOf(order.input);
  const ask = (operation: CallableName) => asking(() => call(deps.service, operation, by));
  const first = await ask(source.operation);
  if (first.says === 'cannot-tell') return first;
  const second = source.besides?.isNeeded(recordOf(first)) ? await ask(source.besides.operation) : undefined;
  if (second?.says === 'cannot-tell' && (first.says === 'absent' || !second.refused)) return second;
  if (first.says === 'absent' && second?.says !== 'shown')
    return source.missProvesNothing === true ? { says: 'no-lookup' } : { says: 'absent' };
  const reading = source.read(recordOf(first), recordOf(second));
  const why = whyIncomparable(reading.facts);
  // Asked for by the service's own reference, which is compared with it.
  const isNamed = order.by !== undefined && reading.facts['serviceReference'] !== undefined;
  if (why === undefined && !isNamed && source.proves?.(reading.facts) === false) return { says: 'proves-nothing' };
  // It may be the status of another payment.
  return why === undefined ? { says: 'shown', record: reading } : { says: 'cannot-tell', why, refused: false };
}

type StatusQuestion = Pick<StatusOrder, 'flowId' | 'input' | 'by' | 'live'>;

const liveStatusOf = ({ liveStatus }: FlowDefinition, { live = [] }: Profile) =>
  live.some((name) => name === liveStatus?.operation) ? liveStatus : undefined;

const recordOf = (answer: LookupAnswer<unknown> | undefined): unknown =>
  answer?.says === 'shown' ? answer.record : undefined;

/** Operations have different types; the definitions hold only names. The client checks every body by its schema. */
function call(
  service: ServiceClient,
  operation: CallableName,
  argument: unknown,
  options?: CallOptions,
): Promise<unknown> {
  const operate = service[operation] as (argument: unknown, options?: CallOptions) => Promise<unknown>;
  return operate(argument, options);
}

function definitionOf(flowId: string): FlowDefinition {
  const kind = parseFlowId(flowId)?.kind;
  if (kind === undefined) throw endsFlow('invalid_input', `"${flowId}" is the id of no flow kind of this version`);
  return flowOf(kind);
}

/**
 * Checks a flow's input before any claim: any Temporal client can start a flow without the gateway's check. Errors name
 * the member, never its value.
 */
export function checkInput<Input>(
  deps: ActivityDeps,
  definition: FlowDefinition<Input>,
  flowId: string,
  raw: unknown,
): { input: Input; fingerprint: string } {
  const plaintext = isPlaintext(raw);
  if (plaintext && !deps.allowPlaintext) {
    throw endsFlow(
      'plaintext_input',
      'The input came unencrypted. Start flows with the payload codec, or through the gateway.',
    );
  }
  const input = parseInput(definition, plaintext ? raw.__plaintext : raw);
  const expected = flowIdOf(definition.kind, definition.referenceOf(input));
  if (expected !== flowId) {
    throw endsFlow('invalid_input', `the workflow id must be "${expected}", so that one reference is one flow`);
  }
  const { timeScale, callbackUrl } = input as { timeScale?: number; callbackUrl?: string };
  const problem = callbackUrl === undefined ? undefined : deps.callbacks?.problemOf(callbackUrl);
  if (problem !== undefined) throw endsFlow('invalid_input', `callbackUrl: ${problem}`);
  if (timeScale !== undefined && timeScale !== 1 && !deps.serviceIsOnLoopback) {
    throw endsFlow('invalid_input', 'timeScale: other than 1 is possible only with a service on loopback');
  }
  checkLargest(deps, definition, input);
  return { input, fingerprint: flowFingerprint(deps.store, definition, input) };
}

/** The actor of such a start: nothing of what another client says about itself is proven. */
const ANOTHER_CLIENT = 'another Temporal client';

/** Records the start of a flow that was started without a gateway; a gateway records its own. Safe to repeat. */
export async function recordForeignStart<Input>(
  { store: { audit } }: Pick<ActivityDeps, 'store'>,
  definition: Pick<FlowDefinition<Input>, 'moneyOf'>,
  { flowId, startedWith }: PreparationOrder,
  { input, fingerprint }: { readonly input: Input; readonly fingerprint: string },
): Promise<void> {
  if (startedWith === undefined || (startedWith !== null && sameFingerprint(startedWith, fingerprint))) return;
  const { amount, currency } = definition.moneyOf?.(input) ?? {};
  const details = amount === undefined ? {} : { amount, currency };
  const about = { kind: 'start', flowId, actor: ANOTHER_CLIENT } as const;
  await storing(async () => {
    const [known] = await audit.list({ ...about, limit: 1 });
    if (known === undefined) await audit.append({ ...about, means: 'unproven', details });
  });
}

/**
 * Events that came before the flow are listed as unmatched: they are on their way now, whichever client started it.
 */
export const takeEarlyEvents = ({ store }: Pick<ActivityDeps, 'store'>, flowId: string): Promise<void> =>
  storing(() => store.inbox.releaseWaiting(flowId));

function checkLargest<Input>(deps: ActivityDeps, definition: FlowDefinition<Input>, input: Input): void {
  const above = deps.maxAmounts && tooMuch(definition, input, deps.maxAmounts);
  if (above !== undefined) throw endsFlow('invalid_input', `${above.path}: ${above.message}`);
}

/** Checks only the kind's own rules, also for what was ordered after the start. */
function parseInput<Input>(definition: FlowDefinition<Input>, raw: unknown): Input {
  const parsed = definition.input.safeParse(raw);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
  throw endsFlow('invalid_input', problems.join('; '));
}
