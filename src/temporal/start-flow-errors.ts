/** This kind is a word of ours, but this version cannot run it. */
export class UnknownFlowKindError extends Error {
  override readonly name = 'UnknownFlowKindError';
  readonly kind: string;

  constructor(kind: string) {
    super(`This version has no flow of the kind ${kind}.`);
    this.kind = kind;
  }
}

/** A flow of this reference exists, and it is not, or cannot be told to be, what this caller asked for. */
export class OtherRequestError extends Error {
  override readonly name = 'OtherRequestError';
  readonly flowId: string;

  constructor(flowId: string, why = 'with other content') {
    super(`The flow ${flowId} exists already ${why}. Check that flow first: a new reference is a second request.`);
    this.flowId = flowId;
  }
}
