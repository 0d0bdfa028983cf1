import { FLOW_KINDS, type FlowKind } from '../../protocol/vocabulary.js';
import type { Entry } from './entry.js';

const FLOW = '/flows/{kind}/{reference}';
const shown = { says: 'The flow.', schema: 'Flow' } as const;

export const pascal = (name: string) => name.replace(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase());

/** A path for each kind, so that each has the input of its own. */
export const startEntries = (exampleOf: (kind: FlowKind) => unknown): readonly Entry[] =>
  FLOW_KINDS.map((kind) => ({
    method: 'post',
    path: `/flows/${kind}`,
    operationId: `start${pascal(kind)}`,
    tag: 'flows',
    summary: `Starts a flow of the kind ${kind}, or finds the one that its reference has.`,
    role: 'flows',
    body: { schema: `${pascal(kind)}Input`, required: true, example: exampleOf(kind) },
    answers: {
      200: { says: 'The very same request started it before.', schema: 'Flow' },
      201: { says: 'Started.', schema: 'Flow' },
      409: { says: 'The reference has another request.', schema: 'Refused' },
    },
  }));

export const flowEntries: readonly Entry[] = [
  {
    method: 'get',
    path: '/flows',
    operationId: 'listFlows',
    tag: 'flows',
    summary: 'Lists flows, newest first.',
    description: 'Lags behind by a second or so.',
    role: 'flows',
    query: 'FlowQuery',
    answers: { 200: { says: 'Flows.', schema: 'FlowList' } },
  },
  {
    method: 'get',
    path: FLOW,
    operationId: 'showFlow',
    tag: 'flows',
    summary: 'Shows a flow.',
    role: 'flows',
    answers: { 200: shown },
  },
  {
    method: 'get',
    path: `${FLOW}/wait`,
    operationId: 'waitForFlow',
    tag: 'flows',
    summary: 'Shows a flow as soon as it ended or parked, or as it is when the time is up.',
    role: 'flows',
    query: 'WaitQuery',
    answers: { 200: shown },
  },
  {
    method: 'get',
    path: `${FLOW}/answers`,
    operationId: 'showAnswers',
    tag: 'flows',
    summary: "What the service answered to the flow's requests: where to send a customer, what to pay.",
    role: 'flows',
    answers: { 200: { says: 'The answers so far, oldest first.', schema: 'FlowAnswers' } },
  },
  {
    method: 'post',
    path: `${FLOW}/cancel`,
    operationId: 'cancelFlow',
    tag: 'flows',
    summary: 'Cancels a flow; refused once money may have moved.',
    role: 'flows',
    body: { schema: 'CancelBody', required: false, example: { note: 'ordered twice' } },
    answers: { 200: shown, 409: { says: 'Money may have moved already.', schema: 'Refused' } },
  },
  {
    method: 'post',
    path: `${FLOW}/approve-quote`,
    operationId: 'approveQuote',
    tag: 'flows',
    summary: 'Lets a flow that waits for the approval of its quote go on.',
    role: 'flows',
    body: { schema: 'CancelBody', required: false },
    answers: { 200: shown, 409: { says: 'It does not wait for that.', schema: 'Refused' } },
  },
  {
    method: 'post',
    path: `${FLOW}/pay`,
    operationId: 'payFlow',
    tag: 'flows',
    summary: 'Pays the invoice of an invoice-payment that waits for it.',
    role: 'flows',
    body: {
      schema: 'PayBody',
      required: true,
      example: { mobileMoney: { phoneNumber: '+254712345678', providerNetwork: 'MPESA' } },
    },
    answers: { 200: shown, 409: { says: 'It does not wait for that.', schema: 'Refused' } },
  },
  {
    method: 'post',
    path: `${FLOW}/refund-invoice`,
    operationId: 'provideRefundInvoice',
    tag: 'flows',
    summary: 'Gives the Lightning invoice that a refund of an offramp goes to.',
    role: 'flows',
    body: { schema: 'RefundInvoiceBody', required: true, example: { invoice: 'lnbc…' } },
    answers: { 200: shown, 409: { says: 'It does not wait for that.', schema: 'Refused' } },
  },
  {
    method: 'post',
    path: `${FLOW}/resolve`,
    operationId: 'resolveFlow',
    tag: 'flows',
    summary: 'Decides a parked flow by one of the actions that it lists.',
    role: 'operator',
    body: {
      schema: 'ResolveBody',
      required: true,
      example: { action: 'keep-waiting', note: 'the provider says: tomorrow' },
    },
    answers: { 200: shown, 409: { says: 'The action is not legal now.', schema: 'Refused' } },
  },
];
