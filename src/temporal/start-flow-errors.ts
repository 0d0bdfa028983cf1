/** This kind is a word of ours, but this version cannot run it. */
export class UnknownFlowKindError extends Error {
  override readonly name = 'UnknownFlowKindError';
  readonly kind: string;

  constructor(kind: string) {
    super(`This version has no flow of the kind ${kind}.`);
    this.kind = kind;
  }
}

/** A flow of this reference exists, and what its caller decided is not what this caller decided. */
export class OtherRequestError extends Error {
  override readonly name = 'OtherRequestError';
  readonly flowId: string;

  constructor(flowId: string) {
    super(`The flow ${flowId} exists already with other content. Use a new reference for a new request.`);
    this.flowId = flowId;
  }
}
