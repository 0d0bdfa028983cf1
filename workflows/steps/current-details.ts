import type { FlowView } from '../../src/flows/messages.js';

/** What the Temporal UI shows as the workflow's current details: Markdown that a person on call understands. */
export function currentDetails(view: FlowView): string {
  const lines = [`**${view.kind} ${view.reference}** is **${view.state}** (${view.stage})`];
  if (view.serviceReference !== null) lines.push(`Reference at the service: \`${view.serviceReference}\``);
  if (view.parked !== null) {
    lines.push(
      `Waits for a person since ${view.parked.since}: **${view.parked.reason}**`,
      `What can be ordered: ${view.parked.actions.map((action) => `\`${action}\``).join(', ')}`,
      `Evidence: \`${JSON.stringify(view.parked.evidence)}\``,
    );
  } else if (view.outcome === null && view.deadlineAt !== null) {
    lines.push(`Deadline: ${view.deadlineAt}`);
  }
  const latest = view.timeline
    .slice(-12)
    .map((entry) => `- ${entry.at} · ${entry.stage} · ${entry.by}: ${entry.detail}`);
  return [...lines, '', ...latest].join('\n\n').replaceAll('\n\n- ', '\n- ');
}
