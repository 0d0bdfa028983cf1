import { ACTIONS, ASKED, ENDS, POSTS, PAYMENT_EVIDENCE } from './combinations.js';
import {
  CLAIM_SAYS,
  endStep,
  ENDINGS,
  EVIDENCE,
  executed,
  LOOKUP_SAYS,
  orderRefusal,
  POST_ORDERS,
  postStep,
  refundRefusal,
  refusalOf,
  REPEATS,
  TRUSTED_SAY,
  type Ending,
  type EndEvidence,
  type PostEvidence,
  type Repeat,
} from '../../src/protocol/decisions.js';
import type { ParkAction } from '../../src/protocol/vocabulary.js';

const HEAD = `# Decisions about money

Every question about the outside world has three answers: **shown, absent, cannot tell**. A lookup that answers with the
record shows it. Only the service's own "not found" (404 with a reason in a readable body) is an absence. A refusal (400,
403, 422), a 404 that the service did not write, 5xx, a timeout and an unreadable body show nothing: the lookup is repeated, ever
more slowly, also while the flow is parked. If the record has another amount, currency or receiver, the
answer is \`other\`: the flow parks for a person.

These tables are [src/protocol/decisions.ts](../src/protocol/decisions.ts), which makes all decisions of the workflows about money.
[test/properties/decisions.test.ts](../test/properties/decisions.test.ts) checks every combination: ${POSTS.length} states
of a POST, each with ${REPEATS.length} settings and ${POST_ORDERS.length} orders; ${ENDS.length} states of an end; ${PAYMENT_EVIDENCE.length} answers of lookup and events; and ${ASKED.length}
views that a person was shown, each with ${ACTIONS.length} actions. It computes this page and fails if it differs; \`WRITE_DOCS=1\` writes it. Right before a person's order is carried out, the
flow reads the claim, the inbox and the lookup again; if they prove the contrary by then, the order is refused, and the flow
continues with the proof.
`;

const OPEN: PostEvidence = {
  claim: 'sending',
  lookup: 'cannot-tell',
  trusted: 'nothing',
  untrusted: false,
  saidToExist: false,
  windowOver: true,
  overdue: false,
};

const PROVEN: readonly (readonly Ending[])[] = [
  [],
  ['completed'],
  ['refunded'],
  ['failed'],
  ['failed', 'refunded'],
  ['completed', 'failed'],
  ['completed', 'refunded'],
];

/** The page with all tables. */
export function decisionsDocument(): string {
  return [HEAD, claims(), posts(), vetoes(), ends(), orders(), refunds()].join('\n');
}

function claims(): string {
  const rows = CLAIM_SAYS.map((claim) => [claim, ...postCells({ ...OPEN, claim })]);
  return section(
    'A POST by its claim alone',
    'The lookup cannot tell, and no event has come.',
    ['claim', ...POST],
    rows,
  );
}

function posts(): string {
  const rows = TRUSTED_SAY.flatMap((trusted) =>
    LOOKUP_SAYS.map((lookup) => [trusted, lookup, ...postCells({ ...OPEN, trusted, lookup })]),
  );
  return section(
    'A POST that may have been sent',
    'Its claim is in `sending`, and the settle window is over. Before that, the flow asks again after *cannot tell*.',
    ['trusted events', 'lookup', ...POST],
    rows,
  );
}

function vetoes(): string {
  const rows = (['untrusted', 'saidToExist'] as const).flatMap((veto) =>
    (['absent', 'no-lookup'] as const).map((lookup) => [
      veto === 'untrusted' ? 'an untrusted event claims it' : 'the service said DUPLICATE',
      lookup,
      ...postCells({ ...OPEN, lookup, [veto]: true }),
    ]),
  );
  return section(
    'What prevents an automatic repeat',
    'A person may still order it.',
    ['what', 'lookup', ...POST],
    rows,
  );
}

