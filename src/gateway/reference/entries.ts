import { reportSettlement } from '../../contract/bridge.js';
import type { Entry } from './entry.js';

const FLOW = '/flows/{kind}/{reference}';

export const eventEntries: readonly Entry[] = [
  {
    method: 'get',
    path: `${FLOW}/events`,
    operationId: 'listEventsOfFlow',
    tag: 'events',
    summary: 'Lists the events of a flow, newest first.',
    role: 'flows',
    query: 'EventQuery',
    answers: { 200: { says: 'Events, without their bodies.', schema: 'EventList' } },
  },
  {
    method: 'get',
    path: '/events',
    operationId: 'listEvents',
    tag: 'events',
    summary: 'Lists events, newest first.',
    role: 'flows',
    query: 'EventQuery',
    answers: { 200: { says: 'Events, without their bodies.', schema: 'EventList' } },
  },
  {
    method: 'get',
    path: '/events/{id}',
    operationId: 'showEvent',
    tag: 'events',
    summary: 'Shows an event with its body, which may hold personal data.',
    role: 'operator',
    answers: { 200: { says: 'The event.', schema: 'Event' } },
  },
  {
    method: 'post',
    path: '/events/{id}/replay',
    operationId: 'replayEvent',
    tag: 'events',
    summary: 'Delivers an event anew; `trust` vouches for it; `dryRun` only says what would happen.',
    role: 'operator',
    body: { schema: 'ReplayBody', required: false, example: { dryRun: true } },
    answers: { 200: { says: 'What happened, or would.', schema: 'Replay' } },
  },
];

export const callbackEntries: readonly Entry[] = [
  {
    method: 'get',
    path: '/callbacks',
    operationId: 'listCallbacks',
    tag: 'callbacks',
    summary: 'Lists flows whose callbacks could not be delivered, or are being delivered.',
    role: 'flows',
    query: 'CallbackQuery',
    answers: { 200: { says: 'Flows, newest first.', schema: 'CallbackList' } },
  },
  {
    method: 'get',
    path: `${FLOW}/callbacks`,
    operationId: 'showCallbacks',
    tag: 'callbacks',
    summary: 'Shows how far the callbacks of a flow got.',
    role: 'flows',
    answers: { 200: { says: 'The callbacks.', schema: 'Callbacks' } },
  },
  {
    method: 'post',
    path: `${FLOW}/callbacks/resend`,
    operationId: 'resendCallback',
    tag: 'callbacks',
    summary: 'Sends the newest change again.',
    role: 'operator',
    answers: { 200: { says: 'The callbacks.', schema: 'Callbacks' } },
  },
];

const received = { 200: { says: 'Stored, or known already.', schema: 'Received' } } as const;

export const inboundEntries: readonly Entry[] = [
  {
    method: 'post',
    path: reportSettlement.path,
    operationId: 'receiveSettlement',
    tag: 'inbound',
    summary: "The interface's settlement path. Anybody may post; what nothing proves moves nothing.",
    role: null,
    body: { schema: 'AnyEvent', required: true, example: { provider_reference_id: 'order-1001', status: 'COMPLETED' } },
    answers: received,
  },
  {
    method: 'post',
    path: '/settlements/{capability}',
    operationId: 'receiveSettlementByCapability',
    tag: 'inbound',
    summary: 'For a settlement provider that cannot sign.',
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
  {
    method: 'post',
    path: '/webhooks/{capability}',
    operationId: 'receiveWebhook',
    tag: 'inbound',
    summary: "The service's account-wide webhooks.",
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
  {
    method: 'post',
    path: '/callbacks/{kind}/{reference}/{capability}',
    operationId: 'receiveCallback',
    tag: 'inbound',
    summary: "The service's callbacks about one flow.",
    role: null,
    body: { schema: 'AnyEvent', required: true },
    answers: received,
  },
];

export const cardEntries: readonly Entry[] = [
  {
    method: 'post',
    path: '/card-tokens',
    operationId: 'keepCard',
    tag: 'cards',
    summary: 'Keeps a card in memory for a minute, behind a token that is used once.',
    role: 'flows',
    body: {
      schema: 'CardBody',
      required: true,
      example: { card: { number: '4111 1111 1111 1111', expiryMonth: '12', expiryYear: '2030', cvv: '123' } },
    },
    answers: { 201: { says: 'The token.', schema: 'CardToken' } },
  },
];

export const operationEntries: readonly Entry[] = [
  {
    method: 'get',
    path: '/healthz',
    operationId: 'health',
    tag: 'operations',
    summary: 'The process answers.',
    role: null,
    answers: { 200: { says: 'It does.', schema: 'Health' } },
  },
  {
    method: 'get',
    path: '/readyz',
    operationId: 'readiness',
    tag: 'operations',
    summary: 'Events can be stored durably, and Temporal can be reached.',
    role: null,
    answers: {
      200: { says: 'Both.', schema: 'Readiness' },
      503: { says: 'One of them not.', schema: 'Readiness' },
    },
  },
];
