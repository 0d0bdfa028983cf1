import type { SentBefore } from './decisions.js';

/*
 * What the store keeps of the right to send one POST, and what each of its transactions makes of it. Pure: the stores'
 * SQL carries this table out, a test runs both side by side, and the model explores it. Not in it: epochs, fingerprints,
 * deployments, sealing.
 */

export const PHASES = ['absent', 'reserved', 'sending', 'answered', 'rejected', 'void'] as const;
export type Phase = (typeof PHASES)[number];

/** A claim as its transitions see it. */
export interface ClaimFacts {
  readonly phase: Phase;
  /** The attempt that may send; empty: none ever asked. */
  readonly owner: string;
  /** Another send was ordered, so an earlier one may have been executed. */
  readonly ordered: boolean;
  /** Ids of the persons' orders by which it was ordered: each does so once for ever. */
  readonly orderIds: readonly string[];
  /** The last order took another send back. */
  readonly heldBack: boolean;
  /** A person has decided how its flow ended. */
  readonly closed: boolean;
  /** What the service refused it with is kept. In `sending`: no lookup has confirmed it yet. */
  readonly refusal: boolean;
  /** How many of its POSTs the service answered, in its own words, as not executed. */
  readonly turnedAway: number;
  /** When it last went to `sending`, by the store's clock, also if it was ordered again since; null: never, or handed back. */
  readonly sentAtMs: number | null;
}

export const NO_CLAIM: ClaimFacts = {
  phase: 'absent',
  owner: '',
  ordered: false,
  orderIds: [],
  heldBack: false,
  closed: false,
  refusal: false,
  turnedAway: 0,
  sentAtMs: null,
};

/** What every transaction answers about a claim. */
export interface ClaimState<P extends Phase = Phase> {
  readonly phase: P;
  /** What is known of the POSTs that left under it: `void` alone does not say that there were none. */
  readonly sent: SentBefore;
}

/** `nothing`: it was never in `sending`, except for POSTs that were proven not to have left. */
export function sentOf({ phase, ordered, turnedAway, sentAtMs }: ClaimFacts): SentBefore {
  if (ordered || sentAtMs !== null || phase === 'sending' || phase === 'answered') return 'unknown';
  return turnedAway > 0 ? 'turned-away' : 'nothing';
}

export const stateOf = (claim: ClaimFacts): ClaimState => ({ phase: claim.phase, sent: sentOf(claim) });

/** By whom and when an operation is carried out, and what its transaction reads besides the claim. */
export interface By {
  /** By the store's clock. */
  readonly nowMs: number;
  /** The attempt at hand, or the one that an order makes the owner. @default '' */
  readonly owner?: string;
  /** The inbox, read in the same transaction, forbids it. @default false */
  readonly guarded?: boolean;
  /** Id of the order by which a person sends it again. @default no person ordered it */
  readonly orderId?: string;
  /** A claim that went to `sending` less than this ago may be under way. @default 0 */
  readonly windowMs?: number;
  /** When the order was given: a claim that went to `sending` later is another POST. @default none is */
  readonly sentUntilMs?: number;
  /** Nothing was executed if the service turned away no more POSTs than these. @default 0 */
  readonly turnedAway?: number;
}

/** One transition. */
export interface Move {
  /** From the phases that are listed; every other one is left alone. */
  readonly to: Readonly<Partial<Record<Phase, Phase>>>;
  readonly onlyIf?: (claim: ClaimFacts, by: By) => boolean;
  /** What changes besides the phase. */
  readonly also?: (claim: ClaimFacts, by: By) => Partial<ClaimFacts>;
}

