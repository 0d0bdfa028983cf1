import type { z } from 'zod';
import { isLoopback } from '../protocol/loopback.js';
import { InvalidError } from './errors.js';
import type { Card } from '../contract/deposit.js';
import type { CardDepositInput } from '../flows/card-deposit.js';
import type { flows } from '../flows/index.js';
import type { InvoicePaymentWritten, PaymentOrderWritten } from '../flows/invoice-payment.js';
import type { FlowKind } from '../protocol/vocabulary.js';

export interface TowlineOptions {
  /** Of the gateway, such as `https://towline.example`. */
  readonly baseUrl: string;
  /** The secret of one of the gateway's `GATEWAY_TOKENS`. */
  readonly token: string;
  /** How long to retry while the gateway is unavailable, if a retry is safe; 0 tries once. @default 30,000 */
  readonly retryForMs?: number | undefined;
  /** Lets the token go over http to another machine. For private networks. @default false */
  readonly allowHttp?: boolean | undefined;
  /** Cancels all requests. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckedOptions {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly retryForMs: number;
  readonly signal: AbortSignal | undefined;
}

const RETRY_FOR_MS = 30_000;

/** @throws InvalidError, whose sentence never repeats the input */
export function checkedOptions(options: TowlineOptions): CheckedOptions {
  const { baseUrl, token, retryForMs = RETRY_FOR_MS, allowHttp = false, signal } = options;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search !== '') {
    throw new InvalidError('baseUrl must be an http or https URL without user, password or query.');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new InvalidError(
      'baseUrl must begin with https, since the gateway is not on this machine; or set allowHttp.',
    );
  }
  if (!/^[\x21-\x7e]{1,512}$/.test(token)) {
    throw new InvalidError("token must be the secret of one of the gateway's GATEWAY_TOKENS, without spaces.");
  }
  return { url: baseUrl.replace(/\/+$/, ''), token, retryForMs, signal };
}

/** The input of each kind of flow: as callers write it, amounts preferably as decimal strings. */
export type FlowInputs = {
  readonly [Kind in Exclude<FlowKind, keyof WrittenOtherwise>]: z.input<(typeof flows)[Kind]['input']>;
} & WrittenOtherwise;

interface WrittenOtherwise {
  readonly 'invoice-payment': InvoicePaymentWritten;
  readonly 'card-deposit': CardDepositWritten;
}

type CardDeposit = z.input<typeof CardDepositInput>;

/** With a card, which the gateway replaces by a one-time token, or with such a token. */
type CardDepositWritten =
  CardDeposit | (Omit<CardDeposit, 'card' | 'cardToken' | 'masked'> & { readonly card: CardWritten });

export type CardWritten = z.input<typeof Card>;

/** Of one kind. A kind that is not in `FlowInputs` does not compile here. */
export type FlowInput<Kind extends FlowKind = FlowKind> = FlowInputs[Kind];

/** Who pays an invoice; and how much, if that is not the invoice's amount. */
export type PaymentOrder = PaymentOrderWritten;

/** JSON that is sent unchanged, so that numbers keep all their digits. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const textOf = (input: object): string => (input instanceof JsonText ? input.text : JSON.stringify(input));
