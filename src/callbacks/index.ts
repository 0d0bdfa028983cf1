export { CallbackRefusedError, CallbackUnreachableError, NoCallbackSecretError } from './post.js';
export {
  createCallbackSender,
  receiverOf,
  type CallbackSender,
  type CallbackSenderOptions,
} from './callback-sender.js';
export { callbackSecrets, OF_NO_NAME, secretsOfName } from './secrets-of-name.js';
export { createReceivers, HeldBackError } from './receivers.js';
export { post, resolveByDns, type Resolve } from './post.js';
export { callbackUrlProblem } from './address-policy.js';
