import type { Rule, View } from '../engine/plan.js';
import { step } from '../engine/situation.js';
import type { Transfer } from './transfer.js';
import type { FlowEvent } from '../../src/protocol/messages.js';

const toReport = ({ own }: View): FlowEvent | null => (own as Transfer | undefined)?.toReport ?? null;

export const REPORT: Rule = {
  name: 'report',
  says: "The provider's ending is reported to the service before anything follows from it.",
  when: (v) => toReport(v) !== null,
  follows: (v) => {
    const { id = '' } = toReport(v) ?? {};
    const report = v.known.transfer?.report?.eventId === id ? v.known.transfer.report : null;
    if (report?.kind === 'refused') return { steps: [], park: 'report_refused', about: id };
    const more = report === null ? {} : { isParked: true };
    const steps = [step('report', 'deposit', undefined, { event: id, ...more })];
    return report === null ? { steps } : { steps, park: 'report_refused', about: id };
  },
};
