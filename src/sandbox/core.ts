import type { Clock } from './clock.js';
import type { Database, KeyValue } from './database.js';
import type { Adversary } from './deliveries/adversary.js';
import type { Announce } from './deliveries/announce.js';
import type { Deliveries } from './deliveries/deliveries.js';
import type { History } from './history.js';
import type { Executions, Ledger } from './ledger.js';
import type { Scenarios } from './scenarios.js';
import type { Scheduler } from './scheduler.js';
import type { LiveSettings } from './settings.js';

/** The parts that every part of the service uses. */
export interface Core {
  readonly database: Database;
  readonly notes: KeyValue;
  readonly clock: Clock;
  readonly settings: LiveSettings;
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly scenarios: Scenarios;
  readonly deliveries: Deliveries;
  readonly announce: Announce;
  readonly adversary: Adversary;
  readonly createId: () => string;
}
