import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import type { FlowView } from '../../src/api/flow.js';
import { CALLBACK_WORKFLOW, callbackIdOf, CHANGES_SIGNAL } from '../../src/protocol/vocabulary.js';
import { isPlaintext } from '../../src/protocol/plaintext-marker.js';
import { timeAfter, hasChanged, toChange } from '../callbacks.js';
import type { CallbackOrder, FlowChange } from '../../src/protocol/callbacks.js';

/** What travels through continue-as-new. */
export interface ReportsCarried {
  /** The last change that was handed on. */
  readonly reported: FlowChange;
  /** The delivery was started. */
  readonly begun: boolean;
}

/** Hands the changes of a flow on to the delivery of its callbacks. */
export interface ChangeReports {
  /** Nothing is being reported: the flow may close, or continue as new. */
  idle(): boolean;
  carry(): ReportsCarried;
}

interface Reported {
  readonly flowId: string;
  readonly timeScale: number;
  readonly allowPlaintext: boolean;
  /** Its POST is under way, and nobody waits for anything else. */
  isSending(): boolean;
  view(): FlowView;
}

/** A delivery that ends at the moment in which it gets a change is started again: at most this often. */
const TRIES = 3;

/** Undefined if no caller wants callbacks. Only the flow's own changes are sent: an untrusted event changes nothing. */
export function reportChanges(
  flow: Reported,
  rawInput: unknown,
  carried: ReportsCarried | undefined,
): ChangeReports | undefined {
  const url = callbackUrlIn(rawInput);
  if (url === undefined) return undefined;
  let seen = carried?.reported ?? toChange(flow.view(), new Date().toISOString());
  let reported = seen;
  let begun = carried?.begun ?? false;
  let waiting: readonly FlowChange[] = [];
  let handing = false;

  async function watch(): Promise<never> {
    for (;;) {
      // Bounded by the flow: it watches beside it.
      await condition(() => hasChanged(seen, flow.view()));
      seen = toChange(flow.view(), timeAfter(seen.timestamp, Date.now()));
      waiting = [...waiting, seen];
    }
  }

  /**
   * Callbacks do not delay a caller that waits for the service's answer: the change "money is being sent" is reported
   * together with its outcome. Simultaneous changes are one change.
   */
  const mayReport = (): boolean => {
    const view = flow.view();
    return (!flow.isSending() || view.state !== 'running') && !hasChanged(seen, view);
  };

  async function handOn(): Promise<never> {
    for (;;) {
      // Bounded by the flow: it hands on beside it.
      await condition(() => waiting.length > 0 && mayReport());
      const changes = waiting;
      waiting = [];
      handing = true;
      // A start that came unencrypted gets no callback until it is allowed.
      if (!isPlaintext(rawInput) || flow.allowPlaintext) await hand(changes);
      reported = changes.at(-1) ?? reported;
      handing = false;
    }
  }

  /** Never fails the flow: an unreachable caller is no reason to stop the money. */
  async function hand(changes: readonly FlowChange[]): Promise<void> {
    for (let turn = 0; turn < TRIES; turn += 1) {
      if (begun && (await signalled(changes))) return;
      if (await started(changes)) return;
    }
  }

  async function signalled(changes: readonly FlowChange[]): Promise<boolean> {
    try {
      // Bounded by the Temporal server, which takes the signal or says that the delivery has ended.
      await getExternalWorkflowHandle(callbackIdOf(flow.flowId)).signal(CHANGES_SIGNAL, changes);
      return true;
    } catch {
      // It has ended, having had nothing to do for a while.
      return false;
    }
  }

  async function started(changes: readonly FlowChange[]): Promise<boolean> {
    const order: CallbackOrder = { flowId: flow.flowId, url: url ?? '', timeScale: flow.timeScale, changes };
    begun = true;
    try {
      // Bounded by the Temporal server, which starts it or says that it runs.
      await startChild<(order: CallbackOrder) => Promise<unknown>>(CALLBACK_WORKFLOW, {
        workflowId: callbackIdOf(flow.flowId),
        args: [order],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        staticSummary: `Callbacks of ${flow.flowId}`,
      });
      return true;
    } catch {
      // It runs already: the flow was reset, or a person had it send again.
      return false;
    }
  }

  // A cancel in the UI may be refused, and must not silence the flow.
  void CancellationScope.nonCancellable(watch);
  void CancellationScope.nonCancellable(handOn);
  return {
    idle: () => !handing && waiting.length === 0 && !hasChanged(seen, flow.view()),
    carry: () => ({ reported, begun }),
  };
}

/** Unchecked: the sender of callbacks checks it. */
function callbackUrlIn(rawInput: unknown): string | undefined {
  const input = isPlaintext(rawInput) ? rawInput.__plaintext : rawInput;
  const url = (input as Record<string, unknown> | null | undefined)?.['callbackUrl'];
  return typeof url === 'string' && url !== '' ? url : undefined;
}