const isOwn = (claim: ClaimFacts, { owner = '' }: By): boolean => claim.owner === owner;
/** A send of it is a repeat: it is looked up before, and marked by itself. */
export const isRepeat = ({ ordered, turnedAway }: ClaimFacts): boolean => ordered || turnedAway > 0;
const mayBeMarked = (claim: ClaimFacts, by: By): boolean => isOwn(claim, by) && !claim.closed && by.guarded !== true;
/** Its owner may still send it; not if a person has decided, or if the repeat was taken back. */
const mayBeHandedBack = (claim: ClaimFacts, by: By): boolean =>
  isOwn(claim, by) && !claim.closed && !(claim.heldBack && isRepeat(claim));
/** No POST of it can be under way. */
const isSettled = ({ phase, sentAtMs }: ClaimFacts, { nowMs, windowMs = 0, sentUntilMs = nowMs }: By): boolean =>
  phase !== 'sending' || (sentAtMs ?? 0) <= Math.min(nowMs - windowMs, sentUntilMs);
/** Temporal applies an order again if its flow is reset to before it. */
const wasOrderedBy = ({ orderIds }: ClaimFacts, { orderId }: By): boolean =>
  orderId !== undefined && orderIds.includes(orderId);
/** Of a claim that is absent or reserved. */
const wasNeverExecuted = ({ ordered, turnedAway: count }: ClaimFacts, { turnedAway = 0 }: By): boolean =>
  !ordered && count <= turnedAway;

const asSent = (_: ClaimFacts, { nowMs }: By) => ({ sentAtMs: nowMs });
/** No POST leaves now. */
const asSentBefore = ({ sentAtMs }: ClaimFacts, { nowMs }: By) => ({ sentAtMs: sentAtMs ?? nowMs });
const STAYS = {
  reserved: 'reserved',
  sending: 'sending',
  answered: 'answered',
  rejected: 'rejected',
  void: 'void',
} as const satisfies Move['to'];

/** The transitions of each operation: the first one that is possible is made; if none is, nothing changes. */
export const CLAIMS = {
  /** An attempt asks for the right to send; it fences off one that had it before. */
  reserve: [{ to: { absent: 'reserved', reserved: 'reserved' }, also: (_, { owner = '' }) => ({ owner }) }],
  /** In the transaction that reserves it, if nothing is to be asked before the first send. */
  markFirst: [
    {
      to: { reserved: 'sending' },
      onlyIf: (claim, by) => mayBeMarked(claim, by) && !isRepeat(claim),
      also: asSent,
    },
  ],
  mark: [{ to: { reserved: 'sending' }, onlyIf: mayBeMarked, also: asSent }],
  /** It is proven that the POST did not leave. */
  release: [{ to: { sending: 'reserved' }, onlyIf: mayBeHandedBack, also: () => ({ refusal: false, sentAtMs: null }) }],
  /** The service answered, in its own words, that it did not execute it, and takes it later. */
  turnAway: [
    {
      to: { sending: 'reserved' },
      onlyIf: mayBeHandedBack,
      also: ({ turnedAway }) => ({ refusal: false, sentAtMs: null, turnedAway: turnedAway + 1 }),
    },
  ],
  /** By any proof, however late it comes. */
  answer: [{ to: { reserved: 'answered', sending: 'answered', rejected: 'answered', void: 'answered' } }],
  reject: [{ to: { sending: 'rejected' }, onlyIf: isOwn, also: () => ({ refusal: true }) }],
  noteRefusal: [{ to: { sending: 'sending' }, onlyIf: isOwn, also: () => ({ refusal: true }) }],
  /** The lookup has shown nothing for the whole window, and no event came. */
  confirmRefusal: [{ to: { sending: 'rejected' }, onlyIf: ({ refusal }, { guarded = false }) => refusal && !guarded }],
  /** The only way from `sending` to another send; the owner before is not taken for the new one. */
  orderAgain: [
    {
      to: { sending: 'reserved' },
      onlyIf: (claim, by) => !claim.closed && !isOwn(claim, by) && isSettled(claim, by) && !wasOrderedBy(claim, by),
      also: ({ orderIds }, { owner = '', orderId }) => ({
        owner,
        ordered: true,
        orderIds: orderId === undefined ? orderIds : [...orderIds, orderId],
        heldBack: false,
        refusal: false,
      }),
    },
  ],
  /** Another send is off, also one that a later attempt would make. */
  holdBack: [
    {
      to: { reserved: 'sending' },
      onlyIf: isRepeat,
      also: (claim, by) => ({ ...asSentBefore(claim, by), heldBack: true }),
    },
    { to: STAYS, also: () => ({ heldBack: true }) },
  ],
  /** Not an order: what may have been executed stays as it is. */
  void: [{ to: { absent: 'void', reserved: 'void' }, onlyIf: wasNeverExecuted }],
  /** A person declares that it was not executed. */
  close: [
    {
      to: { reserved: 'void', sending: 'void' },
      onlyIf: isSettled,
      also: () => ({ closed: true, heldBack: false }),
    },
  ],
  /** A person's last word about the flow: this for each of its claims, see `closedByOrder`. */
  end: [
    {
      to: { absent: 'void', reserved: 'void' },
      onlyIf: wasNeverExecuted,
      also: () => ({ closed: true, heldBack: false }),
    },
    {
      to: { reserved: 'sending' },
      onlyIf: isRepeat,
      also: (claim, by) => ({ ...asSentBefore(claim, by), closed: true, heldBack: false }),
    },
    { to: STAYS, also: () => ({ closed: true, heldBack: false }) },
  ],
} as const satisfies Readonly<Record<string, readonly Move[]>>;

