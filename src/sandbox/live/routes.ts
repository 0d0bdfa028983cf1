import type { FastifyInstance } from 'fastify';
import type { Answers } from '../answers.js';
import type { Database } from '../database.js';
import { Refusal } from '../refusal.js';
import type { LiveSettings } from '../settings.js';
import type { LiveOperation } from './live-operation.js';

/** Serves them while the setting `liveOperations` is on; off, they do not exist. Faults do not reach them. */
export function addLiveRoutes(
  server: FastifyInstance,
  deps: {
    operations: readonly LiveOperation[];
    authenticate: (authorization: string | undefined) => void;
    database: Database;
    settings: LiveSettings;
    answers: Answers;
  },
): void {
  const { operations, authenticate, database, settings, answers } = deps;
  for (const operation of operations) {
    server.route({
      method: operation.method,
      url: operation.path.replace('{reference}', ':reference'),
      async handler(request) {
        const { authorization } = request.headers;
        if (!settings.current().liveOperations) throw new Refusal(404, 'NOT_FOUND', `${request.url} does not exist`);
        if (operation.auth === undefined) authenticate(authorization);
        const { reference = '' } = request.params as { reference?: string };
        const token = (authorization ?? '').replace(/^Bearer /, '');
        const outcome = await database.write(() => operation.handle({ reference, token }));
        if (outcome instanceof Refusal) throw outcome;
        return answers.bodyOf(outcome);
      },
    });
  }
}
