import { sampled } from '../../sandbox/samples.js';
import { until } from '../../harness/until.js';
import { bridgeBody, callerOf, invoiceBody, PATHS, paymentBody, QUOTE_BODY, sample, type Answered } from './caller.js';

/** One answer, without what differs between any two runs. */
export interface Step {
  readonly step: string;
  readonly status: number;
  readonly said: unknown;
}

/** Members with unpredictable values; their type is part of the interface. */
const MADE_UP =
  /^(id|rate_id|transactionHash|user_id|kotani_reference_id|reference_number|referenceNumber|kycId|payment_hash|transaction_hash|refund_payment_hash|.*_at|.*At|estimated_completion|customer_?key|.*[wW]allet.*|escrowAddress|redirect_?[uU]rl|invoiceId|provider.*|fallback_address|uniqueIdentifier|confirmation_id)$/;

function plain(value: unknown, reference: string): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, reference));
  if (typeof value === 'string') return value.replaceAll(reference, '<reference>');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // Some records repeat the callback URL; a gateway has one of its own there, and shows it to nobody.
      .filter(([member]) => member !== 'callback_url')
      .map(([member, inner]) => [member, MADE_UP.test(member) ? typeof inner : plain(inner, reference)] as const)
      .toSorted(([left], [right]) => left.localeCompare(right)),
  );
}

/** The interface does not show the words of all its statuses. */
const isPaid = ({ status }: Record<string, unknown>) => /^(SUCCESS|SUCCESSFUL|COMPLETED)$/.test(String(status));

/** A backend that integrates the service: everything it does, in order, and what it was answered. */
export async function runIntegration(baseUrl: string, token: string, word: string): Promise<readonly Step[]> {
  const { get, post } = callerOf(baseUrl, token);
  const steps: Step[] = [];
  const note = (step: string, { status, body }: Answered, reference: string) => {
    // What the gateway puts beside a refusal is its own.
    const { towline: _ours, ...whole } = body;
    // Only the data of a card deposit's answer is kept: the rest could contain the card.
    const said = step === 'createCardDeposit' ? body['data'] : whole;
    steps.push({ step, status, said: plain(said, reference) });
    return body['data'];
  };
  const settled = (path: string, isDone: (data: Record<string, unknown>) => boolean) =>
    until(path, async () => {
      const answer = await get(path);
      return isDone(answer.body['data']) && answer;
    });

  const bridge = `${word}-bridge`;
  const quote = note('quote', await post(PATHS.quote, QUOTE_BODY), bridge);
  note('bridge deposit', await post(PATHS.bridge, bridgeBody(bridge, { rate_id: quote.rate_id })), bridge);

  for (const name of sampled) {
    const reference = `${word}-${name}`;
    const { path, body } = sample(name, reference);
    note(name, await post(path, body), reference);
  }

  const send = `${word}-sendCrypto`;
  note('sent', await settled(`${PATHS.send}/${send}`, isPaid), send);
  const offramp = `${word}-createOfframp`;
  note('paid out', await settled(`/api/v3/offramp/${offramp}`, isPaid), offramp);
  const onramp = `${word}-createOnramp`;
  const isDelivered = (data: Record<string, unknown>) =>
    (data['onchain'] as { crypto_received_status?: string } | undefined)?.crypto_received_status === 'SUCCESSFUL';
  note('delivered', await settled(`/api/v3/deposit/on-chain/status/${onramp}`, isDelivered), onramp);
  note('collected', await get(`/api/v3/deposit/mobile-money/status/${onramp}`), onramp);

  const invoice = `${word}-invoice`;
  note('invoice', await post(PATHS.invoice, invoiceBody(invoice)), invoice);
  note('invoice read', await get(`${PATHS.invoice}/${invoice}`), invoice);
  note('invoice unpaid', await get(`${PATHS.pay}/${invoice}`), invoice);
  note('invoice paying', await post(PATHS.pay, paymentBody(invoice)), invoice);
  note('invoice paid', await settled(`${PATHS.pay}/${invoice}`, isPaid), invoice);

  const refused = `${word}-refused`;
  const tooMuch = { ...sample('sendCrypto', refused).body, cryptoAmount: 5.42 };
  note('refused', await post(PATHS.send, tooMuch), refused);
  note('unknown', await get(`${PATHS.send}/${word}-nothing`), `${word}-nothing`);
  note('kyc', await get('/api/v3/kyc/status/kyc-1'), 'kyc-1');
  return steps;
}
