/** `import { Towline } from 'towline'`: the client for backends. */
export { Towline, type StartedFlow } from './towline.js';
export type { TowlineOptions } from './options.js';
export type { CallOptions } from './request.js';
export type { WaitOptions } from './wait.js';
export type { AuditEntry, AuditPage } from '../api/audit.js';
export type { AuditKind } from '../protocol/audit.js';
export type { AuditQuery, CallbackQuery, EventQuery, ListQuery, OrderOptions, ResolveOrder } from './wait.js';
export { JsonText } from './options.js';
export type { CardWritten, FlowInput, FlowInputs, PaymentOrder } from './options.js';
export type {
  CallbackJson,
  CallbacksJson,
  DeliveredJson,
  CallbackListJson,
  CallbackSecretsJson,
  ListedCallbacksJson,
} from '../api/callbacks.js';
export type { EventPage, EventState, Replay, ShownEvent } from '../api/events.js';
export type { FlowPage, Flow, ListedFlow, ServiceAnswer, ServiceAnswers, ProposedOrder } from '../api/flow.js';
export type { CardToken, ClosedAs, ClosedClaims, ErasedFlow, GivenFlow, WhoAmI } from '../api/operations.js';
export { readCallback } from './read-callback.js';
export type { FlowCallback, ReceivedCallback } from './read-callback.js';
export {
  CallbackError,
  InvalidError,
  NotAuthorisedError,
  NotFoundError,
  OtherRequestError,
  RefusedError,
  TowlineError,
  UnavailableError,
  UnreachableError,
} from './errors.js';
export type { InvalidMember } from './errors.js';
export { FLOW_KINDS, FLOW_STATES } from '../protocol/vocabulary.js';
export type { FlowKind, FlowState, ParkAction, ParkReason } from '../protocol/vocabulary.js';
