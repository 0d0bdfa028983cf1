/** `import { Towline } from 'towline'`: the client for backends. */
export { Towline, type StartedFlow } from './towline.js';
export type { TowlineOptions } from './options.js';
export type { CallOptions } from './request.js';
export type { WaitOptions } from './wait.js';
export type { AuditEntry, AuditKind, AuditPage } from '../protocol/audit.js';
export type { AuditQuery, CallbackQuery, EventQuery, ListQuery, OrderOptions, ResolveOrder } from './wait.js';
export { JsonText } from './options.js';
export type { CardWritten, FlowInput, FlowInputs, PaymentOrder } from './options.js';
export type {
  CallbackJson,
  CallbacksJson,
  CardToken,
  ClosedAs,
  ClosedClaims,
  ErasedFlow,
  GivenFlow,
  EventPage,
  FlowPage,
  EventState,
  Flow,
  DeliveredJson,
  CallbackListJson,
  CallbackSecretsJson,
  ListedCallbacksJson,
  ListedFlow,
  Replay,
  ServiceAnswer,
  ServiceAnswers,
  ShownEvent,
  ProposedOrder,
  WhoAmI,
} from '../protocol/gateway-json.js';
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
