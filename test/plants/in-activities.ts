import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type * as bridgeTransfer from '../../activities/bridge-transfer.js';
import type * as claims from '../../activities/claims.js';
import type * as deliverCallback from '../../activities/deliver-callback.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type * as flowSteps from '../../activities/flow-steps.js';
import type * as outcomeOfError from '../../activities/outcome-of-error.js';
import type * as settleUnknown from '../../activities/settle-unknown.js';
import type * as statusLookups from '../../activities/status-lookups.js';
import type * as submitUnderClaim from '../../activities/submit-under-claim.js';
import type { Submission } from '../../activities/submit-under-claim.js';
import type * as attempt from '../../src/protocol/attempt.js';
import type * as voiding from '../../activities/void-all.js';
import type * as invoicePayment from '../../src/flows/invoice-payment.js';
import type * as attempts from '../../src/protocol/attempt.js';
import { NEVER_RESERVED } from '../../src/protocol/fingerprint.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import { isFinal, wordsThat } from '../../src/protocol/statuses.js';
import { isRefundReference, refundReferenceOf } from '../../src/protocol/vocabulary.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { ClaimStore, ContradictionGuard } from '../../src/store/claim.js';
import { replacing, type Plants } from './replaced.js';

/** Submits under a claim with other dependencies, or another submission. */
const submittingWith = (
  change: <Request>(
    deps: ActivityDeps,
    submission: Submission<Request>,
  ) => readonly [ActivityDeps, Submission<Request>],
) =>
  replacing<typeof submitUnderClaim>('activities/submit-under-claim.ts', {
    submitUnderClaim: (honest) => (deps, submission) => honest.submitUnderClaim(...change(deps, submission)),
  });

/** The POST itself, in the hands of its submission. */
const posting = (
  change: <Request>(deps: ActivityDeps, submission: Submission<Request>) => Submission<Request>['send'],
) => submittingWith((deps, submission) => [deps, { ...submission, send: change(deps, submission) }]);

const guardingRefunds = (guard: Partial<ContradictionGuard>) =>
  submittingWith((deps, submission) => [
    deps,
    isRefundReference(submission.claim.reference)
      ? { ...submission, guard: { ...submission.guard, ...guard } }
      : submission,
  ]);

const withClaims = <Deps extends Pick<ActivityDeps, 'store'>>(
  deps: Deps,
  change: (honest: ClaimStore) => Partial<ClaimStore>,
): Deps => ({
  ...deps,
  store: { ...deps.store, claims: { ...deps.store.claims, ...change(deps.store.claims) } },
});

/** An answer is recorded as if no person had said how its flow ended. */
const withoutLastWord = (honest: ClaimStore): Partial<ClaimStore> => ({
  recordAnswer: async (...args) => ({ ...(await honest.recordAnswer(...args)), lastWord: null }),
});

const closingClaimsWith = (change: (honest: ClaimStore) => Partial<ClaimStore>) =>
  replacing<typeof claims>('activities/claims.ts', {
    createClaimActivities: (honest) => (deps) => honest.createClaimActivities(withClaims(deps, change)),
  });

/** Claims that belong to the run that asks. */
function ofRun(honest: ClaimStore): Partial<ClaimStore> {
  const run = Context.current().info.workflowExecution?.runId ?? '';
  const mine = (argument: unknown): unknown =>
    typeof argument === 'object' && argument !== null && 'account' in argument
      ? { ...argument, account: `${String(argument.account)}/${run}` }
      : argument;
  return Object.fromEntries(
    Object.entries(honest).map(([name, method]) => [
      name,
      (...args: readonly unknown[]) => (method as (...given: readonly unknown[]) => unknown)(...args.map(mine)),
    ]),
  );
}

/** A claim in `sending` is handed back, and reserved once more. */
export const freeingWhatIsSent = (honest: ClaimStore): Pick<ClaimStore, 'reserve'> => ({
  reserve: async (key, ...asks) => {
    const found = await honest.reserve(key, ...asks);
    if (found.kind !== 'sending') return found;
    await honest.release(key, (await honest.get(key))?.owner ?? '');
    return honest.reserve(key, ...asks);
  },
});

