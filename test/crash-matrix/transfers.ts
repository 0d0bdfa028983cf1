import { transferInput } from '../harness/inputs.js';

/** The provider fails it without a refund, so the flow sends the refund itself. */
export function refundedByUsInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return transferInput(reference, { amount: '1000.14', refund: { auto: true }, ...more });
}
