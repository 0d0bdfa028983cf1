import type { operations, MoneyOperationName, OperationName } from '../contract/index.js';
import type { StatusMap } from '../protocol/statuses.js';
import type { FlowState } from '../protocol/vocabulary.js';
/*
 * How a kind appears in the service's own interface, as the proxy offers it: which money POSTs a flow of it carries
 * out, and which reads it answers if the service cannot.
 */

/** Reads with a path of their own, which change nothing. */
export type ReadName = {
  [N in OperationName]: (typeof operations)[N]['effect'] extends 'read' ? N : never;
}[OperationName];

type Body = Readonly<Record<string, unknown>>;

/** Money POSTs that a flow of the kind carries out, each with how its body becomes the flow's input. */
export type CarriedOut = Readonly<Partial<Record<MoneyOperationName, (body: Body) => Body>>>;

/** The body already has the operation's own schema. */
export const asItIs = (body: Body): Body => body;

/** Members that say so, for a flow in that state. Undefined: only the service knows. */
export type SaidByFlow = (state: FlowState, reference: string) => Body | undefined;

/** A read of the service whose record may be that of a flow, and how that flow can answer it if the service cannot. */
export interface FlowRead {
  /** Of the record's status, as the kind reads it. */
  readonly words: StatusMap;
  /** The POST whose answer is a record of the same shape. */
  readonly recordOf?: OperationName;
  /** Absent: the flow never answers it. */
  readonly said?: SaidByFlow;
}
export type FlowReads = Readonly<Partial<Record<ReadName, FlowRead>>>;

const NEVER_ANSWERED: FlowRead = { words: {} };
/**
 * The interface does not show which deposits these two reads find, and their records have members of every method. So a
 * deposit of each kind may be in them.
 */
export const DEPOSIT_READS = {
  getMobileMoneyDeposit: NEVER_ANSWERED,
  getOnChainDeposit: NEVER_ANSWERED,
} as const satisfies FlowReads;

/** The words of the interface, or of the live service if the interface shows none. */
const PENDING: Readonly<Partial<Record<FlowState, string>>> = { running: 'PENDING', parked: 'PENDING' };

/** A record of a reference, under the name that it has there, and a status: the words for how the flow ended. */
export const saysStatus =
  (member: string, words: Readonly<Partial<Record<FlowState, string>>>): SaidByFlow =>
  (state, reference) => {
    const status = { ...PENDING, ...words }[state];
    return status === undefined ? undefined : { [member]: reference, status };
  };
