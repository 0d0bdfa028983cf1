import { ANSWER_BODIES, meaningOfAnswer, OWN_ERROR_BODIES } from '../../src/contract/answers.js';
import { ACTIONS, ASKED, ENDS, POSTS, PAYMENT_EVIDENCE } from './combinations.js';
import {
  CLAIM_SAYS,
  endStep,
  ENDINGS,
  EVIDENCE,
  beforeRepeat,
  executed,
  LOOKUP_SAYS,
  maySend,
  postStep,
  refundRefusal,
  refusalStands,
  refusedStep,
  REPEATS,
  TRUSTED_SAY,
  type Ending,
  type EndEvidence,
  type PostEvidence,
  type Repeat,
} from '../../src/protocol/decisions.js';
import { orderRefusal, POST_ORDERS, refusalOf } from '../../src/protocol/legal-orders.js';
import { CLAIMS, OPERATIONS, PHASES, type Move, type Operation, type Phase } from '../../src/protocol/claim-table.js';
import type { ParkAction } from '../../src/protocol/vocabulary.js';
import { CONDITIONS, type Plan } from '../../workflows/engine/plan.js';
import { PLANS } from '../../workflows/plans.js';
import { ORDER_RULES } from '../../workflows/engine/orders.js';
import { RULES } from '../../workflows/engine/rules.js';

const HEAD = `# Decisions about money

Every question about the outside world has three answers: **shown, absent, cannot tell**. A lookup that answers with the
record shows it. Only the service's own "not found" (404 in one of its own error bodies) is an absence. A refusal (400,
403, 422), a 404 that the service did not write, 5xx, a timeout and an unreadable body show nothing: the lookup is repeated, ever
more slowly, also while the flow is parked. If the record has another amount, currency or receiver, the
answer is \`other\`: the flow parks for a person. If the record is there and says nothing about the POST, because it may be
older or lacks what would identify it, the lookup proves nothing, which is another answer than that there is no lookup.

What a flow does by itself is decided in [src/protocol/decisions.ts](../src/protocol/decisions.ts), and what a person may order in
[src/protocol/legal-orders.ts](../src/protocol/legal-orders.ts): the workflows and the gateway make evidence of claims, lookups and
events, and ask these tables. What a transaction of the store makes of a claim is decided in
[src/protocol/claim-table.ts](../src/protocol/claim-table.ts), which a test compares with the SQL of both databases, and what one
attempt to send does next in [src/protocol/attempt.ts](../src/protocol/attempt.ts). Elsewhere are: which orders come too early, or need what is gone
([rules.ts](../workflows/engine/rules.ts)); what an end that says "nothing moved" is checked against
([situation.ts](../workflows/engine/situation.ts)); and whether the crypto of a transfer was paid
([refund-due.ts](../workflows/bridge/refund-due.ts)) and how much of it may be sent back
([refund-terms.ts](../workflows/bridge/refund-terms.ts)).
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
  return [
    HEAD,
    answers(),
    refusals(),
    turnedAway(),
    transitions(),
    claims(),
    posts(),
    vetoes(),
    reserved(),
    refused(),
    ends(),
    orders(),
    refunds(),
    rules(),
  ].join('\n');
}

/** The lists of the engine of rules, in their order. */
function rules(): string {
  const list = (all: readonly { readonly name: string; readonly says: string }[]): string =>
    all.map(({ name, says }, index) => `${index + 1}. \`${name}\`: ${says}`).join('\n');
  const conditions = Object.entries(CONDITIONS).map(([name, says]) => `- \`${name}\`: ${says}`);
  return [
    '',
    '## The rules of a flow',
    '',
    'Every kind is decided by these two lists ([workflows/engine](../workflows/engine)). The first rule that applies says what should be so now. A kind may have rules of its own, which come after `expire`. `npm run model` tries every order of faults, events, orders and time against them ([testing.md](testing.md)).',
    '',
    list(RULES),
    '',
    'If an order of a person has no reply yet, the first of these says what becomes of it, in that situation:',
    '',
    list(ORDER_RULES),
    '',
    'The conditions that they speak of:',
    '',
    ...conditions,
    ...Object.values<Plan>(PLANS).flatMap(({ kind, rules: own = [], orderRules = [] }) =>
      own.length === 0
        ? []
        : [
            '',
            `The own rules of \`${kind}\`:`,
            '',
            list(own),
            ...(orderRules.length === 0
              ? []
              : ['', 'and about orders, before the general ones:', '', list(orderRules)]),
          ],
    ),
    '',
  ].join('\n');
}

