import { ApplicationFailure } from '@temporalio/common';
import { lookUp, send, ServiceAnswerError, type Order } from './service.js';

const serviceUrl = process.env['SERVICE_URL'] ?? '';

export const sendMoney = (order: Order): Promise<void> => finally4xx(send(serviceUrl, order));

export const statusOf = async (reference: string): Promise<string> =>
  (await finally4xx(lookUp(serviceUrl, reference))) ?? 'pending';

/** What the samples do: a request that is wrong is not retried, and everything else is. */
async function finally4xx<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ServiceAnswerError && error.isFinal) throw ApplicationFailure.nonRetryable(error.message);
    throw error;
  }
}
