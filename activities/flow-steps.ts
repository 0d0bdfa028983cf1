import { Context } from '@temporalio/activity';
import type { ServiceClient } from '../src/client/index.js';
import type { OperationName } from '../src/contract/index.js';
import { callbackCapability, callbackUrl } from '../src/flows/capability.js';
import type { FlowDefinition, Submission } from '../src/flows/flow.js';
import { flowOf } from '../src/flows/index.js';
import { parseFlowId } from '../src/flows/vocabulary.js';
import { submitFingerprint } from '../src/store/submit-fingerprint.js';
import { checkInput, parseInput } from './check-input.js';
import type { ActivityDeps } from './deps.js';
import { asking, type Asked } from './asking.js';
import { endsFlow, notYet, retryLater } from './failures.js';
import { withHeartbeat } from './heartbeat.js';
import type {
  ClaimStepOrder,
  DescribedStep,
  FlowPreparation,
  StatusOrder,
  StatusEvidence,
  StatusReading,
  StepEvidence,
  StepOrder,
  StepTerms,
} from './flow-step-terms.js';
import type { SubmitOutcome } from './outcomes.js';
import { pinOf } from './pin.js';
import { nextTurnMs } from './polling.js';
import { proves, statusLookups } from './status-lookups.js';
import { lookUpPost } from './settle-unknown.js';
import { submitUnderClaim } from './submit-under-claim.js';
import { windowsOf } from './windows.js';

/** The activities of every kind that is told by its definition alone (`src/flows`): check, submit, look up. */
export function createFlowStepActivities(deps: ActivityDeps) {
  return {
    /** Checks the input as the gateway did; other clients may not have. */
    async prepareFlow(order: { flowId: string; input: unknown }): Promise<FlowPreparation> {
      const definition = definitionOf(order.flowId);
      const { input, fingerprint } = checkInput(deps, definition, order.flowId, order.input);
      const pin = await pinOf(deps);
      return {
        input,
        fingerprint,
        pin,
        windows: windowsOf(deps),
        allowPlaintext: deps.allowPlaintext,
        steps: Object.fromEntries(
          Object.entries(definition.submissions ?? {})
            .filter(([, submission]) => submission.isGiven?.(input) ?? true)
            .map(([step, submission]) => [step, termsOf(deps, { flowId: order.flowId, pin }, input, submission)]),
        ),
      };
    },

    /** Checks a step whose input came after the start; its claim and its facts. */
    async describeStep(order: ClaimStepOrder): Promise<DescribedStep> {
      const input = parseInput(definitionOf(order.flowId), order.input);
      return { ...termsOf(deps, order, input, submissionOf(order)), input };
    },

    /** One POST of the flow, under its claim. */
    submitStep(order: ClaimStepOrder): Promise<SubmitOutcome> {
      const { flowId, input } = order;
      const submission = submissionOf(order);
      const { claim, facts } = termsOf(deps, order, input, submission);
      const ours = { callbackUrl: callbackUrl(deps.publicUrl, flowId, callbackCapability(deps.store, flowId)) };
      return withHeartbeat(deps.clock, () =>
        submitUnderClaim(deps, {
          claim,
          guard: { flowId, statuses: submission.shownBy },
          lookUp: () => lookUpPost(deps, { claim, expect: facts, saidToExist: false }),
          request: () => submission.request(input, ours),
          send: (request) => call(deps.service, submission.operation, request),
        }),
      );
    },

    /** Asks the status lookup until it says another word than those that the flow knows. */
    async awaitStatus(order: StatusOrder): Promise<StatusReading> {
      // Webhooks usually come first: then the first look is hardly ever needed.
      if (order.firstLookMs > 0 && Context.current().info.attempt === 1) {
        throw notYet('waiting for an event first', order.firstLookMs);
      }
      const found = await lookUp(deps, order);
      const nextLookMs = Math.max(nextTurnMs(order.timeScale, order.isParked), order.atLeastMs ?? 0);
      if (found.says === 'absent') throw notYet('the service does not show it yet', nextLookMs);
      if (found.says === 'cannot-tell') {
        if (found.refused) throw notYet(found.why, nextLookMs);
        throw retryLater('service_unavailable', found.why, Math.max(nextLookMs, found.afterMs ?? 0));
      }
      const { status } = found.record;
      // A record without a readable word is no news, however often it is looked at.
      if (status === null) throw notYet('the service shows it without a status', nextLookMs);
      if (order.known.includes(status)) throw notYet(`still ${status}`, nextLookMs);
      return found.record;
    },

    /** The facts that the service's record of one step shows. Throws while the service cannot be reached. */
    async lookAtStep(order: StepOrder): Promise<StepEvidence> {
      const submission = submissionOf(order);
      const lookup = statusLookups[submission.operation];
      if (lookup === undefined) return { says: 'cannot-tell' };
      const asked = await asking(() => lookup.read(deps.service, submission.referenceOf(order.input)));
      if (asked.says === 'shown' && proves(lookup, asked.record)) {
        return { says: 'shown', facts: lookup.facts(asked.record) };
      }
      if (asked.says === 'cannot-tell' && !asked.refused) throw retryLater('service_unavailable', asked.why);
      return { says: asked.says === 'absent' ? 'absent' : 'cannot-tell' };
    },

    /** Asks once, whatever the answer is. */
    lookAtStatus: (order: Pick<StatusOrder, 'flowId' | 'input'>): Promise<StatusEvidence> => lookUp(deps, order),
  };
}

