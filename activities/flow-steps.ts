import { Context } from '@temporalio/activity';
import { RejectedError, type ServiceClient } from '../src/client/index.js';
import type { OperationName } from '../src/contract/index.js';
import { callbackCapability, callbackUrl } from '../src/flows/capability.js';
import type { FlowDefinition, Submission } from '../src/flows/flow.js';
import { flowOf } from '../src/flows/index.js';
import { parseFlowId } from '../src/flows/vocabulary.js';
import { submitFingerprint } from '../src/store/submit-fingerprint.js';
import { checkInput, parseInput } from './check-input.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow, notYet, reading } from './failures.js';
import { withHeartbeat } from './heartbeat.js';
import type {
  DescribedStep,
  FlowPreparation,
  StatusOrder,
  StatusReading,
  StepOrder,
  StepTerms,
} from './flow-step-terms.js';
import type { Facts, SubmitOutcome } from './outcomes.js';
import { nextTurnMs } from './polling.js';
import { proves, statusLookups } from './status-lookups.js';
import { submitUnderClaim } from './submit-under-claim.js';

const SETTLE_MARGIN_MS = 60_000;

/** The activities of every kind that is told by its definition alone (`src/flows`): check, submit, look up. */
export function createFlowStepActivities(deps: ActivityDeps) {
  return {
    /** Checks the input as the gateway did; other clients may not have. */
    async prepareFlow(order: { flowId: string; input: unknown }): Promise<FlowPreparation> {
      const definition = definitionOf(order.flowId);
      const { input, fingerprint } = checkInput(deps, definition, order.flowId, order.input);
      return {
        input,
        fingerprint,
        windows: { settleMs: deps.serviceTimeoutMs + SETTLE_MARGIN_MS },
        allowPlaintext: deps.allowPlaintext,
        steps: Object.fromEntries(
          Object.entries(definition.submissions ?? {})
            .filter(([, submission]) => submission.isGiven?.(input) ?? true)
            .map(([step, submission]) => [step, termsOf(deps, order.flowId, input, submission)]),
        ),
      };
    },

    /** Checks a step whose input came after the start; its claim and its facts. */
    async describeStep(order: StepOrder): Promise<DescribedStep> {
      const input = parseInput(definitionOf(order.flowId), order.input);
      return { ...termsOf(deps, order.flowId, input, submissionOf(order)), input };
    },

    /** One POST of the flow, under its claim. */
    submitStep(order: StepOrder): Promise<SubmitOutcome> {
      const { flowId, input } = order;
      const submission = submissionOf(order);
      const { claim } = termsOf(deps, flowId, input, submission);
      const ours = { callbackUrl: callbackUrl(deps.publicUrl, flowId, callbackCapability(deps.store, flowId)) };
      return withHeartbeat(() =>
        submitUnderClaim(deps, {
          claim,
          send: () => call(deps.service, submission.operation, submission.request(input, ours)),
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
      const nextLookMs = Math.max(nextTurnMs(order.timeScale), order.atLeastMs ?? 0);
      if (found === undefined) throw notYet('the service does not show it yet', nextLookMs);
      // A record without a readable word is no news, however often it is looked at.
      if (found.status === null) throw notYet('the service shows it without a status', nextLookMs);
      if (order.known.includes(found.status)) throw notYet(`still ${found.status}`, nextLookMs);
      return found;
    },

    /** What the service's record of one step says; null where it shows none, or none that proves anything. */
    async lookAtStep(order: StepOrder): Promise<Facts | null> {
      const submission = submissionOf(order);
      const lookup = statusLookups[submission.operation];
      if (lookup === undefined) return null;
      const record = await reading(() => lookup.read(deps.service, submission.referenceOf(order.input)));
      return record instanceof RejectedError || !proves(lookup, record) ? null : lookup.facts(record);
    },

    /** One look, whatever it says; null where the service does not know it or there is nothing to ask. */
    async lookAtStatus(order: Pick<StatusOrder, 'flowId' | 'input'>): Promise<StatusReading | null> {
      return (await lookUp(deps, order)) ?? null;
    },
  };
}

export function submissionOf({ flowId, step }: StepOrder): Submission<unknown> {
  const submission = definitionOf(flowId).submissions?.[step];
  if (submission === undefined) throw endsFlow('invalid_input', `there is no step "${step}" in ${flowId}`);
  return submission;
}

export function termsOf(
  deps: ActivityDeps,
  flowId: string,
  input: unknown,
  submission: Submission<unknown>,
): StepTerms {
  const { operation } = submission;
  const fingerprint = submitFingerprint(deps.store, operation, submission.decidedBy(input));
  const claim = { operation, reference: submission.referenceOf(input), flowId, fingerprint };
  return { claim, facts: submission.factsOf(input) };
}

async function lookUp(
  deps: ActivityDeps,
  order: Pick<StatusOrder, 'flowId' | 'input'>,
): Promise<StatusReading | undefined> {
  const source = definitionOf(order.flowId).status;
  if (source === undefined) return undefined;
  const ask = async (operation: OperationName) => {
    const record = await reading(() => call(deps.service, operation, source.referenceOf(order.input)));
    return record instanceof RejectedError ? undefined : record;
  };
  const record = await ask(source.operation);
  const besides = source.besides?.isNeeded(record) ? await ask(source.besides.operation) : undefined;
  return record === undefined && besides === undefined ? undefined : source.read(record, besides);
}

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
