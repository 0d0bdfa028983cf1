import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  after,
  closedByOrder,
  isInTheWay,
  NO_CLAIM,
  OPERATIONS,
  PHASES,
  stateOf,
  voidedAll,
  type By,
  type ClaimFacts,
  type Operation,
  type Phase,
} from '../../src/protocol/claim-table.js';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import { placeOf, type SealedColumn } from '../../src/store/claim-row.js';
import type { Store } from '../../src/store/store.js';
import { createSealedJson } from '../../src/store/store-key.js';
import { createRandom } from '../harness/random.js';
import { describeStores } from './store-kinds.js';
import { anEvent, keyring, makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const ACCOUNT = 'default';
const OPERATION = 'sendCrypto';
const WINDOW_MS = 1_000;
const LONG_AGO_MS = 10_000;
const LATELY_MS = 500;
const [FREE, GUARDED] = ['crypto-send/free', 'crypto-send/guarded'];
const ORDER_ID = 'an-update';
const order = { actor: 'ada', note: 'looked into it' };
const attemptOf = (key: ClaimKey) => ({ flowId: `crypto-send/${key.reference}`, fingerprint: 'f' });
const keyOf = (reference: string): ClaimKey => ({ account: ACCOUNT, operation: OPERATION, reference });
const flags = [false, true];

/** Every claim that there can be, as far as its transitions see it. */
function everyClaim(nowMs: number): readonly ClaimFacts[] {
  const made = PHASES.filter((phase) => phase !== 'absent').flatMap((phase) => {
    const isOpen = phase === 'reserved' || phase === 'sending';
    return flags.flatMap((ordered) =>
      flags.flatMap((closed) =>
        flags.flatMap((refusal) =>
          (isOpen ? flags : [false]).flatMap((heldBack) =>
            (isOpen ? [0, 1] : [0]).flatMap((turnedAway) =>
              timesOf(phase, ordered, nowMs).map((sentAtMs) => {
                const orderIds = ordered ? [ORDER_ID] : [];
                return { phase, owner: 'a', ordered, orderIds, heldBack, closed, refusal, turnedAway, sentAtMs };
              }),
            ),
          ),
        ),
      ),
    );
  });
  return [NO_CLAIM, ...made];
}

/** A claim in `sending` knows when it was sent; one that is reserved was ordered again, or handed back, or never sent. */
function timesOf(phase: Phase, ordered: boolean, nowMs: number): readonly (number | null)[] {
  const longAgo = nowMs - LONG_AGO_MS;
  if (phase === 'sending') return [longAgo, nowMs - LATELY_MS];
  return phase === 'reserved' && !ordered ? [null] : [null, longAgo];
}

/** In every way that makes a difference to the operation. */
function everyBy(operation: Operation, nowMs: number): readonly By[] {
  const owners = ['a', 'b'].map((owner) => ({ nowMs, owner }));
  switch (operation) {
    case 'markFirst':
    case 'mark':
      return owners.flatMap((by) => flags.map((guarded) => ({ ...by, guarded })));
    case 'orderAgain':
      return owners
        .flatMap((by) => [by, { ...by, windowMs: WINDOW_MS }, { ...by, sentUntilMs: nowMs - WINDOW_MS }])
        .flatMap((by) => [by, { ...by, orderId: ORDER_ID }, { ...by, orderId: 'another-update' }]);
    case 'close':
      return [{ nowMs }, { nowMs, windowMs: WINDOW_MS }, { nowMs, sentUntilMs: nowMs - WINDOW_MS }];
    case 'confirmRefusal':
      return flags.map((guarded) => ({ nowMs, guarded }));
    case 'void':
      return [0, 1].map((turnedAway) => ({ nowMs, turnedAway }));
    case 'end':
      return [0, 1].flatMap((turnedAway) => flags.map((guarded) => ({ nowMs, turnedAway, guarded })));
    case 'answer':
    case 'holdBack':
      return [{ nowMs }];
    case 'reserve':
    case 'release':
    case 'turnAway':
    case 'reject':
    case 'noteRefusal':
      return owners;
    default:
      return operation satisfies never;
  }
}

/** What the table makes of it, by the transactions that the store has. */
function byTable(claim: ClaimFacts, operation: Operation, by: By): ClaimFacts {
  if (operation === 'markFirst') return after(after(claim, 'reserve', by), 'markFirst', by);
  if (operation === 'end') return closedByOrder([claim], by)[0] ?? claim;
  return after(claim, operation, by);
}

const REFUSAL = { httpStatus: 400, message: 'no' };

/** The same by the store; what it answers about the claim, if it does. */
async function byStore(claims: ClaimStore, key: ClaimKey, operation: Operation, by: By) {
  const { owner = '', guarded = false, turnedAway = 0 } = by;
  const guard = { flowId: guarded ? GUARDED : FREE };
  const attempt = attemptOf(key);
  switch (operation) {
    case 'reserve':
      return void (await claims.reserve(key, { owner, ...attempt }));
    case 'markFirst':
      return void (await claims.reserve(key, { owner, ...attempt }, guard));
    case 'mark':
      return void (await claims.markSending(key, owner, guard));
    case 'release':
      return claims.release(key, owner);
    case 'turnAway':
      return claims.turnAway(key, owner);
    case 'answer':
      return void (await claims.recordAnswer(key, { id: 'S-1' }));
    case 'reject':
      return claims.recordRejection(key, owner, REFUSAL);
    case 'noteRefusal':
      return claims.noteRefusal(key, owner, REFUSAL);
    case 'confirmRefusal':
      return claims.confirmRefusal(key, { ...guard, orUntrusted: true });
    case 'orderAgain':
      return claims.orderSendAgain(key, owner, by.orderId === undefined ? order : { ...order, id: by.orderId }, by);
    case 'holdBack':
      return claims.recordDecision(key, 'held-back', order);
    case 'void':
      return claims.voidUnsent(key, { ...attempt, turnedAway }, 'cancelled');
    case 'close':
      return claims.closeNotExecuted(key, order, by);
    case 'end': {
      const { windowMs = 0 } = by;
      const unless = { ...guard, windowMs };
      return (await claims.closeByOrder([{ key, ...attempt, turnedAway }], 'mark-completed', order, unless)).claims[0];
    }
    default:
      return operation satisfies never;
  }
}

describeStores('the table of claims, and the SQL of the store', (kind) => {
  let temporary: TemporaryStore;
  let store: Store;
  const sealed = createSealedJson(keyring);
  const now = () => temporary.clock.now();

  beforeAll(async () => {
    temporary = await makeTemporaryStore(kind);
    store = await temporary.open();
    await store.inbox.receive(anEvent({ flowId: GUARDED, contentHash: GUARDED }));
  });
  afterAll(() => temporary.remove());

  const blob = (key: ClaimKey, column: SealedColumn, value: unknown) => {
    const bytes = sealed.seal(placeOf(key, column), value);
    const hex = Buffer.from(bytes).toString('hex');
    return kind === 'libsql' ? `X'${hex}'` : `'\\x${hex}'::bytea`;
  };
  const inserted = async (table: string, columns: string, rows: readonly string[]) => {
    for (let at = 0; at < rows.length; at += 500) {
      await temporary.execute(`INSERT INTO ${table} (${columns}) VALUES ${rows.slice(at, at + 500).join(', ')}`);
    }
  };
  /** Rows of these claims, as the store would have left them. */
  const place = async (placed: ReadonlyMap<string, ClaimFacts>) => {
    const there = [...placed].filter(([, { phase }]) => phase !== 'absent');
    const rows = there.map(([reference, claim]) => {
      const key = keyOf(reference);
      const { phase, owner, refusal, turnedAway, sentAtMs } = claim;
      const answer = phase === 'answered' ? blob(key, 'answer', {}) : 'NULL';
      const rejection = refusal ? blob(key, 'rejection', REFUSAL) : 'NULL';
      const { flowId, fingerprint } = attemptOf(key);
      const texts = [ACCOUNT, OPERATION, reference, phase, owner, flowId, fingerprint].map((text) => `'${text}'`);
      return `(${texts.join(', ')}, ${now() - LONG_AGO_MS}, ${sentAtMs ?? 'NULL'}, ${turnedAway}, ${answer}, ${rejection})`;
    });
    await inserted(
      'claims',
      'account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at, sending_at, turned_away, answer, rejection',
      rows,
    );
    const orders = there.flatMap(
      ([
        reference,
        {
          ordered,
          orderIds: [orderId],
          closed,
          heldBack,
        },
      ]) =>
        [ordered && 'send-again', closed && 'mark-failed', heldBack && 'held-back']
          .filter((action) => action !== false)
          .map((action) => {
            const note = blob(keyOf(reference), 'note', 'before');
            const id = action === 'send-again' && orderId !== undefined ? `'${orderId}'` : 'NULL';
            return `('${ACCOUNT}', '${OPERATION}', '${reference}', '${action}', 'eve', ${note}, ${id}, 0)`;
          }),
    );
    await inserted('claim_orders', 'account, operation, reference, action, actor, note, order_id, at', orders);
  };

  /** All claims whose reference begins so, as the table sees them. */
  const found = async (prefix: string): Promise<ReadonlyMap<string, ClaimFacts>> => {
    const of = (select: string) => `(SELECT ${select} FROM claim_orders o
      WHERE o.account = '${ACCOUNT}' AND o.operation = '${OPERATION}' AND o.reference = claims.reference`;
    // In the order of their rows, which both databases keep here.
    const idsJoined =
      kind === 'libsql' ? `GROUP_CONCAT(o.order_id, ' ')` : `STRING_AGG(o.order_id, ' ' ORDER BY o.seq)`;
    const rows = await temporary.execute(
      `SELECT reference, phase, owner, turned_away, sending_at,
         CASE WHEN rejection IS NULL THEN 0 ELSE 1 END AS refusal,
         ${of('COUNT(*)')} AND o.action = 'send-again') AS sends,
         ${of(idsJoined)}) AS order_ids,
         ${of('COUNT(*)')} AND o.action NOT IN ('send-again', 'held-back')) AS words,
         COALESCE(${of('o.action')} ORDER BY o.seq DESC LIMIT 1), '') AS last
       FROM claims WHERE reference LIKE '${prefix}%'`,
    );
    return new Map(
      rows.map((row) => [
        String(row['reference']),
        {
          phase: row['phase'] as Phase,
          owner: String(row['owner']),
          ordered: Number(row['sends']) > 0,
          orderIds: idsIn(row['order_ids']),
          heldBack: row['last'] === 'held-back',
          closed: Number(row['words']) > 0,
          refusal: Number(row['refusal']) > 0,
          turnedAway: Number(row['turned_away']),
          sentAtMs: row['sending_at'] === null ? null : Number(row['sending_at']),
        },
      ]),
    );
  };

  const idsIn = (joined: unknown): readonly string[] => (typeof joined === 'string' ? joined.split(' ') : []);

  interface Case {
    readonly operation: Operation;
    readonly reference: string;
    readonly claim: ClaimFacts;
    readonly by: By;
  }
  /** At once: the store makes one transaction of many, and every claim has its own. */
  const differences = async (cases: readonly Case[], prefix: string) => {
    const answers = await Promise.all(
      cases.map(({ operation, reference, by }) => byStore(store.claims, keyOf(reference), operation, by)),
    );
    const stored = await found(prefix);
    return cases.flatMap(({ operation, reference, claim, by }, index) => {
      const table = byTable(claim, operation, by);
      const sql = stored.get(reference) ?? NO_CLAIM;
      const answer = answers[index];
      const isSame =
        JSON.stringify(sorted(table)) === JSON.stringify(sorted(sql)) &&
        (answer === undefined || JSON.stringify(stateOf(table)) === JSON.stringify(stateIn(answer)));
      return isSame ? [] : [{ operation, claim, by, table, sql, answer }];
    });
  };
  const sorted = (claim: ClaimFacts) => Object.entries(claim).toSorted(([one], [other]) => one.localeCompare(other));
  const stateIn = ({ phase, sent }: { readonly phase: Phase; readonly sent: string }) => ({ phase, sent });

  it.each(OPERATIONS)('do the same to every claim by %s', async (operation) => {
    const cases = everyClaim(now()).flatMap((claim, n) =>
      everyBy(operation, now()).map((by, m) => ({ operation, reference: `${operation}-${n}-${m}`, claim, by })),
    );
    await place(new Map(cases.map(({ reference, claim }) => [reference, claim])));
    expect(await differences(cases, `${operation}-`)).toEqual([]);
  });

  it('do the same by every sequence of operations of two owners', async () => {
    const random = createRandom(Number(process.env['TEST_SEED'] ?? 1));
    let claims = new Map(Array.from({ length: 40 }, (_, n) => [`random-${n}`, NO_CLAIM] as const));
    const reached = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const cases = [...claims].map(([reference, claim]) => {
        const operation = random.pick(OPERATIONS);
        return { operation, reference, claim, by: random.pick(everyBy(operation, now())) };
      });
      expect(await differences(cases, 'random-')).toEqual([]);
      claims = new Map(cases.map(({ operation, reference, claim, by }) => [reference, byTable(claim, operation, by)]));
      for (const { phase, ordered, closed } of claims.values()) reached.add(`${phase} ${ordered} ${closed}`);
      temporary.clock.advance(700);
    }
    expect(reached.size).toBeGreaterThan(8);
  });

  describe('that voids all claims of a flow', () => {
    const SOME: readonly ClaimFacts[] = [
      NO_CLAIM,
      ...(['reserved', 'sending', 'answered', 'rejected', 'void'] as const).map((phase) => ({ ...NO_CLAIM, phase })),
    ];
    const everySome = (nowMs: number): readonly ClaimFacts[] =>
      SOME.flatMap((claim) => {
        if (claim.phase === 'absent') return [claim];
        const owned = { ...claim, owner: 'a', sentAtMs: claim.phase === 'sending' ? nowMs - LONG_AGO_MS : null };
        const closed = { ...owned, closed: true };
        return [owned, { ...owned, ordered: true }, { ...owned, turnedAway: 1 }, { ...closed, sentAtMs: nowMs - 1 }];
      });

    it('do the same to every two claims: all of them, or none', async () => {
      const each = everySome(now()).filter(({ phase, sentAtMs }) => phase !== 'reserved' || sentAtMs === null);
      const ways = [
        { known: 0, guarded: false },
        { known: 1, guarded: false },
        { known: 1, guarded: true },
      ];
      const pairs = each.flatMap((one, n) =>
        each.flatMap((other, m) =>
          ways.map((way, k) => ({
            names: [`pair-${n}-${m}-${k}-0`, `pair-${n}-${m}-${k}-1`],
            two: [one, other],
            ...way,
          })),
        ),
      );
      await place(
        new Map(pairs.flatMap(({ names, two }) => names.map((name, k) => [name, two[k] ?? NO_CLAIM] as const))),
      );
      const answers = await Promise.all(
        pairs.map(({ names, known, guarded }) =>
          store.claims.voidAll(
            names.map((name) => ({ key: keyOf(name), ...attemptOf(keyOf(name)), turnedAway: known })),
            'cancelled',
            { flowId: guarded ? GUARDED : FREE, reviewedEventIds: [] },
          ),
        ),
      );
      const stored = await found('pair-');
      const wrong = pairs.flatMap(({ names, two, known, guarded }, index) => {
        const table = voidedAll(two, { nowMs: now(), guarded, turnedAway: known });
        const sql = names.map((name) => stored.get(name) ?? NO_CLAIM);
        const answer = answers[index];
        const isDone = !guarded && !two.some((claim) => isInTheWay(claim, { turnedAway: known }));
        const isSame =
          JSON.stringify(table.map(sorted)) === JSON.stringify(sql.map(sorted)) &&
          JSON.stringify(table.map(stateOf)) === JSON.stringify(answer?.claims.map(stateIn)) &&
          answer?.isDone === isDone;
        return isSame ? [] : [{ two, known, guarded, table, sql, answer }];
      });
      expect(wrong).toEqual([]);
    });
  });
});
