import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/*
 * With TEMPORAL_DEBUG the SDK runs workflows in the test's own thread, and its hook for the stack traces of a workflow's
 * promises (for the query `__stack_trace`, which no test asks) then runs for each promise of the whole process: a seventh
 * of all CPU time.
 */
Object.assign(globalHandlers, { setPromiseHook: () => undefined });
