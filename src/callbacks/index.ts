export type { EgressPolicy } from './address-policy.js';
export { CallbackRefusedError, CallbackUnreachableError, NoCallbackSecretError } from './callback-errors.js';
export { createCallbackSender, type CallbackSender, type CallbackSenderOptions } from './callback-sender.js';
export type { Resolve } from './checked-lookup.js';
export type { Answered } from './post.js';
export { callbackUrlProblem } from './url-problem.js';
