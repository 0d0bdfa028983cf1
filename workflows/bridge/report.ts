import type { ReportOutcome, SettlementReportOrder } from '../../activities/types.js';
import type { BridgeStatus } from '../../src/contract/vocabulary.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { act } from '../engine/activities.js';
import { endFromDecision } from '../engine/flow-end.js';
import type { Flow } from '../engine/flow.js';
import { READ, REPORT_PATIENCE_MS } from '../engine/policies.js';
import { askAbout } from '../engine/park.js';
import { observed, within } from '../engine/waits.js';
import { asBridgeStatus, foldStatus, rises } from './statuses.js';
import type { Transfer } from './transfer.js';
import type { Resolution } from '../engine/messages.js';

/** Reports the provider's settlement to the service. Repeat-safe, so it needs no claim and is retried. */
export async function reportPending(flow: Flow, transfer: Transfer): Promise<void> {
  const event = transfer.toReport;
  const status = asBridgeStatus(event?.status ?? null);
  transfer.toReport = null;
  // A lower status would set the service back: it takes the status that a report carries.
  if (event === null || status === undefined || !rises(transfer.serviceKnows, status)) return;
  const { flowId, reference, serviceReference } = flow;
  const order = { flowId, eventId: event.id, status, reference, serviceReference };
  const patienceMs = flow.scaled(REPORT_PATIENCE_MS);
  // The activity gives up by itself, unless no attempt of it ends: then the flow does.
  const outcome = await within(flow, 1.2 * REPORT_PATIENCE_MS, () =>
    act(READ, `Report ${status} to the service`, flow.timeScale).reportSettlement({ ...order, patienceMs }),
  );
  await takeOutcome(flow, transfer, { event, status, order }, outcome ?? NO_END);
}

const NO_END: ReportOutcome = { kind: 'not-taken', message: 'no attempt to report it came to an end' };

interface Report {
  readonly event: FlowEvent;
  readonly status: BridgeStatus;
  readonly order: SettlementReportOrder;
}

async function takeOutcome(flow: Flow, transfer: Transfer, report: Report, outcome: ReportOutcome): Promise<void> {
  const { event, status } = report;
  if (outcome.kind === 'reported') {
    transfer.serviceKnows = foldStatus(transfer.serviceKnows, status);
    return flow.note('settlement-reported', `${status} reported to the service`);
  }
  if (outcome.kind === 'not-taken') return askAndReportOn(flow, transfer, report, outcome.message);
  const by =
    outcome.httpStatus === null ? 'no report could be made' : `the service refused the report (${outcome.httpStatus})`;
  flow.note('report-refused', `${status}: ${by}: ${outcome.message}`, outcome.httpStatus === null ? 'flow' : 'service');
  const evidence = () => ({ status, ...outcome });
  carryOut(transfer, event, await askAbout(flow, 'report_refused', evidence, isOvertaken(transfer, status)));
}

/** The service cannot be reached now: a person is asked, and the report is tried meanwhile. */
async function askAndReportOn(flow: Flow, transfer: Transfer, report: Report, message: string): Promise<void> {
  const { event, status, order } = report;
  flow.note('report-not-taken', `${status} could not be reported to the service so far: ${message}`);
  const summary = `Report ${status} on, while a person decides`;
  const reporting = observed(() => act(READ, summary, flow.timeScale).reportSettlement(order));
  const evidence = () => ({ status, kind: 'not-taken', message });
  const overtaken = isOvertaken(transfer, status);
  const decided = () => reporting.settled() || overtaken();
  const decision = await askAbout(flow, 'report_refused', evidence, decided);
  if (decision === 'decided' && reporting.settled())
    return takeOutcome(flow, transfer, report, await reporting.promise);
  reporting.cancel();
  carryOut(transfer, event, decision);
}

/** Whether the service itself has reported that status by now, or a higher one. */
const isOvertaken = (transfer: Transfer, status: BridgeStatus) => () => !rises(transfer.serviceKnows, status);

function carryOut(transfer: Transfer, event: FlowEvent, decision: Resolution | 'decided'): void {
  // The service knows it: there is nothing to report.
  if (decision === 'decided') return;
  if (decision.action !== 'report-again') return endFromDecision(decision);
  transfer.toReport ??= event;
}
