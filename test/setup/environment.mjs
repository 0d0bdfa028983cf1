import { TestEnvironment } from 'jest-environment-node';

// Reached by a worker only once nothing is open any more. To give a gigabyte back piece by piece, as a process does that
// ends by itself, takes longer than jest waits on a busy machine.
if (process.connected) process.once('beforeExit', (code) => process.exit(code));

export default TestEnvironment;
