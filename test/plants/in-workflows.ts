import { condition, patched, sleep, workflowInfo } from '@temporalio/workflow';
import type * as decisions from '../../src/protocol/decisions.js';
import type * as legalOrders from '../../src/protocol/legal-orders.js';
import { wantedOf } from '../../workflows/core/bridge/came-in.js';
import type * as refundDue from '../../workflows/core/bridge/refund-due.js';
import type * as refundTerms from '../../workflows/core/bridge/refund-terms.js';
import type * as bridgeStatuses from '../../workflows/core/bridge/statuses.js';
import type * as transfer from '../../workflows/core/bridge/transfer.js';
import type * as coreEvents from '../../workflows/core/events.js';
import type * as coreLoop from '../../workflows/core/loop.js';
import type * as rules from '../../workflows/core/rules.js';
import type * as evidence from '../../workflows/engine/evidence.js';
import type { EventRules } from '../../workflows/engine/evidence.js';
import type { Evidence } from '../../workflows/engine/event-book.js';
import type * as flow from '../../workflows/engine/flow.js';
import type { Flow } from '../../workflows/engine/flow.js';
import type * as inbox from '../../workflows/engine/inbox.js';
import type * as openPost from '../../workflows/engine/open-post.js';
import type { Payment } from '../../workflows/engine/payment.js';
import type * as runFlow from '../../workflows/engine/run-flow.js';
import type * as stop from '../../workflows/engine/stop.js';
import type * as submit from '../../workflows/engine/submit.js';
import type * as track from '../../workflows/engine/track.js';
import { replacing, type Plants } from './replaced.js';

/** Events that act by other rules. */
const handlingWith = (change: (rules: EventRules, evidence: Evidence) => Partial<EventRules>) =>
  replacing<typeof evidence>('workflows/engine/evidence.ts', {
    handleEvents: (honest) => (flow, known, rules) =>
      honest.handleEvents(flow, known, { ...rules, ...change(rules, known) }),
  });

/** A flow of which one member is another. */
const openingWith = (members: PropertyDescriptorMap) =>
  replacing<typeof flow>('workflows/engine/flow.ts', {
    openFlow:
      (honest) =>
      (...args) =>
        Object.defineProperties(honest.openFlow(...args), members),
  });

const withoutRefunded = <Known extends { readonly proven: readonly string[] }>(known: Known): Known => ({
  ...known,
  proven: known.proven.filter((ending) => ending !== 'refunded'),
});

/** For the test of worker versions: a change that a release brings. */
export const PATCH = 'waits-first';

