import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { traceIdOf } from '../../src/tracing.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const spans = new InMemorySpanExporter();
let tested: GatewayUnderTest;
beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
});
afterAll(async () => {
  await tested.close();
  trace.disable();
});

it('the receipt of an event is in the trace of its flow, and in none while its flow is not known', async () => {
  const reference = newReference('traced');
  const flowId = `bridge-transfer/${reference}`;
  const webhook = new URL(tested.gateway.inbound.webhook).pathname;
  const posts = [
    [webhook, { event: 'a.name.of.tomorrow', data: { reference_id: newReference('unknown') } }],
    [tested.callbackPath(reference), { status: 'PAYMENT_SENT' }],
  ] as const;
  for (const [path, body] of posts) expect((await tested.post(path, body)).status).toBe(200);
  const received = spans.getFinishedSpans().filter(({ name }) => name === 'receive event');
  expect(received.map((span) => [span.spanContext().traceId, span.attributes])).toEqual([
    [traceIdOf(flowId), { 'towline.flow_id': flowId, 'towline.source': 'callback', 'towline.proof': 'capability' }],
  ]);
});
