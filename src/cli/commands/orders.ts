import type { Flow, JsonText, Towline } from '../../sdk/index.js';
import { APPROVE_QUOTE } from '../../protocol/four-eyes.js';
import { askBefore, type CliContext } from '../context.js';

/** A command that gives one flow an order, and shows the flow as it is then. */
export interface Order<Given> {
  readonly name: string;
  /** In the list of all commands. */
  readonly summary: string;
  /** In its own help. */
  readonly description: string;
  /** What is written after the flow: name → what it is. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** The same for a file with JSON, or `-` for stdin: its text is given as it is. */
  readonly files?: Readonly<Record<string, string>>;
  /** Options that must be given: flags → what it is. */
  readonly required?: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, string>>;
  /** Behind `towline`. */
  readonly example: string;
  /** @param given arguments, files and options, by their names */
  readonly send: (gateway: Towline, flowId: string, given: Given, context: CliContext) => Promise<Flow>;
  /** The action, if a second person may have to confirm it. */
  readonly confirmed?: (given: Given) => string;
}

/** A row as the table has it, whose rows are given different things. */
const order = <Given>(row: Order<Given>): Order<never> => row;

interface Note {
  readonly note?: string;
}

/** A new order is a row here, and nothing else. */
export const ORDERS: readonly Order<never>[] = [
  order<Note>({
    name: 'approve',
    summary: 'approve the quote of a flow, which then goes on',
    description: 'Approves the quote that a flow waits with ("approval": "required" in its input). Money moves then.',
    options: { '--note <text>': 'why; kept with the flow' },
    example: 'approve bridge-transfer/order-1001',
    send: (gateway, flowId, given) => gateway.approveQuote(flowId, given),
    confirmed: () => APPROVE_QUOTE,
  }),
  order<{ readonly file: JsonText }>({
    name: 'pay',
    summary: 'pay the invoice of a flow that waits for the order',
    description:
      'Has the invoice of an invoice-payment paid, once: the same order again changes nothing, another one is refused.',
    files: {
      file: "JSON file with mobileMoney, and amount and currency if they are not the invoice's; - for stdin",
    },
    example: 'pay invoice-payment/order-1001 payer.json',
    send: (gateway, flowId, { file }) => gateway.pay(flowId, file),
  }),
  order<{ readonly invoice: string }>({
    name: 'refund-invoice',
    summary: 'give a Lightning invoice for the refund of an offramp',
    description:
      'Gives the flow of an offramp an invoice of the recipient of the refund. It is checked, and shown to a person who ' +
      'hands it to the service.',
    arguments: { invoice: 'the Lightning invoice (BOLT 11)' },
    example: 'refund-invoice offramp/order-1001 lnbc21u1...',
    send: (gateway, flowId, { invoice }) => gateway.provideRefundInvoice(flowId, invoice),
  }),
  order<Note>({
    name: 'cancel',
    summary: 'cancel a flow before its money moves',
    description: 'Cancels a flow. Once money may have moved this is refused: the exit code is then 1.',
    options: { '--note <text>': 'why; kept with the flow' },
    example: 'cancel bridge-transfer/order-1001 --note "ordered twice"',
    send: (gateway, flowId, given) => gateway.cancel(flowId, given),
  }),
  order<{
    readonly action: string;
    readonly note: string;
    readonly event?: string;
    readonly until?: string;
    readonly yes?: true;
  }>({
    name: 'resolve',
    summary: 'decide a parked flow',
    description:
      'Gives a parked flow one of the orders that it lists (towline show). Needs a token of an operator. An order that needs two ' +
      'persons is proposed by the first; another one confirms it by the same command.',
    arguments: { action: 'one of the actions that the flow lists, such as keep-waiting' },
    required: { '--note <text>': 'why; kept with the flow' },
    options: {
      '--event <id>': 'the event that is meant, for trust-settlement, accept-event and dismiss-event',
      '--until <time>': 'for keep-waiting: the new deadline in UTC, such as 2026-12-01T12:00:00Z; within 90 days',
      '--yes': 'do not ask, at a terminal, before an order that needs two persons by default',
    },
    example: 'resolve bridge-transfer/order-1001 mark-completed --note "the recipient has it, ticket 77"',
    async send(gateway, flowId, { action, note, event, until, yes }, context) {
      if (yes !== true) await askBefore(context, action, flowId);
      return gateway.resolve(flowId, {
        action,
        note,
        ...(event === undefined ? {} : { eventId: event }),
        ...(until === undefined ? {} : { until }),
      });
    },
    confirmed: ({ action }) => action,
  }),
  order<Note>({
    name: 'withdraw',
    summary: 'take back an order that waits for a second person',
    description:
      'Takes back an order that one person gave and another one has to confirm. It needs the permission to give that order.',
    options: { '--note <text>': 'the reason; kept in the audit log' },
    example: 'withdraw bridge-transfer/order-1001 --note "the customer called back"',
    send: (gateway, flowId, given) => gateway.withdraw(flowId, given),
  }),
  order<{ readonly note: string }>({
    name: 'acknowledge',
    summary: 'record that you have seen to what contradicts a flow',
    description:
      'A proven event, or an answer, says that a flow ended otherwise than it did: the alarm stays until a person has seen to ' +
      'it. This records who did, and why, and ends the alarm. The state of the flow stays as it is. It needs the role operator.',
    required: { '--note <text>': 'what was done; kept in the audit log' },
    example: 'acknowledge bank-withdrawal/order-1001 --note "sent back; the customer is credited"',
    send: (gateway, flowId, given) => gateway.acknowledge(flowId, given),
  }),
];