/** In the workflows, and in what their bundle shares with the rest. Evaluated in their sandbox. */
export const plants = {
  'unread-is-unsaid': [
    handlingWith((rules) => ({ differs: (event) => rules.differs(event).filter((fact) => fact !== 'body') })),
  ],
  'payment-is-no-debt': [
    replacing<typeof bridgeStatuses>('workflows/core/bridge/statuses.ts', { cryptoWasPaid: () => () => false }),
  ],
  'order-against-a-trusted-event': [
    replacing<typeof legalOrders>('src/protocol/legal-orders.ts', { orderRefusal: () => () => null }),
  ],
  'proof-of-movement-ignored': [
    replacing<typeof decisions>('src/protocol/decisions.ts', { saysMoneyMoved: () => () => false }),
  ],
  'inbox-counts-as-read': [
    replacing<typeof inbox>('workflows/engine/inbox.ts', {
      readInbox:
        (honest) =>
        async (...args) => {
          await honest.readInbox(...args);
          return true;
        },
    }),
  ],
  'ordered-inside-the-window': [
    replacing<typeof openPost>('workflows/engine/open-post.ts', { whyTooEarly: () => () => null }),
  ],
  'refused-stop-voids': [
    replacing<typeof stop>('workflows/engine/stop.ts', {
      tryStop: (honest) => async (flow, state, order) => {
        await honest.whyMaybeSent(flow, state);
        return honest.tryStop(flow, state, order);
      },
    }),
  ],
  'promised-cancel-fails': [
    replacing<typeof runFlow>('workflows/engine/run-flow.ts', {
      runFlow: (honest) => (kind, input, carried, story) =>
        honest.runFlow(kind, input, carried, (flow) =>
          story(flow)
            .catch((error: unknown) => {
              // Its own end is that of the stop.
              if ((error as { readonly outcome?: unknown }).outcome !== flow.stop) flow.stop = null;
              throw error;
            })
            .then((outcome) => {
              flow.stop = null;
              return outcome;
            }),
        ),
    }),
    replacing<typeof stop>('workflows/engine/stop.ts', {
      tryStop: (honest) => async (flow, state, order) => {
        const why = await honest.tryStop(flow, state, order);
        if (flow.isEnding) flow.stop = null;
        return why;
      },
    }),
  ],
  'stop-over-an-order': [
    replacing<typeof stop>('workflows/engine/stop.ts', {
      tryStop: (honest) => (flow, state, order) => {
        const seen = new Proxy(flow, {
          get: (target, name: keyof Flow) => (name === 'resolution' ? null : target[name]),
          set: (target, name, value) => Reflect.set(target, name, value),
        });
        return honest.tryStop(seen, state, order);
      },
    }),
  ],
  'refund-closed-against-another': [
    replacing<typeof submit>('workflows/engine/submit.ts', {
      submit: (honest) => (flow, post) => {
        const trusted = () => (flow.evidence().mismatches.length > 0 ? 'nothing' : post.trusted());
        const members = { ...Object.getOwnPropertyDescriptors(post), trusted: { value: trusted, enumerable: true } };
        return honest.submit(flow, Object.defineProperties({} as typeof post, members));
      },
    }),
  ],
  'repeat-against-what-came-meanwhile': [
    replacing<typeof decisions>('src/protocol/decisions.ts', { maySend: () => () => true }),
  ],
  'refusal-against-an-untrusted-success': [
    replacing<typeof track>('workflows/engine/track.ts', {
      isVetoed:
        ({ isVetoed }) =>
        (payment, plan) =>
          isVetoed(payment, plan),
    }),
  ],
  'failure-not-judged-again': [
    openingWith({ overtaken: { get: () => () => Promise.resolve(null), set: () => undefined } }),
  ],
  'failure-of-another-payer': [
    replacing<typeof coreEvents>('workflows/core/events.ts', {
      wordsFor:
        ({ wordsFor }) =>
        (plan, { byOthersToo: _byOthersToo, ...requestPlan }, request) =>
          wordsFor(plan, requestPlan, request),
    }),
  ],
  'bare-failure-owes-nothing': [
    replacing<typeof refundDue>('workflows/core/bridge/refund-due.ts', {
      fundsHeld:
        ({ fundsHeld }) =>
        (failed) => {
          const isAnnounced = failed.failure?.facts['refundAnnounced'] === 'true';
          return isAnnounced && fundsHeld(failed) === 'shown' ? 'shown' : 'absent';
        },
    }),
    replacing<typeof decisions>('src/protocol/decisions.ts', { saysMoneyMoved: () => () => false }),
  ],
  'wait-without-a-deadline': [openingWith({ deadlinePassed: { get: () => false } })],
  'known-word-is-new': [
    handlingWith((rules) => ({
      apply: (event) => {
        rules.apply(event);
        return true;
      },
    })),
  ],
  'last-write-wins': [
    handlingWith((rules, known) => ({
      apply: (event) => {
        const isNew = rules.apply(event);
        const payment = known as Partial<Payment>;
        if (isNew && payment.provenMeanings !== undefined) payment.provenMeanings = payment.provenMeanings.slice(-1);
        return isNew;
      },
    })),
  ],
  'random-in-a-workflow': [
    replacing<typeof runFlow>('workflows/engine/run-flow.ts', {
      runFlow: (honest) => (kind, input, carried, story) =>
        honest.runFlow(kind, input, carried, async (flow) => {
          const outcome = await story(flow);
          if (!workflowInfo().unsafe.isReplaying) await condition(() => false, 1);
          return outcome;
        }),
    }),
  ],
  'nothing-is-claimed': [
    replacing<typeof transfer>('workflows/core/bridge/transfer.ts', {
      endEvidence: (honest) => (known) => ({ ...honest.endEvidence(known), claimed: [] }),
    }),
  ],
  'unknown-is-not-executed': [
    replacing<typeof rules>('workflows/core/rules.ts', {
      ruleFor: (honest) => (v, without) => {
        const rule = honest.ruleFor(v, without);
        if (rule?.name !== 'unknown') return rule;
        return { ...rule, follows: () => ({ steps: [], end: { state: 'failed', reason: 'not_executed' } }) };
      },
    }),
  ],
  'their-refund-is-none': [
    replacing<typeof decisions>('src/protocol/decisions.ts', {
      endingByProof: (honest) => (proven) => honest.endingByProof(withoutRefunded({ proven }).proven),
      endStep: (honest) => (known) => honest.endStep(withoutRefunded(known)),
      refundRefusal: (honest) => (known) => honest.refundRefusal({ ...withoutRefunded(known), theirsBegun: false }),
    }),
    replacing<typeof transfer>('workflows/core/bridge/transfer.ts', { isRefunded: () => () => false }),
  ],
  'refund-as-announced': [
    replacing<typeof refundTerms>('workflows/core/bridge/refund-terms.ts', {
      refundTerms: (honest) => (flow, known) => {
        const { deposit, input } = known;
        const announced = deposit?.refund?.cryptoAmount;
        const cameIn = wantedOf(input);
        if (deposit?.refund == null || announced == null || cameIn === undefined)
          return honest.refundTerms(flow, known);
        const asked = { ...known, deposit: { ...deposit, refund: { ...deposit.refund, cryptoAmount: cameIn } } };
        const terms = honest.refundTerms(flow, asked);
        return typeof terms === 'string' || 'code' in terms ? terms : { ...terms, cryptoAmount: announced };
      },
    }),
  ],
  'next-release': [
    replacing<typeof runFlow>('workflows/engine/run-flow.ts', {
      runFlow: (honest) => (kind, input, carried, story) =>
        honest.runFlow(kind, input, carried, async (flow) => {
          if (patched(PATCH)) await sleep(1);
          return story(flow);
        }),
    }),
    replacing<typeof coreLoop>('workflows/core/loop.ts', {
      createLoop:
        (honest) =>
        (...args) => {
          const loop = honest.createLoop(...args);
          const run = async () => {
            if (patched(PATCH)) await sleep(1);
            return loop.run();
          };
          return { ...loop, run };
        },
    }),
  ],
} satisfies Plants;
