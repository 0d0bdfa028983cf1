import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/*
 * With TEMPORAL_DEBUG the SDK runs workflows in the test's own thread: a thread for each worker costs 0.3 s of CPU time.
 * (The projects without this file have threads, and `cluster` plays the end-to-end tests with them.) The SDK's hook for
 * the stack traces of a workflow's promises, for the query `__stack_trace`, which no test asks, then runs for each promise
 * of the whole process: a seventh of all CPU time.
 */
process.env['TEMPORAL_DEBUG'] = '1';
Object.assign(globalHandlers, { setPromiseHook: () => undefined });