/** Statuses that mean the same, by one of them. */
const STATUSES = {
  '2xx': [200, 201, 299],
  '400, 403, 404, 422': [400, 403, 404, 422],
  '401, 429': [401, 429],
  '409': [409],
  'any other': [100, 199, 300, 304, 402, 405, 408, 410, 418, 451, 500, 502, 503, 599],
} as const;

const BODIES: Readonly<Record<(typeof ANSWER_BODIES)[number], string>> = {
  done: "the service's envelope of success",
  duplicate: 'its own error body, with words for a known reference; or a record with the status DUPLICATE',
  refused: 'its own error body, with any other reason',
  contradictory: 'its own error body, with a whole record in it',
  foreign: 'anything else: a page, problem+json, no body, another JSON',
};

function answers(): string {
  const rows = ANSWER_BODIES.map((body) => [
    BODIES[body],
    ...Object.values(STATUSES).map((statuses) =>
      [...new Set(statuses.map((status) => meaningOfAnswer(status, body)))].join(),
    ),
  ]);
  const own = Object.values(OWN_ERROR_BODIES).map(({ example }) => `\`${JSON.stringify(example)}\``);
  const text = [
    "The answer to a POST that moves money, by its body and then by its status ([answers.ts](../src/contract/answers.ts)). Only the service's own error bodies are its words. They are these four, each with a reason:",
    '',
    ...own.map((body) => `- ${body}`),
    '',
    'What the others say is shown to a person, and never believed. *unknown*: it may have been executed. *not-executed*: turned away, and sent again after the hint, as a repeat: the claim remembers that a POST left. *refused*: see below. *duplicate*: looked up, and adopted only if amount, currency and receiver match. An answer that is lost is unknown; a connection that was never made is proven not sent.',
  ].join('\n');
  return section('What an answer means', text, ['body', ...Object.keys(STATUSES)], rows);
}

const REFUSALS = {
  'its first POST': { before: 'nothing', isAboutReference: false, isRateExpired: false },
  'after POSTs that were all turned away': { before: 'turned-away', isAboutReference: false, isRateExpired: false },
  'after one that may have been executed': { before: 'unknown', isAboutReference: false, isRateExpired: false },
  'in words about the reference': { before: 'nothing', isAboutReference: true, isRateExpired: false },
  '"rate expired"': { before: 'nothing', isAboutReference: false, isRateExpired: true },
} as const;

function refusals(): string {
  const rows = LOOKUP_SAYS.map((lookup) => [
    lookup,
    ...Object.values(REFUSALS).map((refusal) => (refusalStands({ lookup, ...refusal }) ? 'rejected' : 'unknown')),
  ]);
  return section(
    'A POST that the service refuses in its own words',
    'Something on the way may have sent it twice, and the refusal is of the second copy. So *absent* is three lookups over ten seconds, all of them "not found". The payment of an invoice that the service shows as PENDING proves nothing: it is shown before a payment as well as during one. An unknown one is looked up for the whole window, with the refusal kept beside it. "Rate expired" is sent again, with a new quote, only if `DUPLICATE_REFERENCE` says that a repeat is safe, and after the window. A POST that was turned away each time is closed at a stop or the deadline if its refusal stands like one after POSTs that were all turned away: otherwise no end says that nothing moved.',
    ['lookup', ...Object.keys(REFUSALS)],
    rows,
  );
}

