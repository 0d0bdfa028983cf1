import type { Stage } from '../scene.js';

/*
 * What a scene must have shown besides its ending: a run in which the fault did not happen shows nothing.
 */

export async function faultNotExecuted({ sandbox, reference }: Stage): Promise<string | undefined> {
  const faults = await sandbox.faultsOf(reference);
  return faults.some(({ executed }) => executed) ? undefined : 'the fault did not happen';
}

export async function notRefusedFirst({ sandbox, reference }: Stage): Promise<string | undefined> {
  const faults = await sandbox.faultsOf(reference);
  return faults.some(({ executed }) => !executed) ? undefined : 'the fault did not happen';
}

export async function someEventCame({ gateway, flowId }: Stage): Promise<string | undefined> {
  const { events } = await gateway.events({ flowId });
  return events.length === 0 ? undefined : 'it was told by events, and not by its lookup alone';
}
