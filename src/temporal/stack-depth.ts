/*
 * Loaded once into the context that all workflows of a worker share, before the first of them. The SDK takes a stack
 * trace of every promise of every workflow, for the Call Stack of the Temporal UI; at the default of ten frames that is
 * more than a quarter of a workflow's cost for its worker. Five show the step and the flow that wait.
 */
Error.stackTraceLimit = 5;