/** In the activities, and in the definitions that they work from. */
export const plants = {
  'one-owner': [submittingWith((deps, submission) => [{ ...deps, newOwner: () => 'the one' }, submission])],
  'one-miss': [replacing<typeof attempt>('src/protocol/attempt.ts', { MISSES: () => 1 })],
  'unread-is-unpaid': [
    replacing<typeof invoicePayment>('src/flows/invoice-payment.ts', {
      invoicePaymentFlow: ({ invoicePaymentFlow: flow }) => {
        const submissions = Object.entries(flow.submissions ?? {}).map(([step, submission]) => [
          step,
          submission.shownBy === undefined
            ? submission
            : { ...submission, shownBy: submission.shownBy.filter((word) => word !== UNREADABLE) },
        ]);
        return { ...flow, submissions: Object.fromEntries(submissions) as NonNullable<typeof flow.submissions> };
      },
    }),
  ],
  'refused-read-is-the-invoice': [
    replacing<typeof flowSteps>('activities/flow-steps.ts', {
      createFlowStepActivities: (honest) => (deps) => ({
        ...honest.createFlowStepActivities(deps),
        lookAtStep: async (order) => {
          let isRefused = false;
          const getInvoice: typeof deps.service.getInvoice = async (...args) =>
            deps.service.getInvoice(...args).catch((error: unknown) => {
              isRefused = error instanceof RejectedError && !error.isNotFound;
              throw error;
            });
          const asking = honest.createFlowStepActivities({ ...deps, service: { ...deps.service, getInvoice } });
          return asking.lookAtStep(order).catch((error: unknown) => {
            if (isRefused) return {};
            throw error;
          });
        },
      }),
    }),
  ],
  'refund-against-refunded': [guardingRefunds({ statuses: ['COMPLETED', 'FAILED', 'SETTLING'] })],
  'refund-against-unread-failure': [guardingRefunds({ statuses: ['COMPLETED', 'REFUNDED', 'SETTLING'] })],
  'refund-against-less-unread': [guardingRefunds({ statuses: ['COMPLETED', 'FAILED', 'REFUNDED'] })],
  'refund-against-the-unverified': [guardingRefunds({ orUntrusted: false })],
  'old-quote': [
    replacing<typeof bridgeTransfer>('activities/bridge-transfer.ts', {
      createBridgeActivities: (honest) => (deps) => {
        const activities = honest.createBridgeActivities(deps);
        const now = () => Context.current().info.currentAttemptScheduledTimestampMs;
        return {
          ...activities,
          submitBridgeDeposit: (order) => activities.submitBridgeDeposit({ ...order, quotedAtMs: now() }),
        };
      },
    }),
  ],
  'redirect-is-delivered': [
    replacing<typeof deliverCallback>('activities/deliver-callback.ts', {
      createCallbackActivities: (honest) => (deps) => {
        const { callbacks: sender } = deps;
        if (sender === undefined) return honest.createCallbackActivities(deps);
        const send: typeof sender.send = async (callback) => {
          const answer = await sender.send(callback);
          return answer.httpStatus >= 300 && answer.httpStatus < 400 ? { ...answer, httpStatus: 200 } : answer;
        };
        return honest.createCallbackActivities({ ...deps, callbacks: { ...sender, send } });
      },
    }),
  ],
  'answer-after-the-last-word': [
    replacing<typeof claims>('activities/claims.ts', {
      createClaimActivities: (honest) => (deps) => honest.createClaimActivities(withClaims(deps, withoutLastWord)),
      recordAnswer:
        (honest) =>
        ({ store, log }, ...rest) =>
          honest.recordAnswer({ store: withClaims({ store }, withoutLastWord).store, log }, ...rest),
    }),
  ],
  'repeat-against-any-word': [
    submittingWith((deps, submission) => [
      deps,
      { ...submission, guard: { ...submission.guard, statuses: wordsThat(isFinal) } },
    ]),
  ],
  'refusal-past-its-webhook': [
    replacing<typeof settleUnknown>('activities/settle-unknown.ts', {
      createSettleActivities: (honest) => (deps) => {
        const { inbox } = deps.store;
        const hasToMatch: typeof inbox.hasToMatch = (reference) => inbox.hasToMatch(refundReferenceOf(reference));
        const store = { ...deps.store, inbox: { ...inbox, hasToMatch } };
        return honest.createSettleActivities({ ...deps, store });
      },
    }),
  ],
  'refusal-of-a-second-copy': [
    replacing<typeof attempts>('src/protocol/attempt.ts', {
      nextOf: (honest) => (terms, attempt, heard) =>
        honest.nextOf(attempt.does === 'post' ? { ...terms, lookUp: false } : terms, attempt, heard),
    }),
  ],
  'reset-before-the-claims': [
    replacing<typeof voiding>('activities/void-all.ts', {
      voidAll:
        ({ voidAll }) =>
        (deps, order) =>
          voidAll(
            withClaims(deps, (honest) => ({
              voidAll: (all, ...rest) =>
                honest.voidAll(
                  all.filter(({ fingerprint }) => fingerprint !== NEVER_RESERVED),
                  ...rest,
                ),
            })),
            order,
          ),
    }),
  ],
  'word-before-the-claims': [
    closingClaimsWith((honest) => ({
      closeByOrder: (all, ...rest) =>
        honest.closeByOrder(
          all.filter(({ fingerprint }) => fingerprint !== NEVER_RESERVED),
          ...rest,
        ),
    })),
  ],
  'refused-lookup-is-absent': [
    replacing<typeof statusLookups>('activities/status-lookups.ts', {
      asking: (honest) => async (lookup) => {
        const asked = await honest.asking(lookup);
        return asked.says === 'cannot-tell' && asked.refused ? { says: 'absent' } : asked;
      },
    }),
  ],
  'sent-again-unasked': [
    replacing<typeof settleUnknown>('activities/settle-unknown.ts', {
      createSettleActivities: (honest) => (deps) => ({
        ...honest.createSettleActivities(deps),
        lookAtPost: () => Promise.reject(ApplicationFailure.nonRetryable('the service is not asked')),
      }),
    }),
    submittingWith((deps, { lookUp: _lookUp, ...submission }) => [deps, submission]),
  ],
  'died-sending-is-sent-again': [
    submittingWith((deps, submission) => [withClaims(deps, freeingWhatIsSent), submission]),
  ],
  'fresh-reference': [
    posting((deps, { claim: { reference }, send }) => (request, options) => {
      const fresh = `${reference}-${deps.newOwner().slice(0, 8)}`;
      return send(JSON.parse(JSON.stringify(request).replaceAll(reference, fresh)) as typeof request, options);
    }),
  ],
  'money-post-retried': [
    posting(
      (_, { send }) =>
        (request, options) =>
          send(request, options).catch(() => send(request, options)),
    ),
  ],
  'timeout-is-failure': [
    posting(
      (_, { send }) =>
        (request, options) =>
          send(request, options).catch((error: unknown) => {
            if (!(error instanceof UnknownOutcomeError)) throw error;
            const refusal = { httpStatus: 400, message: 'timeout', fields: [], isRateExpired: false };
            throw new RejectedError(error.operation, { ...refusal, isAboutReference: false });
          }),
    ),
  ],
  'claims-of-a-run': [submittingWith((deps, submission) => [withClaims(deps, ofRun), submission])],
  'error-logged': [
    replacing<typeof outcomeOfError>('activities/outcome-of-error.ts', {
      postSays: (honest) => (deps, key, error, isQuoteOver) => {
        const { log } = deps;
        const warn: typeof log.warn = (detail, message) => log.warn({ ...detail, error }, message);
        return honest.postSays({ ...deps, log: { ...log, warn } }, key, error, isQuoteOver);
      },
    }),
  ],
} satisfies Plants;
