import type { FastifyInstance } from 'fastify';
import { unknownReference } from './refusal.js';
import type { Transactions } from './transactions/transactions.js';

/** Where redirect URLs lead. */
export const CHECKOUT_PATH = '/checkout';

/** A page in the place of the bank's or the card network's: it only says how far the payment is, which goes by itself. */
export function addCheckoutPage(server: FastifyInstance, deps: { transactions: Transactions }): void {
  server.get<{ Params: { id: string } }>(`${CHECKOUT_PATH}/:id`, (request, reply) => {
    const { id } = request.params;
    const transaction = deps.transactions.get(id);
    if (transaction === undefined) throw unknownReference('Checkout', id);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'")
      .send(
        '<!doctype html><title>Sandbox checkout</title><h1>Sandbox checkout</h1>' +
          `<p>Here a customer would pay. This payment is ${transaction.status}, and goes on by itself.</p>`,
      );
  });
}
