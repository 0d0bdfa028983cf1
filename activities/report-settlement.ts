import { ApplicationFailure } from '@temporalio/common';
import { InvalidRequestError, RejectedError } from '../src/client/index.js';
import type { SettlementReport } from '../src/contract/bridge.js';
import { bridgeFieldsOf } from '../src/flows/bridge-event.js';
import { rowIdOf } from '../src/flows/event-of-row.js';
import type { ReportOutcome, SettlementReportOrder } from './bridge-terms.js';
import type { ActivityDeps } from './deps.js';
import { reading, retryLater } from './failures.js';
import { elapsedMs } from './polling.js';

/**
 * Passes a provider's trusted settlement on to the service; the body is read from the inbox. Whatever hinders it, the
 * settlement stands: it is tried again, or told to a person, and never ends the flow as failed.
 */
export async function reportSettlement(deps: ActivityDeps, order: SettlementReportOrder): Promise<ReportOutcome> {
  try {
    return await report(deps, order);
  } catch (error) {
    const isOverdue = order.patienceMs !== undefined && elapsedMs() >= order.patienceMs;
    if (!isOverdue || !(error instanceof ApplicationFailure) || error.nonRetryable === true) throw error;
    return { kind: 'not-heard', message: error.message };
  }
}

async function report(deps: ActivityDeps, order: SettlementReportOrder): Promise<ReportOutcome> {
  const rowId = rowIdOf(order.eventId);
  const row = await reading(() => deps.store.inbox.get(rowId));
  if (row === undefined || row instanceof RejectedError)
    throw retryLater('store_unavailable', `the event ${rowId} is not in the inbox`);
  // Another worker may have the key.
  if (row.unreadable !== undefined) throw retryLater('unreadable_event', row.unreadable);
  if (row.body === undefined) return refused('The body of the settlement was purged: there is nothing to report.');
  const told = settlementReport(order, bridgeFieldsOf(row.body), row.receivedAt);
  if (told.kotani_reference_id === '')
    return refused("The service's own reference is not known: its answer was lost, and the settlement names none.");
  const outcome = await reading(() => deps.service.reportSettlement(told).catch(asResult));
  if (outcome instanceof InvalidRequestError) return refused(outcome.message);
  if (outcome instanceof RejectedError) return refused(outcome.message, outcome.httpStatus);
  return { kind: 'reported' };
}

/** It lies in what was told, and not in the flow's input. */
function asResult(error: unknown): InvalidRequestError {
  if (error instanceof InvalidRequestError) return error;
  throw error;
}

function refused(message: string, httpStatus: number | null = null): ReportOutcome {
  return { kind: 'refused', httpStatus, message };
}

/** Strict, as everything that we send: what cannot be read as its member should be is left out, and the rest goes on. */
function settlementReport(order: SettlementReportOrder, body: unknown, receivedAt: string): SettlementReport {
  const told: Told = isRecord(body) ? body : {};
  const stamp = Date.parse(textOf(told['timestamp']));
  return {
    webhook_type: textOf(told['webhook_type']) || 'settlement',
    provider_reference_id: order.reference,
    kotani_reference_id: order.serviceReference ?? textOf(told['kotani_reference_id']),
    status: told['status'] as SettlementReport['status'],
    timestamp: new Date(Number.isFinite(stamp) ? stamp : Date.parse(receivedAt)).toISOString(),
    crypto_payment: isRecord(told['crypto_payment']) ? told['crypto_payment'] : {},
    ...recordsOf(told, ['settlement_details', 'failure_details', 'refund_details', 'metadata']),
  };
}

type Told = Readonly<Record<string, unknown>>;

function recordsOf<Name extends string>(told: Told, names: readonly Name[]): Partial<Record<Name, Told>> {
  const found = names.filter((name) => isRecord(told[name]));
  return Object.fromEntries(found.map((name) => [name, told[name]])) as Partial<Record<Name, Told>>;
}

const isRecord = (value: unknown): value is Told =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Identifiers come as numbers, too. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
