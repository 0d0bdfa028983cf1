import { z } from 'zod';
import { QUEUES, type Queue } from '../protocol/task-queues.js';

const SLOTS = /^[1-9]\d{0,3}$/;

/** `WORKER_SLOTS`: comma-separated `queue:number`. */
export const workerSlots = () =>
  z.string().transform((text, context): Partial<Readonly<Record<Queue, number>>> => {
    const slots: Partial<Record<Queue, number>> = {};
    for (const entry of text.split(',')) {
      const [name, number = '', ...rest] = entry.split(':').map((part) => part.trim());
      const queue = QUEUES.find((known) => known === name);
      if (queue === undefined || !SLOTS.test(number) || rest.length > 0 || queue in slots) {
        context.addIssue(
          `must be comma-separated queue:number, such as money:50, each of ${QUEUES.join(', ')} at most once, with 1 to 9999`,
        );
        return slots;
      }
      slots[queue] = Number(number);
    }
    return slots;
  });

/** `MONEY_RATE_LIMIT`. No 0: that is a stop, which is ordered where it holds at once and for all workers. */
export const perSecond = () =>
  z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a number')
    .transform(Number)
    .refine((value) => value > 0, 'must be above 0 (to stop money, see docs/deployment.md)');
