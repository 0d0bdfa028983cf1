import type { Clock } from '../clock.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { type Deliveries, type Delivery, DELIVERY_JOB } from './deliveries.js';
import type { Stream } from './message.js';
import type { PostAnswer, Transport } from './post.js';
import { waitBeforeRetry } from './retry-schedule.js';
import type { Signer } from './sign.js';

const WAIT_FOR_TURN_MS = 50;

/** The job that makes one attempt of a delivery, notes what came back, and plans the next attempt where one is due. */
export function createDeliverJob(deps: {
  deliveries: Deliveries;
  transport: Transport;
  signers: Readonly<Record<Stream, Signer | undefined>>;
  settings: LiveSettings;
  clock: Clock;
  scheduler: Pick<Scheduler, 'schedule'>;
  /** Whether a delivery waits for those before it. Webhooks are unordered as a rule. */
  isOrdered: (delivery: Delivery) => boolean;
}): JobKind {
  const { deliveries, transport, signers, settings, clock, scheduler, isOrdered } = deps;
  return {
    lane: 'send',
    async run({ id }: { id: number }) {
      const delivery = deliveries.get(id);
      if (delivery === undefined) return () => undefined;
      if (isOrdered(delivery) && deliveries.isBehindAnother(delivery)) {
        return () => void scheduler.schedule(DELIVERY_JOB, WAIT_FOR_TURN_MS, { id });
      }
      const headers = signers[delivery.stream]?.headers(delivery.webhookId, delivery.signedBody ?? delivery.body);
      const { status, text } = await transport
        .post(delivery.url, delivery.body, headers ?? {}, settings.current().deliveryTimeoutMs)
        .catch((error: Error): { status: null; text: string } => ({ status: null, text: error.message }));
      return () => {
        const accepted = status !== null && isAccepted(status);
        const tries = delivery.tries + 1;
        const ageMs = clock.now() - delivery.createdAt;
        const wait = accepted
          ? undefined
          : waitBeforeRetry(settings.current(), { tries, maxTries: delivery.maxTries, ageMs });
        const state = accepted ? 'delivered' : wait === undefined ? 'given-up' : 'pending';
        deliveries.attempted(id, state, { status, answer: text });
        if (wait !== undefined) scheduler.schedule(DELIVERY_JOB, wait, { id });
      };
    },
  };
}

/** 200 is what the service's own documents expect; any other 2xx is taken as well. Redirects are not followed. */
const isAccepted = (status: PostAnswer['status']) => status >= 200 && status < 300;
