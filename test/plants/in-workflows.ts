import { condition, patched, proxySinks, sleep, workflowInfo } from '@temporalio/workflow';
import type * as decisions from '../../src/protocol/decisions.js';
import type * as legalOrders from '../../src/protocol/legal-orders.js';
import { wantedOf } from '../../workflows/bridge/came-in.js';
import type * as refundDue from '../../workflows/bridge/refund-due.js';
import type * as refundTerms from '../../workflows/bridge/refund-terms.js';
import type * as bridgeStatuses from '../../workflows/bridge/statuses.js';
import type * as transfer from '../../workflows/bridge/transfer.js';
import type * as events from '../../workflows/engine/events.js';
import type { Input } from '../../workflows/engine/known.js';
import type * as learns from '../../workflows/engine/learn.js';
import type * as loops from '../../workflows/engine/loop.js';
import type { Loop } from '../../workflows/engine/loop.js';
import type * as orders from '../../workflows/engine/orders.js';
import type { Said, View } from '../../workflows/engine/plan.js';
import type * as rules from '../../workflows/engine/rules.js';
import type * as situations from '../../workflows/engine/situation.js';
import type * as telling from '../../workflows/engine/told.js';
import type * as views from '../../workflows/engine/view.js';
import { shapesOf } from '../model/shape.js';
import { replacing, type Plants } from './replaced.js';

/** The engine without one of its rules. */
const withoutRule = (name: string) =>
  replacing<typeof rules>('workflows/engine/rules.ts', {
    ruleFor: (honest) => (v, without) => {
      const rule = honest.ruleFor(v, without);
      return rule?.name === name ? honest.ruleFor(v, name) : rule;
    },
  });

/** The same of its rules about orders. */
const withoutOrderRule = (name: string) =>
  replacing<typeof orders>('workflows/engine/orders.ts', {
    orderRuleFor: (honest) => (o, without) => {
      const rule = honest.orderRuleFor(o, without);
      return rule?.name === name ? honest.orderRuleFor(o, name) : rule;
    },
  });

/** What follows from what is known, seen otherwise. */
const seeing = (change: (v: View) => View) =>
  replacing<typeof views>('workflows/engine/view.ts', {
    view:
      (honest) =>
      (...args) =>
        change(honest.view(...args)),
  });

/** What events say, heard otherwise. */
const hearing = (change: (said: readonly Said[]) => readonly Said[]) =>
  replacing<typeof events>('workflows/engine/events.ts', {
    saidBy:
      ({ saidBy }) =>
      (...args) =>
        change(saidBy(...args)),
  });

/** An input that is taken for another one. */
const learning = (change: (input: Input) => Input) =>
  replacing<typeof learns>('workflows/engine/learn.ts', {
    learn:
      ({ learn }) =>
      (known, input, nowMs) =>
        learn(known, change(input), nowMs),
  });

/** The loop runs in another way. */
const running = (change: (loop: Loop) => Loop['run']) =>
  replacing<typeof loops>('workflows/engine/loop.ts', {
    createLoop:
      ({ createLoop }) =>
      (...args) => {
        const loop = createLoop(...args);
        return { ...loop, run: change(loop) };
      },
  });

const isReadingOfInbox = (input: Input): input is Extract<Input, { is: 'result' }> =>
  input.is === 'result' && input.step.do === 'read-inbox';

const withoutRefunded = <Known extends { readonly proven: readonly string[] }>(known: Known): Known => ({
  ...known,
  proven: known.proven.filter((ending) => ending !== 'refunded'),
});

/** Where a bundle with `reports-pairs` hands the shapes of its steps and results to. */
export type PairSinks = { readonly pairs: { heard: (shape: string) => void } };

/** For the test of worker versions: a change that a release brings. */
export const PATCH = 'waits-first';