function ends(): string {
  const rows = PROVEN.flatMap((proven) =>
    merged(
      EVIDENCE.flatMap((fundsHeld) =>
        merged(
          [[], ['completed'] as const].map((claimed) => {
            const then = said(endStep({ proven, claimed, fundsHeld }));
            return [words(proven), fundsHeld, words(claimed), then];
          }),
          2,
        ),
      ),
      1,
    ),
  );
  return section(
    'How a payment ended',
    'By what is proven, by whether we hold money that a failure obliges us to return, and by what untrusted events claim. An untrusted event that says that the money came in turns *absent* into *cannot-tell*.',
    ['proven', 'money held', 'claimed, unverified', 'then'],
    rows,
  );
}

/** One row for all of them, if they differ only in this column. */
function merged(rows: readonly (readonly string[])[], column: number): readonly (readonly string[])[] {
  const anyOf = (row: readonly string[]) => row.with(column, 'any');
  const [first] = new Set(rows.map((row) => anyOf(row).join()));
  return rows.every((row) => anyOf(row).join() === first) ? rows.slice(0, 1).map(anyOf) : rows;
}

function orders(): string {
  const judged = ACTIONS.filter((action) =>
    ASKED.some(({ proven, shown }) => orderRefusal(action, proven, shown) !== null),
  );
  const answer = (action: ParkAction, proven: readonly Ending[]) => {
    if (orderRefusal(action, proven, proven) !== null) return 'refused';
    return orderRefusal(action, proven, []) === null ? 'yes' : 'if the person saw it';
  };
  const rows = PROVEN.map((proven) => [words(proven), ...judged.map((action) => answer(action, proven))]);
  return section(
    "A person's order, by what is proven when it is carried out",
    'For every reason to park, after the flow asked the inbox and the service once more. Every other action is always possible. While the inbox cannot be read, no order is carried out that ends the flow or sends something.',
    ['proven', ...judged.map((action) => `\`${action}\``)],
    rows,
  );
}

function refunds(): string {
  const rows = ENDINGS.flatMap((claimed) =>
    EVIDENCE.map((fundsHeld) => {
      const end: EndEvidence = { proven: ['failed'], claimed: claimed === 'failed' ? [] : [claimed], fundsHeld };
      const answers = (['input', 'person'] as const).map(
        (by) => refundRefusal({ ...end, by, termsStand: true, theirsBegun: false }) ?? 'sent',
      );
      return [words(end.claimed), fundsHeld, ...answers];
    }),
  );
  const begun = { proven: ['failed'], claimed: [], fundsHeld: 'shown', termsStand: true, theirsBegun: true } as const;
  rows.push([
    "nothing, but the failure says that the service's refund is done or under way",
    'shown',
    ...(['input', 'person'] as const).map((by) => refundRefusal({ ...begun, by }) ?? 'sent'),
  ]);
  return section(
    'A refund by us, after a proven failure',
    'Its terms are usable: known, sendable, no more than what came in, the same token, an address of the same method. If an event, trusted or not, says that less or something else came in, `refund.auto` sends nothing; `refund-now` sends no more than the trusted ones say.',
    ['claimed, unverified', 'crypto paid', 'by `refund.auto`', 'by `refund-now`'],
    rows,
  );
}

const POST = [
  'executed?',
  'without a person',
  'without a person, if `DUPLICATE_REFERENCE` says that repeats are safe',
  'a person may order',
];

function postCells(post: PostEvidence): readonly string[] {
  const step = (repeat: Repeat) => said(postStep(post, repeat));
  const orders = POST_ORDERS.filter((order) => refusalOf(order, post) === null);
  return [executed(post), step('unknown'), step('same-result'), orders.map((order) => `\`${order}\``).join(' ') || '—'];
}

function said(step: { readonly do: string; readonly as?: string; readonly reason?: string }): string {
  return [step.do, step.as, step.reason === undefined ? undefined : `\`${step.reason}\``].filter(Boolean).join(' ');
}

const words = (endings: readonly string[]) => endings.join(', ') || 'nothing';

function section(title: string, text: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [`## ${title}`, '', text, '', line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n');
}