export type Operation = keyof typeof CLAIMS;
export const OPERATIONS = Object.keys(CLAIMS) as readonly Operation[];

/** The claim after one transaction; the same object if nothing was changed. */
export function after(claim: ClaimFacts, operation: Operation, by: By): ClaimFacts {
  const moves: readonly Move[] = CLAIMS[operation];
  const move = moves.find(({ to, onlyIf }) => to[claim.phase] !== undefined && onlyIf?.(claim, by) !== false);
  if (move === undefined) return claim;
  return { ...claim, phase: move.to[claim.phase] ?? claim.phase, ...move.also?.(claim, by) };
}

/** Why `mark` changed nothing: taken over counts before held back, for then another attempt may have sent. */
export const whyNotMarked = (claim: ClaimFacts, by: By): 'fenced' | 'held-back' =>
  claim.phase === 'reserved' && isOwn(claim, by) ? 'held-back' : 'fenced';

/**
 * A POST of it may have been executed, so its flow must not end as if nothing had moved: also if a person closed it. What
 * was rejected was not executed.
 */
export function isInTheWay(claim: ClaimFacts, { turnedAway = 0 }: Pick<By, 'turnedAway'> = {}): boolean {
  if (claim.phase === 'rejected') return false;
  if (sentOf(claim) === 'unknown') return true;
  return claim.phase === 'reserved' && claim.turnedAway > turnedAway;
}

/**
 * An end that says that nothing moved voids all claims of the flow, or none: none if the inbox forbids it, or if one of
 * them is in the way.
 *
 * @param turnedAway for each claim, as in `By`; those that are not listed have none
 */
export function voidedAll(
  claims: readonly ClaimFacts[],
  by: By,
  turnedAway: readonly number[] = [],
): readonly ClaimFacts[] {
  const byOf = (index: number): By => ({ ...by, turnedAway: turnedAway[index] ?? by.turnedAway ?? 0 });
  if (by.guarded === true || claims.some((claim, index) => isInTheWay(claim, byOf(index)))) return claims;
  return claims.map((claim, index) => after(claim, 'void', byOf(index)));
}

/** A person's last word closes all claims of the flow, or none: none if the inbox forbids it, or a POST is under way. */
export function closedByOrder(claims: readonly ClaimFacts[], by: By): readonly ClaimFacts[] {
  if (by.guarded === true || claims.some((claim) => !isSettled(claim, by))) return claims;
  return claims.map((claim) => after(claim, 'end', by));
}
