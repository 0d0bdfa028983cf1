import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { systemClock } from './clock.js';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

/**
 * A flow has one trace, whose id follows from the flow's own. So no process has to pass it on: a webhook that comes days later, by
 * another gateway, is in the trace of its flow.
 */
export const traceIdOf = (flowId: string): string => rootContextOf(flowId).traceId;

/** The id of the span `flow <kind>`, the root of all other spans of the flow. */
export const rootSpanIdOf = (flowId: string): string => rootContextOf(flowId).spanId;

const tracer = () => trace.getTracer('towline');

const ROOT_OF = createContextKey('the flow whose root span is being made');
/** For the generator of ids: the flow whose root span is being made. */
export const rootFlowOf = (active: Context): string | undefined => active.getValue(ROOT_OF) as string | undefined;

export interface TracedStep {
  /** A short constant; the attributes say what it is about. */
  readonly name: string;
  readonly flowId: string;
  /** @default INTERNAL */
  readonly kind?: SpanKind;
  /** Names, ids and numbers; never a body, a token or a person's name. */
  readonly attributes?: Attributes;
}

/** Runs a step of a flow in a span of the flow's trace. Without a tracer provider nothing is recorded. */
export function traced<T>(
  { name, flowId, kind = SpanKind.INTERNAL, attributes = {} }: TracedStep,
  work: () => Promise<T>,
) {
  const active = context.active();
  const root = rootContextOf(flowId);
  const isInside = trace.getSpanContext(active)?.traceId === root.traceId;
  const parent = isInside ? active : trace.setSpanContext(active, root);
  const options = {
    kind,
    attributes: { 'towline.flow_id': flowId, ...attributes },
    links: isInside ? [] : callerOf(active),
  };
  return tracer().startActiveSpan(name, options, parent, async (span): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // The message of an error may hold what belongs in no trace.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The root span of a flow that was just started, linked to the trace of its caller. */
export function traceStart(flowId: string, kind: string): void {
  const active = context.active();
  const attributes = { 'towline.flow_id': flowId, 'towline.kind': kind };
  context.with(active.setValue(ROOT_OF, flowId), () => {
    tracer()
      .startSpan(`flow ${kind}`, { root: true, attributes, links: callerOf(active) })
      .end();
  });
}

/** A call that just ended, as a child of the step that made it. A call outside of a step is not traced. */
export function traceCall(name: string, seconds: number, attributes: Attributes): void {
  const active = context.active();
  if (trace.getSpan(active) === undefined) return;
  const startTime = systemClock.nowMs() - seconds * 1_000;
  tracer().startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes }, active).end();
}

function callerOf(active: Context): Link[] {
  const caller = trace.getSpanContext(active);
  return caller === undefined ? [] : [{ context: caller }];
}

function rootContextOf(flowId: string) {
  const digest = createHash('sha256').update(`trace of ${flowId}`).digest('hex');
  return {
    traceId: digest.slice(0, TRACE_ID_DIGITS),
    spanId: digest.slice(TRACE_ID_DIGITS, TRACE_ID_DIGITS + SPAN_ID_DIGITS),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}
