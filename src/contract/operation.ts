import type { z } from 'zod';

/**
 * The effect of a call, which decides how it may be sent and retried. `read`: none, may be repeated. `quote`: makes a
 * quote, moves nothing, may be repeated. `money`: moves money or commits to it; only under a claim. `report`: sends the
 * service a status that the body carries, may be repeated. `account`: changes the integrator's account, makes a
 * secret, or hands over what the service then pays; one attempt.
 */
export type Effect = 'read' | 'quote' | 'money' | 'report' | 'account';

/** A member of an answer that repeats one of the request, and how the two are compared. */
export interface Echo {
  readonly member: string;
  /** `asset`: a chain or a token. */
  readonly as: 'amount' | 'currency' | 'asset' | 'address' | 'hash';
}

/**
 * A member of a body that says what is paid over Lightning, or until when: a BOLT 11 invoice, the hash of its payment, or
 * a time. A receiver may be an invoice, and is then read as one.
 */
export type RequestedBy = 'invoice' | 'hash' | 'expiry';

/** One endpoint of the service. Client, sandbox, proxy and docs derive from the table of them (`operations`). */
export interface Operation {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Relative to the service's base address; at most one `{parameter}`. */
  readonly path: `/api/v3/${string}`;
  /** Name of the path parameter, if the path has one. */
  readonly param?: string;
  /** `bearer`: `Authorization: Bearer <token>`. `none`: the header is not sent. */
  readonly auth: 'bearer' | 'none';
  readonly effect: Effect;
  /** What we send: strict. */
  readonly body?: z.ZodType;
  /** A body as an integration sends it; the sandbox takes it. */
  readonly example?: unknown;
  /** `data` of the answer: tolerant. */
  readonly data: z.ZodType;
  /** The member of the body that carries the caller's reference. A path parameter of that name is cut out of the body. */
  readonly reference?: string;
  /** The operation that shows the outcome of a POST whose answer was lost, by the same reference. */
  readonly statusLookup?: string;
  /**
   * Members of the body that the answer repeats, by their paths: each is one fact. Not the reference, which every answer
   * is checked for.
   */
  readonly echoes?: Readonly<Record<string, Echo>>;
  /** Members of the body that say what is paid over Lightning, by their paths. */
  readonly paymentRequest?: Readonly<Record<string, RequestedBy>>;
  /** HTTP status of success in the sandbox and the proxy; the service documents 200 (201 for the settlement). */
  readonly success?: number;
  /** One line for people, from the interface. */
  readonly summary: string;
  /** Heading of the operation in the description of the interface. */
  readonly section: string;
}

type ExampleOf<O extends Operation> = O extends { readonly body: infer Body extends z.ZodType } ? z.input<Body> : never;

/** Checks what types cannot: that path and parameter agree, and that a money operation names its reference. */
export function defineOperation<const O extends Operation>(operation: O & { readonly example?: ExampleOf<O> }): O {
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  if (inPath.length > 1 || inPath[0] !== operation.param) {
    throw new TypeError(`${operation.name}: path ${operation.path} and param ${operation.param ?? '(none)'} differ`);
  }
  if (operation.effect === 'money' && operation.reference === undefined) {
    throw new TypeError(`${operation.name}: a money operation needs the member that carries its reference`);
  }
  return operation;
}
