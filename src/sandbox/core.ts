import type { Clock } from './clock.js';
import type { Database } from './database.js';
import type { Adversary } from './deliveries/adversary.js';
import type { Deliveries } from './deliveries/deliveries.js';
import type { History } from './history.js';
import type { Executions } from './ledger/executions.js';
import type { Ledger } from './ledger/ledger.js';
import type { Handlers } from './operations/handler.js';
import type { Scenarios } from './scenarios.js';
import type { JobKind, Scheduler } from './scheduler.js';
import type { LiveSettings } from './settings.js';

/** What every part of the service is built on. */
export interface Core {
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: LiveSettings;
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly scenarios: Scenarios;
  readonly deliveries: Deliveries;
  readonly adversary: Adversary;
  readonly createId: () => string;
}

/** One part of the service: the operations that it answers, and the jobs that carry its records on. */
export interface Part {
  readonly handlers: Handlers;
  readonly jobs: Readonly<Record<string, JobKind>>;
}
