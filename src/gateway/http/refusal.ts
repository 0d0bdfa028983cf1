/** One member that is wrong: `settlement.amount` and what it must be. */
export interface MemberError {
  readonly path: string;
  readonly message: string;
}

export interface RefusalDetails {
  readonly errors?: readonly MemberError[];
  readonly reference?: string;
  /** The service's own word for its refusal. */
  readonly code?: string;
  /** Legal actions, where an order was refused. */
  readonly actions?: readonly string[];
}

/** Thrown by handlers to answer with a status and a sentence that says what to do. Never holds a secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly details: RefusalDetails;
  /** Seconds, for the header `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, details: RefusalDetails = {}, retryAfter?: number) {
    super(message);
    this.status = status;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}
