import type { Asked } from './asking.js';
import type { ClaimRef, Facts, Pin, Windows } from './outcomes.js';

/** What the first activity of a flow returns. */
export interface FlowPreparation {
  /** Checked and normalised by the kind's definition. */
  readonly input: unknown;
  readonly fingerprint: string;
  readonly windows: Windows;
  readonly pin: Pin;
  readonly allowPlaintext: boolean;
  /** The flow's POSTs by the name of their step; without those whose input is given later. */
  readonly steps: Readonly<Record<string, StepTerms>>;
}

/** One POST of a flow: its claim, and what events and looked-up records must agree with. */
export interface StepTerms {
  readonly claim: ClaimRef;
  readonly facts: Facts;
}

/** A step whose input came after the start: the flow's input with it, checked and normalised. */
export interface DescribedStep extends StepTerms {
  readonly input: unknown;
}

export interface StepOrder {
  readonly flowId: string;
  /** Name of the submission in the kind's definition. */
  readonly step: string;
  readonly input: unknown;
}

/** A step that is about a claim, which belongs to the flow's own deployment. */
export interface ClaimStepOrder extends StepOrder {
  readonly pin: Pin;
}

export interface StatusOrder {
  readonly flowId: string;
  readonly input: unknown;
  /** Words that the flow has seen: they are no news. */
  readonly known: readonly string[];
  /** Delay before the first look, ms, already scaled; 0 looks at once. */
  readonly firstLookMs: number;
  readonly timeScale: number;
  /** Never looks more often than this, ms, already scaled. @default by the cadence alone */
  readonly atLeastMs?: number;
  /** A person is asked meanwhile: ever more slowly. @default false */
  readonly isParked?: boolean;
}

export interface StatusReading {
  readonly status: string | null;
  readonly facts: Facts;
}

/** One answer of the status lookup. */
export type StatusEvidence = Asked<StatusReading>;

/** What the service's record of one step shows. */
export type StepEvidence =
  { readonly says: 'shown'; readonly facts: Facts } | { readonly says: 'absent' | 'cannot-tell' };