function turnedAway(): string {
  const rows = LOOKUP_SAYS.map((lookup) => [lookup, beforeRepeat(lookup, false), beforeRepeat(lookup, true)]);
  return section(
    'Right before a repeat',
    'Of a POST that was turned away, or that a setting or a person sends again: by a lookup that is made then. A trusted event that the flow has not judged holds it back as well.',
    ['lookup', 'then', 'if the person who ordered it was shown that it cannot be looked up'],
    rows,
  );
}

/** What each operation demands besides the phase. */
const DEMANDS: Readonly<Record<Operation, string>> = {
  reserve: '',
  markFirst: 'its owner, no event against it, no last word; no earlier POST of it left',
  mark: 'its owner, no event against it, no last word',
  release: 'its owner, no last word, not taken back',
  turnAway: 'its owner, no last word, not taken back',
  answer: '',
  reject: 'its owner',
  noteRefusal: 'its owner',
  confirmRefusal: 'a refusal was noted, and no event came',
  orderAgain: 'another owner, no last word, its POST cannot be under way; an order that did not do so before',
  holdBack: 'a repeat, if it is reserved; otherwise the order is only kept',
  void: 'nothing of it was executed',
  close: 'its POST cannot be under way',
  end: 'for all claims of the flow, or none; a repeat that is reserved goes back to `sending`',
};

function transitions(): string {
  const rows = OPERATIONS.map((operation) => {
    const moves: readonly Move[] = CLAIMS[operation];
    const to = (phase: Phase) => [...new Set(moves.map((move) => move.to[phase]).filter((next) => next !== undefined))];
    return [operation, ...PHASES.map((phase) => to(phase).join(', ')), DEMANDS[operation]];
  });
  return section(
    'What a transaction makes of a claim',
    'From the phase above to the phase in the cell; an empty cell leaves it alone. Each answers with the phase, and with what is known of the POSTs that left under the claim.',
    ['operation', ...PHASES, 'demands'],
    rows,
  );
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

function reserved(): string {
  const rows = (['reserved', 'ordered'] as const).flatMap((claim) =>
    TRUSTED_SAY.map((trusted) => {
      const post = { ...OPEN, claim, trusted };
      const otherwise =
        claim === 'reserved' ? said(postStep(post, 'unknown')) : (refusalOf('send-again', post)?.text ?? '');
      return [claim, trusted, maySend(post) ? 'sent' : otherwise];
    }),
  );
  return section(
    'Sent with a new quote, or by an order',
    'If the quote expired before it was sent, the claim is `reserved` for another one. Once that is there, and right before a send that was ordered (`ordered`), trusted events are judged again.',
    ['claim', 'trusted events', 'then'],
    rows,
  );
}

function refused(): string {
  const rows = [[], ['completed'], ['failed'], ['refunded']].map((claimed) => [
    words(claimed),
    said(refusedStep(claimed as readonly Ending[])),
  ]);
  return section(
    'A POST that the service refused',
    'How `end-rejected` ends the flow, if its kind has no lookup: like a proven failure of which nothing is held. If it has one, that has shown that the service has nothing, and what is not proven changes nothing.',
    ['claimed, unverified', 'then'],
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
        (by) => refundRefusal({ ...end, by, termsStand: true, theirsBegun: false })?.text ?? 'sent',
      );
      return [words(end.claimed), fundsHeld, ...answers];
    }),
  );
  const begun = { proven: ['failed'], claimed: [], fundsHeld: 'shown', termsStand: true, theirsBegun: true } as const;
  rows.push([
    "nothing, but the failure says that the service's refund is done or under way",
    'shown',
    ...(['input', 'person'] as const).map((by) => refundRefusal({ ...begun, by })?.text ?? 'sent'),
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