/** In the workflows, and in what their bundle shares with the rest. Evaluated in their sandbox. */
export const plants = {
  'unread-is-unsaid': [
    hearing((said) => said.map((one) => ({ ...one, differs: one.differs.filter((fact) => fact !== 'body') }))),
  ],
  'payment-is-no-debt': [
    replacing<typeof bridgeStatuses>('workflows/bridge/statuses.ts', { cryptoWasPaid: () => () => false }),
  ],
  'order-against-a-trusted-event': [
    replacing<typeof legalOrders>('src/protocol/legal-orders.ts', { orderRefusal: () => () => null }),
  ],
  'end-without-the-inbox': [
    replacing<typeof situations>('workflows/engine/situation.ts', {
      endUnmoved:
        ({ endUnmoved }) =>
        (v, state, reason) => {
          const situation = endUnmoved(v, state, reason);
          const isForInbox = situation.steps.some((step) => step.do === 'read-inbox');
          return isForInbox ? { steps: [], end: { state, reason } } : situation;
        },
    }),
  ],
  'inbox-counts-as-read': [
    learning((input) =>
      isReadingOfInbox(input) && input.result.of === 'no-answer'
        ? { ...input, result: { of: 'read-inbox', events: [] } }
        : input,
    ),
  ],
  'ordered-inside-the-window': [withoutOrderRule('order-too-early')],
  'cancel-without-asking': [
    replacing<typeof situations>('workflows/engine/situation.ts', {
      stop:
        ({ stop }) =>
        (v, ...more) => {
          const { byOthersToo: _asked, ...requestPlan } = v.requestPlan;
          return stop({ ...v, requestPlan }, ...more);
        },
    }),
  ],
  'any-end-is-a-cancel': [
    replacing<typeof orders>('workflows/engine/orders.ts', {
      lastReplies:
        ({ lastReplies }) =>
        (known, end) =>
          lastReplies(known, { ...end, state: 'cancelled' }),
    }),
  ],
  'refund-closed-against-another': [
    seeing((v) => ({ ...v, is: { ...v.is, reported: v.is.reported && v.mismatches.length === 0 } })),
  ],
  'repeat-against-what-came-meanwhile': [withoutRule('refund-and-settled')],
  'refusal-against-an-untrusted-success': [withoutRule('failed-vetoed')],
  'last-reading-is-dropped': [
    learning((input) =>
      isReadingOfInbox(input) && input.result.of === 'read-inbox'
        ? { ...input, result: { ...input.result, events: [] } }
        : input,
    ),
  ],
  'failure-of-another-payer': [
    replacing<typeof events>('workflows/engine/events.ts', {
      meaningFor:
        ({ meaningFor }) =>
        (plan, { byOthersToo: _byOthersToo, ...requestPlan }, request, word) =>
          meaningFor(plan, requestPlan, request, word),
    }),
  ],
  'bare-failure-owes-nothing': [
    replacing<typeof refundDue>('workflows/bridge/refund-due.ts', {
      fundsHeld:
        ({ fundsHeld }) =>
        (failed) => {
          const isAnnounced = failed.failure?.facts['refundAnnounced'] === 'true';
          return isAnnounced && fundsHeld(failed) === 'shown' ? 'shown' : 'absent';
        },
    }),
  ],
  'wait-without-a-deadline': [
    replacing<typeof views>('workflows/engine/view.ts', {
      view:
        (honest) =>
        (known, plan, nowMs, planted, ...more) =>
          honest.view(known, plan, nowMs, { ...planted, overdue: false }, ...more),
    }),
  ],
  'known-word-is-new': [
    replacing<typeof telling>('workflows/engine/told.ts', {
      eventResults:
        ({ eventResults }) =>
        (plan, known, nowMs) => {
          const isTrusted = (id: string) => known.events.some(({ event }) => event.id === id && event.trusted);
          const results = Object.entries(eventResults(plan, known, nowMs));
          return Object.fromEntries(
            results.map(([id, result]) => [id, result === 'duplicate' && isTrusted(id) ? 'applied' : result]),
          );
        },
    }),
  ],
  'last-write-wins': [
    hearing((said) => {
      const last = said.findLastIndex(({ of }) => of.event.trusted);
      return said.map((one, index) => (one.of.event.trusted && index < last ? { ...one, meaning: 'pending' } : one));
    }),
  ],
  'random-in-a-workflow': [
    running((loop) => async () => {
      const end = await loop.run();
      if (!workflowInfo().unsafe.isReplaying) await condition(() => false, 1);
      return end;
    }),
  ],
  'nothing-is-claimed': [
    replacing<typeof transfer>('workflows/bridge/transfer.ts', {
      endEvidence: (honest) => (known) => ({ ...honest.endEvidence(known), claimed: [] }),
      endStepOf: (honest) => (known) => honest.endStepOf({ ...known, unverified: [] }),
    }),
  ],
  'unknown-is-not-executed': [
    replacing<typeof rules>('workflows/engine/rules.ts', {
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
    replacing<typeof transfer>('workflows/bridge/transfer.ts', { isRefunded: () => () => false }),
    seeing((v) =>
      v.requestPlan.name === 'refund' ? { ...v, endings: v.endings.filter((ending) => ending !== 'refunded') } : v,
    ),
  ],
  'refund-as-announced': [
    replacing<typeof refundTerms>('workflows/bridge/refund-terms.ts', {
      refundTerms: (honest) => (known) => {
        const { deposit, input } = known;
        const announced = deposit?.refund?.cryptoAmount;
        const cameIn = wantedOf(input);
        if (deposit?.refund == null || announced == null || cameIn === undefined) return honest.refundTerms(known);
        const asked = { ...known, deposit: { ...deposit, refund: { ...deposit.refund, cryptoAmount: cameIn } } };
        const terms = honest.refundTerms(asked);
        return 'code' in terms ? terms : { ...terms, cryptoAmount: announced };
      },
    }),
  ],
  'reports-pairs': [
    replacing<typeof loops>('workflows/engine/loop.ts', {
      createLoop:
        ({ createLoop }) =>
        (plan, begun, host) =>
          createLoop(plan, begun, {
            ...host,
            onLearnt(before, input, after) {
              if (input.is === 'result')
                shapesOf(plan, before, input.step, input.result).forEach(proxySinks<PairSinks>().pairs.heard);
              host.onLearnt(before, input, after);
            },
          }),
    }),
  ],
  'next-release': [
    running((loop) => async () => {
      if (patched(PATCH)) await sleep(1);
      return loop.run();
    }),
  ],
} satisfies Plants;
