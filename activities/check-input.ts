import { flowIdOf } from '../src/flows/vocabulary.js';
import type { FlowDefinition } from '../src/flows/flow.js';
import { canonicalJson } from '../src/store/canonical-json.js';
import { isPlaintext } from '../src/temporal/plaintext-marker.js';
import type { ActivityDeps } from './deps.js';
import { endsFlow } from './failures.js';

/**
 * Checks a flow's input before any claim: the gateway did so too, but any Temporal client can start a flow. What is
 * wrong is named by member, never by value.
 */
export function checkInput<Input>(
  deps: ActivityDeps,
  definition: FlowDefinition<Input>,
  flowId: string,
  raw: unknown,
): { input: Input; fingerprint: string } {
  const plaintext = isPlaintext(raw);
  if (plaintext && !deps.allowPlaintext) {
    throw endsFlow(
      'plaintext_input',
      'The input came unencrypted. Start flows with the payload codec, or through the gateway.',
    );
  }
  const input = parseInput(definition, plaintext ? raw.__plaintext : raw);
  const expected = flowIdOf(definition.kind, definition.referenceOf(input));
  if (expected !== flowId) {
    throw endsFlow('invalid_input', `the workflow id must be "${expected}", so that one reference is one flow`);
  }
  const { timeScale, callbackUrl } = input as { timeScale?: number; callbackUrl?: string };
  const problem = callbackUrl === undefined ? undefined : deps.callbacks?.problemOf(callbackUrl);
  if (problem !== undefined) throw endsFlow('invalid_input', `callbackUrl: ${problem}`);
  if (timeScale !== undefined && timeScale !== 1 && !deps.serviceIsOnLoopback) {
    throw endsFlow('invalid_input', 'timeScale: other than 1 is possible only with a service on loopback');
  }
  return { input, fingerprint: deps.store.mac('flow-input', canonicalJson(definition.decidedBy(input))) };
}

/** The kind's own rules alone: also for what was told after the start. */
export function parseInput<Input>(definition: FlowDefinition<Input>, raw: unknown): Input {
  const parsed = definition.input.safeParse(raw);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`);
  throw endsFlow('invalid_input', problems.join('; '));
}