export function submissionOf({ flowId, step }: StepOrder): Submission<unknown> {
  const submission = definitionOf(flowId).submissions?.[step];
  if (submission === undefined) throw endsFlow('invalid_input', `there is no step "${step}" in ${flowId}`);
  return submission;
}

export function termsOf(
  deps: ActivityDeps,
  { flowId, pin }: Pick<ClaimStepOrder, 'flowId' | 'pin'>,
  input: unknown,
  submission: Submission<unknown>,
): StepTerms {
  const { operation } = submission;
  const fingerprint = submitFingerprint(deps.store, operation, submission.decidedBy(input));
  const claim = { operation, reference: submission.referenceOf(input), flowId, fingerprint, pin };
  return { claim, facts: submission.factsOf(input) };
}

/** A second lookup is asked where the first one does not say enough; refused, it leaves the first one as it is. */
async function lookUp(deps: ActivityDeps, order: Pick<StatusOrder, 'flowId' | 'input'>): Promise<StatusEvidence> {
  const source = definitionOf(order.flowId).status;
  if (source === undefined) return { says: 'cannot-tell', why: 'there is no status lookup', refused: true };
  const ask = (operation: OperationName) =>
    asking(() => call(deps.service, operation, source.referenceOf(order.input)));
  const first = await ask(source.operation);
  if (first.says === 'cannot-tell') return first;
  const needsMore = source.besides?.isNeeded(recordOf(first)) ?? false;
  const second = needsMore && source.besides ? await ask(source.besides.operation) : undefined;
  if (second?.says === 'cannot-tell' && (first.says === 'absent' || !second.refused)) return second;
  if (first.says === 'absent' && second?.says !== 'shown') return { says: 'absent' };
  return { says: 'shown', record: source.read(recordOf(first), recordOf(second)) };
}

const recordOf = (asked: Asked<unknown> | undefined): unknown => (asked?.says === 'shown' ? asked.record : undefined);

/** The table of operations is typed one by one; the definitions hold names, and the client checks every body by schema. */
function call(service: ServiceClient, operation: OperationName, argument: unknown): Promise<unknown> {
  const operate = service[operation] as (argument: unknown) => Promise<unknown>;
  return operate(argument);
}

function definitionOf(flowId: string): FlowDefinition {
  const kind = parseFlowId(flowId)?.kind;
  const definition = kind === undefined ? undefined : flowOf(kind);
  if (definition === undefined)
    throw endsFlow('invalid_input', `"${flowId}" is the id of no flow kind of this version`);
  return definition;
}
