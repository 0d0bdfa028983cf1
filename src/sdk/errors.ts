/** The base of all errors of Towline's client. The message says what to do, and never holds a token or an input. */
export class TowlineError extends Error {
  override readonly name: string = 'TowlineError';
}

/** 401: the gateway does not know the token. 403: its role does not suffice. */
export class NotAuthorisedError extends TowlineError {
  override readonly name = 'NotAuthorisedError';
  readonly status: 401 | 403;

  constructor(status: 401 | 403, message: string) {
    super(message);
    this.status = status;
  }
}

/** 404: there is no such flow, event or kind. */
export class NotFoundError extends TowlineError {
  override readonly name = 'NotFoundError';
}

/** 409 at a start: the reference belongs to a flow with another content. Nothing was started. */
export class OtherRequestError extends TowlineError {
  override readonly name = 'OtherRequestError';
}

/** 409 at an order: the flow is past it, or it is not one of the legal actions. Nothing was changed. */
export class RefusedError extends TowlineError {
  override readonly name = 'RefusedError';
  /** The legal orders now. */
  readonly actions: readonly string[];

  constructor(message: string, actions: readonly string[]) {
    super(message);
    this.actions = actions;
  }
}

/** One member that is wrong: `settlement.amount`, and what it must be. */
export interface InvalidMember {
  readonly path: string;
  readonly message: string;
}

/** 400 and similar: the request is invalid, so do not send it again unchanged. Nothing was started. */
export class InvalidError extends TowlineError {
  override readonly name = 'InvalidError';
  readonly members: readonly InvalidMember[];

  constructor(message: string, members: readonly InvalidMember[] = []) {
    super([message, ...members.map((at) => `  ${at.path}: ${at.message}`)].join('\n'));
    this.members = members;
  }
}

/** The gateway is unavailable for now (5xx, 429). The request may have been carried out nevertheless. */
export class UnavailableError extends TowlineError {
  override readonly name = 'UnavailableError';
  readonly status: number;
  /** When to try again, if the gateway said so. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(`The gateway answers ${status}: ${message}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The gateway's address does not answer, or not in time, or what answers is not a Towline gateway. */
export class UnreachableError extends TowlineError {
  override readonly name = 'UnreachableError';
  readonly url: string;
  /** True if the request provably did not leave; else it may have been carried out. */
  readonly wasNotSent: boolean;

  constructor(url: string, problem: string, options: { readonly wasNotSent: boolean; readonly cause?: unknown }) {
    const { wasNotSent, cause } = options;
    super(`The gateway at ${url} cannot be reached (${problem}): see that it runs and that the address is right.`, {
      cause,
    });
    this.url = url;
    this.wasNotSent = wasNotSent;
  }
}

/** A callback that is not proven to come from our Towline: answer 401 and do nothing. */
export class CallbackError extends TowlineError {
  override readonly name = 'CallbackError';
}
