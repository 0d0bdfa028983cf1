import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from './refusal.js';

/** Room for what is open at one time: so much in all, and so much for each who asks, so that one cannot take it all. */
export interface Places {
  /**
   * @param units what it counts for; what begins while there is any room left is let in whole. @default 1
   * @returns frees it again; twice does nothing
   * @throws Refusal 429 where this one has taken what it may, 503 where all is taken
   */
  take(name: string, units?: number): () => void;
}

const RETRY_AFTER_SECONDS = 1;

/** @param options.what in the plural: what is counted */
export function createPlaces(options: {
  readonly what: string;
  readonly most: number;
  readonly mostEach: number;
}): Places {
  const { what, most, mostEach } = options;
  const taken = new Map<string, number>();
  let all = 0;

  const add = (name: string, units: number): void => {
    all += units;
    const now = (taken.get(name) ?? 0) + units;
    if (now > 0) taken.set(name, now);
    else taken.delete(name);
  };

  return {
    take(name, units = 1) {
      const refuse = (status: number, why: string) => new Refusal(status, why, {}, RETRY_AFTER_SECONDS);
      if ((taken.get(name) ?? 0) >= mostEach) throw refuse(429, `Too many open ${what}. Come again later.`);
      if (all >= most) throw refuse(503, `The gateway has too many open ${what}. Come again later.`);
      add(name, units);
      let isHeld = true;
      return () => {
        if (isHeld) add(name, -units);
        isHeld = false;
      };
    },
  };
}

const answers = new WeakMap<FastifyRequest, ServerResponse>();

/** Before every hook that uses `whenAnswered`. */
export function followAnswers(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, next) => {
    answers.set(request, reply.raw);
    next();
  });
}

/** Runs once, when the answer is sent or its caller has gone; at once where that has happened. */
export function whenAnswered(request: FastifyRequest, work: () => void): void {
  const answer = answers.get(request);
  if (answer === undefined || answer.closed) return work();
  answer.once('close', work);
}
