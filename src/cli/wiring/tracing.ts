import { context, propagation, trace } from '@opentelemetry/api';
import type { LiveSecrets, Settings } from '../../config/index.js';
import { rootFlowOf, rootSpanIdOf, traceIdOf } from '../../tracing.js';

/** Spans that wait to be sent. More are dropped, so an unavailable collector costs no memory. */
const MOST_WAITING = 2_048;
const SEND_WITHIN_MS = 5_000;

/**
 * Sends spans to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`; without it nothing is loaded, and no span is made.
 *
 * @param service `towline-gateway` or `towline-worker`
 */
export async function openTracing(
  settings: Pick<Settings, 'otlpEndpoint' | 'traceRatio'>,
  { otlpHeaders }: Pick<LiveSecrets, 'otlpHeaders'>,
  service: string,
  namespace: string,
): Promise<{ close(): Promise<void> }> {
  const { otlpEndpoint, traceRatio } = settings;
  if (otlpEndpoint === undefined) return { close: () => Promise.resolve() };
  const [base, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, resources] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
    ]);
  const random = new base.RandomIdGenerator();
  const rootFlow = () => rootFlowOf(context.active());
  const url = `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers: async () => otlpHeaders(), timeoutMillis: SEND_WITHIN_MS });
  const provider = new base.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': service, 'service.namespace': namespace }),
    // Decided by the trace's id: all processes decide alike, so a flow is traced completely or not at all.
    sampler: new base.TraceIdRatioBasedSampler(traceRatio),
    idGenerator: {
      generateTraceId() {
        const flowId = rootFlow();
        return flowId === undefined ? random.generateTraceId() : traceIdOf(flowId);
      },
      generateSpanId() {
        const flowId = rootFlow();
        return flowId === undefined ? random.generateSpanId() : rootSpanIdOf(flowId);
      },
    },
    spanProcessors: [new base.BatchSpanProcessor(exporter, { maxQueueSize: MOST_WAITING })],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return {
    async close() {
      // An unavailable collector does not keep a process from ending.
      await provider.shutdown().catch(() => undefined);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}
