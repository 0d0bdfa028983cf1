/** A member of the request at fault. */
export interface MemberError {
  readonly path: string;
  readonly message: string;
}

interface RefusalDetails {
  readonly errors?: readonly MemberError[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the error body (hints of a rate limit). */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * The service refuses. Thrown, it undoes what the request wrote; returned by a handler, it keeps that. "Shape of an
 * error response body: not shown": the first of the four bodies that the service documents, with a code.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  readonly status: number;
  readonly code: string;
  readonly details: RefusalDetails;

  constructor(status: number, code: string, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  body(): object {
    return {
      success: false,
      message: this.message,
      error_code: this.code,
      ...this.details.members,
      data: { errors: this.details.errors ?? [], ...this.details.data },
    };
  }
}

export const badMembers = (errors: readonly MemberError[], message = 'Validation failed') =>
  new Refusal(400, 'VALIDATION_ERROR', message, { errors });
export const unknownReference = (what: string, reference: string) =>
  new Refusal(404, 'NOT_FOUND', `${what} ${reference} does not exist`);
/** Nothing of ours has this name: it is not repeated, since it may be any text. */
export const noSuchName = () => new Refusal(404, 'NOT_FOUND', 'Nothing has such a name');
export const transactionFailed = () => new Refusal(400, 'TRANSACTION_FAILED', 'Transaction failed');
export const insufficientFunds = () => new Refusal(400, 'INSUFFICIENT_BALANCE', 'Insufficient Funds');
